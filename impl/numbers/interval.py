"""Intervals of numbers, and how far gates open and how steep they are on them.

All bounds are rounded outwards; the functions are evaluated in ball arithmetic.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from flint import arb, ctx
from torch import Tensor

from rnnbounds.impl.numbers import ball_functions as balls
from rnnbounds.impl.numbers.ball_functions import float_above
from rnnbounds.impl.numbers.outward import add_up

_PRECISION = 80


@dataclass(frozen=True, eq=False)
class Interval:
    """low ≤ a ≤ high for each pre-activation, (B, n) each."""

    low: Tensor
    high: Tensor

    @classmethod
    def joined(cls, *parts: "Interval") -> "Interval":
        """All units of the parts, one after another."""
        return cls(torch.cat([p.low for p in parts], 1), torch.cat([p.high for p in parts], 1))

    def part(self, start: int, stop: int) -> "Interval":
        """The units from start on, before stop."""
        return Interval(self.low[:, start:stop], self.high[:, start:stop])

    def sigmoid(self) -> Tensor:
        """At least σ(a)."""
        return above(balls.sigmoid, self.high).clamp(max=1.0)

    def sigmoid_low(self) -> Tensor:
        """At most σ(a)."""
        return (-above(lambda a: -balls.sigmoid(a), self.low)).clamp(min=0.0)

    def sigmoid_slope(self) -> Tensor:
        """At least σ′(a), which is 1/4 where a may be 0."""
        return above(balls.sigmoid_slope, self.least()).clamp(max=0.25)

    def tanh_slope(self) -> Tensor:
        """At least tanh′(a), which is 1 where a may be 0."""
        return above(balls.tanh_slope, self.least()).clamp(max=1.0)

    def __neg__(self) -> "Interval":
        return Interval(-self.high, -self.low)

    def widened(self, by: Tensor) -> "Interval":
        """The interval, longer by that on both sides."""
        return Interval(-add_up(-self.low, by), add_up(self.high, by))

    def least(self) -> Tensor:
        """At most |a|."""
        return torch.maximum(self.low, -self.high).clamp(min=0.0)


def tanh_up(a: Tensor) -> Tensor:
    """At least tanh a, entry by entry."""
    return above(lambda z: z.tanh(), a).clamp(max=1.0)


def above(f: Callable[[arb], arb], x: Tensor) -> Tensor:
    """At least f(x), entry by entry."""
    with ctx.workprec(_PRECISION):
        values = [float_above(f(arb(value))) for value in x.flatten().tolist()]
    return torch.tensor(values, dtype=torch.float64, device=x.device).reshape(x.shape)
