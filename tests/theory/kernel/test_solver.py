"""The solver's process answers within its bounds; any other end of it is the machine's fault."""

import io
import json
import os
import signal
import sys
from collections.abc import Iterator

import pytest

from rnnbounds.theory.errors import MachineError
from rnnbounds.theory.kernel.solver import client, server
from rnnbounds.theory.kernel.solver.client import Answer, Solver
from rnnbounds.theory.kernel.solver.server import EXHAUSTED, STRATEGIES, answer, bound_memory, serve

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


def test_a_process_that_is_gone_is_the_machines_fault(solver: Solver) -> None:
    """Killed from outside, as where memory is short: that is no answer, and the next has one."""
    assert solver.ask(NEVER) == Answer("unsat")
    assert solver._process is not None
    os.kill(solver._process.pid, signal.SIGKILL)
    with pytest.raises(MachineError, match=r"ended with code -9, .* nothing is refuted; give"):
        solver.ask(ROOT)
    assert solver.ask(ROOT) == Answer("sat")


def test_a_process_that_cannot_start_is_the_machines_fault(
    solver: Solver, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Without a word of its own on standard error: the error quotes the last."""
    monkeypatch.setattr(client, "SERVER", "no such file")
    with pytest.raises(MachineError, match=r"ended with code 2 \(.*No such file"):
        solver.ask(ROOT)
    monkeypatch.setattr(client.sys, "executable", "/no/such/python")
    with pytest.raises(MachineError, match=r"cannot be started \(No such file"):
        solver.ask(ROOT)
    assert capfd.readouterr() == ("", "")


@pytest.mark.skipif(sys.platform == "win32", reason="no limits of memory there")
def test_memory_is_bounded() -> None:
    """z3 does not even start in 32 MiB."""
    with pytest.raises(MachineError):
        Solver(memory=2**25).ask(NEVER)


@pytest.mark.skipif(sys.platform == "win32", reason="no limits of memory there")
@pytest.mark.parametrize(
    ("allowed", "own", "limit", "short"),
    [("RLIM_INFINITY", 2**32, 2**32, False), (2**31, 2**32, 2**31, True),
     (2**33, 2**32, 2**32, False)],
)  # fmt: skip
def test_the_limit_is_never_above_the_one_of_the_shell(
    monkeypatch: pytest.MonkeyPatch, allowed: int | str, own: int, limit: int, short: bool
) -> None:
    """`ulimit -v` below its own 4 GiB leaves the solver that, and it knows."""
    import resource

    allowed = getattr(resource, allowed) if isinstance(allowed, str) else allowed
    limits: list[tuple[int, tuple[int, int]]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (allowed, resource.RLIM_INFINITY))
    monkeypatch.setattr(resource, "setrlimit", lambda *asked: limits.append(asked))
    assert bound_memory(own) is short
    assert limits == [(resource.RLIMIT_AS, (limit, limit))]


def test_out_of_memory_is_an_answer_only_with_all_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """z3 answers so itself; short of memory it might have answered otherwise, and the process
    exits."""
    exhausted = {"verdict": "unknown", "values": [], "reason": EXHAUSTED}
    monkeypatch.setattr(server, "answer", lambda **asked: exhausted)
    answers = io.BytesIO()
    serve([b"{}"], answers, steps=1, seconds=60.0)
    assert json.loads(answers.getvalue()) == exhausted
    with pytest.raises(SystemExit, match=EXHAUSTED):
        serve([b"{}"], answers, steps=1, seconds=60.0, short=True)


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
    asked = ({"text": text, "terms": [], "strategy": "general"} for text in (NEVER, ROOT))
    queries = [json.dumps(query).encode() for query in asked]
    answers = io.BytesIO()
    serve(queries, answers, steps=100_000, seconds=60.0)
    found = [json.loads(line)["verdict"] for line in answers.getvalue().splitlines()]
    assert found == ["unsat", "sat"]
