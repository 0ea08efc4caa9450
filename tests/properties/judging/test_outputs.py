"""Outputs decided without a run: by the weights themselves, never by their bound."""

import pytest

from rnnbounds.properties.attacks.typed_statement import typed_assumptions
from rnnbounds.properties.judging import exact_decision
from rnnbounds.properties.judging import judge as judge_module
from rnnbounds.properties.judging.exact_decision import decide_exactly, has_unbounded_side
from rnnbounds.properties.judging.judge import HOLDS, ExactBudget, judge, windows_held_by_outputs
from rnnbounds.properties.judging.simplification import simplify_statement
from rnnbounds.properties.systems.batch import build_batch
from rnnbounds.properties.systems.table import make_spec
from rnnbounds.theory.language.parse import parse_statement

SPEC = make_spec(kind="rnn", n=3, T=5, K=5, lam=0.75, seed=4, batch=1, sequences=1)


@pytest.fixture
def pair():
    """One network with two outputs."""
    return build_batch(SPEC).pair(0, 0)


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("y_gap <= L_f*h_gap", True),
        ("lam*y_gap <= L_f*h_gap", True),
        ("2*y_gap <= 2*L_f*h_gap", True),
        ("y_gap <= h_gap*L_f*(1 - 2**(-30))", False),
        ("0*y_gap <= L_f*h_gap", False),  # not of this form, and true by what is measured
        ("-y_gap <= L_f*h_gap", False),
        ("y_gap <= -L_f*h_gap", False),
        ("y_gap < L_f*h_gap", False),
        ("h_gap <= L_f*y_gap", False),
        ("y_gap <= L_f*h_norm", False),
        ("y_gap <= exp(L_f)*h_gap", False),
        ("y_gap <= h_norm*h_gap", False),
    ],
)
def test_an_exact_norm_bounds_the_gap_of_outputs(pair, text, holds):
    """At all windows or at none."""
    found = windows_held_by_outputs(parse_statement(text), pair, [0, 2, 5])
    assert found == ([0, 2, 5] if holds else [])


def test_what_is_decided_so_costs_no_patience(monkeypatch):
    """A typed statement needs no run for it."""
    statement = parse_statement("y_gap <= L_f*h_gap")
    monkeypatch.setattr(judge_module, "decide_pair", pytest.fail)
    batch = build_batch(make_spec(kind="rnn", T=5, K=5, lam=0.75, seed=4, batch=4, sequences=2))
    found = judge(
        simplify_statement(statement), typed_assumptions(statement), batch, ExactBudget(0)
    )
    assert found.escalated
    assert (found.verdicts == HOLDS).all()


@pytest.mark.parametrize(
    ("text", "beyond"),
    [
        ("exp(exp(exp(exp(100)))) <= h_gap", True),
        ("h_gap <= exp(exp(exp(exp(100 + lam))))", True),
        ("exp(100) <= h_gap", False),
        ("exp(h_gap) <= exp(lam)", False),
    ],
)
def test_numbers_beyond_all_balls(pair, monkeypatch, text, beyond):
    """Nothing is measured for them."""
    statement = parse_statement(text)
    assert has_unbounded_side(statement, pair, 2) is beyond
    if beyond:
        monkeypatch.setattr(exact_decision, "decide_by_balls", pytest.fail)
        assert [outcome.verdict for outcome in decide_exactly(statement, pair, [1, 2])] == [
            "UNDECIDED"
        ] * 2
