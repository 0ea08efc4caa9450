"""Client of the process that runs the solver Clarabel, which is started when first asked, and again
after it has died. UnansweredError says that it died before its answer.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from importlib.util import find_spec
from multiprocessing.util import Finalize
from pathlib import Path
from threading import Lock

import numpy as np
import numpy.typing as npt

from rnnbounds.impl.errors import InputError

DIAGONAL_SDP, METRIC_SDP, GATE_SDP = "diagonal-sdp", "quadratic-sdp", "gate-sdp"
SOLVER_NORMS = (DIAGONAL_SDP, METRIC_SDP, GATE_SDP)  # the norms that need the solver
LARGEST_SIZE = 128  # states; beyond it the solver needs more than gigabytes
LARGEST_METRIC = 32  # states for a norm that is not diagonal
LARGEST_GATED = 32  # numbers of a gated cell's state
MEMORY = 8 * 2**30  # bytes of addresses, of which LARGEST states take half
SECONDS = 10.0  # of CPU time for one program of few states, a hundred times what it takes
EXTRA_SECONDS = (
    600.0  # for one of LARGEST states: the work grows by the sixth power of their number
)
NEEDING = f"the norms {', '.join(SOLVER_NORMS[:-1])} and {SOLVER_NORMS[-1]}"
SERVER = Path(__file__).with_name("server.py")
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS")  # each takes addresses

Array = npt.NDArray[np.float64]


class MissingSolverError(InputError):
    """The optional solver is not installed."""

    def __init__(self) -> None:
        super().__init__(f"{NEEDING} need clarabel; install it with: pip install 'rnnbounds[sdp]'")


class UnansweredError(InputError):
    """The solver's process ended before its answer."""

    def __init__(self, ending: str) -> None:
        super().__init__(
            f"the solver of {NEEDING} {ending}; give it more memory "
            "(ulimit -v unlimited), or choose another norm"
        )


def is_installed() -> bool:
    """True if Clarabel can be imported."""
    return find_spec("clarabel") is not None


class Solver:
    """One process for all programs of this one; a fork has its own."""

    def __init__(self, seconds: float = SECONDS, memory: int = MEMORY) -> None:
        self._seconds, self._memory = seconds, memory
        self._lock = Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0

    def diagonal_program(self, W: Array, square: float, floor: float) -> Array:
        """The P (n,) of `impl.norms.semidefinite`, W (n, n); NaN where the solver gives up.

        Raises MissingSolverError, and UnansweredError where its process cannot be started or ends.
        """
        work = (len(W) / LARGEST_SIZE) ** 6
        return self._answer("diagonal", [W], {"square": square, "floor": floor}, work)

    def metric_program(self, A: Array, W: Array, Q: Array, floor: float) -> tuple[Array, Array]:
        """P (n, n) and Λ (n,) of `impl.norms.metric`, all matrices (n, n); NaN where the solver
        gives up. Raises MissingSolverError and UnansweredError."""
        n = len(W)
        found = self._answer("metric", [A, W, Q], {"floor": floor}, (n / LARGEST_METRIC) ** 6)
        return found[: n * n].reshape(n, n), found[n * n :]

    def gate_program(
        self, E: Array, G: Array, O: Array, scaled: Array, low: Array, high: Array, square: float,
        floor: float,
    ) -> tuple[Array, Array]:  # fmt: skip
        """P (N,) and τ (n, M) of `impl.norms.gate_multipliers`, shapes as there and scaled (n, R);
        NaN where the solver gives up. Raises MissingSolverError and UnansweredError."""
        (n, _, N), numbers = E.shape, {"square": square, "floor": floor}
        matrices = [E, G, O, scaled, low, high]
        found = self._answer("gate", matrices, numbers, (N / LARGEST_METRIC) ** 6)
        return found[:N], found[N:].reshape(n, -1)

    def _answer(
        self, program: str, matrices: list[Array], numbers: dict[str, float], work: float
    ) -> Array:
        """Ask for a program; work: its part of what the largest one takes."""
        if not is_installed():
            raise MissingSolverError
        seconds = self._seconds + EXTRA_SECONDS * work
        query = {"program": program, "matrices": [M.tolist() for M in matrices],
                 "numbers": numbers, "seconds": seconds}  # fmt: skip
        with self._lock:
            try:
                line = self._send(json.dumps(query).encode() + b"\n")
            except BaseException:
                self.end()  # what it would answer next is no answer to what is asked next
                raise
            if not line.endswith(b"\n"):
                raise UnansweredError(self._describe_ending(seconds))
        return np.array(json.loads(line))

    def _send(self, query: bytes) -> bytes:
        process = self._live_process()
        assert process.stdin is not None
        assert process.stdout is not None
        with suppress(BrokenPipeError):  # it has ended: nothing is to be read either
            process.stdin.write(query)
            process.stdin.flush()
        return process.stdout.readline()

    def _live_process(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._owner != os.getpid():
            try:
                self._process = subprocess.Popen(
                    [sys.executable, "-P", str(SERVER), str(self._memory)],
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                    env=os.environ | dict.fromkeys(THREADS, "1"),
                )  # fmt: skip
            except OSError as error:
                raise UnansweredError(f"cannot be started ({error.strerror})") from None
            if self._owner != os.getpid():
                self._owner = os.getpid()
                Finalize(None, self.end, exitpriority=0)  # images and fresh workers run these
        return self._process

    def _describe_ending(self, seconds: float) -> str:
        """Describe how the process ended, and clear it, so that the next query starts another."""
        assert self._process is not None
        code = self._process.wait()
        self.end()
        if sys.platform != "win32" and code in (-signal.SIGPROF, -signal.SIGALRM):
            return f"gave no answer in {seconds:.0f} s of CPU time"
        return f"ended with code {code} before its answer"

    def end(self) -> None:
        """End the process, and wait for it."""
        process, self._process = self._process, None
        if process is not None and self._owner == os.getpid():
            process.kill()
            with suppress(BrokenPipeError), process:  # closes the pipes, and waits
                pass


SOLVER = Solver()
