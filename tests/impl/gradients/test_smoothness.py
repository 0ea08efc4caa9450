import math

import pytest
import torch
from flint import arb, ctx

from rnnbounds.impl.arithmetic.activation import activation
from rnnbounds.impl.gradients.constants import Constants
from rnnbounds.impl.gradients.loss import LOSSES, loss
from rnnbounds.impl.models.rnn import RNN

N, D = 3, 2


def system(name: str, lam: float = 0.6, seed: int = 0) -> RNN:
    """One random cell with L_ρ‖W‖₂ = lam."""
    draw = torch.Generator().manual_seed(seed)
    W, U, b = (
        torch.randn(1, *shape, dtype=torch.float64, generator=draw)
        for shape in ((N, N), (N, D), (N,))
    )
    rho = activation(name)
    return RNN(lam * W / (torch.linalg.matrix_norm(W, 2) * rho.slope), U, b, rho)


def constants(cell: RNN, trained: str = "WUb", kind: str = "squared") -> Constants:
    """Its constants for inputs of norm 1 and a fixed readout."""
    C = torch.tensor([[[1.0, -2.0, 0.5], [0.0, 1.0, 1.0]]], dtype=torch.float64)
    y = torch.tensor([[0.5, -1.0]], dtype=torch.float64)
    return Constants(
        cell, torch.ones(1, dtype=torch.float64), loss=loss(kind, C, y), trained=trained
    )


def test_dyadic_scalars_are_exact() -> None:
    """All constants of a dyadic scalar system come out exactly."""
    w = torch.tensor([[[0.5]]], dtype=torch.float64)
    cell = RNN(w, 2 * w, 0 * w[0], activation("identity"))
    c = Constants(cell, w[0, 0] * 4, loss=loss("linear", 3 * w), trained="W")
    expected = {
        "S_0": 2.0, "B_h": 4.0, "W_rows": 0.5, "L_w": 4.0, "L_p": 1.5, "beta_p": 0.0,
        "beta_hh": 0.0, "beta_wh": 1.0, "beta_hw": 1.0, "beta_ww": 0.0,
        "G_0": 12.0, "D_1": 6.0, "G_1": 12.0, "beta": 48.0,
    }  # fmt: skip
    assert {name: c[name].item() for name in expected} == expected
    assert c.epsilons(3).tolist() == [[math.inf, 12.0, 9.0, 6.0]]
    squared = Constants(cell, w[0, 0] * 4, loss=loss("squared", 4 * w, 2 * w[0]), trained="Ub")
    assert [squared[name].item() for name in ("L_p", "beta_p", "y_norm", "C_norm_sq")] == [
        2.0 * (2 * 4 + 1), 4.0, 1.0, 2.0,
    ]  # fmt: skip
    assert squared["beta_wh"].item() == 0.0


def test_no_contraction_left() -> None:
    """At λ = 0 the bound of k = 1 is D_1, though G_1 is infinite; at λ = 1 nothing is known."""
    w = torch.zeros(1, 1, 1, dtype=torch.float64)
    one = torch.ones(1, dtype=torch.float64)
    c = Constants(RNN(w, w + 1, w[0], activation("identity")), one, loss=loss("linear", w + 1))
    assert c["G_1"].item() == math.inf
    assert c.epsilons(2).tolist() == [[math.inf, 1.0, 0.0]]
    wide = Constants(RNN(w + 1, w + 1, w[0], activation("sin")), one, loss=loss("linear", w + 1))
    assert [wide[name].item() for name in ("G_0", "D_1", "beta")] == [math.inf] * 3
    assert wide.epsilons(2).tolist() == [[math.inf] * 3]


@pytest.mark.parametrize("kind", LOSSES)
def test_formulas_in_balls(kind: str) -> None:
    """G_0, D_1, β and ε_k are at least the formulas of the constants, and hardly more."""
    c = constants(system("tanh"), kind=kind)
    with ctx.workprec(200):
        names = "lam L_w L_p beta_p B_h beta_hh beta_hw beta_wh beta_ww".split()
        a = {name: arb(c[name].item()) for name in names}
        gap = 1 - a["lam"]
        G_0 = a["L_w"] * (a["L_p"] + a["beta_p"] * a["B_h"]) / gap
        D_1 = a["L_p"] * a["B_h"] * (a["beta_wh"] + a["L_w"] * a["beta_hh"] / gap)
        beta = a["beta_p"] * a["L_w"] * a["L_w"] / gap**2
        beta += a["L_p"] * a["L_w"] / gap**2 * (a["beta_hh"] * a["L_w"] / gap + a["beta_hw"])
        beta += a["L_p"] / gap * (a["beta_wh"] * a["L_w"] / gap + a["beta_ww"])
        eps = a["lam"] ** 5 * G_0 + 5 * a["lam"] ** 4 * D_1
        found = [c["G_0"], c["D_1"], c["beta"], c.epsilons(5)[:, 5], c["G_1"]]
        for value, exact in zip(found, (G_0, D_1, beta, eps, D_1 / a["lam"]), strict=True):
            assert exact <= value.item() <= float(exact) * (1 + 1e-13)


@pytest.mark.parametrize("kind", LOSSES)
def test_broken_systems_fail_closed(kind: str) -> None:
    """NaN in any weight makes the constants that depend on it infinite, and none is NaN."""
    for part in ("W", "U", "b"):
        cell = system("tanh")
        getattr(cell, part)[0, 0] = math.nan
        c = constants(cell, kind=kind)
        named = ("L_w", "D_1", "beta", "C_norm_sq", "y_norm")
        assert not any(math.isnan(c[name].item()) for name in named)
        assert not torch.isnan(c.epsilons(3)).any()
    assert c["beta_hh"].item() < math.inf
    broken = system("tanh")
    broken.W[0, 0] = math.nan
    assert constants(broken)["beta"].item() == math.inf


def test_what_is_not_known() -> None:
    """Without a loss, at a kink, or for another loss the constants are infinite."""
    cell = system("tanh")
    bare = Constants(cell, torch.ones(1, dtype=torch.float64))
    assert all(
        bare[name].item() == math.inf for name in ("L_p", "beta_p", "beta", "y_norm", "C_label")
    )
    assert bare["L_w"].item() < math.inf
    kinked = constants(system("relu"))
    assert all(kinked[name].item() == math.inf for name in ("beta_hh", "beta_wh", "D_1", "beta"))
    assert kinked["G_0"].item() < math.inf
    entropy = constants(cell, kind="cross-entropy")
    assert entropy["C_label"].item() <= entropy["C_spread"].item() < math.inf
    assert entropy["C_norm_sq"].item() == constants(cell)["C_label"].item() == math.inf
