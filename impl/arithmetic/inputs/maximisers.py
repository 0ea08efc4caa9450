"""Sets of inputs with maximisers of linear functions over them, from which attacks pick inputs."""

import math
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.inputs.sets import InputBound, InputSet
from rnnbounds.impl.errors import RangeError
from rnnbounds.impl.numbers.outward import norm_up

_INWARD = 1 - 2.0**-30  # short of the bound by more than any rounding
_LARGEST = 1e150  # of inputs whose squares are numbers


class Inputs(Protocol):
    """A set of inputs x (d,), for every time alike."""

    @property
    def B(self) -> float:
        """At least ‖x‖₂."""

    def smallest_input(self, d: int) -> Tensor:
        """An input of the set, the least or nearly, (d,)."""

    def maximiser(self, g: Tensor) -> Tensor:
        """Maximise ⟨g, x⟩ approximately over the set, row by row: (…, d) -> maximisers (…, d)."""

    def interpolate(self, x: Tensor, aim: Tensor, part: Tensor | float) -> Tensor:
        """A part of the way from x to the aim, in rows (…, M, d) and parts (M, 1)."""

    def holds(self, x: Tensor) -> bool:
        """True if every row of x (T, d) is proved to lie in the set."""


@dataclass(frozen=True)
class BallSet:
    """‖x‖₂ ≤ B."""

    B: float

    def __post_init__(self) -> None:
        if not 0 <= self.B < torch.inf:
            raise RangeError("the input bound B", self.B, "a number ≥ 0")

    def smallest_input(self, d: int) -> Tensor:
        """Zero."""
        return torch.zeros(d, dtype=torch.float64)

    def maximiser(self, g: Tensor) -> Tensor:
        """B g/‖g‖₂, a little less; 0 where g is 0 or no number."""
        g = g.nan_to_num(0.0, 0.0, 0.0)
        g = g / g.abs().amax(-1, keepdim=True).clamp(min=torch.finfo(g.dtype).tiny)
        size = torch.linalg.vector_norm(g, dim=-1, keepdim=True)
        x = g / torch.where(size > 0, size, 1.0) * (min(self.B, _LARGEST) * _INWARD)
        return torch.where(norm_up(x)[..., None] <= self.B, x, 0.0)

    def interpolate(self, x: Tensor, aim: Tensor, part: Tensor | float) -> Tensor:
        """On the line between them."""
        return x + part * (aim - x)

    def holds(self, x: Tensor) -> bool:
        """By norms that are rounded up."""
        return bool((norm_up(x) <= self.B).all())


@dataclass(frozen=True)
class BoxSet(BallSet):
    """low ≤ x ≤ high (d,) and ‖x‖₂ ≤ B."""

    low: Tensor
    high: Tensor

    def smallest_input(self, d: int) -> Tensor:
        """The least of the box."""
        return torch.zeros(d, dtype=torch.float64).clamp(self.low, self.high)

    def maximiser(self, g: Tensor) -> Tensor:
        """The corner towards g, or as far on the way there from the least as the ball allows."""
        g = g.nan_to_num(0.0, 0.0, 0.0)
        rest = self.smallest_input(g.shape[-1])
        low, high = (end.clamp(-self.B, self.B) for end in (self.low, self.high))
        direction = torch.where(g > 0, high, torch.where(g < 0, low, rest)) - rest
        unit = math.ldexp(1.0, min(math.frexp(self.B)[1], 1023))  # so that squares are numbers
        aim, origin = direction / unit, rest / unit
        a, b = aim.square().sum(-1), (aim * origin).sum(-1)
        c = origin.square().sum() - (min(self.B, _LARGEST) / unit * _INWARD) ** 2
        root = (b * b - a * c).clamp(min=0.0).sqrt()
        step = torch.where(a > 0, (root - b) / a, 1.0).clamp(0.0, 1.0)
        x = (rest + step[..., None] * direction).clamp(self.low, self.high)
        return torch.where(norm_up(x)[..., None] <= self.B, x, rest)

    def interpolate(self, x: Tensor, aim: Tensor, part: Tensor | float) -> Tensor:
        """On the line between them."""
        return super().interpolate(x, aim, part).clamp(self.low, self.high)

    def holds(self, x: Tensor) -> bool:
        """By norms that are rounded up."""
        return super().holds(x) and bool(((x >= self.low) & (x <= self.high)).all())


@dataclass(frozen=True)
class RowSet(BallSet):
    """The rows (m, d) of a table."""

    rows: Tensor

    def smallest_input(self, d: int) -> Tensor:
        """The shortest."""
        return self.rows[norm_up(self.rows).argmin()]

    def maximiser(self, g: Tensor) -> Tensor:
        """The row that is furthest that way."""
        return self.rows[(g.nan_to_num(0.0, 0.0, 0.0) @ self.rows.mT).argmax(-1)]

    def interpolate(self, x: Tensor, aim: Tensor, part: Tensor | float) -> Tensor:
        """At a part of all times the aim; at which is the same each time."""
        generator = torch.Generator().manual_seed(0)
        draw = torch.rand((*x.shape[:-1], 1), generator=generator, dtype=torch.float64)
        return torch.where(draw < part, aim, x)

    def holds(self, x: Tensor) -> bool:
        """True if each row of x equals a row of the table, entry by entry."""
        return all(bool((self.rows == row).all(-1).any()) for row in x)


def input_set_of(bound: InputBound) -> Inputs:
    """The set that a bound on inputs speaks of: a ball, or what an `InputSet` says."""
    if not isinstance(bound, InputSet):
        return BallSet(float(bound))
    if bound.rows is not None:
        return RowSet(float(bound), bound.rows)
    return BoxSet(float(bound), bound.low, bound.high)
