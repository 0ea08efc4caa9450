"""Falsehoods, each with the rule that refuses it; the holes that were found are among them.

Each is false for some model, and each of its steps follows by a rule that is right almost always.
"""

from dataclasses import replace

from drawn_ledgers.models import values
from sympy import Abs, Dummy, Float, Rational, Symbol, atan, erf, exp, log, pi, sin, sqrt, tanh

from falsehoods.attack import TRUE, Attack, Forgery, alone, assume, ends, every, through, used
from rnnbounds.theory.axioms import base
from rnnbounds.theory.axioms.entries import INNER_PRODUCT
from rnnbounds.theory.axioms.gradients import DERIVATIVE_IN_STATE
from rnnbounds.theory.axioms.unitary import IDENTITY_NORM
from rnnbounds.theory.claims.memory.state_bound import FINITE
from rnnbounds.theory.language import (
    ONE,
    ZERO,
    Assumption,
    Clause,
    at,
    define,
    enter,
    eq,
    law,
    le,
    lt,
    ne,
    symbols,
)
from rnnbounds.theory.language.definitions import Definition
from rnnbounds.theory.language.quantity import Symbol as QuantitySymbol
from rnnbounds.theory.language.quantity import measured
from rnnbounds.theory.language.terms.networks import d_state, descent, differentiable
from rnnbounds.theory.language.terms.unitary import OUTPUTS
from rnnbounds.theory.language.terms.variables import (
    A,
    B,
    a,
    b,
    c,
    eye,
    j,
    m,
    operator,
    v,
    vector,
    w,
    x,
    y,
    z,
)
from rnnbounds.theory.language.terms.vectors import (
    Norm,
    Scalar,
    function,
    gain,
    inner,
    norm,
    phi,
    state,
    transpose,
)
from rnnbounds.theory.models.system import CONTRACTIVE, WINDOW
from rnnbounds.theory.proof import Form, Proof, Step
from rnnbounds.theory.proof.methods import HYPOTHESIS, BallMaximum, Induction, Smt, Words

lam, S_0, epsilon, T, k = symbols("lam S_0 epsilon T k")
h_norm, h_start, step_gap, state_gap = symbols("h_norm h_start step_gap state_gap")
(h_gap,) = symbols("h_gap")
W, V, x_t = operator("W"), operator("V"), vector("x_t")
final = state(x, 0, T)
f, g = (function(name, Scalar, defined=True) for name in "fg")  # without a value as yet
size = function("size_of_false", Norm, defined=True)
CUT, NATURAL = "counter-model", "natural"
NO_NUMBER, CONSTANT, SMOOTH = "no real number", "a constant of the claim", "not shown to be smooth"
OPERATOR, CIRCLE = "operator for vector", "goes round in a circle"
NEITHER = "no axiom and no definition"


def powers(*given: object) -> Induction:
    """By induction over j, from the hypothesis."""
    uses = tuple(f"given {n}" for n, _ in enumerate(given, start=1))
    return Induction(j, Smt(*uses), Smt(HYPOTHESIS, *uses), given)  # type: ignore[arg-type]


def bounded(reason: str, of: object, bound: object, **how: object) -> Attack:
    """|f(z)| ≤ c for all z, by balls."""
    by = BallMaximum(**{"peaks": (), **how})  # type: ignore[arg-type]
    return ends(reason, le(Abs(of, evaluate=False), bound), by)


def defining(reason: str, *clauses: object, over: tuple[Symbol, ...] = (j,)) -> Forgery:
    """A definition that is none."""
    return Forgery(reason, lambda: define(f"false {clauses}", over, *clauses))  # type: ignore[arg-type]


