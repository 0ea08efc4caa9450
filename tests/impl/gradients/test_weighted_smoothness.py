import itertools
import math

import pytest
import torch
from draws import normal
from gradient_oracle import derivatives

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS, activation
from rnnbounds.impl.gradients.constants import Constants
from rnnbounds.impl.gradients.loss import loss
from rnnbounds.impl.gradients.windows.rollout import states
from rnnbounds.impl.models.rnn import RNN

HAIR = 1 + 1e-11
SMOOTH = [name for name, rho in ACTIVATIONS.items() if rho.curvature < math.inf]
N, D = 3, 2
SUBSETS = ("W", "U", "Wb", "WUb")


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


@pytest.mark.slow
@pytest.mark.parametrize("name", SMOOTH)
@pytest.mark.parametrize("trained", SUBSETS)
def test_weighted_maximum(name: str, trained: str) -> None:
    """Norms of the derivatives in max |h_i|/v_i, maximised over all signs, stay below."""
    cell = system(name)
    c = constants(cell, trained)
    assert c["lam_v"].item() < 1 < c["W_norm"].item() * cell.activation.slope
    v = c.v[0]
    signs = torch.tensor(list(itertools.product((-1.0, 1.0), repeat=N)), dtype=torch.float64) * v
    bounds = {key: c[f"{key}_v"].item() * HAIR for key in ("L_w", "beta_hh", "beta_wh", "beta_ww")}
    for seed in range(6):
        h = min(c["B_h_v"].item(), 50.0) * signs[seed]
        h = h if h.norm() <= c["B_h"] else h / h.norm() * c["B_h"]
        x = normal(D, seed=seed)
        first, hh, hw, _, ww = derivatives(c.cell, trained, h, x / x.norm()).values()
        assert (first.norm(dim=1) / v).max() <= bounds["L_w"]
        states_form = torch.einsum("iab,ka,lb->ikl", hh, signs, signs).abs() / v[:, None, None]
        assert states_form.max() <= bounds["beta_hh"]
        mixed = torch.einsum("iaw,ka->ikw", hw, signs).norm(dim=2) / v[:, None]
        assert mixed.max() <= bounds["beta_wh"]
        assert (torch.linalg.matrix_norm(ww, 2) / v).max() <= bounds["beta_ww"]


@pytest.mark.parametrize("trained", SUBSETS)
@pytest.mark.parametrize("bias", [0.0, 1.0])
def test_quadratic(trained: str, bias: float) -> None:
    """The same for ‖Q h‖₂ of a linear system, whose step is bilinear."""
    cell = system("identity")
    c = constants(cell, trained, bias=bias)
    assert c["lam_P"].item() < 1 < c["lam"].item()
    Q = c.P_root[0]
    inverse = torch.linalg.inv(Q)
    for seed in range(6):
        h, x = normal(N, seed=seed), normal(D, seed=seed + 9)
        h = c["B_h_P"].item() * inverse @ (h / h.norm())
        first, _, hw, _, ww = derivatives(c.cell, trained, h, x / x.norm()).values()
        assert torch.linalg.matrix_norm(Q @ first, 2) <= c["L_w_P"].item() * HAIR
        form = torch.einsum("ij,jaw,ab->ibw", Q, hw, inverse)
        for direction in torch.eye(N, dtype=torch.float64):
            matrix = torch.einsum("ibw,b->iw", form, direction)
            assert torch.linalg.matrix_norm(matrix, 2) <= c["beta_wh_P"].item() * HAIR
        assert (ww == 0).all()
    single = torch.einsum("ij,j->i", Q, c.cell.U[0] @ (x / x.norm()) + c.cell.b[0])
    assert single.norm() <= c["S_0_P"].item() * HAIR


@pytest.mark.parametrize("name", SMOOTH)
def test_states(name: str) -> None:
    """States and first steps stay below the bounds of their own norm."""
    cell = system(name)
    c = constants(cell, "W")
    x = torch.nn.functional.normalize(normal(1, 80, D, 20, seed=7), dim=2)
    path = states(cell, x)[0]
    sizes = (path.abs() / c.v[0, :, None]).amax(1)
    assert sizes.max() <= c["B_h_v"].item() * HAIR
    assert sizes[1].max() <= c["S_0_v"].item() * HAIR
    if name == "identity":
        sizes = (c.P_root[0] @ path).norm(dim=1)
        assert sizes.max() <= c["B_h_P"].item() * HAIR
        assert sizes[1].max() <= c["S_0_P"].item() * HAIR


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
