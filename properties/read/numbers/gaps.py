"""Two runs that see the same inputs, carried as the first one and its difference from the other.

A difference is computed from differences, never from values that nearly cancel:

    a b − a′b′ = δa·b + a′·δb,        tanh a − tanh a′ = tanh δ·(1 − tanh a·tanh a′),
    σ(a) − σ(a′) = tanh(δ/2)·(σ(a)σ(−a′) + σ(−a)σ(a′)),    eᵃ − eᵃ′ = tanh(δ/2)·(eᵃ + eᵃ′),

so that its rounding error shrinks with it, and it is exactly 0 where the runs are one. Over duals
these are differences of derivatives.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import singledispatch
from typing import Any, Generic

from rnnbounds.impl.arithmetic.base import ALL, Arithmetic, V
from rnnbounds.impl.arithmetic.derivatives.dual_numbers import Dual
from rnnbounds.impl.arithmetic.elementary import Elementary
from rnnbounds.impl.arithmetic.entries import E, Entries
from rnnbounds.properties.read.numbers.rounded import Rounded, match_axes


@dataclass(frozen=True, eq=False)
class Difference(Elementary, Generic[V]):
    """The numbers of the first run, and those minus the other run's."""

    levels = True

    value: V
    gap: V

    @property
    def other(self) -> V:
        """The numbers of the other run."""
        return self.value - self.gap

    @property
    def size(self) -> int:
        """Number of units."""
        return self.value.size

    def __add__(self, two: Difference[V]) -> Difference[V]:
        return Difference(self.value + two.value, self.gap + two.gap)

    def __sub__(self, two: Difference[V]) -> Difference[V]:
        return Difference(self.value - two.value, self.gap - two.gap)

    def __neg__(self) -> Difference[V]:
        return Difference(-self.value, -self.gap)

    def __mul__(self, two: Difference[V]) -> Difference[V]:
        return Difference(self.value * two.value, self.gap * two.value + self.other * two.gap)

    def constant(self, c: float) -> Difference[V]:
        """The number c in both runs, with difference 0."""
        return Difference(self.value.constant(c), self.gap.constant(0.0))

    def sigmoid(self) -> Difference[V]:
        """1/(1 + e⁻ᵃ)."""
        there, other = self.value.sigmoid(), self.other
        shut, opened = (-self.value).sigmoid(), other.sigmoid()
        return Difference(there, half_tanh(self.gap) * (there * (-other).sigmoid() + shut * opened))

    def tanh(self) -> Difference[V]:
        """tanh a."""
        there, moved = self.value.tanh(), self.gap.tanh()
        return Difference(there, moved - moved * (there * self.other.tanh()))

    def exp(self) -> Difference[V]:
        """eᵃ."""
        there = self.value.exp()
        return Difference(there, half_tanh(self.gap) * (there + self.other.exp()))

    def softplus(self) -> Difference[V]:
        """log(1 + eᵃ)."""
        return self.apply_function(lambda v: v.softplus())

    def sin(self) -> Difference[V]:
        """sin a."""
        return self.apply_function(lambda v: v.sin())

    def cos(self) -> Difference[V]:
        """cos a."""
        return self.apply_function(lambda v: v.cos())

    def reciprocal(self) -> Difference[V]:
        """1/a, and −δ/(a a′)."""
        there = self.value.reciprocal()
        return Difference(there, -(self.gap * (there * self.other.reciprocal())))

    def sqrt(self) -> Difference[V]:
        """√a for a ≥ 0, and 0 for a < 0."""
        return self.apply_function(lambda v: v.sqrt())

    def apply_function(self, f: Callable[[V], V]) -> Difference[V]:
        """Any function: its values are subtracted, but where they are those of one number."""
        there = f(self.value)
        return Difference(there, zero_where_equal(there - f(self.other), self.gap))

    def chunk(self, count: int) -> tuple[Difference[V], ...]:
        """So many equal parts of the units."""
        parts = zip(self.value.chunk(count), self.gap.chunk(count), strict=True)
        return tuple(Difference(value, gap) for value, gap in parts)

    def part(self, start: int, stop: int) -> Difference[V]:
        """The units from start on, before stop."""
        return Difference(self.value.part(start, stop), self.gap.part(start, stop))