first, second = OUTPUTS[:2]
product = INNER_PRODUCT.at
slow = z**2 / (z**2 + 10**6)  # from 0 to 1, with half of the way at 1000
hump = (1 + 3 * z**4) * exp(-(z**2))  # 1 at 0, and 7/4 at √2
named_alike = Symbol("y", integer=True)
third = Dummy("z", real=True)
zero_norm = law("zero norm", (v,), eq(norm(v), 0))
small = Assumption("small", "", le(h_norm, ONE))
moving = assume("small", le(h_norm, ONE))
MOVING = Form(
    "f", le(h_norm, 2), (moving,), "rnn", Proof((Step("s", le(h_norm, 2), Smt("small")),))
)
minus = assume("minus", eq(values(0), -1))
unit = assume("unit", le(norm(W), ONE))
log_norm = measured("q_log", "a quantity", "q", log(norm(final)))
least_one = replace(
    measured("q_least", "a quantity", "q", k),
    symbol=QuantitySymbol("q_least", integer=True),
    lower=1,
)
itself = measured("grows", "itself and more", "g", Symbol("grows_plain", real=True))
local = assume(
    "local", le(norm(phi(a, c) - phi(b, c)), (1 + norm(a)) * norm(a - b)), over=(a, b, c)
)
smooth = assume("differentiable", eq(differentiable(a, c), 1), over=(a, c))
one_half = le(lam, Rational(1, 2))
half = Assumption("half", "", one_half)

