"""Special functions that statements contain beside the elementary ones, and what defines them.

They are formal scalars, so that ledgers know of them only what the laws say.  Their textbook
form is printed, never computed with.
"""

from sympy import Expr, LambertW, exp, gamma, log
from sympy.printing.precedence import PRECEDENCE, precedence

from rnnbounds.theory.language.definitions import define
from rnnbounds.theory.language.law import Clause
from rnnbounds.theory.language.statement import ZERO, eq, le, lt
from rnnbounds.theory.language.terms.variables import m, y, z
from rnnbounds.theory.language.terms.vectors import Scalar, exponential, function


class SpecialFunction(Scalar):
    """Formal scalar function that is printed in SymPy's notation."""

    @property
    def textbook_form(self) -> Expr | None:
        """The value as an expression in SymPy's functions, for printing alone; None where that is
        how another term is printed."""
        raise NotImplementedError

    @property
    def precedence(self) -> int:
        """How strongly what is printed binds."""
        form = self.textbook_form
        return int(PRECEDENCE["Func"] if form is None else precedence(form))


class StepProduct(SpecialFunction):
    """Π_{t=1}^N (1 + c/t) = Γ(N + 1 + c)/(Γ(N + 1) Γ(1 + c)), of a natural N and a real c ≥ 0."""

    defined = True

    @property
    def textbook_form(self) -> Expr | None:
        """Γ(N + 1 + c)/(Γ(N + 1) Γ(1 + c)), for printing."""
        steps, rate = self.args
        form = gamma(steps + 1 + rate) / (gamma(steps + 1) * gamma(1 + rate))
        return form if steps.is_Symbol and rate.free_symbols and not rate.is_integer else None


class LambertRoot(SpecialFunction):
    """The root u ≥ 1 of u − ln u = L, for L ≥ 1: u = −W₋₁(−e^{−L}), without its underflow."""

    @property
    def textbook_form(self) -> Expr | None:
        """−W₋₁(−e^{−L}), for printing."""
        inner = exp(-self.args[0])
        return -LambertW(-inner, -1) if inner.func == exp else None


class RealPower(SpecialFunction):
    """y^z = exp(z ln y), of a real y > 0 and a real z."""

    defined = True

    @property
    def textbook_form(self) -> Expr | None:
        """y^z, for printing; of natural numbers z that is another term."""
        base, exponent = self.args
        form = base**exponent
        plain = form.is_Pow and form.args == self.args and not exponent.is_integer
        return form if plain and exponent.free_symbols else None


gamma_function = function("gamma_function", Scalar)
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
