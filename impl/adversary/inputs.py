"""Sets of inputs that an adversary may choose from."""

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from impl.errors import RangeError
from impl.numbers.outward import norm_up

_INWARD = 1 - 2.0**-30  # short of the bound by more than any rounding
_LARGEST = 1e150  # of inputs whose squares are numbers


class Inputs(Protocol):
    """A set of inputs x (d,), convex, for every time alike."""

    def furthest(self, g: Tensor) -> Tensor:
        """Where ⟨g, x⟩ is nearly the largest, in rows: (…, d) -> (…, d)."""

    def holds(self, x: Tensor) -> bool:
        """Whether all rows (T, d) are certainly of the set."""


@dataclass(frozen=True)
class Ball:
    """‖x‖₂ ≤ B."""

    B: float

    def __post_init__(self) -> None:
        if not 0 <= self.B < torch.inf:
            raise RangeError("the input bound B", self.B, "a number ≥ 0")

    def furthest(self, g: Tensor) -> Tensor:
        """B g/‖g‖₂, a little less; 0 where g is 0 or no number."""
        g = g.nan_to_num(0.0, 0.0, 0.0)
        g = g / g.abs().amax(-1, keepdim=True).clamp(min=torch.finfo(g.dtype).tiny)
        size = torch.linalg.vector_norm(g, dim=-1, keepdim=True)
        x = g / torch.where(size > 0, size, 1.0) * (min(self.B, _LARGEST) * _INWARD)
        return torch.where(norm_up(x)[..., None] <= self.B, x, 0.0)

    def holds(self, x: Tensor) -> bool:
        """By norms that are rounded up."""
        return bool((norm_up(x) <= self.B).all())