TERMS: dict[str, Attack | Forgery] = {
    # 1e16 + j + 1 is 1e16 + j in SymPy.
    "a decimal swallows the induction step": through(
        NO_NUMBER, every(le(Float(1e16) + j, Float(1e16)), (j,), by=powers()), le(T, 0), T
    ),
    # SymPy makes |p| of a positive p into p: with λ = p that proves λ ≥ 0.
    "a variable that is positive": through(
        "does not range over all",
        every(eq(values(Symbol("p", positive=True)), Symbol("p", positive=True)),
              (Symbol("p", positive=True),), by=Smt(at("moduli", Symbol("p", positive=True)))),
        eq(values(-1), -1), -1,
        granted=(assume("moduli", eq(values(y), Abs(y)), over=(y,)),),
    ),
    "a cubic root of a cube": alone(
        "has no translation", every(eq((y**3) ** Rational(1, 3), y), (y,))
    ),
    # ‖W W⁻¹ v‖ ≤ ‖W‖ ‖W⁻¹ v‖ at W = 0.
    "an inverse operator": used(
        "the power of an operator is none", le(h_norm, 0),
        base.SUBMULTIPLICATIVE.at(W, W**-1 * final), "zero",
        granted=(assume("zero", eq(norm(W), ZERO)),),
    ),
    "functions of two of one name": alone(
        CUT, every(eq(tanh(y), tanh(named_alike)), (y, named_alike), by=Smt())
    ),
    "functions of what is written as a second one": alone(
        "a Symbol is no record",
        every(eq(tanh(Symbol("z'1", real=True)), tanh(third)), (third,), by=Smt()),
    ),
    "a step on vectors at an operator": through(
        OPERATOR, every(le(0, norm(v)), (v,)), le(norm(W), 0), W
    ),
    "a function that is printed as tanh": Forgery(
        "a function is named tanh", lambda: function("tanh", Scalar)
    ),
    "a norm of another making": Forgery(
        "a function is named norm", lambda: type("norm", (Scalar,), {})
    ),
}  # fmt: skip
NUMBERS: dict[str, Attack | Forgery] = {
    # What has no value is no number: 1/λ and log λ at 0, √(λ − 1) below 1, λ^{−k} at 0.
    "a root for a variable": through(CUT, every(le(0, y**2), (y,)), le(1, lam), sqrt(lam - 1)),
    "a logarithm for a variable": through(
        CUT, every(lt(0, exp(y)), (y,), by=Smt()), lt(1, lam), log(lam - 1)
    ),
    "a negative power for a variable": through(
        NATURAL, every(ne(lam**k, 0), (y,), eq(y * lam**k, 1)), ne(lam**k, 0), lam ** (-k)
    ),
    "a quotient inside tanh": ends(CUT, lt(tanh(1 / lam), 1), Smt()),
    "rewriting hides a quotient": ends(
        "do not give lam != 0", eq(descent(0) / lam, 1), Smt("start"),
        assume("start", eq(descent(0), lam)),
    ),
    "an even root of a square": alone(CUT, every(eq(sqrt(y**2), y), (y,), by=Smt())),
    "the logarithm of a double": alone(
        CUT, every(eq(log(2 * z), log(2) + log(z)), (z,), by=Smt())
    ),
    "the root of a name below 0": ends(
        "do not give -2 >= 0", lt(sqrt(values(0)) * sqrt(values(0) - 1), 0), Smt("minus"), minus
    ),
    "the power 0 of 0": through(
        CUT, every(le(z**j, 1), (z, j), le(0, z), le(z, 1), by=powers(le(0, z), le(z, 1))),
        lt(lam**T, 1), lam, T, granted=(assume("zero", eq(lam, 0)),),
    ),
    "a natural that is a half": through(
        NATURAL, every(le(0, j * (2 * j - 1)), (j,), by=powers()), le(1, lam), Rational(1, 4)
    ),
    "a gap of one between reals": alone(CUT, every(le(j + 1, y), (j, y), lt(j, y))),
    "a sine after half a period": alone(CUT, every(eq(sin(y + pi), sin(y)), (y,), by=Smt())),
}  # fmt: skip
METHODS: dict[str, Attack | Forgery] = {
    "a transpose keeps the order": alone(
        CUT, every(eq(transpose(A * B), transpose(A) * transpose(B)), (A, B), by=Words())
    ),
    "an induction over a real": alone(
        "no natural number", every(le(0, y), (y,), by=Induction(y, Smt(), Smt(HYPOTHESIS)))
    ),
    "an induction whose premise does not descend": alone(
        CUT, every(eq(j, 0), (j,), eq(j * (j - 2), 0), by=powers(eq(j * (j - 2), 0)))
    ),
    "an induction for other values than its own": alone(
        CUT, every(le(j, 0), (j, m), by=Induction(j, Smt(), Smt(at(HYPOTHESIS, j + 1)), (), (m,)))
    ),
    "the series of exp below 0": alone(CUT, every(le(1 + y + y**2 / 2, exp(y)), (y,), le(y, 0))),
    "a tail that is slow": bounded("where 8 <= z: counter-model", slow, Rational(1, 1000)),
    "a hidden pole": bounded(SMOOTH, atan((z**2 + 1) / (z - 9)), Rational(7, 5)),
    # To SymPy exp(log z) is z.
    "an error function of e to a logarithm": bounded(SMOOTH, erf(exp(log(z), evaluate=False)), 1),
    "balls within a radius below 0": bounded(CUT, hump, 1, peaks=(ZERO,), radius=-8),
    "balls within a reach beyond all": bounded(
        "no sign", hump, 1, peaks=(ZERO,), reach=float("inf")
    ),
}
LAWS: dict[str, Attack | Forgery] = {
    "every norm is 0, by a definition made by hand": used(
        NEITHER, le(h_norm, 0), Definition("zero norm", (v,), zero_norm.clauses).at(final)
    ),
    "a forged axiom": used(
        "no axiom of the list", le(h_norm, 0),
        replace(base.TRIANGLE, clauses=law("", (), le(norm(a), ZERO)).clauses).at(final, 0),
    ),
    # A Lipschitz constant that depends on a is none for other states.
    "a requirement captures a term": through(
        "a variable of what it requires",
        every(le(norm(d_state(v, w)), 1 + norm(a)), (a,), by=Smt(
            "local", DERIVATIVE_IN_STATE.at(1 + norm(a), v, w), at("differentiable", v, w))),
        le(norm(d_state(v, w)), 1), 0, granted=(local, smooth),
    ),
    "a lemma that was not proved": used(
        "is not proved", le(h_norm, 0),
        replace(FINITE.lemma("l", T), clauses=law("", (), le(h_norm, 0)).clauses).at(T),
        granted=FINITE.assumptions,
    ),
    "a lemma of another constant": used(
        "cannot vary", le(h_norm, S_0), FINITE.lemma("l", lam).at(0), granted=FINITE.assumptions
    ),
    # ‖h_T‖ ≤ 1 says nothing of ‖h_{T−k}‖.
    "a law hides what varies": used(
        "neither granted nor proved", le(h_start, 2), MOVING.lemma("l", T).at(T - k), "window",
        granted=(moving, WINDOW),
    ),
    "a condition hides what varies": used(
        CUT, le(h_start, 2), replace(MOVING, assumptions=(small,)).lemma("l", T).at(T - k),
        "window", granted=(small, WINDOW),
    ),
    "a definition hides the variables": through(
        "ranges over what its quantities speak of", every(le(norm(a - b), state_gap), (a, b)),
        le(step_gap, state_gap), phi(a, x_t), phi(b, x_t),
    ),
    "every operator is an identity, at second hand": Attack(
        CONSTANT,
        (
            Step("one", eq(norm(eye), 1), Smt(IDENTITY_NORM.at())),
            Step("two", le(norm(eye), 1), Smt("one")),
            Step("all", le(norm(eye), 1), Smt("two"), (eye,)),
            Step("claim", le(norm(W), 1), Smt(at("all", W))),
        ),
    ),
    "for all values of pi": through(
        "is no variable", every(lt(3, pi), (pi,), by=Smt()), lt(3, lam), lam
    ),
}  # fmt: skip
DEFINITIONS: dict[str, Attack | Forgery] = {
    "a norm defined": defining("is no new function", eq(norm(v), 0), over=(v,)),
    "a norm below 0": defining("sign or kind is known", eq(size(v), -1), over=(v,)),
    "two cases that meet": defining(
        "two values", Clause(eq(f(y), 0), (le(y, 0),)), Clause(eq(f(y), 1), (le(0, y),)), over=(y,)
    ),
    "a square has two roots": defining("write variables", eq(f(y**2), y), over=(y,)),
    "an inequality": defining("is no equation", le(f(j), -1)),
    "any value": defining("does not name", eq(f(j), m), over=(j, m)),
    "the next and more": defining("in a circle", eq(f(j), f(j + 1) + 1)),
    "a count in another place": defining(
        CIRCLE, eq(g(0, z), 0), eq(g(j + 1, z), g(j + 1, j) + 1), over=(j, z)
    ),
    "a quantity by itself": Forgery(
        "is not defined by plain terms",
        lambda: enter(replace(itself, definition=itself.symbol + 1)),
    ),
    "a quantity that is a logarithm": replace(
        through(CUT, every(lt(0, exp(y)), (y,), by=Smt()), lt(0, h_norm), log_norm.symbol),
        quantity=log_norm,
    ),
    "a length that is said to be 1 at least": replace(
        through(NATURAL, every(le(0, j), (j,)), le(1, k), least_one.symbol - 1), quantity=least_one
    ),
}
FORMS: dict[str, Attack | Forgery] = {
    "two conditions": used(
        "contradict", one_half, "half", granted=(half, Assumption("large", "", le(ONE, lam)))
    ),
    # λ < 1 and λ > 1 would prove anything.
    "hypotheses that contradict": used(
        "not shown satisfiable", eq(lam, 7), "contractive", "expansive",
        granted=(CONTRACTIVE, Assumption("expansive", "", lt(ONE, lam))),
    ),
    # Of a cell ‖s‖ is the length of what it shows, a seminorm; of outputs the largest in all runs.
    "a part of what a cell does not show": used(
        CUT, le(gain(W * final), gain(final)), base.SUBMULTIPLICATIVE.at(W, final), "unit",
        granted=(unit,),
    ),
    "a cell's gap by its state": replace(
        used(CUT, le(h_gap, norm(final - state(x, T - k, k)))), about="cell"
    ),
    "a step on what a cell does not show": Attack(
        "is of a cell; write out", (every(le(h_gap, h_gap), ()), Step("claim", TRUE, Smt())),
        about="cell",
    ),
    # ‖a − b‖² = ‖a‖² − 2⟨a, b⟩ + ‖b‖² of the length of what is seen.
    "outputs squared": used(
        CUT,
        eq(gain(first - second) ** 2,
           gain(first) ** 2 - 2 * inner(first, second) + gain(second) ** 2),
        *(product(first, second, end) for end in (first - second, first, second)),
        product(second, first, first - second),
    ),
}  # fmt: skip
FALSEHOODS = TERMS | NUMBERS | METHODS | LAWS | DEFINITIONS | FORMS
