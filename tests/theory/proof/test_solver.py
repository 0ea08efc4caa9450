"""The solver's process answers within its bounds, and its end is no end of the program."""

import io
import json
import math
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from theory.proof.solver import client
from theory.proof.solver.client import Answer, Solver, SolverError
from theory.proof.solver.server import STRATEGIES, answer, serve

ROOT = "(declare-const x Real)\n(assert (= (* x x) 2.0))\n(assert (< 0.0 x))"
NEVER = "(assert (= 1.0 2.0))"
# Polynomials of degree 64, 49 and 25: z3 takes few steps of its own, each of them long.
POWERS = (
    f"(let ((?g (let ((?f (+ x y z 1.0))) (*{' ?f' * n})))) (*{' ?g' * n}))" for n in (8, 7, 5)
)
LONG = "(declare-const x Real)(declare-const y Real)(declare-const z Real)" + "".join(
    f"(assert (= {power} (+ {term})))"
    for power, term in zip(POWERS, ("x (* y z)", "z (* y x)", "z (* y y x)"), strict=True)
)


@pytest.fixture
def solver() -> Iterator[Solver]:
    """One with little time."""
    solver = Solver(seconds=0.5)
    yield solver
    solver.end()


def test_answers_and_values(solver: Solver) -> None:
    """The verdict, and the values that are asked for."""
    assert solver.ask(ROOT) == Answer("sat")
    assert solver.ask(ROOT, ("x",)) == Answer("sat", ("1.414213?",))
    assert solver.ask(NEVER) == Answer("unsat")


def test_an_answer_is_kept(solver: Solver, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same question is not asked again."""
    solver.ask(ROOT)
    monkeypatch.setattr(solver, "_send", None)
    assert solver.ask(ROOT) == Answer("sat")


def test_what_takes_too_long_is_not_answered(
    solver: Solver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process is ended, whatever z3 is at; the next question has another one."""
    monkeypatch.setattr(client, "STRATEGIES", ("general",))
    assert solver.ask(LONG) == Answer("unknown", reason="out of time")
    assert solver.ask(NEVER) == Answer("unsat")


def test_a_process_that_is_gone_is_an_error(
    solver: Solver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed from outside, as where memory is short: that is no answer, and the next has another
    process."""
    monkeypatch.setattr(client, "STRATEGIES", ("general",))
    assert solver.ask(NEVER) == Answer("unsat")
    assert solver._process is not None
    os.kill(solver._process.pid, signal.SIGKILL)
    with pytest.raises(SolverError, match=r"z3 ended with code -9, .*allow it 4 GiB of addresses"):
        solver.ask(ROOT)
    assert solver.ask(ROOT + NEVER) == Answer("unsat")


def test_a_process_that_cannot_start_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither does z3 answer in less memory than it takes to load it, nor where there is none."""
    small = Solver(memory=2**20)
    with pytest.raises(SolverError, match="z3 ended with code"):
        small.ask(NEVER)
    monkeypatch.setattr(client.sys, "executable", "/nowhere/python")
    with pytest.raises(SolverError, match="could not be started"):
        Solver().ask(NEVER)


def test_memory_is_bounded_by_the_least_limit(solver: Solver) -> None:
    """No process has more addresses than its own bound, or than it may have here."""
    for limit in (client.MEMORY, 2**62):
        code = (
            "import resource, runpy; resource.setrlimit(resource.RLIMIT_AS, (3 * 2**30,) * 2); "
            f"server = runpy.run_path({str(client.SERVER)!r}); server['_bound_memory']({limit}); "
            "print(*resource.getrlimit(resource.RLIMIT_AS))"
        )
        done = subprocess.run((sys.executable, "-c", code), capture_output=True, check=True)
        assert done.stdout.split() == [b"3221225472"] * 2
    assert solver.ask(NEVER) == Answer("unsat")
    assert solver._process is not None
    limits = Path(f"/proc/{solver._process.pid}/limits")
    if limits.exists():
        (line,) = (line for line in limits.read_text().splitlines() if "address space" in line)
        assert line.split()[3:5] == [str(client.MEMORY)] * 2


@pytest.mark.parametrize("allowed", [2**30, math.inf])
def test_memory_that_runs_out(
    solver: Solver, monkeypatch: pytest.MonkeyPatch, allowed: float
) -> None:
    """Beyond its own share a question is not decided; below it the machine is short."""
    said = json.dumps({"verdict": "unknown", "values": [], "reason": "z3: out of memory"})
    monkeypatch.setattr(solver, "_send", lambda query: said.encode())
    monkeypatch.setattr(client, "_allowed", lambda: allowed)
    if allowed == math.inf:
        assert solver.ask(NEVER).verdict == "unknown"
    else:
        with pytest.raises(SolverError, match="ran out of the 1073741824 bytes"):
            solver.ask(NEVER)


def test_a_fork_asks_a_process_of_its_own(solver: Solver, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two that write to one process would read each other's answers."""
    solver.ask(NEVER)
    first = solver._process
    monkeypatch.setattr(client.os, "getpid", lambda: -1)
    assert solver.ask(ROOT) == Answer("sat")
    assert solver._process is not first
    assert first is not None
    first.kill()
    with first:
        first.wait()


def test_an_interrupt_ends_the_process(solver: Solver, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it would answer next belongs to the question that was left."""
    solver.ask(NEVER)

    def interrupted(query: bytes) -> bytes:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(solver, "_send", interrupted)
        with pytest.raises(KeyboardInterrupt):
            solver.ask(ROOT)
    assert solver._process is None
    assert solver.ask(ROOT) == Answer("sat")


def test_steps_are_bounded() -> None:
    """z3's own count, the same on every machine."""
    assert answer(LONG, [], "polynomials", steps=1)["reason"] == "beyond 1 of its own steps"


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_strategies_agree(strategy: str) -> None:
    """One may give up where another does not, but none says the contrary; nor does one that shares
    its context with the questions before."""
    for _ in range(2):
        assert answer(ROOT, ["x"], strategy, 100_000)["values"] == ["1.414213?"]
        assert answer(NEVER, [], strategy, 100_000)["verdict"] == "unsat"


def test_what_cannot_be_read_is_no_answer() -> None:
    """An error of z3's is told, and proves nothing."""
    found = answer("(assert x)", [], "general", steps=1000)
    assert found["verdict"] == "unknown"
    assert "unknown constant x" in found["reason"]


def test_a_line_for_each_query() -> None:
    """The server reads and writes lines of JSON."""
    asked = ({"script": text, "terms": [], "strategy": "general"} for text in (NEVER, ROOT))
    queries = [json.dumps(query).encode() for query in asked]
    answers = io.BytesIO()
    serve(queries, answers, steps=100_000, seconds=60.0)
    found = [json.loads(line)["verdict"] for line in answers.getvalue().splitlines()]
    assert found == ["unsat", "sat"]
