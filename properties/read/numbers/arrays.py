"""Numbers of this machine as arrays of NumPy's, those of another as the tensors that they are.

On small arrays a call costs more than its arithmetic, and NumPy's cost a quarter of torch's. What
is written with operators alone takes either.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import numpy as np
import torch

Tensor = torch.Tensor
Floats = Any
Params = ParamSpec("Params")
Result = TypeVar("Result")


def as_array(numbers: Tensor | Floats) -> Floats:
    """Convert numbers to a NumPy array, except tensors that are not on the CPU."""
    if isinstance(numbers, Tensor):
        return numbers.numpy() if numbers.is_cpu else numbers
    return np.asarray(numbers)


def as_tensor(numbers: Floats) -> Tensor:
    """Convert an array to a tensor of equal numbers."""
    return numbers if isinstance(numbers, Tensor) else torch.from_numpy(numbers)


def zeros_like(like: Floats) -> Floats:
    """Zeros of the shape of an array or tensor."""
    return torch.zeros_like(like) if isinstance(like, Tensor) else np.zeros(like.shape)


def clamp_above(numbers: Floats, cap: float) -> Floats:
    """The numbers, cut at a cap."""
    return numbers.clamp(max=cap) if isinstance(numbers, Tensor) else np.minimum(numbers, cap)


def concatenate(parts: list[Floats], axis: int) -> Floats:
    """Concatenate parts along an axis."""
    return torch.cat(parts, axis) if isinstance(parts[0], Tensor) else np.concatenate(parts, axis)


def mask_times(where: Floats, size: float) -> Floats:
    """So much where that is true, and 0 elsewhere; a mask of torch's times a number would be a
    float32, in which what underflow may lose is 0."""
    return where.to(torch.float64) * size if isinstance(where, Tensor) else where * size


def without_warnings(operation: Callable[Params, Result]) -> Callable[Params, Result]:
    """Wrap an operation to suppress NumPy's warnings of infinity and NaN, which it returns."""
    return np.errstate(all="ignore")(operation)
