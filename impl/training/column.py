"""The gradient of one run a system, its last loss in all weights: what each step of a descent asks.

With one input sequence a system there are no columns to stack, and a step is a matrix times a
vector. So what does not wait for the state is done for all times at once, in few passes:

    drives   U x_1 + b … U x_T + b    (B, T, n)      one product
    signals  (h_0, x_1) … (h_{T−1}, x_T)  (B, T, n+d)    h_t = ρ(drive_t + W h_{t−1}), T products
    adjoints δ_1 … δ_T                (B, T, n)      δ_{t−1} = ρ′(z_{t−1}) ∘ Wᵀδ_t, T products
    sums     Σ_t δ_t (h_{t−1}, x_t)ᵀ  (B, n, n+d)    one product

They have the terms of `impl.gradients.adjoint.last_gradient`, the plain twin, in another order;
`impl.gradients.adjoint_error` bounds the error in any. Source: Werbos (1990).
"""

import torch
from torch import Tensor
from torch.nn.functional import hardshrink

from impl.gradients.adjoint import Weights, check_task
from impl.gradients.loss import Loss
from impl.gradients.sweep import FLUSHED, slope_of
from impl.models.rnn import RNN


@torch.no_grad()
def column_gradient(cell: RNN, x: Tensor, loss: Loss, starts: Tensor | None = None) -> Weights:
    """∇p_T of the run on x (B, T, d, 1) whose state stays zero up to time starts (B,), if given.

    Raises ShapeError and PrecisionError.
    """
    check_task(cell, x, 0, loss, "WUb")
    n, rows = cell.n, x[..., 0]
    drives = torch.baddbmm(cell.b[:, None], rows, cell.U.mT)
    signals, delta = rows.new_empty(*rows.shape[:2], n + cell.d), torch.empty_like(drives)
    signals[..., n:] = rows
    h, slopes = x.new_zeros(cell.batch, n, 1), []
    columns = zip(drives[..., None].unbind(1), signals[..., :n, None].unbind(1), strict=True)
    for t, (drive, before) in enumerate(columns):
        before.copy_(h)
        z = torch.baddbmm(drive, cell.W, h)
        h = cell.activation(z)
        slopes.append(slope_of(cell.activation, z, h))
        if starts is not None:
            asleep = (t < starts)[:, None, None]
            h, slopes[t] = h.masked_fill(asleep, 0.0), slopes[t].masked_fill(asleep, 0.0)
    carried, back = loss.gradient(h), cell.W.mT.contiguous()
    for slope, found in zip(reversed(slopes), reversed(delta[..., None].unbind(1)), strict=True):
        now = hardshrink(carried * slope, FLUSHED)
        found.copy_(now)
        carried = torch.bmm(back, now)
    W, U = torch.split(delta.mT @ signals, [n, cell.d], dim=2)
    return Weights(W[:, None], U[:, None], delta.sum(1)[:, None])
