"""Attacks through what SymPy makes of a term after it was translated, and through what is no name.

To SymPy exp(log z) is z, whatever z is, and (√z)² too: where a proved statement, or the function
that balls bound, goes through SymPy once more, it is another one. Each of the first of a kind
proved 1 ≤ λ, or the like, from nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sympy import (
    Abs,
    Add,
    Dummy,
    Expr,
    Integer,
    Pow,
    Rational,
    Symbol,
    atan,
    cos,
    erf,
    exp,
    log,
    pi,
    sin,
    sqrt,
    tanh,
)

from falsehoods.attack import CONSTANT, CUT, Attack, alone, ends, every, withdraw
from rnnbounds.theory.axioms.unitary import IDENTITY_NORM
from rnnbounds.theory.errors import InputError
from rnnbounds.theory.language import Statement, at, enter, eq, le, lt, ne, symbols
from rnnbounds.theory.language.quantity import measured
from rnnbounds.theory.language.terms.gradients import feasible
from rnnbounds.theory.language.terms.variables import a, eye, j, operator, w, w_other, x, y, z
from rnnbounds.theory.language.terms.vectors import Scalar, function, norm, state, transpose
from rnnbounds.theory.proof import Proof, Step
from rnnbounds.theory.proof.everywhere import WeightSet
from rnnbounds.theory.proof.lemma import Lemma, lemma
from rnnbounds.theory.proof.methods import (
    BallMaximum,
    Direct,
    Elementary,
    Exact,
    Identity,
    Induction,
    Method,
    Smt,
    Words,
)

lam, S_0, h_norm, T, k = symbols("lam S_0 h_norm T k")
final = norm(state(x, 0, T))
NOT_SMOOTH, NO_VARIABLE = "not shown to be smooth", "is no variable"
ALL = WeightSet(eq(feasible(w), 1))
values = function("values", Scalar)  # a sequence


@dataclass(frozen=True)
class OfLemma:
    """A lemma on a quantity whose definition SymPy cancels, and a goal that it would give."""

    definition: Expr
    says: Callable[[Expr], Statement]
    goal: Statement
    terms: tuple[Expr, ...] = (T,)
    everywhere: WeightSet | None = None
    by: type[Direct] = Elementary
    reason: str = CUT

    def lemma(self, quantity: Expr) -> Lemma:
        """The lemma."""
        stated = self.says(quantity)
        proof = Proof((Step("s", stated, self.by()),))
        return lemma("lemma", (T,) if self.everywhere is None else (w,), (), stated, proof,
                     self.everywhere)  # fmt: skip

    def refusal(self) -> str:
        """Why there is no such lemma or, if there is, why the goal does not follow."""
        quantity = measured("drawn_q", "a quantity", "q", self.definition)
        enter(quantity)
        try:
            use = self.lemma(quantity.symbol).at(*self.terms)
            return ends(self.goal, Smt(use), "").refusal()
        except InputError as error:
            return str(error)
        finally:
            withdraw(quantity)


def bounded(f: Expr, bound: Expr | int, reason: str = NOT_SMOOTH, *peaks: Expr) -> Attack:
    """|f(z)| ≤ c for all z, by balls."""
    stated = le(Abs(f, evaluate=False), bound)
    return alone(Step("s", stated, BallMaximum(peaks), (z,)), reason)


def every_other(
    stated: Statement, over: Expr, goal: Statement, term: Expr | int, by: Method
) -> Attack:
    """A closed truth for all values of what is no variable."""
    step = Step("s", stated, by, (over,))
    return Attack((step, Step("claim", goal, Smt(at("s", term)))), goal, (), NO_VARIABLE)


def alike(one: Expr, other: Expr, *forall: Symbol, by: Method | None = None) -> Attack:
    """Equal, as both are written alike."""
    return alone(every(eq(one, other), forall, by=by or Elementary()), CUT)


grown = exp(log(z), evaluate=False)
rooted = Pow(sqrt(z), 2, evaluate=False)
modulus = sqrt(z**2, evaluate=False)
vanishes = Add(grown, -z, evaluate=False)
no_negative = (
    Step("s", le(Abs(vanishes, evaluate=False), 0), BallMaximum(()), (z,)),
    Step("p", lt(0, grown), Elementary(), (z,)),
    Step("n", le(0, y), Smt(at("s", y), at("p", y)), (y,)),
    Step("claim", le(1, lam), Smt(at("n", lam - 1))),
)
hump = (1 + 3 * z**4) * exp(-(z**2))  # 1 at 0, and 7/4 at √2
y_whole, y_marked = Symbol("y", integer=True), Symbol("y'1", real=True)
y_dummies = Dummy("y", real=True), Dummy("y", real=True)
W = operator("a")
PROPOSALS: dict[str, Attack | OfLemma] = {
    # Functions that SymPy bounds in the place of others.
    "no number is negative": Attack(no_negative, le(1, lam), (), NOT_SMOOTH),
    "e to a logarithm, less it": bounded(vanishes, 0),
    "a sine of e to a logarithm": bounded(sin(grown) - sin(z), Rational(1, 10)),
    "tanh of e to a logarithm": bounded(tanh(grown) * tanh(z) - tanh(z) ** 2, Rational(1, 10)),
    "an error function of e to a logarithm": bounded(erf(grown), 1),
    "an arctangent of e to a logarithm": bounded(atan(grown) - atan(z), 0),
    "the square of a root, by balls": bounded(cos(rooted) - cos(z), 0),
    "the root of a square, less it": bounded(modulus - z, 0),
    "the root of a square": bounded(tanh(modulus) - tanh(z), 0),
    "the logarithm of a power of e": bounded(log(exp(z), evaluate=False) - z - 1, 0, CUT),
    "a modulus of a modulus": bounded(Abs(Abs(z - 1, evaluate=False), evaluate=False), 1, CUT),
    # Lemmas that SymPy writes out.
    "a lemma on a logarithm": OfLemma(log(final), lambda q: lt(0, exp(q)), lt(0, h_norm)),
    "a lemma on a logarithm, elsewhere": OfLemma(
        log(final), lambda q: lt(0, exp(q)), lt(0, norm(state(x, 0, k))), (k,)
    ),
    "a lemma on twice a logarithm": OfLemma(
        log(final), lambda q: lt(0, exp(2 * q)), lt(0, h_norm**2)
    ),
    "a lemma on the logarithm of a square": OfLemma(
        2 * log(final), lambda q: lt(0, exp(q) + lam), lt(0, h_norm**2 + lam)
    ),
    "a lemma on a logarithm of a quotient": OfLemma(
        log(final / 2), lambda q: lt(0, exp(q)), lt(0, h_norm / 2)
    ),
    "a lemma on a difference": OfLemma(log(final - 1), lambda q: lt(0, exp(q)), lt(1, h_norm)),
    "a lemma on a quantity within": OfLemma(
        final - 1, lambda q: lt(0, exp(log(q), evaluate=False)), lt(1, h_norm)
    ),
    "a lemma of all weights": OfLemma(
        log(final), lambda q: lt(0, exp(q)), lt(0, norm(state(x, 0, T, w_other))), (w_other,), ALL
    ),
    "a lemma of all weights, written out before": OfLemma(
        final,
        lambda _: lt(0, exp(log(final), evaluate=False)),
        lt(0, norm(state(x, 0, T, w_other))),
        (w_other,),
        ALL,
    ),
    # For all values of what has one.
    "for all values of pi": every_other(lt(3, pi), pi, lt(3, lam), lam, Exact()),
    "for all values of 0": every_other(le(0, 1), Integer(0), le(lam, 1), lam, Exact()),
    "for all values of 1": every_other(lt(0, 1), Integer(1), lt(0, lam), lam, Exact()),
    "for all values of a norm": every_other(le(0, norm(a)), norm(a), le(1, lam), lam - 1, Smt()),
    "for all values of a value": every_other(
        le(values(0), values(0) + 1), values(0) + 1, le(values(0), lam), lam, Smt()
    ),
    "for all values of tanh": every_other(
        lt(tanh(S_0), 1), tanh(S_0), lt(lam, 1), lam, Elementary()
    ),
    "for all values of a modulus": every_other(le(0, Abs(y)), Abs(y), le(1, lam), lam - 1, Smt()),
    "for all values of a power": every_other(
        eq(Integer(2) ** k, Integer(2) ** k), Integer(2) ** k, le(lam, 0), lam, Smt()
    ),
    "an induction over 1": alone(
        Step("s", le(0, 1), Induction(Integer(1), Exact(), Exact()), (Integer(1),)), NO_VARIABLE
    ),
    # An axiom speaks of one identity, and so do the steps that rest on it.
    **{
        f"every operator is an identity, {name}": Attack(
            (
                Step("one", eq(norm(eye), 1), Smt(IDENTITY_NORM.at())),
                *between,
                Step("all", eq(norm(eye), 1), Smt(use), (eye,)),
                Step("claim", eq(norm(W), 1), Smt(at("all", W))),
            ),
            eq(norm(W), 1),
            (),
            CONSTANT,
        )
        for name, between, use in (
            ("by name", (), "one"),
            ("by no terms", (), at("one")),
            ("at second hand", (Step("two", le(norm(eye), 1), Smt("one")),), "one"),
        )
    },
    "every operator is symmetric": Attack(
        (
            Step("one", eq(transpose(eye), eye), Words(IDENTITY_NORM.at())),
            Step("all", eq(transpose(eye), eye), Words("one"), (eye,)),
            Step("claim", eq(transpose(W), W), Words(at("all", W))),
        ),
        eq(transpose(W), W),
        (),
        CONSTANT,
    ),
    # Intervals that are none.
    **{
        f"balls within a radius of {radius}": alone(
            Step("s", le(Abs(hump), 1), BallMaximum((Integer(0),), (), radius), (z,)), CUT
        )
        for radius in (-8, -1, 0)
    },
    "balls within a reach below 0": alone(
        Step("s", le(Abs(hump), 1), BallMaximum((Integer(0),), (), 8, -1.0), (z,)), "no sign"
    ),
    "balls within a reach beyond all": alone(
        Step("s", le(Abs(hump), 1), BallMaximum((Integer(0),), (), 8, float("inf")), (z,)),
        "no sign",
    ),
    # Terms that are written alike.
    "tanh of a whole number of the name": alike(tanh(y), tanh(y_whole), y, y_whole),
    "e to a whole number of the name": alike(exp(y), exp(y_whole), y, y_whole),
    "the sine of a name with a mark": alike(
        sin(y_marked), sin(y_dummies[1]), y_marked, y_dummies[1]
    ),
    "an error function of two dummies": alike(erf(y_dummies[0]), erf(y_dummies[1]), *y_dummies),
    "an arctangent of a vector's norm": alike(atan(norm(a)), atan(norm(W)), a, W),
    "a variable of the name of a function": alone(
        every(
            eq(exp(tanh(z)), exp(Symbol("tanh(z)", real=True))),
            (z, Symbol("tanh(z)", real=True)),
            by=Elementary(),
        ),
        CUT,
    ),
    "tanh of a number is that of the name": Attack(
        (
            every(eq(tanh(y), tanh(y_whole)), (y, y_whole), by=Elementary()),
            Step("claim", eq(tanh(lam), 0), Elementary(at("s", lam, 0))),
        ),
        eq(tanh(lam), 0),
        (),
        CUT,
    ),
    "two of one name differ": alone(
        every(ne(y, y_whole), (y, y_whole), lt(y, y_whole - 1), lt(y_whole, y), by=Identity()),
        "no identity",
    ),
    "powers of two of one name": alone(
        every(eq(z**y_whole, z**j), (z, y_whole, j), by=Identity()), CUT
    ),
}
