"""Attacks on the ledger: each proves something false unless one check stops it.

The goals are false for some real model (most of them at λ = 0, or for the identity map), though
each step follows from the one before by a rule that is right almost always.
"""

from dataclasses import replace

import pytest
from sympy import (
    Abs,
    Dummy,
    Expr,
    Float,
    I,
    Rational,
    Sum,
    Symbol,
    atanh,
    exp,
    log,
    oo,
    pi,
    sqrt,
    tanh,
)

from theory import CLAIMS
from theory.axioms.base import (
    HOMOGENEITY,
    LEAST_EIGENVALUE,
    ROUNDED_GRAM,
    ROUNDED_STEP,
    SUBMULTIPLICATIVE,
    TRIANGLE,
)
from theory.axioms.gradients import DERIVATIVE_IN_STATE
from theory.claims.contraction.weighted import PERRON
from theory.errors import StatementError
from theory.language import (
    ONE,
    ZERO,
    Assumption,
    Instance,
    Law,
    Statement,
    at,
    eq,
    law,
    le,
    lt,
    ne,
    symbols,
)
from theory.language.terms.gradients import d_state, descent
from theory.language.terms.variables import a, b, c, eye, j, m, operator, v, vector, x, y, z
from theory.language.terms.vectors import (
    RECURSION,
    Scalar,
    function,
    least,
    norm,
    phi,
    state,
    transpose,
)
from theory.models.activations import ACTIVATIONS, ActivationFacts, Piece, Supremum
from theory.models.slopes import require_pieces
from theory.models.system import DIFFERENTIABLE, WINDOW
from theory.proof import Form, Proof, Step, check
from theory.proof.lemma import Lemma
from theory.proof.methods import (
    HYPOTHESIS,
    BallMaximum,
    Elementary,
    Exact,
    Gap,
    Identity,
    Induction,
    Method,
    Smt,
)
from theory.proof.methods.naturals import require_natural
from theory.proof.scope import Known

lam, S_0, epsilon, T, k = symbols("lam S_0 epsilon T k")
h_norm, h_start, step_gap, state_gap, state_gap_v = symbols(
    "h_norm h_start step_gap state_gap state_gap_v"
)
W, V, x_t, w = operator("W"), operator("V"), vector("x_t"), vector("w")
final = state(x, 0, T)
values = function("values", Scalar)  # a sequence

Attack = tuple[tuple[Step, ...], Statement, tuple[Assumption, ...], str]
CUT, NO_NUMBER, CONSTANT = "counter-model", "no real number", "a constant of the claim"


def assume(id: str, *facts: Statement, variables: tuple[Symbol, ...] = ()) -> Assumption:
    """An assumption's law."""
    return Assumption(id, "", law=law(id, variables, *facts))


def ends(goal: Statement, method: Method, reason: str, *granted: Assumption) -> Attack:
    """In one step, by the method."""
    return (Step("claim", goal, method),), goal, granted, reason


def through(
    step: Step, goal: Statement, terms: tuple[object, ...], reason: str, *granted: Assumption
) -> Attack:
    """By the step, at the terms."""
    end = Step("claim", goal, Smt(at(step.id, *terms)))  # type: ignore[arg-type]
    return (step, end), goal, granted, reason


def every(
    conclusion: Statement,
    variables: tuple[Symbol, ...],
    *given: Statement,
    by: Method | None = None,
) -> Step:
    """A step for all values of the variables, by z3 from what is given unless said otherwise."""
    method = by or Smt(*(f"given {index}" for index, _ in enumerate(given, start=1)))
    return Step("s", conclusion, method, variables, given)


def lemma(small: Assumption) -> Attack:
    """‖h_T‖ ≤ 1 says nothing of ‖h_{T−k}‖."""
    proof = Proof((Step("s", le(h_norm, 2), Smt("small")),))
    use = Form("f", le(h_norm, 2), (small,), "rnn", proof).lemma("l", T).at(T - k)
    return ends(le(h_start, 2), Smt(use, "window"), "", small, WINDOW)


