"""Affine forms of numbers, z = ℓ + b with |ℓ| ≤ σ and |b| ≤ β, and of their multiples and sums.

A factor κ that is within ρ of a known number s takes z to s ℓ, up to (|s| + ρ) β + ρ σ.
"""

from dataclasses import dataclass

from sympy import Abs, Add, Expr, symbols

from rnnbounds.theory.language import ZERO, Instance, Statement, at, le
from rnnbounds.theory.language.functions import MULTIPLE, SCALED_REST, Multiple, ScaledRest
from rnnbounds.theory.proof import step


@dataclass(frozen=True)
class Factor:
    """A number κ, a known one, and how far they are apart at most."""

    exact: Expr
    known: Expr
    radius: Expr = ZERO

    @property
    def within(self) -> Statement:
        """|κ − s| ≤ ρ."""
        return le(Abs(self.exact - self.known), self.radius)


@dataclass(frozen=True)
class Affine:
    """z, ℓ, β and σ."""

    value: Expr
    linear: Expr
    rest: Expr
    width: Expr = ZERO

    @property
    def known(self) -> Statement:
        """|z − ℓ| ≤ β."""
        return le(Abs(self.value - self.linear), self.rest)

    @property
    def reach(self) -> Expr:
        """At least |z|."""
        return self.width + self.rest

    def times(self, by: Factor) -> "Affine":
        """The form of κ z."""
        rest = ScaledRest(by.known, by.radius, self.rest, self.width)
        return Affine(Multiple(by.exact, self.value), Multiple(by.known, self.linear), rest)

    def scaled(self, by: Factor) -> Instance:
        """That κ z has this form."""
        factor = (by.exact, by.known, by.radius)
        return at("multiples", *factor, self.value, self.linear, self.rest, self.width)

    def gathers(self, *parts: "Affine") -> Statement:
        """ℓ is the sum of the parts', up to what goes to β, to which their rests go as well."""
        moved = Abs(self.linear - Add(*(part.linear for part in parts)))
        return le(moved + Add(*(part.rest for part in parts)), self.rest)


_by = Factor(*symbols("factor s_known radius", real=True))
_z = Affine(*symbols("moved moved_line rest width", real=True))
MULTIPLES = step(
    "multiples",
    _z.times(_by).known,
    (_by.exact, _by.known, _by.radius, _z.value, _z.linear, _z.rest, _z.width),
    (_by.within, _z.known, le(Abs(_z.linear), _z.width)),
).by(
    MULTIPLE.at(_by.exact, _z.value),
    MULTIPLE.at(_by.known, _z.linear),
    SCALED_REST.at(_by.known, _by.radius, _z.rest, _z.width),
)


def written_out(*parts: Affine) -> tuple[Instance, ...]:
    """The values of multiples, as products."""
    return tuple(MULTIPLE.at(*part.value.args) for part in parts)