@dataclass(frozen=True, eq=False)
class Differences(Generic[V]):
    """Both runs over the arithmetic `base`."""

    base: Arithmetic[V]

    def affine(
        self, weight: str, bias: str | None, v: Difference[V], rows: slice = ALL
    ) -> Difference[V]:
        """W v + b, and W δ."""
        value = self.base.affine(weight, bias, v.value, rows)
        return Difference(value, self.base.affine(weight, None, v.gap, rows))

    def vector(self, name: str, rows: slice = ALL) -> Difference[V]:
        """A parameter vector, the same for both."""
        value = self.base.vector(name, rows)
        return Difference(value, value - value)

    def activate(self, name: str, v: Difference[V]) -> Difference[V]:
        """ρ(v)."""
        if name == "identity":
            return v
        if name in ("tanh", "sigmoid"):
            found: Difference[V] = getattr(v, name)()
            return found
        return v.apply_function(lambda a: self.base.activate(name, a))

    def slope(self, name: str, v: Difference[V]) -> Difference[V]:
        """ρ′(v)."""
        return v.apply_function(lambda a: self.base.slope(name, a))

    def mix(self, gate: Difference[V], a: Difference[V], b: Difference[V]) -> Difference[V]:
        """g∘a + (1 − g)∘b, and g′∘δa + (1 − g′)∘δb + δg∘(a − b)."""
        value = self.base.mix(gate.value, a.value, b.value)
        moved = self.base.mix(gate.other, a.gap, b.gap)
        return Difference(value, moved + gate.gap * (a.value - b.value))

    def join(self, *parts: Difference[V]) -> Difference[V]:
        """All units of the parts, one after another."""
        value = self.base.join(*(part.value for part in parts))
        return Difference(value, self.base.join(*(part.gap for part in parts)))


@dataclass(frozen=True, eq=False)
class OtherWeights(Differences[V]):
    """Both runs over `base`, whose parameters differ by those of `moved`."""

    weight_gap: Arithmetic[V]

    def affine(
        self, weight: str, bias: str | None, v: Difference[V], rows: slice = ALL
    ) -> Difference[V]:
        """W v + b, and W δ + δW v′ + δb."""
        found = super().affine(weight, bias, v, rows)
        return Difference(
            found.value, found.gap + self.weight_gap.affine(weight, bias, v.other, rows)
        )

    def vector(self, name: str, rows: slice = ALL) -> Difference[V]:
        """A parameter vector, and its difference."""
        return Difference(self.base.vector(name, rows), self.weight_gap.vector(name, rows))


def half_tanh(a: Any) -> Any:
    """tanh(a/2)."""
    return (0.5 * a).tanh()


@singledispatch
def zero_where_equal(difference: Any, gap: Any) -> Any:
    """The difference of two values of a function, exactly 0 where its arguments are one."""
    raise TypeError(type(difference))


@zero_where_equal.register
def _(difference: Rounded, gap: Rounded) -> Rounded:
    matched = match_axes(difference, gap)[1]  # that of a parameter has no axis of directions
    return difference.zero_unless(matched.nonzero_mask)


@zero_where_equal.register(Entries)
def _(difference: E, gap: E) -> E:
    return difference.map_pairs(gap, lambda a, b: b if b == 0 else a)


@zero_where_equal.register
def _(difference: Dual, gap: Dual) -> Dual:  # type: ignore[type-arg]
    value = zero_where_equal(difference.value, gap.value)
    return Dual(
        value, zero_where_equal(difference.tangent, nonzero_if_either(gap.tangent, gap.value))
    )


@singledispatch
def nonzero_if_either(one: Any, two: Any) -> Any:
    """A number that is exactly 0 where both are: a derivative moves with its argument too."""
    raise TypeError(type(one))


@nonzero_if_either.register
def _(one: Rounded, two: Rounded) -> Rounded:
    many, few = match_axes(one, two)
    return Rounded.exact((many.nonzero_mask | few.nonzero_mask).to(many.value))


@nonzero_if_either.register(Entries)
def _(one: E, two: E) -> E:
    return one.map_pairs(two, lambda a, b: a if b == 0 else b)