other = Dummy("T", integer=True)
even, positive = Symbol("even", integer=True, even=True), Symbol("p", positive=True)
inner = Symbol("i", integer=True)
inverse = operator("V_inverse")
bell = Rational(355, 113) / pi * exp(-((z - Rational(1, 3)) ** 2))
local = assume(
    "local", le(norm(phi(a, c) - phi(b, c)), (1 + norm(a)) * norm(a - b)), variables=(a, b, c)
)
slope = DERIVATIVE_IN_STATE.at(1 + norm(a), v, w), at("differentiable", v, w)
(invertible,) = (part for part in PERRON.assumptions if part.id == "invertible")
NATURAL = Step("natural", le(0, j), Smt(), (j,))
ATTACKS: dict[str, Attack] = {
    # ‖a − b‖ ≤ state_gap for all a and b, if state_gap is not unfolded with them.
    "a definition hides the variables": through(
        every(le(norm(a - b), state_gap), (a, b)),
        le(step_gap, state_gap),
        (phi(a, x_t), phi(b, x_t)),
        CUT,
    ),
    # state_gap ≤ 1 is about one pair of states.
    "a law speaks of a quantity": through(
        every(le(norm(a - b), 1), (a, b), by=Smt("near")),
        le(h_norm, 1),
        (final, 0),
        CONSTANT,
        assume("near", le(state_gap, 1)),
    ),
    "a condition hides what varies": (*lemma(Assumption("small", "", le(h_norm, ONE)))[:3], CUT),
    "a law hides what varies": (
        *lemma(assume("small", le(h_norm, ONE)))[:3],
        "neither granted nor proved",
    ),
    # ‖λ (h/λ)‖ = λ ‖h/λ‖ would make h vanish at λ = 0.
    "a quotient inside a norm": ends(
        le(h_norm, 0),
        Smt(HOMOGENEITY.at(lam, final / lam), "still"),
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
        every(le(0, y**6), (y,)), le(1, lam), ((lam - 1) ** Rational(1, 6),), CUT
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
        every(lt(0, exp(y)), (y,), by=Elementary()), lt(1, lam), (log(lam - 1),), "meets exp"
    ),
    # tanh y < 1, and tanh(artanh λ) is λ.
    "a partial function for a variable": through(
        every(lt(tanh(y), 1), (y,), by=Elementary()), lt(lam, 1), (atanh(lam),), "may have no value"
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
        Smt(SUBMULTIPLICATIVE.at(W, W**-1 * final), "zero"),
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
    "two symbols of one name": (
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
        "binds a variable",
        assume("sums", eq(values(m), Sum(inner * m, (inner, 0, 2))), variables=(m,)),
    ),
    # A Lipschitz constant that depends on a is none for other states.
    "a requirement captures a term": through(
        every(le(norm(d_state(v, w)), 1 + norm(a)), (a,), by=Smt("local", *slope)),
        le(norm(d_state(v, w)), 1),
        (0,),
        "a variable of what it requires",
        local,
        DIFFERENTIABLE,
    ),
    # λ_min(z I − WᵀW) = z − ‖W‖² for the identity I, not for I = 0.
    "a constant of an axiom": (
        (
            every(
                eq(least(z * eye - transpose(W) * W), z - norm(W) ** 2),
                (eye, z),
                by=Smt(LEAST_EIGENVALUE.at(W, z)),
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
        Smt(replace(TRIANGLE, clauses=law("", (), le(norm(a), ZERO)).clauses).at(final, 0)),
        "no axiom of the list",
    ),
    # π < 355/113 lets no peak of 355/113/π pass for 1.
    "an inequality as an equation": (
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
        Smt(at("invertible", V, a - b), "unit", SUBMULTIPLICATIVE.at(inverse, V * (a - b))),
        CUT,
        invertible,
        assume("unit", le(norm(inverse), ONE)),
    ),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_the_attack_fails(name: str) -> None:
    """And for the reason expected."""
    steps, goal, assumptions, reason = ATTACKS[name]
    ledger = check(Proof(steps), goal, assumptions, minimal=False)
    assert not ledger.proved
    assert reason in ledger.failures[0].detail


@pytest.mark.parametrize(
    ("goal", "term"),
    [(le(1, 1 / y), 1 / (2 - lam)), (le(0, sqrt(y)), lam**2 + 1), (le(0, y**2), sqrt(lam))],
    ids=str,
)
def test_terms_with_a_meaning_may_be_put_in(goal: Statement, term: Expr) -> None:
    """A quotient or a root whose condition the step shows is as good as any term."""
    step = Step("s", goal, Smt("given 1", "given 2"), (y,), (lt(0, y), le(y, 1)))
    conclusion = goal.replace({y: term})
    end = Step("claim", conclusion, Smt(at("s", term), "bound"))
    bound = assume("bound", lt(0, term), le(term, 1), lt(lam, 2))
    ledger = check(Proof((step, end)), conclusion, (bound,), minimal=False)
    assert ledger.proved, ledger.failures


def test_a_relation_is_one_of_five() -> None:
    """An unknown one would be taken for another."""
    with pytest.raises(StatementError, match="unknown relation"):
        Statement(ZERO, ">=", ONE)  # type: ignore[arg-type]


def test_natural_numbers_go_by_symbol() -> None:
    """Two symbols of one name are two numbers."""
    other = Dummy("T", integer=True)
    clauses = law("", (), le(k, T)).clauses
    require_natural(T - k, clauses)
    with pytest.raises(Gap, match="natural"):
        require_natural(other - k, clauses)


def test_a_definition_is_closed() -> None:
    """Its symbols are its variables."""
    step = Step("claim", eq(y, 5), Smt(law("five", (), eq(y, 5)).at()))
    ledger = check(Proof((step,)), step.conclusion, ())
    assert "has no free symbols" in ledger.failures[0].detail


def test_the_rounding_axioms_speak_of_numbers_in_range() -> None:
    """Underflow loses more than a relative error, a negative shift more than 4u s²."""
    for axiom in (ROUNDED_STEP, ROUNDED_GRAM):
        assert any("in_range" in str(premise.lhs) for premise in axiom.clauses[0].given)
    assert le(ZERO, z) in ROUNDED_GRAM.clauses[0].given


STEP_FUNCTION = (Piece(ONE, (le(ZERO, z),)), Piece(ZERO, (le(z, ZERO),)))
HALF_A_LINE = (Piece(z, (le(ONE, z),)), Piece(ZERO, (le(z, ZERO),)))
NONE = Supremum(oo, None)


@pytest.mark.parametrize(
    ("pieces", "reason"), [(STEP_FUNCTION, "a jump at 0"), (HALF_A_LINE, "the pieces leave a gap")]
)
def test_an_activation_is_all_of_its_pieces(pieces: tuple[Piece, ...], reason: str) -> None:
    """Slopes bound an activation only where it is continuous and all of it is looked at."""
    with pytest.raises(Gap, match=reason):
        require_pieces(ActivationFacts("bad", z, pieces, (NONE, NONE, NONE)), Known({}))
    for facts in ACTIVATIONS.values():
        require_pieces(facts, Known({}))


def test_definitions_are_the_same_everywhere() -> None:
    """Two laws that are used without proof under one name are one law."""
    found: dict[str, Law] = {"recursion": RECURSION}

    def collect(proof: Proof) -> None:
        for step in proof.steps:
            for need in step.needs:
                used = need.law if isinstance(need, Instance) else None
                if isinstance(used, Lemma):
                    collect(used.proof)
                elif type(used) is Law:
                    assert found.setdefault(used.id, used) == used

    for claim in CLAIMS:
        for form in claim.forms:
            collect(form.proof)
    assert {"recursion", "feed-forward layers", "orbit", "series"} <= set(found)
