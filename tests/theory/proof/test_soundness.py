"""Attacks on the ledger: each proves something false unless one check stops it.

The goals are false for some real model (most of them at λ = 0, or for the identity map), though
each step follows from the one before by a rule that is right almost always.
"""

from collections.abc import Callable
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
    DERIVATIVE_IN_STATE,
    HOMOGENEITY,
    LEAST_EIGENVALUE,
    ROUNDED_GRAM,
    ROUNDED_STEP,
    SUBMULTIPLICATIVE,
    TRIANGLE,
)
from theory.claims.contraction.weighted import PERRON
from theory.errors import StatementError
from theory.language.law import Assumption, Instance, Law, at, law
from theory.language.statement import Statement, eq, le, lt, ne
from theory.language.terms.vectors import (
    RECURSION,
    Scalar,
    a,
    b,
    c,
    d_state,
    descent,
    eye,
    function,
    j,
    least,
    m,
    norm,
    phi,
    state,
    transpose,
    v,
    vector,
    x,
    y,
    z,
)
from theory.language.vocabulary import symbols
from theory.models.activations import ACTIVATIONS, ActivationFacts, Piece, Supremum
from theory.models.slopes import require_pieces
from theory.models.system import DIFFERENTIABLE, ONE, WINDOW, ZERO
from theory.proof.claim import Form
from theory.proof.methods import Exact, Gap, Identity, Induction, Smt
from theory.proof.methods.ball import BallMaximum
from theory.proof.methods.elementary import Elementary
from theory.proof.methods.induction import HYPOTHESIS
from theory.proof.methods.naturals import require_natural
from theory.proof.proof import Lemma, Proof, Step, check
from theory.proof.scope import Known

lam, S_0, epsilon, T, k = symbols("lam S_0 epsilon T k")
h_norm, h_start, step_gap, state_gap, state_gap_v = symbols(
    "h_norm h_start step_gap state_gap state_gap_v"
)
W, V, x_t, w = vector("W"), vector("V"), vector("x_t"), vector("w")
final = state(x, 0, T)
values = function("values", Scalar)  # a sequence

Attack = tuple[tuple[Step, ...], Statement, tuple[Assumption, ...], str]
ATTACKS: list[Callable[[], Attack]] = []


def attack(make: Callable[[], Attack]) -> Callable[[], Attack]:
    """List the attack."""
    ATTACKS.append(make)
    return make


def assume(id: str, *facts: Statement, variables: tuple[Symbol, ...] = ()) -> Assumption:
    """An assumption's law."""
    return Assumption(id, "", law=law(id, variables, *facts))


def use(name: str, *terms: object) -> Instance:
    """A step at terms."""
    return at(name, *terms)


def through(step: Step, goal: Statement, *terms: object) -> tuple[Step, ...]:
    """The step, then the goal by the step at the terms."""
    return step, Step("claim", goal, Smt(use(step.id, *terms)))


@attack
def a_definition_hides_the_variables() -> Attack:
    """‖a − b‖ ≤ state_gap for all a and b, if state_gap is not unfolded with them."""
    goal = le(step_gap, state_gap)
    step = Step("s", le(norm(a - b), state_gap), Smt(), forall=(a, b))
    return through(step, goal, phi(a, x_t), phi(b, x_t)), goal, (), "counter-model"


@attack
def a_law_speaks_of_a_quantity() -> Attack:
    """state_gap ≤ 1 is about one pair of states."""
    goal, near = le(h_norm, 1), assume("near", le(state_gap, 1))
    step = Step("s", le(norm(a - b), 1), Smt("near"), forall=(a, b))
    return through(step, goal, final, 0), goal, (near,), "a constant of the claim"


