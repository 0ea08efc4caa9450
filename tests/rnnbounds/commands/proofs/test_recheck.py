"""``prove --recheck``: cvc5 reads what z3 answered; where they differ, the run fails."""

import pytest
from sympy import Rational

from rnnbounds.commands.proofs import recheck
from rnnbounds.theory.kernel import smt
from rnnbounds.theory.kernel.solver.client import Answer

LEAST_SHARE = 0.87  # of uses of steps: as much as a checker of another kind decided


class Constant:
    """A solver with one answer to all that is asked for a refutation."""

    def __init__(self, verdict: str) -> None:
        self.verdict = verdict

    def ask(self, text, terms=(), *_):
        """The hypotheses alone have no `not`."""
        return Answer(self.verdict if "(not " in text else "sat", ("0",) * len(terms))


def test_both_agree(call, below, entered):
    """A step is confirmed if cvc5 refutes all that z3 did."""
    pytest.importorskip("cvc5")
    entered(below(3))
    outcome = call("prove", "--recheck")
    assert outcome.code == 0
    told = "cvc5: 1 use of a step that z3 has a part in: 1 confirmed, 0 undecided, 0 contradicted"
    assert outcome.out.splitlines()[-1] == f"{told} (100.0%)"


@pytest.mark.parametrize("verdict", ["unsat", "sat"])
def test_a_contradiction_fails_the_run(call, below, entered, monkeypatch, verdict):
    """z3 says that λ < 1 gives λ < 1/2, or that it does not give λ < 4."""
    pytest.importorskip("cvc5")
    entered(below(Rational(1, 2) if verdict == "unsat" else 4))
    monkeypatch.setattr(smt, "SOLVER", Constant(verdict))
    outcome = call("prove", "--recheck", "--format", "json")
    assert outcome.code == 1
    (told,) = outcome.json
    assert told["proved"] == (verdict == "unsat")
    assert [one["outcome"] for one in told["recheck"]] == ["contradicted"]


def test_what_is_not_decided_is_listed(call, below, entered, monkeypatch):
    """And fails nothing."""
    monkeypatch.setattr(recheck, "SECOND", Constant("unknown"))
    monkeypatch.setattr(recheck, "find_spec", lambda _: True)
    entered(below(5))
    outcome = call("prove", "--recheck")
    assert outcome.code == 0
    assert "undecided by cvc5: state-bound (finite), below 5" in outcome.out.splitlines()
    assert outcome.out.endswith("0 confirmed, 1 undecided, 0 contradicted (0.0%)\n")


def test_without_cvc5(refused, monkeypatch):
    """One line, with the remedy."""
    monkeypatch.setattr(recheck, "find_spec", lambda _: None)
    line = refused("prove", "state-bound", "--recheck")
    assert line.endswith("install it with: pip install 'rnnbounds[recheck]'")
    assert "leave out --step" in refused("prove", "--recheck", "--lemmas")


@pytest.mark.slow
def test_cvc5_contradicts_z3_nowhere(call):
    """In all claims; most of what they use it decides."""
    pytest.importorskip("cvc5")
    found = [one for told in call("prove", "--recheck", "--format", "json").json
             for one in told["recheck"]]  # fmt: skip
    outcomes = [one["outcome"] for one in found]
    assert "contradicted" not in outcomes
    assert outcomes.count("confirmed") >= LEAST_SHARE * len(outcomes)
