"""Certified finite-time Lyapunov exponents: how much any run of a tube stretches, at most.

Of every run in the tube each step's J_t = ∂s_t/∂s_{t−1} lies in an interval matrix J̄_t, by forward
differentiation over balls that hold the states and the inputs. In metrics |T_t d|, T_0 = T_T = I,

    ‖J_T ⋯ J_1‖₂ ≤ ∏ ‖T_t J̄_t S_{t−1}‖₂ / (1 − ‖T_{t−1} S_{t−1} − I‖₂)    for any S_t,

as d = S (T S)⁻¹ T d, so that the metrics need no proof: T_tᵀT_t = M_t, computed backwards along the
middle matrices, M_{t−1} = J_tᵀ M_t J_t/‖·‖ + ε I, in which each step nearly stretches as their
product does. The sets are convex, so that two runs on the same inputs come together as fast.
Source: Eckmann & Ruelle (1985), section V.
"""

import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.derivatives.dual_numbers import Dual, DualArithmetic
from rnnbounds.impl.memory.running import Running, RunningError
from rnnbounds.impl.memory.runs import Runner
from rnnbounds.impl.memory.tube.runs import Around
from rnnbounds.impl.numbers.outward import (
    TINY,
    UNIT,
    add_up,
    div_up,
    gamma,
    mul_up,
    subtract_down,
)
from rnnbounds.impl.numbers.spectra.spectral_norm import certified_norm

SHARES = (0.1, 0.03, 0.01, 1e-3, 1e-5)  # ε of the metrics that are tried
WORK = 2**38  # products of entries, beyond which none is computed
_MARGIN = 2.0**-40  # of logarithms in float64 and their sum


def largest_exponents(around: Around) -> Tensor:
    """At least (1/T) log‖∂s_T/∂s_0‖₂ over all runs of the tube, (M,): infinite where the tube is or
    where it takes too much work."""
    M, T, N = *around.x.shape[:2], around.runner.states
    if 64 * M * T * N**3 > WORK:
        return torch.full((M,), torch.inf, dtype=torch.float64)
    steps = [_step(around, t) for t in range(T)]
    J, R = (torch.stack(parts) for parts in zip(*steps, strict=True))
    known = (J.isfinite() & R.isfinite()).all((-1, -2)).all(0)
    J, R = (torch.where(known[:, None, None], part, 0.0) for part in (J, R))
    found = torch.stack([_product(J, R, metrics(J, share)) for share in SHARES])
    return torch.where(known, found.amin(0), torch.inf)


def _step(around: Around, t: int) -> tuple[Tensor, Tensor]:
    """J̄ of one step: middle and radius, (M, N, N)."""
    ends = around.stages[t].ends
    s = ends.middle[0]
    x = around.x[:, t]
    delta = torch.full_like(x, around.delta)
    return interval_jacobians(around.runner, (s, ends.radius(s)[0]), (x, delta))


def interval_jacobians(
    runner: Runner, s: tuple[Tensor, Tensor], x: tuple[Tensor, Tensor]
) -> tuple[Tensor, Tensor]:
    """Middle and radius (M, N, N) of all ∂φ/∂s for states and inputs in balls: s (M, N), x (M, d),
    with a radius for each number."""
    m = DualArithmetic(Running({name: part[:, None] for name, part in runner.parameters.items()}))
    states, inputs = (RunningError(*(part[None, :, None] for part in pair)) for pair in (s, x))
    M, N = s[0].shape
    eye = torch.eye(N, dtype=torch.float64).expand(1, M, N, N)
    still = RunningError.exactly(torch.zeros_like(inputs.value))
    state, fed = Dual(states, RunningError.exactly(eye)), Dual(inputs, still)
    moved: RunningError = runner.program(m, state, fed).tangent
    return moved.value.mT[0], moved.error.mT[0]


def metrics(J: Tensor, share: float) -> tuple[Tensor, Tensor]:
    """T_t and S_t, nearly inverse to one another, for t = 0 … T: (T + 1, M, N, N) each. An
    estimate: any are good."""
    eye = torch.eye(J.shape[-1], dtype=torch.float64).expand(J.shape[1:])
    M, found = eye, [eye]
    for step in reversed(J[1:]):
        M = step.mT @ M @ step
        M = (M + M.mT) / 2
        M = M / M.norm(dim=(-1, -2), keepdim=True).clamp(min=TINY) + share * eye
        values, vectors = torch.linalg.eigh(M)
        root = values.clamp(min=share).sqrt()
        found.append(root[..., None] * vectors.mT)
    T = torch.stack([eye, *reversed(found)])
    return T, torch.linalg.inv(T)


def _product(J: Tensor, R: Tensor, metric: tuple[Tensor, Tensor]) -> Tensor:
    """At least (1/T) log of the product of all steps' norms in the metrics, (M,)."""
    T, S = metric
    shape, off = J.shape[:2], 4 * gamma(J.shape[-1] + 8)
    lost = T[1:].abs() @ (R + off * J.abs()) @ S[:-1].abs() * (1 + 2 * off) + TINY
    norm = add_up(_norm(T[1:] @ J @ S[:-1]), _norm(lost))
    apart = T[:-1] @ S[:-1] - torch.eye(J.shape[-1], dtype=torch.float64)
    rounded = off * (T[:-1].abs() @ S[:-1].abs() + 1) + TINY
    room = subtract_down(torch.ones_like(norm), add_up(_norm(apart), _norm(rounded)))
    stretch = torch.where(room > 0, div_up(norm, room.clamp(min=TINY)), torch.inf)
    logs = stretch.clamp(min=TINY).log().reshape(shape)
    slack = mul_up(_MARGIN, 1 + logs.abs().sum(0))
    return add_up(logs.sum(0), slack) / shape[0] * (1 + 4 * UNIT * torch.sign(logs.sum(0)))


def _norm(A: Tensor) -> Tensor:
    """At least ‖A‖₂ of each matrix (T, M, N, N), as (T M,)."""
    return certified_norm(A.flatten(0, 1))
