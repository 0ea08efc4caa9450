"""``prove``: what is assumed, steps with their variables, one step by name, and shared lemmas."""

import pytest

WIDE = 100


def test_every_step_says_for_what_it_is_stated(call):
    """Its variables and premises; what the form assumes comes first; no line is too long."""
    told = call("prove", "state-bound").out.splitlines()
    assert "  assumed: contractive: λ < 1" in told
    assert any("power not negative: for all j: 0 <= lam**j" in line for line in told)
    assert all(len(line) <= WIDE for line in told[:-1])
    steps = call("prove", "state-bound", "--format", "json").json[0]["steps"]
    assert "for all j" in {step["quantifier"] for step in steps}


def test_one_step_says_what_z3_was_asked(call):
    """From what it is proved, in each of its parts, and the scripts with z3's answers."""
    outcome = call("prove", "truncation", "--step", "power not negative")
    assert outcome.code == 0
    told = outcome.out.splitlines()
    assert told[0].startswith("truncation (finite, ")
    assert "  to show: for all j: 0 <= lam**j" in told
    assert "  from induction hypothesis" in told
    assert "    (set-logic QF_NRA)" in told
    assert "    (declare-const a0 Real) ; lam**j" in told
    assert "    (assert (not (<= 0.0 (* a0 a1))))" in told
    assert "    (check-sat)" in told
    assert "  z3: unsat: the hypotheses and the negated conclusion" in told


@pytest.mark.parametrize(
    ("claim", "step", "method"),
    [
        ("urnn-equivalence", "pre-activation", "words"),
        ("urnn-equivalence", "the added units are off", "smt"),
        ("contraction-lstm", "slope of tanh", "smt"),
    ],
)
def test_one_step_by_any_method(call, claim, step, method):
    """Its hypotheses are shown where z3 has no part in it, too."""
    found = call("prove", claim, "--step", step, "--format", "json").json
    assert {part["method"] for part in found} == {method}
    assert all(part["verdict"] == "proved" for part in found)
    assert all(part["from"] for part in found)


def test_shared_lemmas(call):
    """The steps that several claims have, and where they are written; nothing is run."""
    told = call("prove", "--lemmas").out
    assert "power not negative (theory/models/lemmas/powers.py:" in told
    assert "  for all j: 0 <= lam**j" in told
    found = call("prove", "--lemmas", "--format", "json").json
    assert all(len(lemma["claims"]) > 1 for lemma in found)
    (one,) = (lemma for lemma in found if lemma["statement"] == "0 <= lam**j")
    assert (one["id"], one["quantifier"]) == ("power not negative", "for all j")
