"""``prove``: what is assumed, steps with their variables, one step by name, and shared lemmas; what
fails, and why; and a solver that dies."""

from dataclasses import replace

import pytest

from rnnbounds.properties.runs.executors import outcome
from rnnbounds.properties.runs.versions import fingerprint
from rnnbounds.theory.errors import MachineError
from rnnbounds.theory.kernel import smt
from rnnbounds.theory.kernel.solver.client import Solver
from rnnbounds.theory.models.system import WINDOW
from rnnbounds.theory.proof.proof import Proof

WIDE = 100
DIES = Solver(memory=2**25)  # too little for z3 to start


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


def test_one_form(call, refused):
    """Of one claim by its name, whole or one step of it; premises are told apart, whose names have
    commas; what is assumed is said to be no step."""
    told = call("prove", "truncation", "--form", "paper").out.splitlines()
    assert [line for line in told if line.startswith("truncation (")] == [
        "truncation (paper): derived"
    ]
    named = ("--form", "paper", "--step")
    assert call("prove", "truncation", *named, "state, one step").out.startswith(
        "truncation (paper), state, one step: proved by smt\n"
    )
    (part,) = call("prove", "truncation", *named, "state", "--format", "json").json
    assert part["forms"] == ["paper"]
    uses = part["from"][-1]["uses"]
    assert any("," in name for name in uses)
    assert not any("; " in name for name in uses)
    told = " ".join(call("prove", "truncation", *named, "state").out.split())
    assert f"from {'; '.join(uses)} " in told
    assert "unknown form of truncation 'papr'; did you mean paper" in refused(
        "prove", "truncation", "--form", "papr"
    )
    assert "about one claim" in refused("prove", "--form", "paper")
    assert "'contractive' is assumed by truncation (λ < 1); name a step" in refused(
        "prove", "truncation", "--form", "paper", "--step", "contractive"
    )


def test_shared_lemmas(call):
    """The steps that several claims have, and where they are written; nothing is run."""
    told = call("prove", "--lemmas").out
    assert "power not negative (theory/models/lemmas/powers.py:" in told
    assert "  for all j: 0 <= lam**j" in told
    found = call("prove", "--lemmas", "--format", "json").json
    assert all(len(lemma["claims"]) > 1 for lemma in found)
    (one,) = (lemma for lemma in found if lemma["statement"] == "0 <= lam**j")
    assert (one["id"], one["quantifier"]) == ("power not negative", "for all j")


def test_prove_prints_what_is_wrong(call, below, entered):
    """Where a step fails, what no step used, and a form without a proof."""
    bare = below(9, id="bare")
    bare = replace(bare, forms=(replace(bare.forms[0], proof=Proof(())),))
    entered(below(2, "contractiv", id="bad"), below(2, "contractive", WINDOW, id="spare"), bare)
    outcome = call("prove")
    assert outcome.code == 1
    told = " ".join(outcome.out.split())  # lines are broken where a path is long
    assert "conftest.py:" in told
    assert "did you mean 'contractive'?" in told
    assert " assumed, but used by no step: window; remove it, unless" in told
    assert " no steps: a statement without a proof is not proved" in told
    _, spare, bare = call("prove", "--format", "json").json
    assert spare["unused"] == {"finite": ["window"]}
    assert not bare["proved"]


@pytest.mark.parametrize("command", ["prove", "verify"])
def test_where_the_solver_dies(refused, tiny, below, entered, monkeypatch, tmp_path, command):
    """Nothing is proved and nothing is disproved: exit 2, one line, nothing written."""
    entered(below(6))
    monkeypatch.setattr(smt, "SOLVER", DIES)
    here = ("-n", 0, "--attacks", "random", "--out", tmp_path / "out")
    line = refused(command, "state-bound", *(here if command == "verify" else ()))
    assert line.startswith("rnnbounds: z3's process ended with code ")
    assert line.endswith("; give it more memory (ulimit -v unlimited), or see that z3 runs, and "
                         "run this again")  # fmt: skip
    assert [*tmp_path.iterdir()] == []


def test_a_worker_tells_that_the_solver_died():
    """The error travels from a worker as what it is."""
    error, _ = outcome(fingerprint(), DIES.ask, ("",))
    assert isinstance(error, MachineError)
