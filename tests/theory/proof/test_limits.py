"""Steps that would go on without an end, or fill the memory, are not proved, and say why."""

from itertools import pairwise
from threading import Thread

import pytest
from sympy import Integer, Symbol

from rnnbounds.theory.kernel import algebra
from rnnbounds.theory.language import Assumption, Statement, at, eq, law, le, lt, symbols
from rnnbounds.theory.language.terms.variables import A, B, j, vector
from rnnbounds.theory.language.terms.vectors import norm, phi
from rnnbounds.theory.proof import Proof, Step, check, limits
from rnnbounds.theory.proof.limits import time_limit
from rnnbounds.theory.proof.methods import Gap, Method, Smt

lam, S_0 = symbols("lam S_0")
reals = [Symbol(f"r_{i}", real=True) for i in range(9)]
vectors = [vector(f"q_{i}") for i in range(60)]
DOUBLED = {f"e {i}": eq(one, phi(other, other)) for i, (one, other) in enumerate(pairwise(vectors))}


def refused(goal: Statement, method: Method, *granted: Assumption) -> str:
    """Why the step is not proved."""
    ledger = check(Proof((Step("claim", goal, method),)), goal, granted)
    (failure,) = ledger.failures
    return failure.detail


@pytest.mark.parametrize(
    ("goal", "method", "reason"),
    [
        (le(0, (lam + S_0) ** 100_000), Smt(), "a power of 100000 factors is not multiplied out"),
        (eq(sum(reals) ** 60 * A, B), Smt(), "more than 900 terms when expanded"),
        (eq((A + B) ** 20, 0), Smt(), "more than 900 terms"),
        (le(0, lam), Smt(at("powers", 10**9)), "a power of 2 with more than 1000 factors"),
        (le(0, lam), Smt(at("tower", 900)), "is not shown to be a natural number"),
    ],
)
def test_sizes_are_bounded(
    goal: Statement, method: Method, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same on every machine, before any time is lost."""
    monkeypatch.setattr(algebra, "MOST_TERMS", 900)
    powers = Assumption("powers", "", law=law("powers", (j,), le(1, Integer(2) ** j)))
    tower = Assumption("tower", "", law=law("tower", (j,), le(1, j ** (j**j))))
    assert reason in refused(goal, method, powers, tower)


def test_time_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of these equations doubles what the ones before it made."""
    monkeypatch.setattr(limits, "CPU_SECONDS", 0.2)
    granted = (Assumption(name, "", equation) for name, equation in DOUBLED.items())
    goal = eq(norm(vectors[0]), 0)
    assert refused(goal, Smt(*DOUBLED), *granted) == "out of time: more than 0.2 s of CPU time"


def test_depth_is_bounded() -> None:
    """What overflows the stack is a gap."""

    def deep(depth: int) -> int:
        return deep(depth + 1)

    with pytest.raises(Gap, match="nested too deeply"), time_limit():
        deep(0)


def test_other_threads_prove_too() -> None:
    """They hear of no signal, and have no bound on their time."""
    found = []

    def prove() -> None:
        goal = lt(lam, lam + 1)
        found.append(check(Proof((Step("claim", goal, Smt()),)), goal, ()).proved)

    thread = Thread(target=prove)
    thread.start()
    thread.join()
    assert found == [True]
