"""A process that solves semidefinite programs by Clarabel, each query and answer a line of JSON.

Its steps are counted, so that a solution is the same on every machine. The kernel ends the process
where one takes very long all the same, as OpenBLAS may where memory is short, and gives it no
memory beyond its share. Run as a script; it imports nothing of this package.
"""

import json
import signal
import sys
from collections.abc import Iterable
from importlib import import_module
from typing import IO, Any

import numpy as np
import numpy.typing as npt

clarabel: Any = import_module("clarabel")  # of the extra `sdp`
sparse: Any = import_module("scipy.sparse")

STEPS = 200  # of the interior point method; what is solved takes a tenth
WAIT = 60  # seconds on the clock for one of CPU time: a process that hangs without using any

Array = npt.NDArray[np.float64]


def answer_each(queries: Iterable[bytes], answers: IO[bytes]) -> None:
    """Answer one query after the other; SIGPROF and SIGALRM, which nothing handles, end it."""
    for line in queries:
        query = json.loads(line)
        _limit_time(query["seconds"])
        P = solve(np.array(query["W"]), query["square"], query["floor"])
        _limit_time(0)
        answers.write(json.dumps(P.tolist()).encode() + b"\n")
        answers.flush()


def solve(W: Array, square: float, floor: float) -> Array:
    """The P (n,) of `impl.norms.semidefinite` for μ² = `square`; NaN where the solver gives up.

    Clarabel has it in y = (P, s) as the least −s with b − A y in a product of cones: zero for the
    trace, numbers ≥ 0 for P ≥ floor, and semidefinite matrices, each as the upper half of its
    columns with √2 off the diagonal, for Σ_i P_i (μ² e_i e_iᵀ − w_i w_iᵀ) − sI, w_i the rows of W.
    """
    n, eye = len(W), np.eye(len(W))
    column, row = np.tril_indices(n)
    weight = np.where(row == column, 1.0, np.sqrt(2.0))
    quadratic_forms = square * eye[:, :, None] * eye[:, None] - W[:, :, None] * W[:, None]
    halves = np.concatenate([quadratic_forms, -eye[None]])[:, row, column] * weight
    bounds = np.block([[np.ones((1, n)), np.zeros((1, 1))], [-eye, np.zeros((n, 1))]])
    b = np.concatenate([[float(n)], np.full(n, -floor), np.zeros(len(row))])
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_iter = False, STEPS
    solution = clarabel.DefaultSolver(
        sparse.csc_matrix((n + 1, n + 1)),
        np.concatenate([np.zeros(n), [-1.0]]),
        sparse.csc_matrix(np.concatenate([bounds, -halves.T])),
        b,
        [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(n), clarabel.PSDTriangleConeT(n)],
        settings,
    ).solve()
    solved = str(solution.status) in ("Solved", "AlmostSolved")
    return np.asarray(solution.x[:n]) if solved else np.full(n, np.nan)


def _limit_time(seconds: float) -> None:
    if sys.platform != "win32":
        signal.setitimer(signal.ITIMER_PROF, seconds)
        signal.setitimer(signal.ITIMER_REAL, WAIT * seconds)


def bound_memory(limit: int) -> None:
    """Limit the addresses of this process to so many bytes, or to the fewer that it may have."""
    if sys.platform != "win32":
        import resource

        allowed, _ = resource.getrlimit(resource.RLIMIT_AS)
        share = limit if allowed == resource.RLIM_INFINITY else min(limit, allowed)
        resource.setrlimit(resource.RLIMIT_AS, (share, share))


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who asks ends this process
    if sys.platform != "win32":
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # or was ended, and nobody reads
    bound_memory(int(sys.argv[1]))
    answer_each(sys.stdin.buffer, sys.stdout.buffer)
