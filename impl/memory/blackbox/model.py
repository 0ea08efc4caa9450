"""A model as a function of batches of windows: its call, its output, and its errors in one line."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.parameter import is_lazy

from rnnbounds.impl.errors import InputError, NotFiniteError, ShapeError, shown
from rnnbounds.impl.reading.opened import Function, Runnable

_RETURNS = "let it return outputs (N, T, p) or (N, p)"


class CallError(InputError):
    """A model that raises on windows, or returns what is no output."""

    def __init__(self, model: str, what: str, remedy: str) -> None:
        super().__init__(f"{shown(model)} {what}; {remedy}")


class MemoryLimitError(InputError):
    """Memory that runs out on as few windows as can be run."""

    def __init__(self) -> None:
        super().__init__(
            "memory runs out on a single window; ask for a shorter window, or another device"
        )


@dataclass(frozen=True, eq=False)
class CausalModel:
    """A function of windows (N, T, d), or of tokens (N, T), run on one device.

    dtype: what inputs that are not tokens are converted to, the dtype of its first floating
    parameter; None where it has none: they keep theirs.
    """

    call: Callable[..., object]
    title: str
    device: torch.device
    dtype: torch.dtype | None

    @classmethod
    def of(cls, opened: Runnable, device: str | None = None) -> "CausalModel":
        """The model of an opened source; a module is moved to the device, if one is named."""
        if isinstance(opened, Function):
            return cls(opened.call, opened.title, _device(device or "cpu"), None)
        parts = list(opened.module.parameters())
        if any(part.is_meta or is_lazy(part) for part in parts):
            what = f"{opened.title} has parameters without values"
            raise InputError(f"{shown(what)}; load them, and run lazy modules once")
        if device is not None:
            opened.module.to(_device(device))
            parts = list(opened.module.parameters())
        dtype = next((part.dtype for part in parts if part.is_floating_point()), None)
        own = parts[0].device if parts else _device(device or "cpu")
        return cls(opened.module, opened.title, own, dtype)

    @property
    def digest(self) -> str | None:
        """SHA-256 of names, dtypes and bytes of a module's parameters and buffers; None for a
        function, whose weights are not known."""
        if not isinstance(self.call, torch.nn.Module):
            return None
        sha = hashlib.sha256()
        named = [*self.call.named_parameters(), *self.call.named_buffers()]
        for name, part in named:
            plain = part.detach().cpu().contiguous()
            sha.update(f"|{name}|{plain.dtype}|{tuple(plain.shape)}|".encode())
            sha.update(plain.flatten().view(torch.uint8).numpy().tobytes())
        return sha.hexdigest()

    def taking(self, tokens: bool, stored: np.dtype[Any]) -> Callable[[Tensor], Tensor]:
        """The map from float64 windows (M, T, d) to what the model takes, on its device: windows in
        its dtype, or else in the dtype that they were `stored` in; of tokens (M, T), in int64."""
        own = self.dtype or torch.from_numpy(np.empty(0, stored.newbyteorder("="))).dtype

        def taken(x: Tensor) -> Tensor:
            return (x[:, :, 0].long() if tokens else x.to(own)).to(self.device)

        return taken

    def outputs(self, x: Tensor) -> Tensor:
        """The outputs on windows x: (N, T, p), or (N, p) after the last input; as computed.

        Raises MemoryError where memory runs out, CallError for every other error of the model, and
        ShapeError for an output of another length.
        """
        try:
            with torch.no_grad():
                y = _tensor(self.call(x.clone()))
        except (Exception, SystemExit) as cause:
            if is_memory(cause):
                raise MemoryError from None
            text = " ".join(f"{type(cause).__name__}: {cause}".split())[:160]
            where = f"windows of shape {tuple(x.shape)}, {x.dtype}"
            remedy = "let it take them (N, T, d), or tokens (N, T), of every length T"
            raise CallError(self.title, f"raises {text} on {where}", remedy) from None
        if y is None:
            raise CallError(self.title, "returns no tensor", _RETURNS)
        N, T = x.shape[:2]
        whole = y.ndim == 3 and y.shape[:2] == (N, T)
        if not (whole or (y.ndim == 2 and len(y) == N)) or not y.shape[-1] or y.is_complex():
            needed = f"({N}, {T}, p) or ({N}, p)"
            raise ShapeError(f"the output of {shown(self.title)}", needed, y, _RETURNS)
        return y.detach()

    def last(self, x: Tensor) -> Tensor:
        """The output after the last input of windows x, in float64 on the CPU: (N, p)."""
        return last_of(self.outputs(x))


def last_of(y: Tensor) -> Tensor:
    """The last of outputs (N, T, p) or (N, p), in float64 on the CPU; raises NotFiniteError."""
    end = (y[:, -1] if y.ndim == 3 else y).cpu().double()
    if not bool(torch.isfinite(end).all()):
        row = int((~torch.isfinite(end)).any(1).nonzero()[0])
        remedy = "repair the model, or scale the inputs as in training"
        raise NotFiniteError(f"the output on window {row} of a batch", remedy)
    return end


def _tensor(found: Any) -> Tensor | None:
    """The tensor of outputs: itself, `.logits` or `.last_hidden_state`, or a tuple's first."""
    for name in ("logits", "last_hidden_state"):
        if isinstance(part := getattr(found, name, None), Tensor):
            return part
        if isinstance(found, Mapping) and isinstance(part := found.get(name), Tensor):
            return part
    if isinstance(found, tuple | list) and found:
        found = found[0]
    if isinstance(found, np.ndarray):
        return torch.from_numpy(found)
    return found if isinstance(found, Tensor) else None


def is_memory(cause: BaseException) -> bool:
    """True for an error of the allocator, of Python or torch, on any device."""
    allocator = isinstance(cause, RuntimeError) and "can't allocate memory" in str(cause)
    return allocator or isinstance(cause, MemoryError | torch.OutOfMemoryError)


def _device(name: str) -> torch.device:
    """The device of that name; raises InputError unless numbers can be there."""
    try:
        torch.zeros(1, device=torch.device(name)).cpu()
        return torch.device(name)
    except (RuntimeError, AssertionError, TypeError, NotImplementedError):
        what = f"no device {shown(name)!r} is available"
        raise InputError(f"{what}; choose cpu, or cuda where there is one") from None
