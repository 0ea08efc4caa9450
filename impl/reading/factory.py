"""A model that the user's own code makes: `package.module:factory`.

The only source that runs code. What is named is imported, with the current folder first on the
path, and called without arguments; a module or a state dict may stand there ready.
"""

import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import torch
from torch import Tensor

from rnnbounds.impl.errors import InputError, shown

_LONGEST = 250  # characters; a file's name may be as long
_SUFFIXES = (".safetensors", ".pt", ".pth", ".onnx", ".bin", ".ckpt")
_NAME = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")


class FactoryError(InputError):
    """A factory from which no model comes."""

    def __init__(self, name: str, what: str, remedy: str) -> None:
        super().__init__(f"{shown(name)}: {what}; {remedy}")


def is_factory(name: str) -> bool:
    """True if a source names a factory: no file that is there, nor C:model, a file on a drive."""
    named = len(name) < _LONGEST and bool(_NAME.fullmatch(name)) and not Path(name).exists()
    home, _, path = name.partition(":")
    if not named or path.endswith(_SUFFIXES):
        return False
    with _reachable():
        return len(home) > 1 or find_spec(home) is not None


def made(name: str) -> torch.nn.Module | Mapping[str, Tensor]:
    """Return the module or state dict of a factory; its output goes to standard error.

    Raises FactoryError if it cannot be imported, raises, ends the program, or returns neither a
    module nor a state dict.
    """
    home, _, path = name.partition(":")
    with _reachable():
        try:
            thing: object = import_module(home)
        except (Exception, SystemExit) as cause:
            what = f"{home} cannot be imported ({_told(cause)})"
            raise FactoryError(name, what, "correct it, or name another module") from None
        for part in path.split("."):
            if not hasattr(thing, part):
                raise FactoryError(name, f"there is no {part}", "name a function of that module")
            thing = getattr(thing, part)
        if not isinstance(thing, (torch.nn.Module, Mapping)):
            thing = _called(name, thing)
    if not isinstance(thing, (torch.nn.Module, Mapping)):
        what = f"returns a {type(thing).__name__}, no model"
        raise FactoryError(name, what, "let it return a torch.nn.Module or a state dict")
    return thing


def _called(name: str, thing: object) -> object:
    if not callable(thing):
        what = f"is a {type(thing).__name__}, which cannot be called"
        raise FactoryError(name, what, "name a function that returns the model")
    try:
        return thing()
    except (Exception, SystemExit) as cause:
        remedy = "correct it; it is called without arguments"
        raise FactoryError(name, f"raises {_told(cause)}", remedy) from None


@contextmanager
def _reachable() -> Iterator[None]:
    """The current folder on the path, first, and standard output kept for the answer."""
    here = str(Path.cwd())
    sys.path.insert(0, here)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        sys.path.remove(here)


def _told(cause: BaseException) -> str:
    text = " ".join(str(cause).split())[:120]
    return f"{type(cause).__name__}: {text}" if text else type(cause).__name__
