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

from collections.abc import Callable, Iterable

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from rnnbounds.impl.errors import RangeError
from rnnbounds.impl.norms.solver.client import (
    DIAGONAL_SDP,
    GATE_SDP,
    LARGEST_SIZE,
    METRIC_SDP,
    SOLVER,
    SOLVER_NORMS,
    MissingSolverError,
    is_installed,
)
from rnnbounds.impl.norms.weighted import WeightedNorm, diagonal_norm, diagonal_scaling

FAST_SIZES = {DIAGONAL_SDP: 32, METRIC_SDP: 10, GATE_SDP: 8}  # states that take a second at most
_PROGRAMS = 8
_CONVERGED = 1 - 1e-7
_FLOOR = 1e-9  # of P, whose trace is n

Array = npt.NDArray[np.float64]


def solve(W: Array, square: float) -> Array:
    """The P (n,) of the program above for μ² = `square`; NaN where the solver gives up.

    Raises MissingSolverError, and UnansweredError where its process ends before its answer.
    """
    return SOLVER.diagonal_program(W, square, _FLOOR)


@np.errstate(all="ignore")  # a search in floats: what it finds is proved afterwards
def semidefinite_scaling(
    W: Tensor,
    solver: Callable[[Array, float], Array] = solve,
    start: WeightedNorm | None = None,
) -> WeightedNorm:
    """‖D W D⁻¹‖₂ for the best positive diagonal D, up to the solver's accuracy: W (1, n, n).

    Never more than that of the start, by default `diagonal_scaling`'s, whatever the solver answers.
    L times it certifies a vanilla RNN, and 1 − a + aL times it an echo-state network with leak a.
    Raises MissingSolverError, UnansweredError, and RangeError above LARGEST states.
    """
    device, W, n = W.device, W.detach().cpu(), W.shape[1]
    if solver is solve and not is_installed():
        raise MissingSolverError
    if n > LARGEST_SIZE:
        raise RangeError("the number of states for diagonal-sdp", n, f"at most {LARGEST_SIZE}")
    best = diagonal_scaling(W) if start is None else start.to("cpu")
    for _ in range(_PROGRAMS):
        d = best.weights.diagonal(dim1=1, dim2=2)
        scaled = (d[0, :, None] * W[0] / d[0, None, :]).numpy()
        size = float(np.abs(scaled).max())
        if not 0 < size < np.inf:
            break
        normalised = scaled / size
        P = torch.from_numpy(solver(normalised, float(np.linalg.norm(normalised, 2)) ** 2))
        candidate = diagonal_norm(W, d * P.clamp(min=_FLOOR).sqrt())
        if not candidate.factor < best.factor:
            break
        converged = bool(candidate.factor > _CONVERGED * best.factor)
        best = candidate
        if converged:
            break
    return best.to(device)


def available_norms(norms: Iterable[str], n: int) -> tuple[str, ...]:
    """The norms that a search tries at n states: a solver's only if it is usable."""
    return tuple(norm for norm in norms if reason_to_omit(norm, n) is None)


def reason_to_omit(norm: str, n: int) -> str | None:
    """The reason why a search at n states omits a norm; None if it does not."""
    if norm not in SOLVER_NORMS:
        return None
    if not is_installed():
        return str(MissingSolverError())
    if n <= FAST_SIZES[norm]:
        return None
    return f"{n} states take the solver long; ask for it by name"