@attack
def a_condition_hides_what_varies() -> Attack:
    """‖h_T‖ ≤ 1 says nothing of ‖h_{T−k}‖."""
    goal, small = le(h_start, 2), Assumption("small", "", le(h_norm, ONE))
    form = Form(
        "f", le(h_norm, 2), (small,), "rnn", Proof((Step("s", le(h_norm, 2), Smt("small")),))
    )
    end = Step("claim", goal, Smt(form.lemma("l", T).at(T - k), "window"))
    return (end,), goal, (small, WINDOW), "counter-model"


@attack
def a_law_hides_what_varies() -> Attack:
    """The same by a law."""
    goal, small = le(h_start, 2), assume("small", le(h_norm, ONE))
    form = Form(
        "f", le(h_norm, 2), (small,), "rnn", Proof((Step("s", le(h_norm, 2), Smt("small")),))
    )
    end = Step("claim", goal, Smt(form.lemma("l", T).at(T - k), "window"))
    return (end,), goal, (small, WINDOW), "neither granted nor proved"


@attack
def a_quotient_inside_a_norm() -> Attack:
    """‖λ (h/λ)‖ = λ ‖h/λ‖ would make h vanish at λ = 0."""
    goal, still = le(h_norm, 0), Assumption("still", "", le(lam, ZERO))
    end = Step("claim", goal, Smt(HOMOGENEITY.at(lam, final / lam), "still"))
    return (end,), goal, (still,), "counter-model"


@attack
def a_quotient_for_a_variable() -> Attack:
    """Whatever has an inverse is not 0; 1/λ need not exist."""
    goal = lt(0, lam)
    step = Step("s", ne(lam, 0), Smt("given 1"), (y,), (eq(y * lam, 1),))
    return through(step, goal, 1 / lam), goal, (), "counter-model: lam = 0"


@attack
def a_root_for_a_variable() -> Attack:
    """Squares are not negative, so that λ − 1 = (√(λ − 1))² is not."""
    step = Step("s", le(0, y**2), Smt(), (y,))
    goal = le(1, lam)
    return through(step, goal, sqrt(lam - 1)), goal, (), "counter-model"


@attack
def a_sixth_root_for_a_variable() -> Attack:
    """Nor are sixth powers."""
    step = Step("s", le(0, y**6), Smt(), (y,))
    goal = le(1, lam)
    return through(step, goal, (lam - 1) ** Rational(1, 6)), goal, (), "counter-model"


@attack
def a_negative_power_for_a_variable() -> Attack:
    """λ^k λ^{−k} is not 1 at λ = 0."""
    goal = ne(lam**k, 0)
    step = Step("s", goal, Smt("given 1"), (y,), (eq(y * lam**k, 1),))
    return through(step, goal, lam ** (-k)), goal, (), "-k is not shown to be a natural"


@attack
def a_logarithm_for_a_variable() -> Attack:
    """exp y > 0, and SymPy's exp(log(λ − 1)) is λ − 1."""
    goal = lt(1, lam)
    step = Step("s", lt(0, exp(y)), Elementary(), (y,))
    return through(step, goal, log(lam - 1)), goal, (), "meets exp"


@attack
def a_partial_function_for_a_variable() -> Attack:
    """tanh y < 1, and tanh(artanh λ) is λ."""
    goal = lt(lam, 1)
    step = Step("s", lt(tanh(y), 1), Elementary(), (y,))
    return through(step, goal, atanh(lam)), goal, (), "may have no value"


@attack
def an_imaginary_number_for_a_variable() -> Attack:
    """y² z ≥ 0 for z ≥ 0, but not for y = i."""
    goal = le(lam, 0)
    step = Step("s", le(0, y**2 * z), Smt("given 1"), (y, z), (le(0, z),))
    return through(step, goal, I, lam), goal, (), "no real number"


@attack
def infinity_for_a_variable() -> Attack:
    """S_0/(1 + y²) > 0, but not in the limit."""
    goal = le(S_0, 0)
    step = Step("s", lt(0, S_0 / (1 + y**2)), Smt("given 1"), (y,), (lt(0, S_0),))
    return through(step, goal, oo), goal, (), "no real number"


