"""Attacks through heads that bind a variable: a rule for y changes what is bound, or what is not.

y = z does not give Σ_{z ≤ z} y z = Σ_{z ≤ z} z²: on the left one z is bound, and y is another.
"""

from sympy import (
    Derivative,
    Expr,
    Function,
    Integral,
    Limit,
    Piecewise,
    Product,
    Subs,
    Sum,
    Symbol,
    summation,
)

from falsehoods.attack import Attack, Forgery, alone, assume, ends, every
from rnnbounds.theory.language import eq, le, symbols
from rnnbounds.theory.language.terms.variables import j, m, y, z
from rnnbounds.theory.language.terms.vectors import Scalar, function
from rnnbounds.theory.proof.methods import Exact, Identity

lam, S_0, T = symbols("lam S_0 T")
values = function("values", Scalar)  # a sequence
start = assume("start", eq(values(0), 1))
BOUND = "is on no list"
some = Function("some")


def renamed(left: Expr, right: Expr, old: Symbol = y, new: Symbol = z) -> Attack:
    """The sides, by the rule that the old variable is the new one."""
    return alone(every(eq(left, right), (old, new), eq(old, new), by=Identity("given 1")), BOUND)


BINDERS: dict[str, Attack | Forgery] = {
    "a sum": renamed(Sum(m * j, (j, 0, j)), Sum(j**2, (j, 0, j)), m, j),
    "a product": renamed(Product(1 + m * j, (j, 0, j)), Product(1 + j**2, (j, 0, j)), m, j),
    "an integral": renamed(Integral(y * z, (z, 0, z)), Integral(z**2, (z, 0, z))),
    "an integral without limits": renamed(Integral(y, z), Integral(z, z)),
    "a derivative": renamed(Derivative(y * z, z, evaluate=False), Derivative(z**2, z)),
    "a derivative of an unknown function": renamed(
        Derivative(some(y * z), z), Derivative(some(z * z), z)
    ),
    "a substitution": renamed(
        Subs(Derivative(some(y * z), z), z, z), Subs(Derivative(some(z * z), z), z, z)
    ),
    "a limit": renamed(Limit(y + z, z, 0) * z, Limit(z + z, z, 0) * z),
    "a case": renamed(Piecewise((1, y < z), (0, True)), Piecewise((1, z < z), (0, True))),
    "a case that is left out": ends(eq(Piecewise((lam, lam > S_0)), lam), Identity(), BOUND),
    "a sum of what it does not count": renamed(Sum(y, (z, 0, z)), Sum(z, (z, 0, z))),
    "an empty sum": ends(le(Sum(values(j), (j, 1, 0)), -values(0)), Exact("start"), BOUND, start),
    "a sum backwards": ends(eq(Sum(1, (j, 3, 0)).doit(), Sum(1, (j, 3, 0))), Exact(), BOUND),
    "a sum of as many terms as a number says": ends(
        eq(summation(m, (m, 0, y)), y * (y + 1) / 2 + Sum(0 * m, (m, 0, y))), Identity(), BOUND
    ),
}
