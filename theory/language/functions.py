"""Special functions that statements contain beside the elementary ones, and what defines them.

They are formal scalars, so that ledgers know of them only what the laws say.  Their textbook
form is printed, never computed with.
"""

from sympy import Expr, LambertW, exp, gamma, log

from rnnbounds.theory.language.definitions import define
from rnnbounds.theory.language.law import Clause
from rnnbounds.theory.language.statement import ZERO, eq, le, lt
from rnnbounds.theory.language.terms.variables import m, y, z
from rnnbounds.theory.language.terms.vectors import Scalar, exponential, function


class SpecialFunction(Scalar):
    """Formal scalar function that is printed in SymPy's notation."""

    @property
    def textbook_form(self) -> Expr:
        """The value as an expression in SymPy's functions, for printing alone."""
        raise NotImplementedError


class StepProduct(SpecialFunction):
    """Π_{t=1}^N (1 + c/t) = Γ(N + 1 + c)/(Γ(N + 1) Γ(1 + c)), of a natural N and a real c ≥ 0."""

    defined = True

    @property
    def textbook_form(self) -> Expr:
        """Γ(N + 1 + c)/(Γ(N + 1) Γ(1 + c)), for printing."""
        steps, rate = self.args
        return gamma(steps + 1 + rate) / (gamma(steps + 1) * gamma(1 + rate))


class LambertRoot(SpecialFunction):
    """The root u ≥ 1 of u − ln u = L, for L ≥ 1: u = −W₋₁(−e^{−L}), without its underflow."""

    @property
    def textbook_form(self) -> Expr:
        """−W₋₁(−e^{−L}), for printing."""
        return -LambertW(-exp(-self.args[0]), -1)


class RealPower(SpecialFunction):
    """y^z = exp(z ln y), of a real y > 0 and a real z."""

    defined = True

    @property
    def textbook_form(self) -> Expr:
        """y^z, for printing."""
        base, exponent = self.args
        return base**exponent


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


def textbook_form(expression: Expr) -> Expr:
    """Replace special functions by SymPy's, for printing."""
    return expression.replace(
        lambda node: isinstance(node, SpecialFunction), lambda node: node.textbook_form
    )
