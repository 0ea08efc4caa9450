import pytest
import torch
from gated_draws import (
    cho,
    gru,
    scalar,
)

from rnnbounds.impl.cells.analysis import ProgramAnalysis
from rnnbounds.impl.cells.gated import GRU
from rnnbounds.impl.reading.adapters import load_model

BOTH = pytest.mark.parametrize("make", [gru, cho])


def slope(cell: GRU, h: float, x: float) -> float:
    """|dh⁺/dh| of a scalar system."""
    state = torch.tensor([[[h]]], dtype=torch.float64, requires_grad=True)
    cell.step(state, torch.tensor([[[x]]], dtype=torch.float64)).sum().backward()
    return abs(float(state.grad))


@BOTH
def test_attained(make):
    """W_z = W_r = 0, r → 1, h = 0: the factor is the slope, z + (1 − z) W_n."""
    cell = scalar(make, W_n=0.5, b_r=40.0)
    found = cell.comparison(0.0).norm("infinity")
    assert found.lam == pytest.approx(0.75, abs=1e-12)
    assert slope(cell, 0.0, 0.0) == pytest.approx(found.lam, abs=1e-12)


@pytest.mark.parametrize("cell", ["gru", "gru-cho"])
def test_constants(cell):
    """What the certificate names bounds what a run of the cell does."""
    torch.manual_seed(1)
    model = load_model(torch.nn.GRU(2, 4).state_dict(), cell)
    told = model.cell.constants(model.cell.box(1.0), 1.0)
    assert 0 < told["z_low"] < told["z_bar"] < 1
    assert told["nu_bar"] <= told["h_bar"] * (1 + 1e-12)
    norm = ProgramAnalysis.of(model, 1.0).norm("infinity")
    assert norm.lam <= max(z + (1 - z) * told["kappa"] for z in (told["z_low"], told["z_bar"])) + (
        0.25 * (told["h_bar"] + told["nu_bar"]) * told["W_z_norm"] + 1e-12
    )
