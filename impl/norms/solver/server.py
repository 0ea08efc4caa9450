"""A process that solves semidefinite programs by Clarabel, each query and answer a line of JSON.

Its steps are counted, so that a solution is the same on every machine. The kernel ends the process
where one takes very long all the same, as OpenBLAS may where memory is short, and gives it no
memory beyond its share. Run as a script; it imports nothing of this package.
"""

import json
import signal
import sys
from collections.abc import Callable, Iterable
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
        parts = (np.array(matrix) for matrix in query["matrices"])
        found = PROGRAMS[query["program"]](*parts, **query["numbers"])
        _limit_time(0)
        answers.write(json.dumps(found.tolist()).encode() + b"\n")
        answers.flush()


def diagonal_program(W: Array, square: float, floor: float) -> Array:
    """The P (n,) of `impl.norms.semidefinite` for μ² = `square`; NaN where the solver gives up.

    Its cones: zero for the trace, numbers ≥ 0 for P ≥ floor, and semidefinite matrices for
    Σ_i P_i (μ² e_i e_iᵀ − w_i w_iᵀ) − sI, w_i the rows of W.
    """
    n, eye = len(W), np.eye(len(W))
    forms = square * eye[:, :, None] * eye[:, None] - W[:, :, None] * W[:, None]
    above = np.block([[-eye, np.zeros((n, 1))]])
    return _largest_margin([np.concatenate([forms, -eye[None]])], np.ones(n), above, -floor)[:n]


def metric_program(A: Array, W: Array, Q: Array, floor: float) -> Array:
    """P (n, n) and Λ (n,) of `impl.norms.metric`, row by row, for λ = 1 and differences Q⁻¹u; NaN
    where the solver gives up.

    The semidefinite matrices are those of the inequality with P in the coordinates of u, less s in
    the upper left block and `floor` in the other; tr P = n.
    """
    n = len(W)
    column, row = np.tril_indices(n)
    images, size = np.hstack([A, Q]), 2 * n
    units = np.zeros((len(row), n, n))
    units[np.arange(len(row)), row, column] = units[np.arange(len(row)), column, row] = 1.0
    forms = np.zeros((len(row) + n + 1, size, size))
    forms[: len(row)] = -(images.T @ units @ images)
    forms[: len(row), :n, :n] += units
    for i in range(n):
        form = forms[len(row) + i]
        form[n + i, :n] = form[:n, n + i] = -W[i]
        form[n + i, n + i] = 2.0
    forms[-1] = -np.diag(np.repeat([1.0, floor], n))
    trace = np.concatenate([(row == column).astype(float), np.zeros(n)])
    found = _largest_margin([forms], trace, np.zeros((0, len(forms))), 0.0)
    P = np.tensordot(found[: len(row)], units, 1)
    return np.concatenate([P.flatten(), found[len(row) : -1]])


def gate_program(
    E: Array, G: Array, O: Array, scaled: Array, low: Array, high: Array, square: float,
    floor: float,
) -> Array:  # fmt: skip
    """P (N,) and τ (n, M) of `impl.norms.gate_multipliers` for λ² = `square`, row by row; NaN where
    the solver gives up.

    Unknown are P, τ and S_j of each unit. Semidefinite are λ²P − Σ_j E_jᵀ S_j E_j − sI and, for
    each unit, S_j less Q and `floor` in the block of y; tr P = N. Outputs count `scaled` (n, R)
    times.
    """
    (n, K, N), M = E.shape, len(G)
    column, row = np.tril_indices(K)
    size, pairs = K + M, len(row)
    count = N + n * (M + pairs) + 1
    forms = [np.zeros((count, N, N))] + [np.zeros((count, size, size)) for _ in range(n)]
    forms[0][np.arange(N), np.arange(N), np.arange(N)] = square
    forms[0][-1] = -np.eye(N)
    y = np.eye(size)[K:]
    for j in range(n):
        own, first, then = forms[1 + j], N + j * M, N + n * M + j * pairs
        for r, weight in enumerate(scaled[j]):
            own[r * n + j] = -(weight**2) * np.outer(O[r], O[r])
        left, right = y - low[j][:, None] * G, high[j][:, None] * G - y
        products = left[:, :, None] * right[:, None]
        own[first : first + M] = -(products + products.transpose(0, 2, 1)) / 2
        units = np.zeros((pairs, K, K))
        units[np.arange(pairs), row, column] = units[np.arange(pairs), column, row] = 1.0
        own[then : then + pairs, :K, :K] = units
        forms[0][then : then + pairs] = -(E[j].T @ units @ E[j])
        own[-1, K:, K:] = -floor * np.eye(M)
    trace = np.concatenate([np.ones(N), np.zeros(count - 1 - N)])
    above = np.zeros((n * M, count))
    above[np.arange(n * M), N + np.arange(n * M)] = -1.0
    return _largest_margin(forms, trace, above, 0.0)[: N + n * M]


PROGRAMS: dict[str, Callable[..., Array]] = {"diagonal": diagonal_program, "metric": metric_program,
                                        "gate": gate_program}  # fmt: skip


def _largest_margin(cones_of: list[Array], trace: Array, rows: Array, limit: float) -> Array:
    """The y (m,) with the largest last entry for which Σ_i y_i forms_i ⪰ 0 for each of the forms
    (m, ·, ·), trace·y = n for all but that one and rows·y ≤ limit; NaN where the solver gives up.

    Clarabel has it as the least −y_m with b − A y in a product of cones, a semidefinite matrix as
    the upper half of its columns with √2 off the diagonal.
    """
    halves = []
    for forms in cones_of:
        column, row = np.tril_indices(forms.shape[1])
        weight = np.where(row == column, 1.0, np.sqrt(2.0))
        halves.append(forms[:, row, column] * weight)
    A = np.vstack([np.append(trace, 0.0)[None], rows, *(-half.T for half in halves)])
    b = np.zeros(len(A))
    b[: 1 + len(rows)] = [trace.sum(), *np.full(len(rows), limit)]
    cones = [clarabel.ZeroConeT(1)] + [clarabel.PSDTriangleConeT(f.shape[1]) for f in cones_of]
    cones[1:1] = [clarabel.NonnegativeConeT(len(rows))] if len(rows) else []
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_iter = False, STEPS
    objective = np.append(np.zeros(len(trace)), -1.0)
    quadratic = sparse.csc_matrix((len(objective), len(objective)))
    solver = clarabel.DefaultSolver(quadratic, objective, sparse.csc_matrix(A), b, cones, settings)
    solution = solver.solve()
    solved = str(solution.status) in ("Solved", "AlmostSolved")
    return np.asarray(solution.x) if solved else np.full(len(objective), np.nan)


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
