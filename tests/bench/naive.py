"""Naive reference code: one system at a time, a loop over t and over k, autograd."""

import torch
from torch import Tensor


def last_state(W: Tensor, U: Tensor, b: Tensor, x: Tensor) -> Tensor:
    """h_T of a tanh network from the zero state: x (T, d) -> (n,)."""
    h = torch.zeros(W.shape[0], dtype=W.dtype)
    for x_t in x:
        h = torch.tanh(W @ h + U @ x_t + b)
    return h


def truncation_gaps(W: Tensor, U: Tensor, b: Tensor, x: Tensor, K: int) -> list[float]:
    """‖h_T − h_T^k‖ for k = 0 … K."""
    full = last_state(W, U, b, x)
    return [
        float(torch.linalg.norm(full - last_state(W, U, b, x[len(x) - k :]))) for k in range(K + 1)
    ]


def gradient(
    W: Tensor, U: Tensor, b: Tensor, x: Tensor, C: Tensor, y: Tensor
) -> tuple[Tensor, ...]:
    """∇ ½‖C h_T − y‖² in W, U and b, by autograd."""
    if not len(x):  # the zero state depends on no weight
        return tuple(torch.zeros_like(part) for part in (W, U, b))
    W, U, b = (part.clone().requires_grad_() for part in (W, U, b))
    loss = 0.5 * (C @ last_state(W, U, b, x) - y).square().sum()
    return torch.autograd.grad(loss, (W, U, b))


def gradient_gaps(
    W: Tensor, U: Tensor, b: Tensor, x: Tensor, C: Tensor, y: Tensor, K: int
) -> list[float]:
    """‖∇p_T − ∇p_T^k‖ for k = 0 … K."""
    full, gaps = gradient(W, U, b, x, C, y), []
    for k in range(K + 1):
        short = gradient(W, U, b, x[len(x) - k :], C, y)
        differences = [(first - other).flatten() for first, other in zip(full, short, strict=True)]
        gaps.append(float(torch.linalg.norm(torch.cat(differences))))
    return gaps


def bound_holds(W: Tensor, U: Tensor, b: Tensor, x: Tensor, K: int) -> bool:
    """True if ‖h_T − h_T^k‖ ≤ S_0 (λ^k − λ^T)/(1 − λ) + 1e-9 for k = 0 … K."""
    lam = float(torch.linalg.matrix_norm(W, 2))
    drive = max(float(torch.linalg.norm(torch.tanh(U @ x_t + b))) for x_t in x)
    gaps = truncation_gaps(W, U, b, x, K)
    return all(
        gap <= drive * (lam**k - lam ** len(x)) / (1 - lam) + 1e-9 for k, gap in enumerate(gaps)
    )
