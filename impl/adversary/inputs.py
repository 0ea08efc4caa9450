"""Sets of inputs that an adversary may choose from."""

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from impl.errors import RangeError
from impl.inputs.sets import InputSet
from impl.numbers.outward import norm_up

_INWARD = 1 - 2.0**-30  # short of the bound by more than any rounding
_LARGEST = 1e150  # of inputs whose squares are numbers


class Inputs(Protocol):
    """A set of inputs x (d,), convex, for every time alike."""

    def furthest(self, g: Tensor) -> Tensor:
        """Where ⟨g, x⟩ is nearly the largest, in rows: (…, d) -> (…, d)."""

    def nearest(self, x: Tensor) -> Tensor:
        """Rows (T, d), moved into the set where a search left it."""

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

    def nearest(self, x: Tensor) -> Tensor:
        """Themselves: no search leaves a ball."""
        return x

    def holds(self, x: Tensor) -> bool:
        """By norms that are rounded up."""
        return bool((norm_up(x) <= self.B).all())


@dataclass(frozen=True)
class Chosen:
    """The inputs of a set: rows of a table, or corners of a box that are drawn into its ball."""

    given: InputSet

    def furthest(self, g: Tensor) -> Tensor:
        """The row with the largest product; of a box the corner, on the way to its least point as
        far as the ball allows."""
        low, high = (end.to(g) for end in (self.given.low, self.given.high))
        if self.given.rows is not None:
            rows = self.given.rows.to(g)
            return rows[(g.nan_to_num(0.0, 0.0, 0.0) @ rows.mT).argmax(-1)]
        x, least = torch.where(g > 0, high, low), torch.zeros_like(low).clamp(low, high)
        size = torch.linalg.vector_norm(x, dim=-1, keepdim=True)
        room = (float(self.given) * _INWARD - torch.linalg.vector_norm(least)).clamp(min=0.0)
        share = (room / torch.linalg.vector_norm(x - least, dim=-1, keepdim=True)).clamp(max=1.0)
        drawn = (least + share.nan_to_num(0.0) * (x - least)).clamp(low, high)
        return torch.where(size <= float(self.given) * _INWARD, x, drawn)

    def nearest(self, x: Tensor) -> Tensor:
        """The nearest row; in a box channel by channel."""
        if self.given.rows is None:
            return x.clamp(self.given.low.to(x), self.given.high.to(x))
        return self.given.rows.to(x)[torch.cdist(x, self.given.rows.to(x)).argmin(-1)]

    def holds(self, x: Tensor) -> bool:
        """Row by row, exactly."""
        return all(self.given.holds(row) for row in x.tolist())


def inputs_of(bound: float) -> Inputs:
    """A set, or the ball of a number; raises RangeError."""
    return Chosen(bound) if isinstance(bound, InputSet) else Ball(float(bound))
