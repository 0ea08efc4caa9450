"""Records are read anew by each check: who writes into one is not believed.

-1 and -2 have one hash in Python, and so have all records that differ by these alone.
"""

from dataclasses import replace

import pytest
from falsehoods.found import Sworn
from sympy import Integer

from rnnbounds.theory.kernel import door
from rnnbounds.theory.language import le, lt, symbols
from rnnbounds.theory.language.terms.variables import j
from rnnbounds.theory.proof import Form, Ledger, Proof, Step, check
from rnnbounds.theory.proof.methods import HYPOTHESIS, Induction, Smt
from rnnbounds.theory.proof.shown import trace_step

(h_norm,) = symbols("h_norm")
TRUE = le(0, h_norm)


def refusal(ledger: Ledger) -> str:
    """Why the first step that fails does."""
    assert not ledger.proved
    return ledger.failures[0].detail


def write(record: object, **values: object) -> None:
    """Write into a frozen record."""
    vars(record).update(values)


def test_a_method_that_is_put_in_later_is_looked_at() -> None:
    """Of a proof that was seen before, at another goal."""
    step = Step("claim", TRUE, Smt())
    proof = Proof((step,))
    assert check(proof, TRUE, ()).proved
    write(step, method=Sworn())
    assert "no record that the engine knows" in refusal(check(proof, le(h_norm, 0), ()))


def test_a_part_that_is_put_in_later_is_looked_at() -> None:
    """Of a composite method of an earlier step."""
    method = Induction(j, Smt(), Smt(HYPOTHESIS))
    proof = Proof((Step("s", le(0, 2**j), method, (j,)), Step("claim", TRUE, Smt())))
    assert check(proof, TRUE, ()).proved
    write(method, step=Sworn())
    assert "is no direct method" in refusal(check(proof, TRUE, ()))


def test_a_number_of_the_same_hash_is_another_one() -> None:
    """No memo is kept by what can be written into."""
    earlier = Step("s", le(Integer(-2), Integer(-2)), Smt())
    proof, goal = Proof((earlier, Step("claim", TRUE, Smt()))), le(Integer(-2), Integer(-2))
    assert check(proof, TRUE, ()).proved
    write(earlier.conclusion, lhs=Integer(-1))
    assert "counter-model" in refusal(check(proof, TRUE, ()))
    end = Proof((Step("claim", goal, Smt()),))
    assert check(end, goal, ()).proved
    write(goal, lhs=Integer(-1))
    assert "counter-model" in refusal(check(end, goal, ()))


def test_what_was_looked_at_elsewhere_is_read_anew() -> None:
    """The translation of a statement, and the trace of a step, are of no later one."""
    goal = le(Integer(-2), Integer(-2))
    assert door.goal(goal) == door.statement(goal)
    write(goal, lhs=Integer(-1))
    assert "counter-model" in refusal(check(Proof((Step("claim", goal, Smt()),)), goal, ()))
    first, end = Step("s", le(Integer(-2), Integer(-2)), Smt()), Step("claim", TRUE, Smt("s"))
    form = Form("f", TRUE, (), "rnn", Proof((first, end)))
    assert trace_step(form, end).result.verdict == "proved"
    write(first.conclusion, lhs=Integer(-1))
    assert "counter-model" in refusal(check(form.proof, TRUE, ()))


def test_a_lemma_is_what_its_proof_says_now() -> None:
    """Its goal was read where the lemma was made."""
    goal = le(Integer(-1), Integer(-2))
    form = Form("f", goal, (), "rnn", Proof((Step("claim", goal, Smt()),)))
    lemma = form.lemma("lemma")
    write(goal, lhs=Integer(-2))
    use = Step("claim", le(Integer(-1), Integer(-2)), Smt(lemma.at()))
    assert "counter-model" in refusal(check(Proof((use,)), use.conclusion, ()))


def test_a_relation_that_is_written_is_one_of_five() -> None:
    """An unknown one would be taken for another."""
    goal = lt(h_norm, h_norm + 1)
    write(goal, relation=">=")
    assert "unknown relation" in refusal(check(Proof((Step("claim", goal, Smt()),)), goal, ()))


@pytest.mark.parametrize("name", ["text", "use_names", "quantifier", "symbols", "of"])
def test_what_is_kept_beside_the_fields_is_not_read(name: str) -> None:
    """A ledger prints what the fields say."""
    step = Step("claim", replace(TRUE), Smt())
    write(step, **{name: "1 <= 0"})
    write(step.conclusion, **{name: "1 <= 0"})
    ledger = check(Proof((step,)), step.conclusion, ())
    assert ledger.proved
    assert "1 <= 0" not in str(ledger)
