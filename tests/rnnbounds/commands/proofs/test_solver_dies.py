"""Where z3 dies, nothing is proved and nothing is disproved: exit 2, one line, nothing written."""

from dataclasses import replace

import pytest

from rnnbounds.properties.runs.executors import outcome
from rnnbounds.properties.runs.versions import fingerprint
from rnnbounds.theory import claim
from rnnbounds.theory.errors import MachineError
from rnnbounds.theory.kernel import smt
from rnnbounds.theory.kernel.solver.client import Solver
from rnnbounds.theory.language.statement import lt
from rnnbounds.theory.language.vocabulary import symbols
from rnnbounds.theory.proof.methods import Smt
from rnnbounds.theory.proof.proof import Proof, Step

STATE_BOUND = claim("state-bound")
(lam,) = symbols("lam")


@pytest.fixture(autouse=True)
def too_little_memory(monkeypatch):
    """Too little for z3 to start, and one claim, which nobody has proved before."""
    step = Step("asked of a solver that dies", lt(lam, 2), Smt("contractive"))
    forms = tuple(replace(form, proof=Proof((step,))) for form in STATE_BOUND.forms)
    for module in ("rnnbounds.properties.runs.parts", "rnnbounds.theory"):
        monkeypatch.setattr(f"{module}.CLAIMS", (replace(STATE_BOUND, forms=forms),))
    monkeypatch.setattr(smt, "SOLVER", Solver(memory=2**25))


@pytest.mark.parametrize("command", ["prove", "verify"])
def test_a_command_that_proves(refused, tiny, tmp_path, command):
    """It is no verdict."""
    here = () if command == "prove" else ("-n", 0)
    out = ("--attacks", "random", "--out", tmp_path / "out") if command == "verify" else ()
    line = refused(command, STATE_BOUND.id, *here, *out)
    assert line.startswith("rnnbounds: z3's process ended with code ")
    assert line.endswith("; give it more memory (ulimit -v unlimited), or see that z3 runs, and "
                         "run this again")  # fmt: skip
    assert [*tmp_path.iterdir()] == []


def test_a_worker_tells():
    """The error travels from a worker as what it is."""
    error, _ = outcome(fingerprint(), smt.SOLVER.ask, ("",))
    assert isinstance(error, MachineError)
