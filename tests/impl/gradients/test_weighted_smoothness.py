import math

import pytest
import torch
from draws import normal

from rnnbounds.impl.arithmetic.activation import activation
from rnnbounds.impl.gradients.constants import Constants
from rnnbounds.impl.gradients.loss import loss
from rnnbounds.impl.models.rnn import RNN

N, D = 3, 2


def system(name: str) -> RNN:
    """A cell that contracts in the weighted norms though ‖W‖₂ > 1."""
    skew = torch.tensor([1.0, 20.0, 0.1], dtype=torch.float64)
    W = skew[:, None] * normal(N, N) / skew / (5 * activation(name).slope)
    return RNN(W[None], normal(1, N, D, seed=1), normal(1, N, seed=2) / 2, activation(name))


def constants(cell: RNN, trained: str, kind: str = "squared", bias: float = 1.0) -> Constants:
    """Its constants for inputs of norm 1 and a random readout."""
    cell = RNN(cell.W, cell.U, bias * cell.b, cell.activation)
    p = loss(kind, normal(1, 3, N, seed=3), normal(1, 3, seed=4))
    return Constants(cell, torch.ones(1, dtype=torch.float64), loss=p, trained=trained)


def test_what_is_not_known() -> None:
    """Non-linear systems have no quadratic norm, expansive ones no bounds, and none is NaN."""
    named = ("S_0_P", "B_h_P", "L_w_P", "beta_wh_P", "L_p_P", "beta_p_P")
    c = constants(system("tanh"), "WUb")
    assert all(c[name].item() == math.inf for name in named)
    wide = system("identity")
    wide = constants(RNN(100 * wide.W, wide.U, wide.b, wide.activation), "WUb")
    assert all(wide[name].item() == math.inf for name in ("B_h_P", "B_h_v", "L_w_P", "L_w_v"))
    assert wide["L_p_v"].item() == math.inf
    bounded = system("tanh")
    bounded = constants(RNN(100 * bounded.W, bounded.U, bounded.b, bounded.activation), "WUb")
    assert bounded["B_h_v"].item() == pytest.approx(1 / bounded.v.min().item())
    assert constants(system("relu"), "W")["beta_wh_v"].item() == math.inf
    for part in ("W", "U", "b"):
        broken = system("identity")
        getattr(broken, part)[0, 0] = math.nan
        c = constants(broken, "WUb")
        both = (*named, "S_0_v", "B_h_v", "L_w_v", "beta_wh_v", "beta_ww_v", "L_p_v", "beta_p_v")
        assert not any(math.isnan(c[name].item()) for name in both)
        assert c["L_w_v"].item() == c["L_w_P"].item() == math.inf
