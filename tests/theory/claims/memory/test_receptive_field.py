"""The receptive field of causal models: what the ledger needs, and what it would let through."""

import pytest
from sympy import Integer

from rnnbounds.theory.claims.memory.receptive_field import RECEPTIVE_FIELD
from rnnbounds.theory.claims.memory.receptive_field_causal import CAUSAL_FORMS, SEEN_FORM, covers
from rnnbounds.theory.language import eq, law, le, symbols
from rnnbounds.theory.language.terms.causal import REACH, apart, delay, reach
from rnnbounds.theory.language.terms.variables import j, x, x_past, z
from rnnbounds.theory.language.vocabulary import VOCABULARY
from rnnbounds.theory.proof import Proof, Step, check
from rnnbounds.theory.proof.methods import Smt

T, k, R, causal_gap = symbols("T k R causal_gap")


@pytest.mark.parametrize("form", CAUSAL_FORMS, ids=lambda form: form.name)
def test_every_kind_of_model_is_proved(form) -> None:
    """Each form has a ledger of its own kind of model, by machine alone and without an axiom."""
    ledger = check(form.proof, form.statement, form.assumptions)
    assert ledger.proved
    assert ledger.axioms == ()
    assert set(ledger.definitions) == {"inputs are the first tap", "delays add up"}
    assert RECEPTIVE_FIELD.form(form.name) is form


def test_a_window_one_longer_is_still_enough() -> None:
    """The ledger is about windows at least as long as the field, not about one of them."""
    form = CAUSAL_FORMS[0]
    assumptions = (covers(R + 1), *form.assumptions[1:])
    assert check(form.proof, form.statement, assumptions).proved


def test_looking_ahead_breaks_the_induction() -> None:
    """Were delays allowed to be negative, as of a centred kernel, the steps would not agree."""
    form = CAUSAL_FORMS[0]
    loose = tuple(
        type(a)(a.id, a.text, law=law("causal", (j,), le(Integer(-1), delay(j))))
        if a.id == "causal"
        else a
        for a in form.assumptions
    )
    ledger = check(form.proof, form.statement, loose)
    assert next(step.id for step in ledger.failures) == "later values agree"


def test_agreement_alone_says_nothing_of_earlier_times() -> None:
    """At the time before the last changed input is out of reach, values may differ."""
    form = CAUSAL_FORMS[0]
    agreement = form.proof.steps[0]
    early = Step("claim", eq(causal_gap, Integer(0)), Smt(*form.proof.steps[1].method.hypotheses))
    shorter = (covers(R - 1), *form.assumptions[1:])
    ledger = check(Proof((agreement, early)), early.conclusion, shorter)
    assert ledger.failures[0].id == "claim"
    assert "counter-model" in ledger.failures[0].detail


def test_names() -> None:
    """Fields are parameters, gaps are measured, and both gaps compare two runs of one model."""
    roles = {name: VOCABULARY[name].role for name in ("R", "R_widest", "causal_gap")}
    assert roles == {"R": "parameter", "R_widest": "parameter", "causal_gap": "measured"}
    assert apart(x, x_past, j, z) == apart(x_past, x, j, z)
    assert {statement.conclusion for statement in REACH.clauses} == {
        eq(reach(0), Integer(0)),
        eq(reach(j + 1), reach(j) + delay(j)),
    }
    assert SEEN_FORM.statement.relation == "<"
