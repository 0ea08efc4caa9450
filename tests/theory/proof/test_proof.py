"""The ledger's checks: each can fail."""

from dataclasses import replace

import pytest
from sympy import Integer

from rnnbounds.theory.axioms.base import SUBMULTIPLICATIVE, TRIANGLE
from rnnbounds.theory.axioms.gradients import DERIVATIVE_IN_STATE
from rnnbounds.theory.claims.memory.state_bound import FINITE
from rnnbounds.theory.kernel import door
from rnnbounds.theory.language import Assumption, Instance, Statement, at, eq, law, le, lt, symbols
from rnnbounds.theory.language.terms.networks import d_state
from rnnbounds.theory.language.terms.variables import a, b, j, m, operator, vector, x, y, z
from rnnbounds.theory.language.terms.vectors import entry, norm, state
from rnnbounds.theory.models.system import CONTRACTION, CONTRACTIVE, DIFFERENTIABLE, DRIVE, WINDOW
from rnnbounds.theory.proof import Form, Proof, Step, check
from rnnbounds.theory.proof.methods import HYPOTHESIS, Induction, Smt
from rnnbounds.theory.proof.proof import StepResult
from rnnbounds.theory.proof.scope import law_of

lam, S_0, h_norm, state_gap, T, k = symbols("lam S_0 h_norm state_gap T k")
NATURAL = Step("natural", le(0, lam**j), Induction(j, Smt(), Smt(HYPOTHESIS)), forall=(j,))


def only(step: Step, *assumptions: Assumption) -> StepResult:
    """The result of the first of two steps, the second of which is trivial."""
    end = Step("claim", le(0, h_norm), Smt())
    return check(Proof((step, end)), end.conclusion, assumptions).steps[0]


def refused(step: Step, reason: str, *assumptions: Assumption) -> None:
    """The step fails for the reason."""
    result = only(step, *assumptions)
    assert (result.verdict, reason in result.detail) == ("failed", True), result.detail


def test_unused_assumptions_are_named() -> None:
    """An assumption that no step uses is listed."""
    step = Step("s", lt(lam, 2), Smt("contractive"))
    assert check(Proof((step,)), step.conclusion, (CONTRACTIVE, WINDOW)).unused == ("window",)


@pytest.mark.parametrize(
    ("instance", "reason"),
    [
        (at("natural", 1, 2), "it takes (j), 1 terms"),
        (at("natural", -1), "-1 is not shown to be a natural number"),
        (at("natural", T - k), "T - k is not shown to be a natural number"),
        (at("natural", a), "a cannot stand for j"),
        (TRIANGLE.at(lam, a), "lam cannot stand for X: number for vector or operator"),
    ],
)
def test_instances_have_the_right_sorts(instance: Instance, reason: str) -> None:
    """Arity, vectors and natural numbers are checked."""
    step = Step("claim", le(0, h_norm), Smt(instance))
    ledger = check(Proof((NATURAL, step)), step.conclusion, ())
    assert reason in ledger.steps[1].detail


def test_a_bound_on_an_index_must_be_used() -> None:
    """T − k is natural where the step uses k ≤ T."""
    step = Step("claim", le(0, lam ** (T - k)), Smt(at("natural", T - k), "window"))
    assert check(Proof((NATURAL, step)), step.conclusion, (WINDOW,)).proved


def test_variables_are_no_constants() -> None:
    """A step may not generalise over what is assumed to be special."""
    special = Assumption("special", "", le(y, Integer(1)))
    refused(Step("s", le(y, 1), Smt("special"), forall=(y,)), "a constant of the claim", special)
    refused(Step("s", lt(lam, 1), Smt("contractive"), forall=(lam,)), "a constant", CONTRACTIVE)
    near = Assumption("near", "", le(state_gap, Integer(1)))
    gap = Step("s", le(norm(a - b), 1), Smt("near"), forall=(a, b))
    refused(gap, "a constant of the claim", near)
    unit = Assumption("unit", "", law=law("unit", (), eq(norm(a), Integer(1))))
    refused(Step("s", eq(norm(a), 1), Smt("unit"), forall=(a,)), "a constant of the claim", unit)


def test_names_are_used_once() -> None:
    """A step may not shadow an assumption."""
    refused(Step("contractive", lt(lam, 2), Smt("contractive")), "is taken", CONTRACTIVE)


def test_premises_go_with_the_step() -> None:
    """What is given must be shown where the step is used."""
    step = Step("s", le(y, z + 1), Smt("given 1"), (y, z), (le(y, z),))
    good = Step("claim", le(lam, 2), Smt(at("s", lam, 1), "contractive"))
    assert check(Proof((step, good)), good.conclusion, (CONTRACTIVE,)).proved
    bad = Step("claim", le(lam, 2), Smt(at("s", lam, 1)))
    assert not check(Proof((step, bad)), bad.conclusion, ()).proved