@attack
def a_decimal_for_a_variable() -> Attack:
    """λ y < λ (y + 1), but 1e16 + 1 is 1e16 in SymPy."""
    goal = le(lam, 0)
    step = Step("s", lt(lam * y, lam * (y + 1)), Smt("given 1"), (y,), (lt(0, lam),))
    return through(step, goal, Float(1e16)), goal, (), "no real number"


@attack
def a_decimal_swallows_the_induction_step() -> Attack:
    """1e16 + j + 1 is 1e16 + j in SymPy."""
    goal = le(T, 0)
    by = Induction(j, Smt(), Smt(HYPOTHESIS))
    step = Step("s", le(Float(1e16) + j, Float(1e16)), by, (j,))
    return through(step, goal, T), goal, (), "no real number"


@attack
def an_inverse_operator() -> Attack:
    """‖W W⁻¹ v‖ ≤ ‖W‖ ‖W⁻¹ v‖ at W = 0."""
    goal, zero = le(h_norm, 0), assume("zero", eq(norm(W), ZERO))
    end = Step("claim", goal, Smt(SUBMULTIPLICATIVE.at(W, W**-1 * final), "zero"))
    return (end,), goal, (zero,), "of an operator has no translation"


@attack
def powers_of_operators_commute() -> Attack:
    """W^j is no number."""
    goal = eq(W**j * V, V * W**j)
    return (Step("claim", goal, Identity()),), goal, (), "of an operator has no translation"


@attack
def a_vector_equation_by_smt() -> Attack:
    """Nor is it one for z3."""
    goal = eq(W**2 * V**2, V**2 * W**2)
    return (Step("claim", goal, Smt()),), goal, (), "where a number is needed"


@attack
def rewriting_hides_a_quotient() -> Attack:
    """S_0 = λε does not give S_0/λ = ε at λ = 0."""
    goal, product = eq(S_0 / lam, epsilon), Assumption("product", "", eq(S_0, lam * epsilon))
    return (Step("claim", goal, Identity("product")),), goal, (product,), "do not give lam != 0"


@attack
def renaming_hides_a_quotient() -> Attack:
    """a_0 = λ does not give a_0/λ = 1."""
    goal, start = eq(descent(0) / lam, 1), assume("start", eq(descent(0), lam))
    return (Step("claim", goal, Smt("start")),), goal, (start,), "do not give lam != 0"


@attack
def rewriting_hides_a_quotient_of_a_hypothesis() -> Attack:
    """S_0 a_0/λ ≤ 0 is no S_0 ≤ 0."""
    start = assume("start", eq(descent(0), lam), le(S_0 * descent(0) / lam, 0))
    goal = le(S_0, 0)
    return (Step("claim", goal, Smt("start")),), goal, (start,), "counter-model"


@attack
def two_symbols_of_one_name() -> Attack:
    """k ≤ T bounds T, not a variable that is printed as T."""
    other, goal = Dummy("T", integer=True), le(k, 0)
    natural = Step("natural", le(0, j), Smt(), (j,))
    step = Step("s", le(k, other), Smt(use("natural", other - k), "window"), (other,))
    return (natural, *through(step, goal, 0)), goal, (WINDOW,), "not shown to be a natural number"


@attack
def a_variable_that_is_even() -> Attack:
    """(−1)^j is 1 for even j."""
    even = Symbol("even", integer=True, even=True)
    signs, goal = assume("signs", eq(values(j), (-1) ** j), variables=(j,)), eq(values(3), 1)
    step = Step("s", eq(values(even), 1), Smt(use("signs", even)), (even,))
    return through(step, goal, 3), goal, (signs,), "does not range over all"


@attack
def a_variable_that_is_positive() -> Attack:
    """|y| is y for positive y."""
    positive = Symbol("p", positive=True)
    moduli, goal = assume("moduli", eq(values(y), Abs(y)), variables=(y,)), eq(values(-1), -1)
    step = Step("s", eq(values(positive), positive), Smt(use("moduli", positive)), (positive,))
    return through(step, goal, -1), goal, (moduli,), "does not range over all"


