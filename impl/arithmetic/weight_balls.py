"""Sets of weights: every parameter within a Euclidean distance of its own of a given one.

Such a set Ω is convex, and what a cell's `program` makes of all its weights at once is bounded by
`impl.arithmetic.slopes` and `impl.arithmetic.derivatives.second_order` with
|W_ij| ≤ |W⁰_ij| + r and W v ∈ W⁰ v ± r‖v‖₂, rounded up. Both take the radii (B,) by name; a
parameter without one stands still, as a gate of its own must.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from torch import Tensor

from rnnbounds.impl.arithmetic.inputs.given import through
from rnnbounds.impl.arithmetic.intervals import Mapped, added, bounded, magnitude, mapped, of_ball
from rnnbounds.impl.numbers.interval import Interval
from rnnbounds.impl.numbers.outward import add_up, mul_up, norm_up

Radii = Mapping[str, Tensor]
M = TypeVar("M", bound=Mapped)


@dataclass(frozen=True, eq=False)
class Enclosing:
    """What arithmetics of bounds share: parameters (B, m, n) and (B, m), which may be whatever
    lies within the radii, and numbers that have a range, of inputs in a ball also its radius, and
    the set where they are `given`."""

    parameters: Mapping[str, Tensor]
    radii: Radii = field(default_factory=dict, kw_only=True)

    def stored(self, name: str) -> Tensor:
        """A parameter as a number."""
        return self.parameters[name].detach()

    def reach(self, v: Any) -> Tensor:
        """At least ‖v‖₂, (B,)."""
        return norm_up(magnitude(v.range)) if v.radius is None else v.radius

    def enclosed(self, weight: str, bias: str | None, v: Any, rows: slice) -> Interval:
        """The range of W v + b."""
        W = self.stored(weight)[:, rows]
        if v.given is not None:
            told = through(v.given, W)
        else:
            told = mapped(W, v.range) if v.radius is None else of_ball(W, v.radius)
        if weight in self.radii:
            told = _moved(told, mul_up(self.radii[weight], self.reach(v)))
        known = bias is not None and bias in self.parameters
        return added(told, self.within(str(bias), rows)) if known else told

    def sizes(self, weight: str, rows: slice) -> Tensor:
        """At least |W_ij|."""
        size = self.stored(weight)[:, rows].abs()
        return add_up(size, self.radii[weight][:, None, None]) if weight in self.radii else size

    def within(self, name: str, rows: slice) -> Interval:
        """The entries of a parameter vector."""
        value = self.stored(name)[:, rows]
        told = Interval(value, value)
        return _moved(told, self.radii[name]) if name in self.radii else told

    def activate(self, name: str, v: M) -> M:
        """ρ(v)."""
        return v.through(bounded(name))

    def slope(self, name: str, v: M) -> M:
        """ρ′(v)."""
        return v.through(bounded(name).derivative)


def _moved(told: Interval, by: Tensor) -> Interval:
    return told.widened(by[:, None].expand_as(told.low))
