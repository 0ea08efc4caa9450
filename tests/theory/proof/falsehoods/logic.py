"""Attacks on the logic: terms without a value, captured variables, decimals, forged laws.

The goals are false for some real model (most of them at λ = 0, or for the identity map), though
each step follows from the one before by a rule that is right almost always.
"""

from dataclasses import replace

from sympy import Abs, Dummy, Float, I, Rational, Sum, Symbol, atanh, exp, log, oo, pi, sqrt, tanh

from falsehoods.attack import (
    CONSTANT,
    CUT,
    NO_NUMBER,
    Attack,
    Forgery,
    assume,
    ends,
    every,
    through,
)
from rnnbounds.theory.axioms import base
from rnnbounds.theory.axioms.gradients import DERIVATIVE_IN_STATE
from rnnbounds.theory.claims.contraction.weighted import PERRON
from rnnbounds.theory.language import ONE, ZERO, Assumption, at, eq, law, le, lt, ne, symbols
from rnnbounds.theory.language.terms.gradients import d_state, descent, differentiable
from rnnbounds.theory.language.terms.variables import (
    a,
    b,
    c,
    eye,
    j,
    m,
    operator,
    v,
    vector,
    x,
    y,
    z,
)
from rnnbounds.theory.language.terms.vectors import (
    Scalar,
    function,
    least,
    norm,
    phi,
    state,
    transpose,
)
from rnnbounds.theory.models.system import WINDOW
from rnnbounds.theory.proof import Form, Proof, Step
from rnnbounds.theory.proof.methods import (
    HYPOTHESIS,
    BallMaximum,
    Elementary,
    Exact,
    Identity,
    Induction,
    Smt,
)

lam, S_0, epsilon, T, k = symbols("lam S_0 epsilon T k")
h_norm, h_start, step_gap, state_gap, state_gap_v = symbols(
    "h_norm h_start step_gap state_gap state_gap_v"
)
W, V, x_t, w = operator("W"), operator("V"), vector("x_t"), vector("w")
final = state(x, 0, T)
values = function("values", Scalar)  # a sequence


def lemma(small: Assumption, reason: str) -> Attack:
    """‖h_T‖ ≤ 1 says nothing of ‖h_{T−k}‖."""
    proof = Proof((Step("s", le(h_norm, 2), Smt("small")),))
    use = Form("f", le(h_norm, 2), (small,), "rnn", proof).lemma("l", T).at(T - k)
    return ends(le(h_start, 2), Smt(use, "window"), reason, small, WINDOW)


