"""Asks a solver's process; starts it when first asked, and anew where a query was its end.

The process is ended by the kernel when a query takes more CPU time than it may: that is no answer,
`unknown`.  Any other end of it, and a process that cannot be started, is a fault of this machine,
from which nothing follows about the claim: MachineError.
"""

from __future__ import annotations

import json
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
from tempfile import TemporaryFile
from threading import Lock
from typing import IO

from rnnbounds.theory.errors import MachineError

SERVER = Path(__file__).with_name("server.py")
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


class Solver:
    """One process for all queries of this one; a fork has its own.

    Ledgers ask many a question more than once: answers are kept.
    """

    def __init__(
        self, steps: int = STEPS, seconds: float = SECONDS, memory: int = MEMORY, name: str = "z3"
    ) -> None:
        self._limits = (name, str(steps), str(seconds), str(memory))
        self._name = name
        self._lock = Lock()
        self._kept: dict[bytes, Answer] = {}
        self._process: subprocess.Popen[bytes] | None = None
        self._said: IO[bytes] | None = None  # on standard error
        self._owner = 0

    def ask(
        self, text: str, terms: Sequence[str] = (), strategies: Sequence[str] | None = None
    ) -> Answer:
        """The verdict on a closed text in SMT-LIB, and in a model of it the values of the terms.

        Raises MachineError where the process cannot be started, or ends otherwise than by its limit
        of CPU time.
        """
        tried = STRATEGIES if strategies is None else strategies
        key = blake2b(json.dumps((text, terms, tried)).encode(), digest_size=16).digest()
        with self._lock:
            if key not in self._kept:
                found = Answer("unknown")
                for strategy in tried:
                    query = {"text": text, "terms": terms, "strategy": strategy}
                    found = self._asked(json.dumps(query).encode() + b"\n")
                    if found.verdict != "unknown":
                        break
                self._kept[key] = found
            return self._kept[key]

    def _asked(self, query: bytes) -> Answer:
        try:
            line = self._send(query)
        except BaseException:
            self.end()  # what it would answer next is no answer to what is asked next
            raise
        if not line.endswith(b"\n"):
            return self._ended()
        found = json.loads(line)
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
                self._said = TemporaryFile()  # noqa: SIM115 (as long as the process)
                self._process = subprocess.Popen(
                    command, stdin=pipe, stdout=pipe, stderr=self._said
                )
            except OSError as error:
                raise self._lacking(f"cannot be started ({error.strerror})") from None
            if self._owner != os.getpid():
                self._owner = os.getpid()
                Finalize(None, self.end, exitpriority=0)  # images and fresh workers run these
        return self._process

    def _ended(self) -> Answer:
        """The answer of a process that was out of time; raises MachineError for all other ends."""
        assert self._process is not None
        assert self._said is not None
        code = self._process.wait()
        self._said.seek(0)
        said = self._said.read().decode(errors="replace").split("\n")
        self.end()
        if sys.platform != "win32" and code == -signal.SIGPROF:
            return Answer("unknown", reason="out of time")
        last = next((line for line in reversed(said) if line.strip()), "")[:200]
        raise self._lacking(f"ended with code {code}" + (f" ({last})" if last else ""))

    def _lacking(self, how: str) -> MachineError:
        return MachineError(
            f"{self._name}'s process {how}, so that nothing is proved and nothing is refuted; give "
            f"it more memory (ulimit -v unlimited), or see that {self._name} runs, and run this "
            "again"
        )

    def end(self) -> None:
        """End the process, and wait for it."""
        process, self._process = self._process, None
        if self._said is not None:
            self._said.close()
        if process is not None and self._owner == os.getpid():
            process.kill()
            with suppress(BrokenPipeError), process:  # closes the pipes, and waits
                pass


SOLVER = Solver()
# Another solver, for the same texts.
SECOND, SECOND_STRATEGIES = Solver(seconds=2.0, name="cvc5"), ("cvc5",)