def test_nothing_is_left_open_at_the_end() -> None:
    """Premises and variables of the last step do not count."""
    goal = lt(lam, Integer(1))
    step = Step("claim", goal, Smt("given 1"), given=(goal,))
    ledger = check(Proof((step,)), goal, ())
    assert not ledger.proved
    assert "neither granted nor proved" in ledger.steps[0].detail


def lemma_use(form: Form, *terms: object, granted: tuple[Assumption, ...]) -> StepResult:
    """Use a form as a lemma, at the terms."""
    instance = form.lemma("lemma", T).at(*terms)  # type: ignore[arg-type]
    return only(Step("s", le(0, norm(state(x, 0, 3))), Smt(instance, "contractive")), *granted)


def test_a_lemma_brings_its_assumptions() -> None:
    """All that the lemma assumes must be granted, the same to the letter."""
    granted = FINITE.assumptions
    assert lemma_use(FINITE, 3, granted=granted).verdict == "proved"
    assert "'drive' is neither" in lemma_use(FINITE, 3, granted=granted[:2]).detail
    weaker = replace(CONTRACTIVE, condition=lt(lam, Integer(2)))
    result = lemma_use(FINITE, 3, granted=(CONTRACTION, weaker, DRIVE))
    assert "'contractive' is neither" in result.detail


def test_conditions_on_what_varies_become_premises() -> None:
    """k ≤ T is shown anew at each instance; a law that speaks of T cannot move."""
    goal = le(lam ** (T - k), 1)
    steps = (
        Step(
            "power",
            le(lam**j, 1),
            Induction(j, Smt(), Smt(HYPOTHESIS, "contractive", at("natural", j))),
            forall=(j,),
        ),
        Step("claim", goal, Smt(at("power", T - k), "window")),
    )
    form = Form("f", goal, (CONTRACTIVE, WINDOW), "rnn", Proof((NATURAL, *steps)))
    lemma = form.lemma("lemma", T)
    assert [c.given for c in law_of(lemma).clauses] == [(door.statement(le(k, T)),)]
    use = Step("claim", le(lam ** (T + 1), 1), Smt(lemma.at(T + k + 1), "contractive"))
    assert check(Proof((use,)), use.conclusion, (CONTRACTIVE,)).proved
    moving = Assumption("moving", "", law=law("moving", (m,), eq(state(x, 0, T), Integer(0))))
    pinned = replace(form, assumptions=(*form.assumptions, moving)).lemma("lemma", T)
    step = Step("s", le(0, S_0), Smt(pinned.at(3)))
    refused(step, "'moving' is neither", CONTRACTIVE, WINDOW, moving)


def test_an_axiom_needs_what_it_requires() -> None:
    """The derivative's bound needs the Lipschitz condition with the same constant."""
    there, smooth = (state(x, 0, 1), entry(x, 2)), at("differentiable", 0, 1)

    def derivative(constant: object, *uses: str) -> Step:
        instance = DERIVATIVE_IN_STATE.at(constant, *there)  # type: ignore[arg-type]
        conclusion = le(norm(d_state(*there)), constant)  # type: ignore[arg-type]
        return Step("s", conclusion, Smt(instance, smooth, *uses))

    granted = (CONTRACTION, DIFFERENTIABLE)
    assert only(derivative(lam, "contraction"), *granted).verdict == "proved"
    refused(derivative(lam), "nothing used states what it requires", *granted)
    refused(derivative(lam / 2, "contraction"), "nothing used states", *granted)


def test_axioms_and_definitions_are_listed() -> None:
    """A ledger names what it rests on, lemmas included."""
    v, A = vector("v"), operator("A")
    step = Step("claim", le(norm(A * v), norm(A) * norm(v)), Smt(SUBMULTIPLICATIVE.at(A, v)))
    ledger = check(Proof((step,)), step.conclusion, ())
    assert (ledger.proved, ledger.axioms, ledger.definitions) == (
        True,
        ("sub-multiplicativity",),
        (),
    )
    ledger = check(FINITE.proof, FINITE.statement, FINITE.assumptions)
    assert (ledger.axioms, ledger.definitions) == (("norm",), ("recursion",))


@pytest.mark.parametrize("goal", [le(h_norm, S_0), lt(h_norm, S_0 / (1 - lam)), eq(h_norm, S_0)])
def test_retargeting_at_something_false_fails(goal: Statement) -> None:
    """The same steps do not prove another conclusion; the counter-model is in the ledger."""
    ledger = check(FINITE.proof, goal, FINITE.assumptions)
    assert not ledger.proved
    assert "counter-model" in ledger.failures[-1].detail
