"""Constants of vanilla systems: by hand, in balls, and against finite differences."""

import math

import pytest
import torch
from draws import doubles
from flint import arb, ctx
from torch import Tensor

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS, activation
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.gradients.constants import Constants
from rnnbounds.impl.gradients.loss import LOSSES, loss
from rnnbounds.impl.models.rnn import RNN

NAMES = (
    "lam L_rho beta_rho M_rho W_norm U_norm B_x S_0 B_h L_x L_f W_radius lam_P lam_D lam_v"
).split()


def scalar(w: float, u: float, b: float, name: str = "identity", B_x: float = 1.0) -> Constants:
    """The constants of h = ρ(wh + ux + b)."""
    cell = RNN(doubles([[[w]]]), doubles([[[u]]]), doubles([[b]]), activation(name))
    return Constants(cell, doubles([B_x]))


EXACT = [  # w, u, b of a scalar system, its activation and B_x, and constants
    ((0.75, -2.0, 0.5), {"lam": 0.75, "L_x": 2.0, "S_0": 2.5, "B_h": 10.0, "L_f": 1.0}),
    ((0.3, 1.0, 0.0), {"lam": 0.3}),
    ((0.5, 1.0, 0.0, "tanh", 1e-200), {"S_0": 1e-200}),  # nothing is added without a bias
    ((0.5, 1.0, 0.0, "tanh", 0.0), {"S_0": 0.0, "B_h": 0.0}),
    ((1.0, 1.0, 0.0), {"B_h": math.inf}),  # beyond λ = 1 a bounded activation alone bounds states
    ((2.0, 1.0, 0.0, "tanh"), {"B_h": 1.0}),
]


@pytest.mark.parametrize(("system", "expected"), EXACT)
def test_scalar_systems_are_exact(system, expected) -> None:
    """Constants of dyadic systems come out exactly, so that equality cases stay so."""
    c = scalar(*system)
    assert {name: c[name].item() for name in expected} == expected


def test_drive_of_a_sigmoid() -> None:
    """ρ(0) √n without inputs and bias."""
    assert 0.5 <= scalar(0.5, 0.0, 0.0, "sigmoid")["S_0"].item() <= 0.5 * (1 + 1e-14)


def test_broken_systems_fail_closed() -> None:
    """NaN anywhere makes the bounds that depend on it infinite, never NaN."""
    for broken in (scalar(math.nan, 1, 0), scalar(0.5, math.nan, 0), scalar(0.5, 1, math.nan)):
        assert broken["B_h"].item() == math.inf
        assert not any(math.isnan(broken[name].item()) for name in NAMES)
    assert scalar(math.nan, 1, 0)["lam"].item() == math.inf


def test_weights() -> None:
    """The weights of the weighted norms are those that were certified, made once."""
    W = torch.tensor([[[0.5, 3.0], [0.0, 0.5]]], dtype=torch.float64)
    c = Constants(RNN(W, W, W[:, 0], activation("tanh")), doubles([1.0]))
    assert c.P_root.shape == c.D.shape == (1, 2, 2)
    assert c.v.shape == (1, 2)
    assert c.P_root is c.quadratic.weights
    assert c.D is c.diagonal.weights
    assert c["lam_D"].item() == c.diagonal.factor.item() < 1 < c["lam"].item()
    assert c["lam_P"].item() < 1
    assert c["lam_v"].item() < 1
    assert c["lam"] is c["lam"]


def system(name: str, lam: float = 0.6, seed: int = 0) -> RNN:
    """One random cell with L_ρ‖W‖₂ = lam."""
    draw = torch.Generator().manual_seed(seed)
    W, U, b = (
        torch.randn(1, *shape, dtype=torch.float64, generator=draw)
        for shape in ((3, 3), (3, 2), (3,))
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
def test_broken_smoothness_fails_closed(kind: str) -> None:
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
