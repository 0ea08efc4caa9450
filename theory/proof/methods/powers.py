"""Normal form of powers with symbolic exponents: each λ^e a product of atoms.

Exponents that differ by an integer share the atom of the least: λ^{t+2} is λ^t · λ².  That needs
the least exponent to be a natural number, which the caller shows; no other law of powers is built
in, since λ^{a+b} = λ^a λ^b is false at λ = 0 for negative exponents.
"""

from collections.abc import Iterable

from sympy import Expr, Integer, Pow

from theory.proof.methods.base import Gap

Key = tuple[Expr, Expr]


def symbolic_powers(expression: Expr) -> Iterable[Expr]:
    """All powers with a non-numeric exponent."""
    return (p for p in expression.atoms(Pow) if not p.exp.is_number)


def decompose(power: Expr) -> tuple[Key, Expr]:
    """((base, symbolic part of the exponent), its integer part)."""
    constant, rest = power.exp.expand().as_coeff_Add()
    whole = constant.floor() if constant.is_Rational else Integer(0)
    return (power.base, (rest + constant - whole).expand()), whole


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
