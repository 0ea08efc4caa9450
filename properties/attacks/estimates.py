"""Differentiable estimates of the constants: for the search alone, never for a verdict."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch

from rnnbounds.impl.models.rnn import RNN
from rnnbounds.properties.systems.batch import Batch

Tensor = torch.Tensor
Estimates = dict[str, Callable[[], Tensor]]


def largest_of_weights(batch: Batch, size: Callable[[RNN], Tensor]) -> Tensor:
    """The larger size of both cells of a batch, or that of its only cell."""
    first = size(batch.cell)
    return first if batch.other is None else torch.maximum(first, size(batch.other))


def spectral_norms(A: Tensor) -> Tensor:
    """‖A‖₂ of each matrix."""
    found: Tensor = torch.linalg.matrix_norm(A, 2)
    return found


def estimates(batch: Batch) -> Estimates:
    """The constants by name, (B,) each."""
    rho = batch.cell.activation
    W, U = (
        largest_of_weights(batch, lambda cell: spectral_norms(cell.W)),
        largest_of_weights(batch, lambda cell: spectral_norms(cell.U)),
    )
    lam, B_x = rho.slope * W, torch.full_like(W, batch.spec.scale)
    if batch.spec.kind in ("gradient", "smooth"):
        B_x = torch.linalg.vector_norm(batch.x, dim=2).flatten(1).amax(1)
    offset = largest_of_weights(batch, lambda cell: torch.linalg.vector_norm(rho(cell.b), dim=1))
    drive = rho.slope * U * B_x + offset
    state_bound = drive / (1 - lam)
    known_estimates: Estimates = {
        "W_norm": lambda: W,
        "U_norm": lambda: U,
        "L_rho": lambda: torch.full_like(W, rho.slope),
        "lam": lambda: lam,
        "B_x": lambda: B_x,
        "S_0": lambda: drive,
        "B_h": lambda: state_bound,
        "L_x": lambda: rho.slope * U,
        "L_f": lambda: spectral_norms(batch.C),
        "H": lambda: torch.maximum(*(h.flatten(1).norm(dim=1) for h in (batch.h, batch.h_other))),
    }
    if batch.spec.kind not in ("gradient", "smooth") or rho.curvature == float("inf"):
        return known_estimates
    smaller_bound = state_bound.clamp(max=rho.bound * batch.cell.n**0.5)
    return (
        known_estimates
        | {"B_h": lambda: smaller_bound}
        | smoothness(batch, W, lam, B_x, smaller_bound)
    )


def smoothness(batch: Batch, W: Tensor, lam: Tensor, B_x: Tensor, B_h: Tensor) -> Estimates:
    """The constants of gradients in the trained weights."""
    rho, trained = batch.cell.activation, batch.spec.trained
    rows = largest_of_weights(batch, lambda cell: torch.linalg.vector_norm(cell.W, dim=2).amax(1))
    parts = {"W": B_h * B_h, "U": B_x * B_x, "b": torch.ones_like(B_x)}
    R = torch.stack([parts[name] for name in trained]).sum(0).sqrt()
    L_w, beta_hh, beta_ww = rho.slope * R, rho.curvature * rows * W, rho.curvature * R * R
    beta_mixed = rho.curvature * R * rows + (rho.slope if "W" in trained else 0.0)
    L_p, beta_p = loss_constants(batch, B_h)
    margin = 1 - lam
    G_0 = L_w * (L_p + beta_p * B_h) / margin
    D_1 = L_p * B_h * (beta_mixed + L_w * beta_hh / margin)
    values = {
        "W_rows": rows, "L_w": L_w, "beta_hh": beta_hh, "beta_hw": beta_mixed,
        "beta_wh": beta_mixed,
        "beta_ww": beta_ww, "L_p": L_p, "beta_p": beta_p, "G_0": G_0, "D_1": D_1,
        "G_1": D_1 / lam,
        "beta": beta_p * (L_w / margin) ** 2
        + L_p / margin * (L_w / margin * (beta_hh * L_w / margin + 2 * beta_mixed) + beta_ww),
    }  # fmt: skip
    return {name: partial(identity, value) for name, value in values.items()}


def identity(value: Tensor) -> Tensor:
    """Return the argument."""
    return value


def loss_constants(batch: Batch, B_h: Tensor) -> tuple[Tensor, Tensor]:
    """L_p and β_p."""
    C = batch.C
    if batch.spec.loss == "linear":
        return torch.linalg.vector_norm(C[:, 0], dim=1), torch.zeros_like(B_h)
    if batch.spec.loss == "squared":
        size = spectral_norms(C)
        y = torch.zeros_like(C[:, :, 0]) if batch.y is None else batch.y
        return size * (size * B_h + torch.linalg.vector_norm(y, dim=1)), size * size
    logit_gaps = torch.linalg.vector_norm(C[:, :, None] - C[:, None] + 1e-300, dim=3)
    return logit_gaps[:, 0].amax(1), logit_gaps.flatten(1).amax(1) ** 2 / 4
