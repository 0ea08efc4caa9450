"""Constants of a vanilla step are at least what finite differences show, and gains what is seen."""

import pytest
import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS, activation
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.gradients.constants import Constants
from rnnbounds.impl.models.rnn import RNN

SMALL, ROOM = 2.0**-16, 1 + 1e-3  # a step, and what its curvature may hide


def derivative(cell: RNN, h: Tensor, x: Tensor, by: str) -> Tensor:
    """∂φ/∂h or ∂φ/∂(W, U, b) at one state and input, (n, ·), by autograd in float64."""
    parts = {"h": h} if by == "h" else {"W": cell.W, "U": cell.U, "b": cell.b}

    def step(*values: Tensor) -> Tensor:
        given = {
            "W": cell.W,
            "U": cell.U,
            "b": cell.b,
            "h": h,
            **dict(zip(parts, values, strict=True)),
        }
        pre = given["W"][0] @ given["h"] + given["U"][0] @ x + given["b"][0]
        return cell.activation(pre)

    found = torch.autograd.functional.jacobian(step, tuple(parts.values()))
    return torch.cat([part.flatten(1) for part in found], 1)


@pytest.mark.parametrize("name", [name for name in ACTIVATIONS if activation(name).curvature < 1e9])
def test_constants_bound_differences(name: str) -> None:
    """L_w by secants of a step in its weights; β_hh and β_wh by secants of its derivatives, at
    random states within B_h and at rest, where smooth activations are steep."""
    by = torch.Generator().manual_seed(3)
    W, U, b = (torch.randn(1, *s, generator=by).double() / 2 for s in ((2, 2), (2, 1), (2,)))
    W = 0.6 * W / (torch.linalg.matrix_norm(W, 2) * activation(name).slope)
    cell = RNN(W, U, b, activation(name))
    c = Constants(cell, torch.ones(1, dtype=torch.float64))
    seen = dict.fromkeys(("L_w", "beta_hh", "beta_wh"), 0.0)
    for size in (0.0, 0.1, 1.0, 1.0, 1.0):
        h, v, dx = (torch.randn(k, generator=by).double() for k in (2, 2, 8))
        h, x = size * min(float(c["B_h"]), 4.0) * h / h.norm(), torch.ones(1).double()
        moved = h + SMALL * v
        far = float((moved - h).norm())
        parts = dx[:4].reshape(1, 2, 2), dx[4:6].reshape(1, 2, 1), dx[6:].reshape(1, 2)
        other = RNN(
            *(a + SMALL * d for a, d in zip((W, U, b), parts, strict=True)), cell.activation
        )
        step = (
            other.step(h[None, :, None], x[None, :, None])
            - cell.step(h[None, :, None], x[None, :, None])
        ).norm()
        if h.norm() <= c["B_h"]:
            seen["L_w"] = max(seen["L_w"], float(step) / (SMALL * float(dx.norm())))
        for key, wrt in (("beta_hh", "h"), ("beta_wh", "w")):
            apart = derivative(cell, moved, x, wrt) - derivative(cell, h, x, wrt)
            seen[key] = max(seen[key], float(torch.linalg.matrix_norm(apart, 2)) / far)
    for key, value in seen.items():
        assert value <= ROOM * float(c[key]) + 1e-9, key
    assert seen["L_w"] >= 0.02 * float(c["L_w"])


@pytest.mark.parametrize(("w", "u"), [(0.5, 1.0), (0.75, -2.0), (0.0, 3.0), (-0.9375, 0.25)])
def test_the_gain_of_a_scalar_system_is_exact(w: float, u: float) -> None:
    """|u|/(1 − |w|), which constant inputs, or alternating ones, reach."""
    weights = {"weight_hh_l0": torch.tensor([[w]]), "weight_ih_l0": torch.tensor([[u]])}
    assert certify(weights, inputs=1.0, eps=0.5, cell="linear").constants["gain"] == abs(u) / (
        1 - abs(w)
    )
