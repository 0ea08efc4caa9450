"""Sets of weights: every parameter within a Euclidean distance of its own of a given one.

Such a set Ω is convex, and what a cell's `program` makes of all its weights at once is bounded by
`impl.arithmetic.slopes` and `impl.arithmetic.derivatives.second_order` with
|W_ij| ≤ |W⁰_ij| + r and W v ∈ W⁰ v ± r‖v‖₂, rounded up. Both take the radii (B,) by name; a
parameter without one stands still, as a gate of its own must.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.inputs.given import through
from rnnbounds.impl.arithmetic.intervals import Interval, Mapped
from rnnbounds.impl.numbers.outward import add_up, mul_up, norm_up

Radii = Mapping[str, Tensor]
M = TypeVar("M", bound=Mapped)


@dataclass(frozen=True, eq=False)
class Enclosing:
    """Base class of bounding arithmetics: parameters (B, m, n) and (B, m), each anywhere within its
    radius, and numbers with a range; inputs in a ball also have a radius, and a set if `given`."""

    parameters: Mapping[str, Tensor]
    radii: Radii = field(default_factory=dict, kw_only=True)
    interval: type[Interval] = field(default=Interval, kw_only=True)  # of what numbers are made

    def stored(self, name: str) -> Tensor:
        """A parameter as a number."""
        return self.interval.of_weight(self.parameters[name])

    def reach(self, v: Any) -> Tensor:
        """At least ‖v‖₂, (B,)."""
        return norm_up(v.range.magnitude) if v.radius is None else v.radius

    def enclosed(self, weight: str, bias: str | None, v: Any, rows: slice) -> Interval:
        """The range of W v + b."""
        W = self.stored(weight)[:, rows]
        if v.given is not None:
            told = through(v.given, W, self.interval)
        elif v.radius is not None:
            told = self.interval.of_ball(W, v.radius)
        else:
            told = v.range.mapped(W)
        if weight in self.radii:
            told = _moved(told, mul_up(self.radii[weight], self.reach(v)))
        return told + self.within(bias, rows) if bias in self.parameters else told

    def sizes(self, weight: str, rows: slice) -> Tensor:
        """At least |W_ij|."""
        size = self.stored(weight)[:, rows].abs()
        return add_up(size, self.radii[weight][:, None, None]) if weight in self.radii else size

    def terms(self, weight: str, bias: str | None, v: Any, rows: slice, most: Tensor) -> Tensor:
        """At least Σ_j |W_ij||v_j| + |b_i| for |v| ≤ most (B, n)."""
        W = self.sizes(weight, rows)
        size = Interval.symmetric(most).mapped(W).high
        if v.radius is not None:
            size = torch.minimum(size, mul_up(norm_up(W), v.radius[:, None]))
        return add_up(size, self.within(bias, rows).magnitude) if bias in self.parameters else size

    def within(self, name: str | None, rows: slice) -> Interval:
        """The entries of a parameter vector."""
        value = self.stored(str(name))[:, rows]
        told, radius = self.interval(value, value), self.radii.get(str(name))
        return told if radius is None else _moved(told, radius)

    def activate(self, name: str, v: M) -> M:
        """ρ(v)."""
        return v.function(name)

    def slope(self, name: str, v: M) -> M:
        """ρ′(v)."""
        return v.through(v.range.function(name).derivative)


def _moved(told: Interval, by: Tensor) -> Interval:
    return told.widened(by[:, None].expand_as(told.low))
