"""Contractive ReLU networks of torch, and inputs for them."""

import torch
from draws import normal


def model(n, d=2, lam=0.9, seed=0, dtype=torch.float64, kind="dense"):
    """A random torch.nn.RNN with ReLU and ‖W‖₂ near lam, dense, defective or 0."""
    draw = torch.Generator().manual_seed(seed)
    made = torch.nn.RNN(d, n, nonlinearity="relu", batch_first=True, dtype=dtype)
    with torch.no_grad():
        for part in made.parameters():
            part.copy_(torch.randn(part.shape, dtype=dtype, generator=draw))
        W = made.weight_hh_l0
        if kind == "defective":
            W.copy_(0.5 * torch.eye(n, dtype=dtype) + torch.diag(W.new_ones(n - 1), 1))
        if kind == "zero":
            W.zero_()
        else:
            W *= lam / float(torch.linalg.matrix_norm(W.double(), 2))
    return made


def inputs(N, T, d, bound=1.0, seed=1, dtype=torch.float64):
    """Random inputs on the sphere of that radius, just inside."""
    x = normal(N, T, d, seed=seed)
    return (x * (bound * (1 - 1e-12) / x.norm(dim=2, keepdim=True))).to(dtype)
