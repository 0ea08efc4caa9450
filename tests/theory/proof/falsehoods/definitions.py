"""Attacks by definition: what passes for one, but says more than what new functions are worth."""

from dataclasses import replace

from sympy import Symbol, log

from falsehoods.attack import CONSTANT, CUT, Attack, Forgery, ends, every
from rnnbounds.theory.axioms.base import TRIANGLE
from rnnbounds.theory.claims.memory.state_bound import FINITE
from rnnbounds.theory.language import (
    Assumption,
    Clause,
    Statement,
    at,
    define,
    enter,
    eq,
    law,
    le,
    lt,
    symbols,
)
from rnnbounds.theory.language.definitions import Definition
from rnnbounds.theory.language.law import Law
from rnnbounds.theory.language.quantity import measured
from rnnbounds.theory.language.terms.variables import a, i, j, m, v, x, y, z
from rnnbounds.theory.language.terms.vectors import (
    RECURSION,
    Norm,
    Scalar,
    exponential,
    function,
    norm,
    phi,
    state,
)
from rnnbounds.theory.models.system import CONTRACTIVE
from rnnbounds.theory.proof import Step
from rnnbounds.theory.proof.methods import Smt

lam, S_0, h_norm, T = symbols("lam S_0 h_norm T")
final = state(x, 0, T)
zero = eq(norm(v), 0)
NEITHER, COUNTS = "no axiom and no definition", "goes round in a circle"


def number(name: str, base: type = Scalar) -> object:
    """A new function, without a value as yet."""
    return function(name, base, __name__, defined=True)


f, g = number("f"), number("g")
size, moved = number("size", Norm), function("moved", module=__name__, defined=True)


def defining(reason: str, *clauses: Statement | Clause, over: tuple[Symbol, ...] = (j,)) -> Forgery:
    """A definition that is none."""
    return Forgery(lambda: define(f"false {clauses}", over, *clauses), reason)


def using(used: Law, *terms: object, reason: str = NEITHER) -> Attack:
    """‖h_T‖ ≤ 0 from a law, at the terms."""
    return ends(le(h_norm, 0), Smt(used.at(*terms)), reason)  # type: ignore[arg-type]


