"""A device that no machine lacks: tensors elsewhere that have numbers, and that meet no others.

Within `elsewhere()` a tensor that is made on, or sent to, the device `THERE` holds its numbers in a
tensor of the CPU, and says that it lies there. As on an accelerator, an operation on it and on a
tensor of the CPU is refused, unless that is a single number and torch's table of functions says
that CUDA takes one; and so is lending its memory to NumPy. Asking for its value, and copies to and
fro, are not. So a line that makes a tensor beside another without saying where, or that takes all
tensors for the CPU's, fails here as it would there.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
import torchgen
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._mode_utils import no_dispatch
from torch.utils._python_dispatch import TorchDispatchMode

THERE = "meta"  # torch knows this device everywhere, and its own tensors there have no numbers
_TO_AND_FRO = ("aten::_to_copy", "aten::copy_", "aten::_local_scalar_dense")
_BY_INDEX = ("aten::index", "aten::index_put_", "aten::_index_put_impl_")


class Elsewhere(Tensor):
    """A tensor that says that it lies on `THERE`."""

    inner: Tensor
    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, inner: Tensor) -> "Elsewhere":
        made = torch.Tensor._make_wrapper_subclass(
            cls, inner.shape, strides=inner.stride(), storage_offset=inner.storage_offset(),
            dtype=inner.dtype, device=THERE, requires_grad=inner.requires_grad,
        )  # fmt: skip
        made.inner = inner
        return made

    def tolist(self) -> Any:
        """Its numbers."""
        return self.inner.tolist()

    def data_ptr(self) -> int:
        """Where they are."""
        return self.inner.data_ptr()

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _run(func, args, kwargs or {})


class _Machine(TorchDispatchMode):
    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _run(func, args, kwargs or {})


class _Made(TorchFunctionMode):
    """What is made of Python's numbers is made here and sent there: torch asks no one about it."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func is Tensor.new_tensor:
            like, *args = args
            kwargs = {"dtype": like.dtype, "device": like.device} | kwargs
            func = torch.tensor
        if func in (torch.tensor, torch.as_tensor) and not isinstance(args[0], Tensor):
            device = kwargs.pop("device", "cpu")
            return func(*args, **kwargs).to(device)
        return func(*args, **kwargs)


@cache
def _strict() -> frozenset[str]:
    """The functions that, on CUDA, take no number of the CPU's."""
    table = Path(torchgen.__file__).parent / "packaged/ATen/native/native_functions.yaml"
    functions = re.split(r"^- func: ", table.read_text(encoding="utf-8"), flags=re.M)[1:]
    of_cuda = re.compile(r"^  (structured(_delegate)?:|  [\w, ]*\bCUDA\b)", re.M)
    return frozenset(
        "aten::" + told.partition("(")[0]
        for told in functions
        if of_cuda.search(told) and "device_check: NoCheck" not in told
    )


def _each(change: Callable[[Any], Any], given: Any) -> Any:
    """The same with other tensors; what torch is given, and gives, is lists of them at most."""
    if isinstance(given, list | tuple):
        return type(given)([_each(change, one) for one in given])
    return change(given) if isinstance(given, Tensor) else given


def _here(one: Tensor) -> Tensor:
    return one.inner if type(one) is Elsewhere else one


def _run(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    name, given = func._schema.name, list[Tensor]()
    _each(given.append, [*args, *kwargs.values()])
    there = any(type(one) is Elsewhere for one in given)
    if there and name not in (*_TO_AND_FRO, *_BY_INDEX):
        strict = f"{name}.{func._overloadname}".removesuffix(".default") in _strict()
        for one in given:
            if type(one) is not Elsewhere and (one.ndim or strict):
                raise RuntimeError(f"{name} meets tensors of two devices, {tuple(one.shape)}")
    options = {key: _each(_here, one) for key, one in kwargs.items()}
    if options.get("device") is not None:
        there, options = torch.device(options["device"]).type == THERE, options | {"device": "cpu"}
    found = func(*_each(_here, args), **options)
    if torch.Tag.inplace_view in func.tags and type(args[0]) is Elsewhere:  # as nn.RNN does
        with no_dispatch():
            func(*args, **kwargs)
    if "out" in kwargs or func._schema.is_mutable:
        return kwargs.get("out", args[0])
    return _each(Elsewhere, found) if there else found


class _Ungraded:
    """In place of `torch.inference_mode`, in which no tensor may be made that holds another."""

    def __enter__(self) -> None:
        self._before = torch.is_grad_enabled()
        torch._C._set_grad_enabled(self._before and not getattr(self, "mode", False))

    def __exit__(self, *reason: object) -> None:
        torch._C._set_grad_enabled(self._before)


@contextmanager
def elsewhere() -> Iterator[str]:
    """The device's name; tensors lie there within."""
    with pytest.MonkeyPatch.context() as patch, _Machine(), _Made():
        for method in ("__enter__", "__exit__"):
            patch.setattr(torch.inference_mode, method, getattr(_Ungraded, method))
        yield THERE
