"""One number for all units, where a cell has one a unit: a leak that is a scalar.

It is repeated, which is exact. A number of Python's becomes the dtype of the cell's matrix, if that
holds it exactly: torch would compute with 1 − a rounded apart from a.
"""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from rnnbounds.impl.errors import shown
from rnnbounds.impl.reading.recognition.misfit import WeightsError

_ROWS = {"leak": "W"}  # names of numbers, each with the matrix whose rows it is of


def broadcast(tensors: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """The tensors, with each such number (), (1,) or of Python's as a vector (n,).

    Raises WeightsError for a number of Python's that the dtype of the matrix does not hold.

    >>> broadcast({"W": torch.zeros(3, 3), "leak": 0.5})["leak"]  # tensor([0.5, 0.5, 0.5])
    """
    found: dict[Any, Any] = {}
    for name, value in tensors.items():
        prefix, dot, own = str(name).rpartition(".")
        matrix = tensors.get(prefix + dot + _ROWS[own]) if own in _ROWS else None
        if isinstance(matrix, Tensor) and matrix.ndim == 2:
            number = _number(str(name), value, matrix.dtype)
            if number is not None:
                found[name] = number.expand(len(matrix)).clone()
    return {**tensors, **found} if found else tensors


def _number(name: str, value: object, dtype: torch.dtype) -> Tensor | None:
    """The number as a tensor; None if it is none."""
    if isinstance(value, Tensor):
        return (
            value
            if value.shape in ((), (1,)) and type(value) in (Tensor, torch.nn.Parameter)
            else None
        )
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not (abs(value) <= 1 and dtype.is_floating_point):
        return None
    number = torch.tensor(value, dtype=dtype)
    if float(number) != value:
        kept = str(dtype).removeprefix("torch.")
        what = f"{shown(name)} is the number {value}, which {kept} does not hold"
        raise WeightsError(f"{what}; store it as a tensor, as torch.tensor({value})")
    return number
