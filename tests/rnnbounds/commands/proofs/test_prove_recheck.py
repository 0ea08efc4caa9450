"""``prove --recheck``, and what ``prove`` says of the second checker."""

import pytest

from rnnbounds.commands.proofs import recheck as command
from rnnbounds.theory.recheck import Verdict


def test_prove_says_what_rests_on_one_solver(call):
    """Below the step and at the end, without asking the second solver."""
    outcome = call("prove", "truncation")
    assert outcome.code == 0
    assert "\n          rests on z3 alone\n" in outcome.out
    assert outcome.out.splitlines()[-2].startswith("a second checker accepts 7 proofs; ")
    (document,) = call("prove", "truncation", "--format", "json").json
    assert {"", "z3 alone"} == {step["rests"] for step in document["steps"]}


def test_recheck_accepts_a_shipped_claim(call):
    """A line a form, and a JSON document."""
    pytest.importorskip("cvc5")
    outcome = call("prove", "truncation", "--recheck")
    assert outcome.code == 0
    assert "truncation/uniform: accepted\n" in outcome.out
    assert outcome.out.splitlines()[-1] == "7 proofs, 7 accepted by the second checker"
    found = call("prove", "truncation", "--recheck", "--format", "json").json
    assert all(one["accepted"] for one in found)


def test_recheck_refuses(call, monkeypatch):
    """With the reason, and exit code 1."""
    pytest.importorskip("cvc5")
    refuse = Verdict("step 'claim': no")
    monkeypatch.setattr(command, "check_document", lambda document, laws: refuse)
    outcome = call("prove", "truncation", "--recheck")
    assert outcome.code == 1
    assert "truncation/uniform: REFUSED: step 'claim': no\n" in outcome.out


def test_without_cvc5_the_remedy_is_named(call, monkeypatch):
    """And exit code 2."""
    monkeypatch.setattr(command, "find_spec", lambda name: None)
    outcome = call("prove", "truncation", "--recheck")
    assert outcome.code == 2
    assert "pip install 'rnnbounds[recheck]'" in outcome.err
