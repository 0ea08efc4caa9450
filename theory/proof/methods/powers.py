"""Normal form of powers with symbolic exponents: each λ^e a product of atoms.

Exponents that differ by an integer share the atom of the least: λ^{t+2} is λ^t · λ².  That needs
the least exponent to be a natural number, which the caller shows; no other law of powers is built
in, since λ^{a+b} = λ^a λ^b is false at λ = 0 for negative exponents.
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from math import comb, prod

from sympy import Expr, Integer, Pow, expand_mul

from theory.proof.methods.base import KEPT, Gap

Key = tuple[Expr, Expr]
LARGEST = 1_000  # exponent that is put for a symbol: SymPy computes powers of numbers at once
MOST_TERMS = 20_000  # of an expanded expression


def multiplied(expression: Expr) -> Expr:
    """Products and whole powers of sums multiplied out; no logarithm, root or power is split."""
    return expression.expand(power_base=False, power_exp=False, log=False, basic=False)


def require_small(powers: Iterable[Pow], values: Mapping[Expr, Expr]) -> None:
    """Raise Gap where the values make a power one of a large number of factors."""
    for power in sorted(powers, key=lambda power: power.count_ops()):  # towers from the top
        exponent = power.exp.xreplace(values)
        if exponent.is_Rational and abs(exponent) > LARGEST:
            raise Gap(f"{power.exp} would be {exponent} in {power}; the limit is {LARGEST}")


def require_expandable(expression: Expr) -> None:
    """Raise Gap if the expanded expression could have too many terms."""
    if _terms(expression) > MOST_TERMS:
        raise Gap(f"{expression} has more than {MOST_TERMS} terms when expanded")


def _terms(expression: Expr) -> int:
    """A bound on the terms of the expanded expression."""
    if expression.is_Add:
        return sum(map(_terms, expression.args))
    if expression.is_Mul:
        return prod(map(_terms, expression.args))
    if isinstance(expression, Pow) and expression.exp.is_Integer:
        of_base, times = _terms(expression.base), abs(int(expression.exp))
        return comb(times + of_base - 1, times) if expression.is_commutative else of_base**times
    return 1


@lru_cache(maxsize=KEPT)
def symbolic_powers(expression: Expr) -> tuple[Expr, ...]:
    """All powers with a non-numeric exponent."""
    return tuple(p for p in expression.atoms(Pow) if not p.exp.is_number)


@lru_cache(maxsize=KEPT)
def decompose(power: Expr) -> tuple[Key, Expr]:
    """((base, symbolic part of the exponent), its integer part)."""
    constant, rest = expand_mul(power.exp).as_coeff_Add()
    whole = constant.floor() if constant.is_Rational else Integer(0)
    return (power.base, expand_mul(rest + constant - whole)), whole


class Powers:
    """The least exponents that occur in a family of expressions; Gap for powers of operators."""

    def __init__(self, expressions: Iterable[Expr]) -> None:
        self.least: dict[Key, Expr] = {}
        for expression in expressions:
            for power in symbolic_powers(expression):
                if not power.is_commutative:
                    raise Gap(f"the power {power} of an operator has no translation")
                key, whole = decompose(power)
                self.least[key] = min(self.least.get(key, whole), whole)

    @property
    def exponents(self) -> tuple[Expr, ...]:
        """The exponents of the atoms: what must be natural."""
        return tuple(rest + whole for (_, rest), whole in self.least.items())

    def atom(self, power: Expr) -> tuple[Key, int]:
        """The atom's key, and how many more factors of the base the power has."""
        key, whole = decompose(power)
        return key, int(whole - self.least[key])
