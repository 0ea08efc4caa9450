"""Asks the solver's process; starts it when first asked, and anew where a query was its end."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from multiprocessing.util import Finalize
from pathlib import Path
from threading import Lock

from theory.errors import InputError

SERVER = Path(__file__).with_name("server.py")
EXHAUSTED = "out of memory"  # as server.py says it
STEPS = 10_000_000  # of z3's own count, for one query
SECONDS = 10.0  # of CPU time, for one query
MEMORY = 4 * 2**30  # bytes of addresses
# z3's own strategy for polynomials goes by the clock.  This is the same without: what the one does
# not decide, the other may.
STRATEGIES = ("quick", "expanded", "polynomials", "general")


@dataclass(frozen=True)
class Answer:
    """sat, with the values of the terms that were asked for, unsat or unknown, with the reason."""

    verdict: str
    values: tuple[str, ...] = ()
    reason: str = ""


class SolverError(InputError):
    """z3 was kept from answering by the machine: that says nothing about what was asked."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"z3 {what}, so that nothing is known of what it was asked; allow it {MEMORY // 2**30} "
            "GiB of addresses (ulimit -v), run less beside it, and see 'rnnbounds doctor'"
        )


class Solver:
    """One process for all queries of this one; a fork has its own.

    Ledgers ask many a question more than once: answers that z3 gave are kept.
    """

    def __init__(self, steps: int = STEPS, seconds: float = SECONDS, memory: int = MEMORY) -> None:
        self._limits = (str(steps), str(seconds), str(memory))
        self._memory = memory
        self._lock = Lock()
        self._kept: dict[bytes, Answer] = {}
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0

    def ask(
        self, script: str, terms: Sequence[str] = (), strategies: Sequence[str] | None = None
    ) -> Answer:
        """The verdict on a script in SMT-LIB, and in a model of it the values of the terms."""
        tried = STRATEGIES if strategies is None else strategies
        key = blake2b(json.dumps((script, terms, tried)).encode(), digest_size=16).digest()
        with self._lock:
            if key not in self._kept:
                self._kept[key] = self._decided(script, terms, tried)
            return self._kept[key]

    def _decided(self, script: str, terms: Sequence[str], strategies: Sequence[str]) -> Answer:
        found = Answer("unknown")
        for strategy in strategies:
            query = {"script": script, "terms": terms, "strategy": strategy}
            found = self._asked(json.dumps(query).encode() + b"\n")
            if found.verdict != "unknown":
                break
        return found

    def _asked(self, query: bytes) -> Answer:
        try:
            line = self._send(query)
        except BaseException:
            self.end()  # what it would answer next is no answer to what is asked next
            raise
        if not line:
            self._ended()
            return Answer("unknown", reason="out of time")
        found = json.loads(line)
        if EXHAUSTED in found["reason"] and _allowed() < self._memory:
            raise SolverError(f"ran out of the {_allowed()} bytes of addresses that it may have")
        return Answer(found["verdict"], tuple(found["values"]), found["reason"])

    def _send(self, query: bytes) -> bytes:
        process = self._running()
        assert process.stdin is not None
        assert process.stdout is not None
        with suppress(BrokenPipeError):  # it has ended: nothing is to be read either
            process.stdin.write(query)
            process.stdin.flush()
        return process.stdout.readline()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._owner != os.getpid():
            command = [sys.executable, "-P", str(SERVER), *self._limits]
            pipe = subprocess.PIPE
            try:
                self._process = subprocess.Popen(
                    command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL
                )
            except OSError as error:
                raise SolverError(f"could not be started ({error.strerror})") from None
            if self._owner != os.getpid():
                self._owner = os.getpid()
                Finalize(None, self.end, exitpriority=0)  # images and fresh workers run these
        return self._process

    def _ended(self) -> None:
        """Raise SolverError unless the process was ended for the time that a query took."""
        assert self._process is not None
        code = self._process.wait()
        self.end()
        if sys.platform == "win32" or code != -signal.SIGPROF:
            raise SolverError(f"ended with code {code}")

    def end(self) -> None:
        """End the process, and wait for it."""
        process, self._process = self._process, None
        if process is not None and self._owner == os.getpid():
            process.kill()
            with suppress(BrokenPipeError), process:  # closes the pipes, and waits
                pass


def _allowed() -> float:
    """Bytes of addresses that a process started here may have."""
    if sys.platform == "win32":
        return math.inf
    import resource

    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    return math.inf if hard == resource.RLIM_INFINITY else hard


SOLVER = Solver()
