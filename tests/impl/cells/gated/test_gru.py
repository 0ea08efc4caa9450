import pytest
import torch
from gated_draws import (
    cho,
    draw,
    gru,
    scalar,
)

from rnnbounds.impl.cells.analysis import ProgramAnalysis
from rnnbounds.impl.cells.gated.gru import GRU
from rnnbounds.impl.norms.weighted import perron_vector
from rnnbounds.impl.reading.adapters import load_model

BOTH = pytest.mark.parametrize("make", [gru, cho])


def slope(cell: GRU, h: float, x: float) -> float:
    """|dh⁺/dh| of a scalar system."""
    state = torch.tensor([[[h]]], dtype=torch.float64, requires_grad=True)
    cell.step(state, torch.tensor([[[x]]], dtype=torch.float64)).sum().backward()
    return abs(float(state.grad))


def published(cell: GRU, B: float) -> float:
    """The coarse factor on [−1, 1]ⁿ: gates and norms at their largest."""
    n, size = cell.n, cell.W[0].abs()
    rows = size.sum(1) + cell.U[0].norm(dim=1) * B
    b = (cell.b_ih + cell.b_hh)[0]
    r_bar = float(torch.sigmoid(rows + b)[:n].max())
    z_bar = float(torch.sigmoid(rows + b)[n : 2 * n].max())
    z_low = float(torch.sigmoid(b - rows)[n : 2 * n].min())
    W_r, W_z, W_n = (float(part.sum(1).max()) for part in size.chunk(3))
    c_n = float(cell.b_hh[0, 2 * n :].abs().max())
    kappa = W_n * (r_bar + W_r / 4) if cell.cho else r_bar * W_n + W_r / 4 * (W_n + c_n)
    return max(z + (1 - z) * kappa for z in (z_low, z_bar)) + W_z / 2


@pytest.mark.slow
@BOTH
def test_better_than_the_coarse_bound(make):
    """Row sums unit by unit are at most the coarse formula, and Perron's factor at most those."""
    worse = 0
    for seed in range(24):
        cell = draw(make, 3, scale=0.7, seed=seed)
        found = cell.comparison(1.0)
        infinity, perron = (
            float(found.factor(getattr(found, name)())) for name in ("infinity", "perron")
        )
        assert infinity <= published(cell, 1.0) * (1 + 1e-12)
        assert perron <= infinity
        entrywise = perron_vector(found.matrices.amax(1)).factor
        worse += float(entrywise) > infinity
    assert worse > 0  # taking the largest entries instead of rows can lose to the plain norm


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
