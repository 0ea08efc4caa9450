"""The solver Clarabel of semidefinite programs, within limits of size, of steps and of time.

With one thread and its steps counted an answer is the same on every machine: the time is a guard.
An answer is a proposal, which `impl.norms.metric` proves in balls.
"""

from collections.abc import Iterable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt

from rnnbounds.impl.errors import InputError

METRIC_SDP = "quadratic-sdp"  # the norm that needs the solver
LARGEST, FAST = 32, 10  # states by name, and those that take a second at most
STEPS = 200  # of the interior point method; what is solved takes a tenth
SECONDS = 60.0  # for a program, several times what one of LARGEST states takes

Array = npt.NDArray[np.float64]


class MissingSolverError(InputError):
    """The optional solver is not installed."""

    def __init__(self) -> None:
        super().__init__(
            f"the norm {METRIC_SDP} needs clarabel; install it with: pip install 'rnnbounds[sdp]'"
        )


class UnansweredError(InputError):
    """The solver gave up, for a reason in its own words."""

    def __init__(self, status: str) -> None:
        super().__init__(
            f"the solver of the norm {METRIC_SDP} gave up ({status}); choose another norm"
        )


def is_installed() -> bool:
    """True if Clarabel can be imported."""
    return find_spec("clarabel") is not None


def available_norms(norms: Iterable[str], n: int) -> tuple[str, ...]:
    """The norms that a search tries at n states: the solver's only if it is usable."""
    return tuple(norm for norm in norms if reason_to_omit(norm, n) is None)


def reason_to_omit(norm: str, n: int) -> str | None:
    """The reason why a search at n states omits a norm; None if it does not."""
    if norm != METRIC_SDP:
        return None
    if not is_installed():
        return str(MissingSolverError())
    if n <= FAST:
        return None
    return f"{n} states take the solver long; ask for it by name"


def largest_margin(forms: Array, trace: Array) -> Array:
    """The y (m,) with the largest last entry for which Σ_i y_i forms_i ⪰ 0, forms (m, ·, ·), and
    trace·y = Σ trace for all but that one.

    Clarabel has it as the least −y_m with b − A y in a product of cones, a semidefinite matrix as
    the upper half of its columns with √2 off the diagonal. Raises MissingSolverError, and
    UnansweredError where it is not solved.
    """
    if not is_installed():
        raise MissingSolverError
    clarabel: Any = import_module("clarabel")
    sparse: Any = import_module("scipy.sparse")
    column, row = np.tril_indices(forms.shape[1])
    half = forms[:, row, column] * np.where(row == column, 1.0, np.sqrt(2.0))
    A = np.vstack([np.append(trace, 0.0)[None], -half.T])
    b = np.zeros(len(A))
    b[0] = trace.sum()
    cones = [clarabel.ZeroConeT(1), clarabel.PSDTriangleConeT(forms.shape[1])]
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_threads = False, 1
    settings.max_iter, settings.time_limit = STEPS, SECONDS
    objective = np.append(np.zeros(len(trace)), -1.0)
    quadratic = sparse.csc_matrix((len(objective), len(objective)))
    solver = clarabel.DefaultSolver(quadratic, objective, sparse.csc_matrix(A), b, cones, settings)
    solution = solver.solve()
    if str(solution.status) not in ("Solved", "AlmostSolved"):
        raise UnansweredError(str(solution.status))
    return np.asarray(solution.x)
