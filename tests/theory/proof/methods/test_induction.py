"""Induction whose premises move with its variable, and whose hypothesis holds for all others."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from sympy import Integer, Rational

from rnnbounds.theory.language import Assumption, Clause, at, eq, law, le
from rnnbounds.theory.language import symbols as quantities
from rnnbounds.theory.language.terms.variables import i, j, y
from rnnbounds.theory.language.terms.vectors import Scalar, function
from rnnbounds.theory.proof import Proof, Step, check
from rnnbounds.theory.proof.methods import HYPOTHESIS, Induction, Smt

values = function("values", Scalar, __name__)
(T,) = quantities("T")

UP = law("up", (j,), Clause(le(values(j) + 1, values(j + 1)), (le(j + 1, T),)), le(0, values(0)))
UP_TO = Assumption("up", "", law=UP)


def bounded(**changed: object) -> Step:
    """j ≤ v_j for j ≤ T, where v_{j+1} ≥ v_j + 1 for j < T alone."""
    given = (le(j, T),)
    method = Induction(
        j, base=Smt(at("up", 0)), step=Smt(HYPOTHESIS, at("up", j), "given 1"), given=given
    )
    step = Step("up to T", le(j, values(j)), method, forall=(j,), given=given)
    return replace(step, **changed)


def verdict_of(step: Step) -> tuple[str, str]:
    """What becomes of the step."""
    end = Step("claim", le(Integer(0), Integer(0)), Smt())
    found = check(Proof((step, end)), end.conclusion, (UP_TO,)).steps[0]
    return found.verdict, found.detail


def test_induction_up_to_a_bound() -> None:
    """It proves what holds up to T, and uses nothing of what lies beyond."""
    assert verdict_of(bounded())[0] == "proved"
    beyond = bounded().method
    assert isinstance(beyond, Induction)
    assert verdict_of(bounded(given=(), method=replace(beyond, given=())))[0] == "failed"
    later = (le(j, T + 1),)
    assert verdict_of(bounded(given=later, method=replace(beyond, given=later)))[0] == "failed"


@pytest.mark.parametrize(
    "change",
    [
        lambda step, method: replace(step, method=replace(method, given=())),
        lambda step, method: replace(step, given=()),
        lambda step, method: replace(step, given=(le(j, T), le(T, j))),
        lambda step, method: replace(step, forall=()),
        lambda step, method: replace(step, method=replace(method, others=(j,))),
        lambda step, method: replace(step, method=replace(method, others=(i,))),
    ],
    ids=["not carried", "not the step's", "more", "not free", "itself", "no variable"],
)
def test_induction_refuses_what_it_does_not_carry(
    change: Callable[[Step, Induction], Step],
) -> None:
    """Premises that move and are not carried, and hypotheses on what is no variable of the step."""
    step = bounded()
    assert isinstance(step.method, Induction)
    verdict, detail = verdict_of(change(step, step.method))
    assert verdict == "failed"
    assert "not a free variable" in detail or "premises are not the step's" in detail


def test_the_hypothesis_may_hold_for_all_other_variables() -> None:
    """Σ over i + j: the hypothesis at i + 1 is needed, and only granted where it is listed."""
    sums = function("sums", Scalar, __name__)
    shift = law("shift", (i, j), eq(sums(i, 0), 0), eq(sums(i, j + 1), sums(i + 1, j)))
    method = Induction(
        j,
        base=Smt(at("shift", i, 0)),
        step=Smt(at("shift", i, j), at(HYPOTHESIS, i + 1)),
        others=(i,),
    )
    step = Step("zero", eq(sums(i, j), 0), method, forall=(i, j))
    end = Step("claim", eq(sums(3, 4), 0), Smt(at("zero", 3, 4)))
    granted = (Assumption("shift", "", law=shift),)
    assert check(Proof((step, end)), end.conclusion, granted).proved
    fixed = replace(step, method=replace(method, others=()))
    assert not check(Proof((fixed, end)), end.conclusion, granted).proved


def test_no_induction_over_the_reals() -> None:
    """What is 0 at 0 and has the period 1 may be sin 2πy."""
    laws = law("periodic", (y,), eq(values(0), 0), eq(values(y + 1), values(y)))
    method = Induction(y, Smt(at("periodic", 0)), Smt(HYPOTHESIS, at("periodic", y)))
    goal = eq(values(Rational(1, 2)), 0)
    always = Step("always", eq(values(y), 0), method, (y,))
    end = Step("claim", goal, Smt(at("always", Rational(1, 2))))
    granted = (Assumption("periodic", "", law=laws),)
    ledger = check(Proof((always, end)), goal, granted)
    assert not ledger.proved
    assert ledger.failures[0].id == "always"
