"""Special functions that statements contain beside the elementary ones, and what defines them.

They are formal scalars, so that ledgers know of them only what the laws say.  `shown` is the same
in textbook notation: it is printed, never computed with.
"""

from sympy import Abs, Expr, LambertW, exp, gamma, log, symbols

from rnnbounds.theory.language.definitions import define
from rnnbounds.theory.language.law import Clause
from rnnbounds.theory.language.statement import ZERO, eq, le, lt
from rnnbounds.theory.language.terms.variables import m, y, z
from rnnbounds.theory.language.terms.vectors import Scalar, exponential, function


class Special(Scalar):
    """A formal scalar with a textbook notation."""

    @property
    def shown(self) -> Expr:
        """The value, in SymPy's functions."""
        raise NotImplementedError


class StepProduct(Special):
    """Π_{t=1}^N (1 + c/t) = Γ(N + 1 + c)/(Γ(N + 1) Γ(1 + c)), of a natural N and a real c ≥ 0."""

    defined = True

    @property
    def shown(self) -> Expr:
        """The quotient."""
        steps, rate = self.args
        return gamma(steps + 1 + rate) / (gamma(steps + 1) * gamma(1 + rate))


class LambertRoot(Special):
    """The root u ≥ 1 of u − ln u = L, for L ≥ 1: u = −W₋₁(−e^{−L}), without its underflow."""

    @property
    def shown(self) -> Expr:
        """−W₋₁(−e^{−L})."""
        return -LambertW(-exp(-self.args[0]), -1)


class PrincipalRoot(Special):
    """The other root u ≤ 1 of u − ln u = L, for L ≥ 1: u = −W₀(−e^{−L})."""

    @property
    def shown(self) -> Expr:
        """−W(−e^{−L}), the principal branch."""
        return -LambertW(-exp(-self.args[0]))


class RealPower(Special):
    """y^z = exp(z ln y), of a real y > 0 and a real z."""

    defined = True

    @property
    def shown(self) -> Expr:
        """The power."""
        base, exponent = self.args
        return base**exponent


class Multiple(Special):
    """y z, of reals: a term of its own, so that no solver expands it."""

    defined = True

    @property
    def shown(self) -> Expr:
        """The product."""
        return self.args[0] * self.args[1]


class ScaledRest(Special):
    """(|s| + ρ) β + ρ σ: what is left of z = ℓ + b, with |b| ≤ β and |ℓ| ≤ σ, times a number within
    ρ of s, beside s ℓ."""

    defined = True

    @property
    def shown(self) -> Expr:
        """The bound."""
        known, radius, rest, width = self.args
        return (Abs(known) + radius) * rest + radius * width


gamma_function = function("gamma_function", Scalar, __name__)
STEP_PRODUCT = define(
    "product of steps",
    (m, z),
    Clause(
        eq(
            StepProduct(m, z),
            gamma_function(m + 1 + z) / (gamma_function(m + 1) * gamma_function(1 + z)),
        ),
        (le(ZERO, z),),
    ),
)
REAL_POWER = define(
    "real power", (y, z), Clause(eq(RealPower(y, z), exponential(z * log(y))), (lt(ZERO, y),))
)
_known, _radius, _rest, _width = symbols("known radius rest width", real=True)
_scaled = ScaledRest(_known, _radius, _rest, _width)
MULTIPLE = define("multiple", (y, z), eq(Multiple(y, z), y * z))
SCALED_REST = define(
    "rest of a multiple", (_known, _radius, _rest, _width), eq(_scaled, _scaled.shown)
)


def shown(expression: Expr) -> Expr:
    """The expression in textbook notation."""
    return expression.replace(lambda node: isinstance(node, Special), lambda node: node.shown)
