"""Two runs at once in balls, with their difference where it is known exactly.

A unit that sees no difference has none, which two balls alone cannot tell: ρ(z) − ρ(z) is a ball
around 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

from flint import arb, fmpq

from rnnbounds.impl.arithmetic.base import ALL
from rnnbounds.impl.arithmetic.elementary import Scalable
from rnnbounds.impl.arithmetic.entries.balls import Balls, Columns
from rnnbounds.impl.arithmetic.entries.rationals import Rationals

ZERO = fmpq(0)


@dataclass(frozen=True, eq=False)
class Twin(Scalable):
    """Two columns, and what is known of one − two, unit by unit."""

    one: Columns
    two: Columns
    gap: list[fmpq | None]

    @property
    def size(self) -> int:
        """How many units."""
        return len(self.gap)

    def difference(self) -> list[arb]:
        """One − two in balls, exactly 0 where it is known to be."""
        balls = (self.one - self.two).units
        return [arb(0) if g == 0 else ball for g, (ball,) in zip(self.gap, balls, strict=True)]

    def __add__(self, other: Self) -> Self:
        gaps = zip(self.gap, other.gap, strict=True)
        known = [None if p is None or q is None else p + q for p, q in gaps]
        return type(self)(self.one + other.one, self.two + other.two, known)

    def __sub__(self, other: Self) -> Self:
        return self + -other

    def __mul__(self, other: Self) -> Self:
        same = [ZERO if p == q == 0 else None for p, q in zip(self.gap, other.gap, strict=True)]
        return type(self)(self.one * other.one, self.two * other.two, same)

    def __neg__(self) -> Self:
        return type(self)(-self.one, -self.two, [None if g is None else -g for g in self.gap])

    def constant(self, c: float) -> Self:
        """That number in the place of each unit, in both columns."""
        return type(self)(self.one.constant(c), self.two.constant(c), [ZERO] * self.size)

    def sigmoid(self) -> Self:
        """1/(1 + e⁻ᵃ)."""
        return self.through(Columns.sigmoid)

    def tanh(self) -> Self:
        """tanh a."""
        return self.through(Columns.tanh)

    def exp(self) -> Self:
        """eᵃ."""
        return self.through(Columns.exp)

    def softplus(self) -> Self:
        """log(1 + eᵃ)."""
        return self.through(Columns.softplus)

    def sin(self) -> Self:
        """sin a."""
        return self.through(Columns.sin)

    def cos(self) -> Self:
        """cos a."""
        return self.through(Columns.cos)

    def reciprocal(self) -> Self:
        """1/a."""
        return self.through(Columns.reciprocal)

    def through(self, f: Callable[[Columns], Columns]) -> Self:
        """f of each unit: the same of the same."""
        same = [ZERO if g == 0 else None for g in self.gap]
        return type(self)(f(self.one), f(self.two), same)

    def chunk(self, count: int) -> tuple[Self, ...]:
        """So many equal parts of the units."""
        size = self.size // count
        return tuple(self.part(i * size, (i + 1) * size) for i in range(count))

    def part(self, start: int, stop: int) -> Self:
        """The units from start on, before stop."""
        runs = self.one.part(start, stop), self.two.part(start, stop)
        return type(self)(*runs, self.gap[start:stop])


@dataclass(frozen=True, eq=False)
class Twins:
    """Twins over balls; the parameters are those of both."""

    balls: Balls
    exact: Rationals

    def affine(self, weight: str, bias: str | None, v: Twin, rows: slice = ALL) -> Twin:
        """W v + b; entries of v with weight 0 add nothing."""
        one, two = (self.balls.affine(weight, bias, run, rows) for run in (v.one, v.two))
        return Twin(one, two, [image(row, v.gap) for row in self.exact.rows(weight)[rows]])

    def vector(self, name: str, rows: slice = ALL) -> Twin:
        """A parameter vector."""
        value = self.balls.vector(name, rows)
        return Twin(value, value, [ZERO] * value.size)

    def activate(self, name: str, v: Twin) -> Twin:
        """ρ(v)."""
        return v.through(lambda run: self.balls.activate(name, run))

    def slope(self, name: str, v: Twin) -> Twin:
        """ρ′(v)."""
        return v.through(lambda run: self.balls.slope(name, run))

    def mix(self, gate: Twin, a: Twin, b: Twin) -> Twin:
        """g∘a + (1 − g)∘b."""
        return gate * (a - b) + b

    def join(self, *parts: Twin) -> Twin:
        """All units of the parts, one after another."""
        one = self.balls.join(*(part.one for part in parts))
        two = self.balls.join(*(part.two for part in parts))
        return Twin(one, two, [g for part in parts for g in part.gap])


def image(row: list[fmpq], gap: list[fmpq | None]) -> fmpq | None:
    """The same combination of what is known; None where something unknown counts."""
    total = ZERO
    for w, g in zip(row, gap, strict=True):
        if g is None and w != 0:
            return None
        total += w * g if g is not None else ZERO
    return total
