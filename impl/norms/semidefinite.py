"""The best diagonal weights by semidefinite programming: found by a solver, certified without it.

A diagonal P > 0 with WᵀPW ⪯ μ²P says that ‖P^{1/2} W P^{−1/2}‖₂ ≤ μ and, since P^{1/2} commutes
with a diagonal of slopes |ρ′| ≤ L, that h ↦ ρ(Wh + …) contracts by Lμ in ‖P^{1/2}h‖₂. The least μ
is a generalised eigenvalue problem: for the μ at hand solve

    maximise s  subject to  μ²P − WᵀPW ⪰ sI,  P diagonal, P ≥ 0,  tr P = n,

whose P has the smaller μ² − s/max P, until s = 0 (Dinkelbach). Each program is stated in the
coordinates of the weights before it, in which P is near I.

What the solver says is a proposal: the factor is the certified norm of D W D⁻¹ for D = P^{1/2} as a
float64 matrix, from `impl.norms.weighted.diagonal_norm`, however D was come by. Sources: Boyd, El
Ghaoui, Feron & Balakrishnan, Linear Matrix Inequalities in System and Control Theory, section 2;
Goulart & Chen, Clarabel.
"""

import warnings
from collections.abc import Callable, Iterable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from impl.errors import InputError, RangeError
from impl.norms.weighted import WeightedNorm, diagonal_norm, diagonal_scaling

SOLVED = "diagonal-sdp"  # the norm that needs the solver
USUAL = 32  # states up to which a solution takes a second at most
LARGEST = 128  # beyond it the solver needs gigabytes
_PROGRAMS = 8
_SETTLED = 1 - 1e-7
_FLOOR = 1e-9  # of P, whose trace is n

Array = npt.NDArray[np.float64]


class MissingSolverError(InputError):
    """The optional solver is not installed."""

    def __init__(self) -> None:
        super().__init__(
            f"the {SOLVED} norm needs cvxpy and clarabel; "
            "install them with: pip install 'rnnbounds[sdp]'"
        )


def installed() -> bool:
    """Whether cvxpy and Clarabel can be imported."""
    return all(find_spec(name) is not None for name in ("cvxpy", "clarabel"))


def solve(W: Array, square: float) -> Array:
    """The P (n,) of the program above for μ² = `square`; NaN where the solver gives up."""
    cvxpy: Any = import_module("cvxpy")  # of the extra `sdp`; slow to import
    n, one = len(W), np.eye(len(W))
    P, s = cvxpy.Variable(n), cvxpy.Variable()
    diagonal = cvxpy.diag(P)
    room = square * diagonal - W.T @ diagonal @ W - s * one
    problem = cvxpy.Problem(cvxpy.Maximize(s), [room >> 0, P >= _FLOOR, np.ones(n) @ P == n])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of its accuracy, which is not relied upon
            problem.solve(solver=cvxpy.CLARABEL)
    except (cvxpy.SolverError, ArithmeticError, ValueError):
        return np.full(n, np.nan)
    return np.full(n, np.nan) if P.value is None else np.asarray(P.value, dtype=np.float64)


def semidefinite_scaling(
    W: Tensor, solver: Callable[[Array, float], Array] = solve
) -> WeightedNorm:
    """‖D W D⁻¹‖₂ for the best positive diagonal D, up to the solver's accuracy: W (1, n, n).

    Never more than that of `diagonal_scaling`, from which it starts, whatever the solver answers.
    L times it certifies a vanilla RNN, and 1 − a + aL times it an echo-state network with leak a.
    Raises MissingSolverError, and RangeError above LARGEST states.
    """
    W, n = W.detach().cpu(), W.shape[1]
    if solver is solve and not installed():
        raise MissingSolverError
    if n > LARGEST:
        raise RangeError("the number of states for diagonal-sdp", n, f"at most {LARGEST}")
    best = diagonal_scaling(W)
    for _ in range(_PROGRAMS):
        d = best.weights.diagonal(dim1=1, dim2=2)
        scaled = (d[0, :, None] * W[0] / d[0, None, :]).numpy()
        size = float(np.abs(scaled).max())
        if not 0 < size < np.inf:
            break
        unit = scaled / size
        P = torch.from_numpy(solver(unit, float(np.linalg.norm(unit, 2)) ** 2))
        found = diagonal_norm(W, d * P.clamp(min=_FLOOR).sqrt())
        if not found.factor < best.factor:
            break
        settled = bool(found.factor > _SETTLED * best.factor)
        best = found
        if settled:
            break
    return best


def at_hand(norms: Iterable[str], n: int) -> tuple[str, ...]:
    """Those of the norms that the search goes through at n states."""
    return tuple(norm for norm in norms if norm != SOLVED or left_out(n) is None)


def left_out(n: int) -> str | None:
    """Why the search among all norms goes on without this one, None if it does not."""
    if not installed():
        return str(MissingSolverError())
    return None if n <= USUAL else f"{n} states take the solver long; ask for it by name"
