"""Sources of tensors: files, state dicts, torch modules, and factories that make these.

A file is data, and nothing in it can run. A factory, `package.module:factory`, is the user's own
code: it is imported, with the current folder first on the path, and called without arguments; a
module or a state dict may stand there ready.
"""

import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import torch
from torch import Tensor

from rnnbounds.impl.errors import FileError, InputError, shown
from rnnbounds.impl.reading.files import LARGEST, parse_safetensors, read_file, unpickle
from rnnbounds.impl.reading.foreign import is_onnx, shard, unsupported
from rnnbounds.impl.reading.onnx.file import LARGEST_GRAPH, graph_of
from rnnbounds.impl.reading.opened import Opened
from rnnbounds.impl.reading.pytorch.modules import open_module

_OURS = "rnnbounds/"  # formats of files that were written with their cell
_LONGEST = 250  # characters; a file's name may be as long
_SUFFIXES = (
    ".safetensors",
    ".pt",
    ".pth",
    ".onnx",
    ".bin",
    ".ckpt",
    ".zip",
)
_NAME = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")

Source = str | os.PathLike[str] | torch.nn.Module | Mapping[str, Tensor] | Opened
AnySource = Source | Callable[..., object]


def open_source(source: AnySource) -> Opened:
    """Whatever a source is, opened, once; raises an InputError for what is none."""
    if isinstance(source, Opened):
        return source
    if isinstance(source, torch.nn.Module):
        return open_module(source)
    if isinstance(source, Mapping):
        return Opened("the state dict", "state dict", source)
    if callable(source) and not isinstance(source, type):
        return _function(source, getattr(source, "__qualname__", type(source).__name__))
    if not isinstance(source, str | os.PathLike):
        what = f"{type(source).__name__} is no model"
        raise InputError(f"{what}; pass a module, a state dict, or the path of a file")
    if _is_factory(os.fspath(source)):
        name = os.fspath(source)
        thing = _made(name)
        if isinstance(thing, torch.nn.Module):
            return open_module(thing, name)
        if callable(thing):
            return _function(thing, name)
        return Opened(f"what {shown(name)} returns", name, thing)
    return _file(Path(source))


def _function(call: Callable[..., object], title: str) -> Opened:
    """A callable that is no module: it has no tensors to read, and is only run."""

    def refuse(layer: str | None) -> Opened:
        remedy = "pass a module or a file; measure alone runs a function as it is"
        raise InputError(f"{shown(title)} is a function without weights; {remedy}")

    return Opened(shown(title), title, runs=call, parts=(), choose=refuse)


def tensors_of(path: Path) -> Mapping[str, Tensor]:
    """The tensors of a state dict in a file, by their names.

    Raises FileError for a graph, whose values are not listed.
    """
    opened = _file(path)
    if opened.choose is not None:
        raise FileError(path, "is a graph", "save the tensor by its name as safetensors")
    return opened.tensors


def _file(path: Path) -> Opened:
    data = read_file(path, LARGEST_GRAPH if path.suffix == ".onnx" else LARGEST)
    if told := shard(path):
        raise FileError(path, *told)
    stored = data[8:9] == b"{" and int.from_bytes(data[:8], "little") <= len(data)
    if not stored and (told := unsupported(path, data)):
        raise FileError(path, *told)
    if is_onnx(path, data):
        return graph_of(data, path)
    if data[8:9] == b"{" or path.suffix == ".safetensors":
        tensors, metadata = parse_safetensors(data, path)
        binding = "the file" if metadata.get("format", "").startswith(_OURS) else None
        return Opened(shown(path), str(path), tensors, metadata.get("cell"), binding)
    return Opened(shown(path), str(path), unpickle(data, path))


def _is_factory(name: str) -> bool:
    """True if a source names a factory: no file that is there, nor C:model, a file on a drive."""
    named = len(name) < _LONGEST and bool(_NAME.fullmatch(name)) and not Path(name).exists()
    home, _, path = name.partition(":")
    if not named or path.endswith(_SUFFIXES):
        return False
    with _reachable():
        return len(home) > 1 or find_spec(home) is not None


def _made(name: str) -> torch.nn.Module | Mapping[str, Tensor] | Callable[..., object]:
    """Return the module, state dict or function of a factory; its output goes to standard error.

    Raises FileError if it cannot be imported, raises, ends the program, or returns another.
    """
    home, _, path = name.partition(":")
    with _reachable():
        try:
            thing: object = import_module(home)
        except (Exception, SystemExit) as cause:
            what = f"{home} cannot be imported ({_told(cause)})"
            raise FileError(name, what, "correct it, or name another module") from None
        for part in path.split("."):
            if not hasattr(thing, part):
                raise FileError(name, f"there is no {part}", "name a function of that module")
            thing = getattr(thing, part)
        if not isinstance(thing, (torch.nn.Module, Mapping)):
            thing = _called(name, thing)
    if not (isinstance(thing, Mapping) or callable(thing)):
        what = f"returns a {type(thing).__name__}, no model"
        raise FileError(name, what, "let it return a torch.nn.Module or a state dict")
    return thing


def _called(name: str, thing: object) -> object:
    if not callable(thing):
        what = f"is a {type(thing).__name__}, which cannot be called"
        raise FileError(name, what, "name a function that returns the model")
    try:
        return thing()
    except (Exception, SystemExit) as cause:
        remedy = "correct it; it is called without arguments"
        raise FileError(name, f"raises {_told(cause)}", remedy) from None


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
