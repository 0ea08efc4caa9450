"""Normal form of powers with symbolic exponents: each λ^e a product of atoms.

Exponents that differ by an integer share the atom of the least: λ^{t+2} is λ^t λ². That needs the
least exponent to be a natural number, which the caller shows.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import floor
from typing import TypeAlias

from rnnbounds.theory.kernel.algebra import minus, parts_of, plus
from rnnbounds.theory.kernel.terms import NUMBER, Term, number, symbolic_powers

Key: TypeAlias = tuple[Term, Term]


def decompose(power: Term) -> tuple[Key, int]:
    """((base, symbolic part of the exponent), its integer part)."""
    base, exponent = power.args
    numbers = (part.value for part in parts_of(exponent) if part.head is NUMBER)
    whole = floor(sum(numbers, Fraction(0)))
    return (base, minus(exponent, number(whole))), whole


class Powers:
    """The least exponents that occur in a family of terms."""

    def __init__(self, terms: Iterable[Term]) -> None:
        self.least: dict[Key, int] = {}
        for power in symbolic_powers(terms):
            key, whole = decompose(power)
            self.least[key] = min(self.least.get(key, whole), whole)

    @property
    def exponents(self) -> tuple[Term, ...]:
        """The exponents of the atoms: what must be natural."""
        return tuple(plus(rest, number(whole)) for (_, rest), whole in self.least.items())

    def atom(self, power: Term) -> tuple[Key, int]:
        """The atom's key, and how many more factors of the base the power has."""
        key, whole = decompose(power)
        return key, whole - self.least[key]
