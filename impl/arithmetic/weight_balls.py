"""Sets of weights: every parameter within a Euclidean distance of its own of a given one.

Such a set Ω is convex, and what a cell's `program` makes of all its weights at once is bounded by
`impl.arithmetic.slopes` and `impl.arithmetic.second_order` with |W_ij| ≤ |W⁰_ij| + r and W v ∈ W⁰ v
± r‖v‖₂, rounded up. Both take the radii (B,) by name; a parameter without one stands still, as a
gate of its own must.
"""

from collections.abc import Mapping

from torch import Tensor

from impl.cells.gated.gate import Interval
from impl.numbers.outward import add_up, mul_up

Radii = Mapping[str, Tensor]


def widened(told: Interval, radius: Tensor | None, reach: Tensor | None = None) -> Interval:
    """An interval for each unit (B, m), moved by at most radius·reach, by default radius."""
    if radius is None:
        return told
    by = radius if reach is None else mul_up(radius, reach)
    return told.widened(by[:, None].expand_as(told.low))


def sizes(W: Tensor, radius: Tensor | None) -> Tensor:
    """At least |W_ij| on the whole set."""
    if radius is None:
        return W.abs()
    return add_up(W.abs(), radius.reshape(-1, *[1] * (W.ndim - 1)))


def within(value: Tensor, radius: Tensor | None) -> Interval:
    """The entries of a parameter vector (B, m)."""
    return widened(Interval(value, value), radius)
