"""Formal terms of a stack of two layers: s¹⁺ = φ_1(s¹, x), s²⁺ = φ_2(s², s¹⁺)."""

from sympy import Expr

from rnnbounds.theory.language.definitions import define
from rnnbounds.theory.language.statement import eq
from rnnbounds.theory.language.terms.variables import j, s, v, vector, x
from rnnbounds.theory.language.terms.vectors import entry, function

lower, upper = function("lower", module=__name__), function("upper_layer", module=__name__)
# lower_run(v, x, s, j) and upper_run(v, p, x, s, j): after j steps from the states v and p at s
lower_run = function("lower_run", module=__name__, defined=True)
upper_run = function("upper_run", module=__name__, defined=True)
p, q = vector("p"), vector("q")  # states of the upper layer

_now = entry(x, s + j + 1)
STACK_RUN = define(
    "run of a stack",
    (v, p, x, s, j),
    eq(lower_run(v, x, s, 0), v),
    eq(lower_run(v, x, s, j + 1), lower(lower_run(v, x, s, j), _now)),
    eq(upper_run(v, p, x, s, 0), p),
    eq(upper_run(v, p, x, s, j + 1), upper(upper_run(v, p, x, s, j), lower_run(v, x, s, j + 1))),
)


def states(start: Expr, top: Expr, first: Expr, steps: Expr) -> tuple[Expr, Expr]:
    """Both layers after some steps on the given inputs from a first one on."""
    return lower_run(start, x, first, steps), upper_run(start, top, x, first, steps)