by_hand = law("zero norm", (v,), zero)
forged = Definition("zero norm", (v,), by_hand.clauses)
quantity = measured("grows", "itself and more", "g", Symbol("grows_plain", real=True))
again = replace(quantity, definition=quantity.symbol + 1)
DEFINITIONS: dict[str, Attack | Forgery] = {
    # No step may call an axiom, or what it likes, a definition.
    "every norm is 0": using(by_hand, final),
    "every norm is 0, by a definition made by hand": using(forged, final),
    "a definition under another's name": using(
        replace(RECURSION, clauses=law("", (), eq(state(x, 0, T), 0)).clauses), x, 0, T
    ),
    "a law with a free symbol": ends(eq(lam, 5), Smt(law("five", (), eq(lam, 5)).at()), NEITHER),
    "a law of a free variable": Attack(
        (
            every(eq(y, 5), (y,), by=Smt(law("five", (), eq(y, 5)).at())),
            Step("claim", eq(lam, 5), Smt(at("s", lam))),
        ),
        eq(lam, 5),
        (),
        CONSTANT,
    ),
    "an axiom of one's own": using(
        replace(TRIANGLE, id="zero", clauses=by_hand.clauses),
        final,
        0,
        reason="no axiom of the list",
    ),
    "a lemma that was not proved": ends(
        le(h_norm, 0),
        Smt(replace(FINITE.lemma("l", T), clauses=law("", (), le(h_norm, 0)).clauses).at(T)),
        "is not proved",
        *FINITE.assumptions,
    ),
    "a lemma without its assumptions": ends(
        le(h_norm, S_0 / (1 - lam)),
        Smt(FINITE.lemma("l", T).at(T), "contractive"),
        "neither granted nor proved",
        CONTRACTIVE,
    ),
    "a lemma of another constant": ends(
        le(h_norm, S_0), Smt(FINITE.lemma("l", lam).at(0)), "cannot vary", *FINITE.assumptions
    ),
    # What is known is not defined anew.
    "a norm defined": defining("is no new function", zero, over=(v,)),
    "a step of the model defined": defining("is no new function", eq(phi(a, v), a), over=(a, v)),
    "an old function with other values": defining(
        "a second value", eq(state(x, i, 0), x), over=(x, i)
    ),
    "a product defined": defining("is no new function", eq(2 * f(j), j)),
    "a norm below 0": defining("sign or kind is known", eq(size(v), -1), over=(v,)),
    # One value each.
    "two values": defining("two values", eq(f(0), 0), eq(f(0), 1)),
    "two values at 0": defining("two values", eq(f(j), 0), eq(f(0), 1)),
    "two values after 0": defining("two values", eq(f(j), 0), eq(f(j + 1), 1)),
    "two cases that meet": defining(
        "two values", Clause(eq(f(y), 0), (le(y, 0),)), Clause(eq(f(y), 1), (le(0, y),)), over=(y,)
    ),
    "the larger of other numbers": defining(
        "two values",
        Clause(eq(f(y, z), y), (le(z, y),)),
        Clause(eq(f(y, z), z), (le(y, z + 1),)),
        over=(y, z),
    ),
    "a square has two roots": defining("write variables", eq(f(y**2), y), over=(y,)),
    "an even number has a half": defining("write variables", eq(f(2 * j), j)),
    "one variable twice": defining("write variables", eq(f(j, j), 0), eq(f(j, m), 1), over=(j, m)),
    # Nothing left open, and no circles.
    "an inequality": defining("is no equation", le(f(j), -1)),
    "a strict inequality": defining("is no equation", lt(f(j), f(j))),
    "any value": defining("does not name", eq(f(j), m), over=(j, m)),
    "a free symbol": defining("has free symbols", eq(f(j), lam)),
    "itself and more": defining("in a circle", eq(f(j), f(j) + 1)),
    "the next and more": defining("in a circle", eq(f(j), f(j + 1) + 1)),
    "after itself": defining("in a circle", eq(f(0), 0), eq(f(j + 1), f(j + 1) + 1)),
    "itself elsewhere": defining("in a circle", eq(f(y), f(-y) + 1), over=(y,)),
    "a step over the reals": defining("write variables", eq(f(y + 1), f(y) + 1), over=(y,)),
    "where it is not itself": defining(
        "in a circle", Clause(eq(f(y), 0), (eq(f(y), 1),)), over=(y,)
    ),
    "each by the other": defining("in a circle", eq(f(j), g(j) + 1), eq(g(j), f(j)), over=(j,)),
    "by what has no value yet": defining("not defined yet", eq(f(j), g(j))),
    # A recursion counts in one place, the one that is j + 1 on the left.
    "a count in another place": defining(
        COUNTS, eq(g(0, z), 0), eq(g(j + 1, z), g(j + 1, j) + 1), over=(j, z)
    ),
    "a count in another place, before": defining(
        COUNTS, eq(g(z, 0), 0), eq(g(z, j + 1), g(j, j + 1) + 1), over=(z, j)
    ),
    "a count that changes places": defining(
        COUNTS, eq(g(j + 1, m), g(j, m + 1)), eq(g(0, m + 1), g(m, m) + 1), over=(j, m)
    ),
    "a count of one in the place of another's": defining(
        COUNTS,
        *(eq(f(0, z), 0), eq(f(j + 1, z), g(j + 1, j) + 1)),
        *(eq(g(0, z), 0), eq(g(j + 1, z), f(j + 1, z))),
        over=(j, z),
    ),
    "a count in one of three places": defining(
        COUNTS, eq(g(0, y, z), 0), eq(g(j + 1, y, z), g(j + 1, z, j) + 1), over=(j, y, z)
    ),
    "a count below a premise": defining(
        COUNTS, eq(g(0, z), 0), Clause(eq(g(j + 1, z), 1), (le(g(j + 1, j), 0),)), over=(j, z)
    ),
    "a count that a quotient hides": defining(
        COUNTS, eq(g(0, z), 0), eq(g(j + 1, z), g(j * z / z, z / z) + g(j + 1, j)), over=(j, z)
    ),
    "a vector that is a number": defining("are compared", eq(moved(v), norm(v)), over=(v,)),
    "a quantity by itself": Forgery(lambda: enter(again), "is not defined by plain terms"),
    "a quantity by a quantity": Forgery(
        lambda: enter(replace(quantity, definition=h_norm + 1)), "is not defined by plain terms"
    ),
    # log 0 has no value, and exp(log 0) is not 0.
    "a definition where it has no value": ends(
        eq(exponential(log(lam)), lam),
        Smt(at("inverse", lam)),
        CUT,
        Assumption(
            "inverse", "", law=law("inverse", (z,), Clause(eq(exponential(log(z)), z), (lt(0, z),)))
        ),
    ),
}
