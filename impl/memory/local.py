"""How a model's steps contract along the runs that were seen: an estimate, in float64.

With J_t = ∂s_t/∂s_{t−1} of the whole state: the spectral norms ‖J_t‖₂ of single steps, the products
‖∂h_T/∂s_{T−k}‖₂ = ‖P J_T ⋯ J_{T−k+1}‖₂ of the last k, P taking the output from the state, or the
derivative of a readout of it at s_T, and the largest Lyapunov exponent over the length of a window,
lim of which for T → ∞ exists for stationary inputs: log|R_11| of the QR method, averaged over
steps. Of models too large for their Jacobians to be written down the norms of single steps come
from the power method, which nears them from below.
Sources: Miller & Hardt, section 4; Benettin et al. (1980) and Eckmann & Ruelle (1985), section V.
"""

from collections.abc import Collection
from dataclasses import dataclass

import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.base import Floats, Rows
from rnnbounds.impl.arithmetic.derivatives.dual_numbers import (
    Dual,
    DualArithmetic,
    step_with_jacobian,
)
from rnnbounds.impl.cells.runs import Runner

WORK = 2**28  # of entries cubed, over all steps that are differentiated
FEWEST = 64  # of the last steps of a window
HELD = 2**24  # entries of Jacobians and of their products, at a time
WRITTEN = 2**34  # entries cubed of the Jacobians of a window that are written down
ROUNDS = 60  # of the power method
_SEED = 0


@dataclass(frozen=True, eq=False)
class Local:
    """Of the last L steps of some windows: norms (M, L) of each step, products of the last k steps,
    (M, number of k ≤ L), and the exponents (M,), nats a step."""

    norms: Tensor
    products: Tensor
    exponents: Tensor


def sampled(runner: Runner, windows: int, length: int) -> tuple[int, int]:
    """Of how many windows, the first ones, how many of the last steps are differentiated."""
    N, rows = runner.states, max(runner.states, runner.outputs)
    last = min(length, max(FEWEST, WORK // (N * N * rows)))
    held = N * (last * N + rows)
    return max(1, min(windows, WORK // (last * N * N * rows), HELD // held)), last


def local(runner: Runner, x: Tensor, ks: Collection[int], last: int | None = None) -> Local:
    """The last steps, or all, along the windows x (M, T, d), each from the zero state."""
    s = runner.zero(len(x))
    first = 0 if last is None else x.shape[1] - last
    for inputs in x[:, :first].unbind(1):
        s = runner.step(s, inputs[None])
    x = x[:, first:]
    M, N = len(x), runner.states
    if x.shape[1] * N**3 > WRITTEN:
        return _unwritten(runner, s, x, ks)
    found = []
    generator = torch.Generator().manual_seed(_SEED)
    frame = torch.randn(M, N, 1, dtype=torch.float64, generator=generator)
    frame, exponents = frame / frame.norm(dim=1, keepdim=True), torch.zeros(M, dtype=torch.float64)
    for t in range(x.shape[1]):
        columns = s.mT, x[None, :, t].mT
        moved, (J,) = step_with_jacobian(runner.program, runner.parameters, *columns)
        found.append(J)
        frame, R = torch.linalg.qr(J @ frame)
        exponents, s = exponents + R[:, 0, 0].abs().log(), moved.mT
    norms = torch.stack([_norm(J) for J in found], dim=1)
    product = output_jacobians(runner, s)
    products = [_norm(product)] if 0 in ks else []
    for k, J in enumerate(reversed(found), 1):
        product = product @ J
        if k in ks:
            products.append(_norm(product))
    return Local(norms, torch.stack(products, dim=1), exponents / x.shape[1])


def _unwritten(runner: Runner, s: Tensor, x: Tensor, ks: Collection[int]) -> Local:
    """`local` by derivatives along vectors, forwards and backwards."""
    M, T = x.shape[:2]
    generator, inputs = torch.Generator().manual_seed(_SEED), list(x.transpose(0, 1)[:, None])
    states, exponents = [s], torch.zeros(M, dtype=torch.float64)
    v = torch.randn(1, M, runner.states, dtype=torch.float64, generator=generator)
    for u in inputs:
        v = _along(runner, states[-1], u, v / v.norm(dim=2, keepdim=True))
        exponents = exponents + v.norm(dim=2)[0].log()
        states.append(runner.step(states[-1], u))
    s, u = torch.cat(states[:-1], dim=1), torch.cat(inputs, dim=1)
    v = torch.randn(s.shape, dtype=torch.float64, generator=generator)
    for _ in range(ROUNDS):
        v = _against(runner, s, u, _along(runner, s, u, v / v.norm(dim=2, keepdim=True)))
    product = output_jacobians(runner, states[-1])
    products, p = [_norm(product)] if 0 in ks else [], product.shape[1]
    for k in range(1, T + 1):
        s, u = states[T - k].repeat_interleave(p, 1), inputs[T - k].repeat_interleave(p, 1)
        product = _against(runner, s, u, product.reshape(1, M * p, -1)).reshape(product.shape)
        if k in ks:
            products.append(_norm(product))
    norms = v.norm(dim=2).sqrt().reshape(T, M).T
    return Local(norms, torch.stack(products, dim=1), exponents / T)


def _along(runner: Runner, s: Tensor, x: Tensor, v: Tensor) -> Tensor:
    """J v of the columns of s, x and v: (1, M, N)."""
    m, still = DualArithmetic(Floats(runner.parameters)), Rows(torch.zeros_like(x))
    return runner.program(m, Dual(Rows(s), Rows(v)), Dual(Rows(x), still)).tangent.value


def _against(runner: Runner, s: Tensor, x: Tensor, v: Tensor) -> Tensor:
    """Jᵀ v of the columns of s, x and v: (1, M, N)."""
    with torch.enable_grad():
        start = s.detach().requires_grad_()
        (found,) = torch.autograd.grad(runner.step(start, x), start, v)
    return found


def _norm(J: Tensor) -> Tensor:
    """‖J‖₂ = √λ_max(J Jᵀ), several times as fast as by singular values; NaN where J overflowed."""
    size = J.abs().amax((-2, -1), keepdim=True)
    known = torch.isfinite(size)
    J = torch.where(known & (size > 0), J / size, 0.0)  # squares of its entries are numbers
    J = J if J.shape[-2] <= J.shape[-1] else J.mT
    norm = torch.linalg.eigvalsh(J @ J.mT)[..., -1].clamp(min=0).sqrt()
    return torch.where(known[..., 0, 0], norm * size[..., 0, 0], torch.nan)


def output_jacobians(runner: Runner, s: Tensor) -> Tensor:
    """∂y/∂s of the outputs y = h, or f(h) of a readout, at M columns: s (1, M, N) -> (M, p, N)."""
    M, N, n = s.shape[1], runner.states, runner.n
    m = DualArithmetic(Floats({name: part[:, None] for name, part in runner.parameters.items()}))
    directions = torch.eye(N, dtype=torch.float64)[:, N - n :].expand(1, M, N, n)
    h = Dual(Rows(s[:, :, None, N - n :]), Rows(directions))
    still = Dual(Rows(torch.zeros_like(h.value.value)), Rows(torch.zeros_like(directions)))
    return runner.apart(m, h, still).tangent.value.mT[0]