other = Dummy("T", integer=True)
even, positive = Symbol("even", integer=True, even=True), Symbol("p", positive=True)
inner = Symbol("i", integer=True)
inverse = operator("V_inverse")
bell = Rational(355, 113) / pi * exp(-((z - Rational(1, 3)) ** 2))
local = assume(
    "local", le(norm(phi(a, c) - phi(b, c)), (1 + norm(a)) * norm(a - b)), variables=(a, b, c)
)
smooth = assume("differentiable", eq(differentiable(a, c), 1), variables=(a, c))
slope = DERIVATIVE_IN_STATE.at(1 + norm(a), v, w), at("differentiable", v, w)
(invertible,) = (part for part in PERRON.assumptions if part.id == "invertible")
NATURAL = Step("natural", le(0, j), Smt(), (j,))
LOGIC: dict[str, Attack | Forgery] = {
    # ‖a − b‖ ≤ state_gap for all a and b, if state_gap is not unfolded with them.
    "a definition hides the variables": through(
        every(le(norm(a - b), state_gap), (a, b)),
        le(step_gap, state_gap),
        (phi(a, x_t), phi(b, x_t)),
        "ranges over what its quantities speak of",
    ),
    # state_gap ≤ 1 is about one pair of states.
    "a law speaks of a quantity": through(
        every(le(norm(a - b), 1), (a, b), by=Smt("near")),
        le(h_norm, 1),
        (final, 0),
        CONSTANT,
        assume("near", le(state_gap, 1)),
    ),
    "a condition hides what varies": lemma(Assumption("small", "", le(h_norm, ONE)), CUT),
    "a law hides what varies": lemma(
        assume("small", le(h_norm, ONE)), "neither granted nor proved"
    ),
    # ‖λ (h/λ)‖ = λ ‖h/λ‖ would make h vanish at λ = 0.
    "a quotient inside a norm": ends(
        le(h_norm, 0),
        Smt(base.HOMOGENEITY.at(lam, final / lam), "still"),
        CUT,
        Assumption("still", "", le(lam, ZERO)),
    ),
    # Whatever has an inverse is not 0; 1/λ need not exist.
    "a quotient for a variable": through(
        every(ne(lam, 0), (y,), eq(y * lam, 1)), lt(0, lam), (1 / lam,), f"{CUT}: lam = 0"
    ),
    # Squares are not negative, so that λ − 1 = (√(λ − 1))² is not; nor are sixth powers.
    "a root for a variable": through(every(le(0, y**2), (y,)), le(1, lam), (sqrt(lam - 1),), CUT),
    "a sixth root for a variable": through(
        every(le(0, y**6), (y,)), le(1, lam), ((lam - 1) ** Rational(1, 6),), "has no translation"
    ),
    # λ^k λ^{−k} is not 1 at λ = 0.
    "a negative power for a variable": through(
        every(ne(lam**k, 0), (y,), eq(y * lam**k, 1)),
        ne(lam**k, 0),
        (lam ** (-k),),
        "-k is not shown to be a natural",
    ),
    # exp y > 0, and SymPy's exp(log(λ − 1)) is λ − 1.
    "a logarithm for a variable": through(
        every(lt(0, exp(y)), (y,), by=Elementary()), lt(1, lam), (log(lam - 1),), CUT
    ),
    # tanh y < 1, and tanh(artanh λ) is λ.
    "a partial function for a variable": through(
        every(lt(tanh(y), 1), (y,), by=Elementary()), lt(lam, 1), (atanh(lam),), "is on no list"
    ),
    # y² z ≥ 0 for z ≥ 0, but not for y = i.
    "an imaginary number for a variable": through(
        every(le(0, y**2 * z), (y, z), le(0, z)), le(lam, 0), (I, lam), NO_NUMBER
    ),
    # S_0/(1 + y²) > 0, but not in the limit.
    "infinity for a variable": through(
        every(lt(0, S_0 / (1 + y**2)), (y,), lt(0, S_0)), le(S_0, 0), (oo,), NO_NUMBER
    ),
    # λ y < λ (y + 1), but 1e16 + 1 is 1e16 in SymPy, and so is 1e16 + j + 1.
    "a decimal for a variable": through(
        every(lt(lam * y, lam * (y + 1)), (y,), lt(0, lam)), le(lam, 0), (Float(1e16),), NO_NUMBER
    ),
    "a decimal swallows the induction step": through(
        every(le(Float(1e16) + j, Float(1e16)), (j,), by=Induction(j, Smt(), Smt(HYPOTHESIS))),
        le(T, 0),
        (T,),
        NO_NUMBER,
    ),
    # ‖W W⁻¹ v‖ ≤ ‖W‖ ‖W⁻¹ v‖ at W = 0.
    "an inverse operator": ends(
        le(h_norm, 0),
        Smt(base.SUBMULTIPLICATIVE.at(W, W**-1 * final), "zero"),
        "of an operator has no translation",
        assume("zero", eq(norm(W), ZERO)),
    ),
    # W^j is no number, and a vector equation none for z3.
    "powers of operators commute": ends(
        eq(W**j * V, V * W**j), Identity(), "of an operator has no translation"
    ),
    "a vector equation by smt": ends(
        eq(W**2 * V**2, V**2 * W**2), Smt(), "where a number is needed"
    ),
    # S_0 = λε does not give S_0/λ = ε at λ = 0, nor a_0 = λ that a_0/λ = 1.
    "rewriting hides a quotient": ends(
        eq(S_0 / lam, epsilon),
        Identity("product"),
        "do not give lam != 0",
        Assumption("product", "", eq(S_0, lam * epsilon)),
    ),
    "renaming hides a quotient": ends(
        eq(descent(0) / lam, 1),
        Smt("start"),
        "do not give lam != 0",
        assume("start", eq(descent(0), lam)),
    ),
    # S_0 a_0/λ ≤ 0 is no S_0 ≤ 0.
    "rewriting hides a quotient of a hypothesis": ends(
        le(S_0, 0),
        Smt("start"),
        CUT,
        assume("start", eq(descent(0), lam), le(S_0 * descent(0) / lam, 0)),
    ),
    # k ≤ T bounds T, not a variable that is printed as T.
    "two symbols of one name": Attack(
        (
            NATURAL,
            every(le(k, other), (other,), by=Smt(at("natural", other - k), "window")),
            Step("claim", le(k, 0), Smt(at("s", 0))),
        ),
        le(k, 0),
        (WINDOW,),
        "not shown to be a natural number",
    ),
    # (−1)^j is 1 for even j, and |y| is y for positive y.
    "a variable that is even": through(
        every(eq(values(even), 1), (even,), by=Smt(at("signs", even))),
        eq(values(3), 1),
        (3,),
        "does not range over all",
        assume("signs", eq(values(j), (-1) ** j), variables=(j,)),
    ),
    "a variable that is positive": through(
        every(eq(values(positive), positive), (positive,), by=Smt(at("moduli", positive))),
        eq(values(-1), -1),
        (-1,),
        "does not range over all",
        assume("moduli", eq(values(y), Abs(y)), variables=(y,)),
    ),
    # Σ_i i m at m = i is no Σ_i i².
    "a bound variable": ends(
        eq(values(1), values(2)),
        Smt(at("sums", inner)),
        "is on no list",
        assume("sums", eq(values(m), Sum(inner * m, (inner, 0, 2))), variables=(m,)),
    ),
    # A Lipschitz constant that depends on a is none for other states.
    "a requirement captures a term": through(
        every(le(norm(d_state(v, w)), 1 + norm(a)), (a,), by=Smt("local", *slope)),
        le(norm(d_state(v, w)), 1),
        (0,),
        "a variable of what it requires",
        local,
        smooth,
    ),
    # λ_min(z I − WᵀW) = z − ‖W‖² for the identity I, not for I = 0.
    "a constant of an axiom": Attack(
        (
            every(
                eq(least(z * eye - transpose(W) * W), z - norm(W) ** 2),
                (eye, z),
                by=Smt(base.LEAST_EIGENVALUE.at(W, z)),
            ),
            Step(
                "claim", le(S_0, 0), Smt(at("s", 0, S_0 + norm(W) ** 2), at("s", 0, norm(W) ** 2))
            ),
        ),
        le(S_0, 0),
        (),
        CONSTANT,
    ),
    # y = 5 defines one y.
    "a definition of a free symbol": through(
        every(eq(y, 5), (y,), by=Smt(law("five", (), eq(y, 5)).at())), eq(lam, 5), (lam,), CONSTANT
    ),
    # An axiom is one of the list, whatever it calls itself.
    "a forged axiom": ends(
        le(h_norm, 0),
        Smt(replace(base.TRIANGLE, clauses=law("", (), le(norm(a), ZERO)).clauses).at(final, 0)),
        "no axiom of the list",
    ),
    # π < 355/113 lets no peak of 355/113/π pass for 1.
    "an inequality as an equation": Attack(
        (
            Step("close", lt(pi, Rational(355, 113)), Exact()),
            Step("claim", le(Abs(bell), 1), BallMaximum((Rational(1, 3),), ("close",))),
        ),
        le(Abs(bell), 1),
        (),
        CUT,
    ),
    # ‖V⁻¹‖_∞ = 1 does not bound the Euclidean norm by the maximum norm.
    "one norm for two": ends(
        le(state_gap, state_gap_v),
        Smt(at("invertible", V, a - b), "unit", base.SUBMULTIPLICATIVE.at(inverse, V * (a - b))),
        CUT,
        invertible,
        assume("unit", le(norm(inverse), ONE)),
    ),
}
