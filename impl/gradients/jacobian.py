"""Jacobians ∂h_T/∂x_{T−j} of the last state in the inputs, in floats, for a heuristic search.

∂h_T/∂x_{T−j} = D_T W D_{T−1} W ⋯ W D_{T−j} U with D_t = diag(ρ′(z_t)), multiplied from the left.
"""

import torch
from torch import Tensor

from rnnbounds.impl.errors import RangeError
from rnnbounds.impl.gradients.windows.rollout import states
from rnnbounds.impl.models.rnn import RNN


def jacobians_alone(cell: RNN, x: Tensor, K: int) -> Tensor:
    """J (B, K+1, n, d, S) with J[:, j] ≈ ∂h_T/∂x_{T−j} of x (B, T, d, S), zero state first.

    Differentiable in W, U, b and x; at a kink it is torch's choice of ρ′. Raises RangeError unless
    0 ≤ K < T. Source: Miller & Hardt, Section 3.
    """
    T = x.shape[1]
    if not 0 <= K < T:
        raise RangeError("K", K, f"between 0 and T − 1 = {T - 1}")
    path = states(cell, x)
    W, U = cell.W[:, None], cell.U[:, None]  # (B, 1, n, ·), products carry S in front
    product, found = torch.eye(cell.n, dtype=x.dtype, device=x.device), list[Tensor]()
    for t in range(T - 1, T - 2 - K, -1):
        z = torch.baddbmm(cell.drive(x[:, t]), cell.W, path[:, t])
        slopes = cell.activation.derivative(z).permute(0, 2, 1)[:, :, None]
        product = (product @ W if found else product) * slopes
        found.append(product @ U)
    return torch.stack(found, dim=1).permute(0, 1, 3, 4, 2)
