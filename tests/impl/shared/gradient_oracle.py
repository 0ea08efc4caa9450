"""Plain loops that find the same gradients: one system and one sequence, in floats and in balls."""

import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.activation import activation as named_activation
from rnnbounds.impl.gradients.loss import Loss, loss
from rnnbounds.impl.models.rnn import RNN


def random_system(
    activation: str,
    criterion: str,
    *,
    B: int = 2,
    n: int = 3,
    d: int = 2,
    T: int = 6,
    S: int = 2,
    lam: float = 0.8,
    seed: int = 0,
) -> tuple[RNN, Tensor, Loss]:
    """Systems with ‖W‖₂ = lam/L_ρ, inputs x (B, T, d, S) and a loss of three outputs."""
    draw = torch.Generator().manual_seed(seed)
    shapes = ((B, n, n), (B, n, d), (B, n), (B, T, d, S), (B, 3, n), (B, 3))
    W, U, b, x, C, y = (torch.randn(*s, dtype=torch.float64, generator=draw) for s in shapes)
    rho = named_activation(activation)
    W = W * (lam / rho.slope / torch.linalg.matrix_norm(W, 2))[:, None, None]
    return RNN(W, U, b, rho), x, loss(criterion, C, y)


def autograd(cell: RNN, x: Tensor, loss: Loss, start: int = 0, last: int | None = None) -> Tensor:
    """∇p of the run of the first pair from time ``start`` to ``last``, by autograd: (W, U, b)."""
    W, U, b = (v[:1].clone().requires_grad_() for v in (cell.W, cell.U, cell.b))
    h = torch.zeros(1, cell.n, 1, dtype=torch.float64)
    for t in range(start, x.shape[1] if last is None else last):
        h = cell.activation(W @ h + U @ x[:1, t, :, :1] + b[:, :, None])
    value = loss.member(0).value(h).sum()
    if not value.requires_grad:
        return torch.zeros(W.numel() + U.numel() + b.numel(), dtype=torch.float64)
    found = torch.autograd.grad(value, (W, U, b))
    return torch.cat([g.flatten() for g in found])


def blocks(n: int, d: int, trained: str) -> list[int]:
    """Positions of the trained blocks in the flat gradient."""
    ends = {"W": (0, n * n), "U": (n * n, n * n + n * d), "b": (n * n + n * d, n * n + n * d + n)}
    return [i for name in trained for i in range(*ends[name])]
