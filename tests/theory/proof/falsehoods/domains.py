"""Attacks through functions that have no value everywhere: SymPy's own rewriting leaves the reals.

log 2z = log 2 + log z holds of no total log: at z = 0 neither side has a value.  In ℂ log(−1)² is
−π², and √y √(y − 1) is −√2 at y = −1.
"""

from dataclasses import replace

from sympy import (
    Abs,
    Expr,
    Max,
    Min,
    Rational,
    acosh,
    acot,
    asech,
    asin,
    exp,
    log,
    pi,
    sign,
    sin,
    sqrt,
)

from falsehoods.attack import Attack, Entering, Forgery, alone, assume, ends, every, through
from rnnbounds.theory.language import ONE, Statement, at, eq, le, lt, ne, symbols
from rnnbounds.theory.language.quantity import Quantity, Symbol, measured
from rnnbounds.theory.language.statement import Relation
from rnnbounds.theory.language.terms.variables import j, m, x, y, z
from rnnbounds.theory.language.terms.vectors import Scalar, exponential, function, norm, state
from rnnbounds.theory.proof import Step
from rnnbounds.theory.proof.methods import Elementary, Exact, Identity, Induction, Method, Smt

lam, S_0, h_norm, T, k = symbols("lam S_0 h_norm T k")
values, other = function("values", Scalar), function("other", Scalar)  # sequences
minus = assume("minus", eq(values(0), -1))  # of no number is the square, or e to the power, below 0
PARTIAL, FORM = "is on no list", "counter-model"
ROOT = "do not give -2 >= 0"


def splits(goal: Statement, reason: str = FORM) -> Attack:
    """By the normal form alone, for all z: at z = 0 it has no value."""
    return alone(every(goal, (z,), by=Identity()), reason)


def at_minus_one(value: Expr, number: Expr | int, reason: str = FORM) -> Attack:
    """By the rule y = −1, for all y of which that holds: no real y is such, so all are others."""
    return alone(every(eq(value, number), (y,), eq(y, -1), by=Identity("given 1")), reason)


def quantity(name: str, definition: Expr, natural: bool = False) -> Quantity:
    """A new one."""
    new = measured(name, "a quantity", name, definition)
    return replace(new, symbol=Symbol(name, integer=True)) if natural else new


def of_all(new: Quantity, law: Step, goal: Statement, reason: str) -> Entering:
    """A law of all numbers, at the quantity."""
    return Entering(new, through(law, goal, (new.symbol,), reason))


def of(
    new: Quantity, lhs: Expr, relation: Relation, rhs: Expr, by: Method, reason: str
) -> Entering:
    """A statement about the quantity."""
    return Entering(new, ends(Statement(lhs, relation, rhs), by, reason))