@attack
def a_bound_variable() -> Attack:
    """Σ_i i m at m = i is no Σ_i i²."""
    inner = Symbol("i", integer=True)
    sums = assume("sums", eq(values(m), Sum(inner * m, (inner, 0, 2))), variables=(m,))
    goal = eq(values(1), values(2))
    step = Step("claim", goal, Smt(use("sums", inner)))
    return (step,), goal, (sums,), "binds a variable"


@attack
def a_requirement_captures_a_term() -> Attack:
    """A Lipschitz constant that depends on a is none for other states."""
    local = assume(
        "local", le(norm(phi(a, c) - phi(b, c)), (1 + norm(a)) * norm(a - b)), variables=(a, b, c)
    )
    goal = le(norm(d_state(v, w)), 1)
    slope = DERIVATIVE_IN_STATE.at(1 + norm(a), v, w)
    smooth = use("differentiable", v, w)
    step = Step("s", le(norm(d_state(v, w)), 1 + norm(a)), Smt("local", slope, smooth), (a,))
    return through(step, goal, 0), goal, (local, DIFFERENTIABLE), "a variable of what it requires"


@attack
def a_constant_of_an_axiom() -> Attack:
    """λ_min(z I − WᵀW) = z − ‖W‖² for the identity I, not for I = 0."""
    goal = le(S_0, 0)
    eigenvalue = eq(least(z * eye - transpose(W) * W), z - norm(W) ** 2)
    step = Step("s", eigenvalue, Smt(LEAST_EIGENVALUE.at(W, z)), (eye, z))
    ends = use("s", 0, S_0 + norm(W) ** 2), use("s", 0, norm(W) ** 2)
    return (step, Step("claim", goal, Smt(*ends))), goal, (), "a constant of the claim"


@attack
def a_definition_of_a_free_symbol() -> Attack:
    """y = 5 defines one y."""
    step, goal = Step("s", eq(y, 5), Smt(law("five", (), eq(y, 5)).at()), (y,)), eq(lam, 5)
    return through(step, goal, lam), goal, (), "a constant of the claim"


@attack
def a_forged_axiom() -> Attack:
    """An axiom is one of the list, whatever it calls itself."""
    forged = replace(TRIANGLE, clauses=law("", (), le(norm(a), ZERO)).clauses)
    goal = le(h_norm, 0)
    return (Step("claim", goal, Smt(forged.at(final, 0))),), goal, (), "no axiom of the list"


@attack
def an_inequality_as_an_equation() -> Attack:
    """π < 355/113 lets no peak of 355/113/π pass for 1."""
    bell = Rational(355, 113) / pi * exp(-((z - Rational(1, 3)) ** 2))
    goal = le(Abs(bell), 1)
    close = Step("close", lt(pi, Rational(355, 113)), Exact())
    end = Step("claim", goal, BallMaximum((Rational(1, 3),), ("close",)))
    return (close, end), goal, (), "counter-model"


@attack
def one_norm_for_two() -> Attack:
    """‖V⁻¹‖_∞ = 1 does not bound the Euclidean norm by the maximum norm."""
    inverse = vector("V_inverse")
    invertible = next(part for part in PERRON.assumptions if part.id == "invertible")
    unit, goal = assume("unit", le(norm(inverse), ONE)), le(state_gap, state_gap_v)
    product = SUBMULTIPLICATIVE.at(inverse, V * (a - b))
    end = Step("claim", goal, Smt(use("invertible", V, a - b), "unit", product))
    return (end,), goal, (invertible, unit), "counter-model"


@pytest.mark.parametrize("make", ATTACKS, ids=lambda make: make.__name__)
def test_the_attack_fails(make: Callable[[], Attack]) -> None:
    """And for the reason expected."""
    steps, goal, assumptions, reason = make()
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
    end = Step("claim", conclusion, Smt(use("s", term), "bound"))
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
