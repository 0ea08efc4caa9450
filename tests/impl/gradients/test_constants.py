import math

import pytest
import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.activation import activation
from rnnbounds.impl.gradients.constants import Constants
from rnnbounds.impl.models.rnn import RNN

NAMES = (
    "lam L_rho beta_rho M_rho W_norm U_norm B_x S_0 B_h L_x L_f W_radius lam_P lam_D lam_v"
).split()


def tensor(*values: float) -> Tensor:
    """A float64 vector."""
    return torch.tensor(values, dtype=torch.float64)


def scalar(w: float, u: float, b: float, name: str = "identity", B_x: float = 1.0) -> Constants:
    """The constants of h = ρ(wh + ux + b)."""
    cell = RNN(tensor(w)[None, None], tensor(u)[None, None], tensor(b)[None], activation(name))
    return Constants(cell, tensor(B_x))


def test_dyadic_systems_are_exact() -> None:
    """The constants of a dyadic scalar system come out exactly, so that equality cases stay so."""
    c = scalar(0.75, -2.0, 0.5)
    assert [c[name].item() for name in ("lam", "L_x", "S_0", "B_h")] == [0.75, 2.0, 2.5, 10.0]
    assert c["L_f"].item() == 1.0
    assert scalar(0.3, 1.0, 0.0)["lam"].item() == 0.3


def test_drive_without_bias() -> None:
    """With b = 0 nothing is added to L_x B_x where ρ(0) = 0, and ρ(0) √n where it is not."""
    assert scalar(0.5, 1.0, 0.0, "tanh", B_x=1e-200)["S_0"].item() == 1e-200
    assert scalar(0.5, 0.0, 0.0, "sigmoid")["S_0"].item() == pytest.approx(0.5, rel=1e-14)
    assert scalar(0.5, 0.0, 0.0, "sigmoid")["S_0"].item() >= 0.5


def test_system_at_rest() -> None:
    """A system without drive has bounds of exactly 0."""
    c = scalar(0.5, 1.0, 0.0, "tanh", B_x=0.0)
    assert [c[name].item() for name in ("S_0", "B_h")] == [0.0] * 2


def test_expansive_systems() -> None:
    """Beyond λ = 1 only a bounded activation bounds the states."""
    assert scalar(1.0, 1.0, 0.0)["B_h"].item() == math.inf
    assert scalar(2.0, 1.0, 0.0, "tanh")["B_h"].item() == 1.0


def test_broken_systems_fail_closed() -> None:
    """NaN anywhere makes the bounds that depend on it infinite, never NaN."""
    for broken in (scalar(math.nan, 1, 0), scalar(0.5, math.nan, 0), scalar(0.5, 1, math.nan)):
        assert broken["B_h"].item() == math.inf
        assert not any(math.isnan(broken[name].item()) for name in NAMES)
    assert scalar(math.nan, 1, 0)["lam"].item() == math.inf


def test_weights() -> None:
    """The weights of the weighted norms are those that were certified, made once."""
    W = torch.tensor([[[0.5, 3.0], [0.0, 0.5]]], dtype=torch.float64)
    c = Constants(RNN(W, W, W[:, 0], activation("tanh")), tensor(1.0))
    assert c.P_root.shape == c.D.shape == (1, 2, 2)
    assert c.v.shape == (1, 2)
    assert c.P_root is c.quadratic.weights
    assert c.D is c.diagonal.weights
    assert c["lam_D"].item() == c.diagonal.factor.item() < 1 < c["lam"].item()
    assert c["lam_P"].item() < 1
    assert c["lam_v"].item() < 1
    assert c["lam"] is c["lam"]