final = norm(state(x, 0, T))
split = every(eq(log(2 * z), log(2) + log(z)), (z,), by=Identity())
same = Step("same", eq(log(y), log(z)), Identity("given 1"), (y, z), (eq(y, z),))
no_zero = (
    split,
    same,
    Step("log 2", lt(0, log(2)), Exact()),
    Step("no zero", ne(z, 0), Smt(at("s", z), at("same", 2 * z, z), "log 2"), (z,)),
    Step("claim", lt(S_0, lam), Smt(at("no zero", Max(0, lam - S_0)))),
)
q_log, q_root = quantity("q_log", log(final)), quantity("q_root", sqrt(final - 1))
q_inverse, q_same = quantity("q_inverse", 1 / final), quantity("q_same", final)
q_count = quantity("q_count", final, natural=True)
LEAST = replace(quantity("q_least", k, natural=True), lower=1)
DOMAINS: dict[str, Attack | Forgery] = {
    # The normal form of log(2z).
    "any number is below any other": Attack(no_zero, lt(S_0, lam), (), FORM),
    "the logarithm of a double": splits(eq(log(2 * z), log(2) + log(z))),
    "the logarithm of a half": splits(eq(log(z / 2), log(z) - log(2))),
    "a quotient of logarithms": splits(eq(log(2 * z) / (z**2 + 1), (log(2) + log(z)) / (z**2 + 1))),
    "logarithms that cancel": splits(eq(log(6 * z) - log(3 * z), log(6) - log(3))),
    "the square of a logarithm": splits(eq(log(2 * z) ** 2, (log(2) + log(z)) ** 2)),
    "a logarithm in an exponent": splits(
        eq(lam ** (k + log(2 * z) - log(2) - log(z)), lam**k), "natural"
    ),
    "a root of a product": splits(
        eq(sqrt(z * Abs(y)) / (z**2 + 1), sqrt(z) * sqrt(Abs(y)) / (z**2 + 1))
    ),
    # Of a law that says something of numbers with a meaning alone, and is used by name.
    "no number is 0, by a law of all": Attack(
        (
            Step("no zero", ne(y, 0), Smt("quotient"), (y,)),
            Step("claim", ne(lam, Rational(1, 2)), Smt(at("no zero", lam - Rational(1, 2)))),
        ),
        ne(lam, Rational(1, 2)),
        (assume("quotient", eq(y * (y + 1) / (y**2 + y), 1), variables=(y,)),),
        FORM,
    ),
    # By value, or by name, out of the reals.
    "the logarithm of -1, squared": at_minus_one(log(y) ** 2, -(pi**2)),
    "the logarithm of a name of -1, squared": ends(
        lt(log(values(0)) ** 2, 0), Exact("minus"), "undecided", minus
    ),
    "the logarithm of a name by smt": ends(lt(log(values(0)) ** 2, 0), Smt("minus"), FORM, minus),
    "roots of negative numbers": at_minus_one(sqrt(y) * sqrt(y - 1), -sqrt(2), ROOT),
    "roots of a name": ends(
        lt(sqrt(values(0)) * sqrt(values(0) - 1), 0), Exact("minus"), ROOT, minus
    ),
    "the logarithm of a negative number": ends(
        lt(exponential(log(values(0)) + log(values(0) - 1)), -1), Exact("minus"), "undecided", minus
    ),
    "a cubic root of -1": at_minus_one(
        y ** Rational(1, 3) * (2 * y + 1) ** Rational(2, 3), -1, "has no translation"
    ),
    "a hyperbolic cosine below 1": at_minus_one(acosh(y) ** 2, -(pi**2), PARTIAL),
    "acosh of 0": alone(
        every(eq(acosh(y) ** 2, -(pi**2) / 4), (y,), eq(y, 0), by=Identity("given 1")), PARTIAL
    ),
    "asech of -1": at_minus_one(asech(y) ** 2, -(pi**2), PARTIAL),
    "asin of 2": alone(
        every(lt((asin(2 * values(0)) + pi / 2) ** 2, 0), (), by=Exact("minus")), PARTIAL, minus
    ),
    "acot has a jump": alone(
        every(eq(acot(y) + acot(z), 0), (y, z), eq(z, -y), by=Identity("given 1")), PARTIAL
    ),
    "a maximum of what has no value": through(
        every(le(0, Max(log(y), 0)), (y,)), le(1, lam), (-1,), FORM
    ),
    "a maximum of what has no value, for a variable": at_minus_one(Max(log(y), 0), 0),
    "a minimum of roots": at_minus_one(Min(sqrt(y), 0), 0, "do not give -1 >= 0"),
    "e to a multiple of a logarithm": through(
        every(lt(0, exp(y * log(z))), (y, z), by=Elementary()), lt(0, lam**2), (2, lam), FORM
    ),
    "e to a sum with a logarithm": through(
        every(lt(0, exp(y + m * log(z))), (y, m, z), by=Elementary()), lt(0, lam), (0, 1, lam), FORM
    ),
    # Closed numbers that are none.
    "the logarithm of a negative sine": ends(
        lt(exponential(log(sin(4), evaluate=False)), 0), Exact(), "is undecided"
    ),
    "the sign of a difference": ends(eq(sign(y) ** 2, 1), Identity(), PARTIAL),
    # Quantities that stand for what has no value, or has not the least value that is declared.
    "a length that is said to be 1 at least": Entering(
        LEAST, through(every(le(0, j), (j,)), le(1, k), (LEAST.symbol - 1,), "natural")
    ),
    "a quantity that is a logarithm": of_all(
        q_log, every(lt(0, exp(y)), (y,), by=Elementary()), lt(0, h_norm), FORM
    ),
    "a quantity that is a root": of_all(q_root, every(le(0, y**2), (y,)), le(1, h_norm), FORM),
    "a count that is a length": of_all(
        q_count,
        every(le(0, j * (j - 1)), (j,), by=Induction(j, Smt(), Smt())),
        le(0, h_norm * (h_norm - 1)),
        "natural",
    ),
    "a quantity that is an inverse": of(
        q_inverse, q_inverse.symbol * h_norm, "==", ONE, Identity(), FORM
    ),
    "a quotient of equal quantities": of(
        q_same, q_same.symbol / h_norm, "==", ONE, Identity(), FORM
    ),
    "equal quantities by smt": of(q_same, q_same.symbol / h_norm, "==", ONE, Smt(), "do not give"),
    "e to a quantity": of(
        q_log, lam - h_norm**2, "<", lam + 1 - exp(2 * q_log.symbol), Smt(), FORM
    ),
    "the square of a root": of(q_root, q_root.symbol**2, "==", h_norm - 1, Identity(), FORM),
}
