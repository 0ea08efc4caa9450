"""Affine forms of numbers, z = ℓ + b with |ℓ| ≤ σ and |b| ≤ β, and of their multiples and sums.

A factor κ that is within ρ of a known number s takes z to s ℓ, up to (|s| + ρ) β + ρ σ.
"""

from dataclasses import dataclass

from sympy import Abs, Add, Expr, symbols

from rnnbounds.theory.language import ZERO, Instance, Statement, at, le
from rnnbounds.theory.language.functions import MULTIPLE, SCALED_REST, Multiple, ScaledRest
from rnnbounds.theory.proof import step


@dataclass(frozen=True)
class UncertainFactor:
    """A number κ that lies within a radius ρ of a known number s."""

    exact: Expr
    approximation: Expr
    radius: Expr = ZERO

    @property
    def is_near(self) -> Statement:
        """Statement |κ − s| ≤ ρ."""
        return le(Abs(self.exact - self.approximation), self.radius)


@dataclass(frozen=True)
class AffineForm:
    """Affine form of z: its linear part ℓ, |z − ℓ| ≤ β (`rest`) and |ℓ| ≤ σ (`width`)."""

    value: Expr
    linear: Expr
    rest: Expr
    width: Expr = ZERO

    @property
    def enclosure(self) -> Statement:
        """Statement |z − ℓ| ≤ β."""
        return le(Abs(self.value - self.linear), self.rest)

    @property
    def size(self) -> Expr:
        """Upper bound σ + β on |z|."""
        return self.width + self.rest

    def scale(self, factor: UncertainFactor) -> "AffineForm":
        """Affine form of κ z."""
        rest = ScaledRest(factor.approximation, factor.radius, self.rest, self.width)
        return AffineForm(
            Multiple(factor.exact, self.value), Multiple(factor.approximation, self.linear), rest
        )

    def scaling_use(self, by: UncertainFactor) -> Instance:
        """Use of the lemma that κ z has the scaled form."""
        factor = (by.exact, by.approximation, by.radius)
        return at("multiples", *factor, self.value, self.linear, self.rest, self.width)

    def collects(self, *parts: "AffineForm") -> Statement:
        """ℓ is the sum of the parts', up to what goes to β, to which their rests go as well."""
        moved = Abs(self.linear - Add(*(part.linear for part in parts)))
        return le(moved + Add(*(part.rest for part in parts)), self.rest)


_factor = UncertainFactor(*symbols("factor s_known radius", real=True))
_form = AffineForm(*symbols("moved moved_line rest width", real=True))
MULTIPLES = step(
    "multiples",
    _form.scale(_factor).enclosure,
    (
        _factor.exact,
        _factor.approximation,
        _factor.radius,
        _form.value,
        _form.linear,
        _form.rest,
        _form.width,
    ),
    (_factor.is_near, _form.enclosure, le(Abs(_form.linear), _form.width)),
).by(
    MULTIPLE.at(_factor.exact, _form.value),
    MULTIPLE.at(_factor.approximation, _form.linear),
    SCALED_REST.at(_factor.approximation, _factor.radius, _form.rest, _form.width),
)


def product_uses(*parts: AffineForm) -> tuple[Instance, ...]:
    """Uses: the values of multiples are products."""
    return tuple(MULTIPLE.at(*part.value.args) for part in parts)
