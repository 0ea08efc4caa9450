import pytest
import torch
from gated_draws import model

from rnnbounds.impl.cells.table import CELLS, kind_of
from rnnbounds.impl.reading.adapters import load_model

CELLS_OF = ("lstm", "gru", "gru-cho")


@pytest.mark.parametrize("cell", CELLS_OF)
@pytest.mark.parametrize("bound", [0.1, 3.0])
def test_inputs_are_compared(cell, bound):
    """|φ(s, x) − φ(s, x′)| ≤ N|x − x′| for pairs in the box, near each other and far apart."""
    loaded = model(cell)
    comparison = kind_of(cell).analyse(loaded, bound).comparison
    generator = torch.Generator().manual_seed(0)
    N, d = comparison.box.shape[1], loaded.d
    s = 2 * torch.rand(1, N, 400, generator=generator, dtype=torch.float64) - 1
    s = s * comparison.box[:, :, None].clamp(max=50.0)
    x = torch.randn(1, d, 400, generator=generator, dtype=torch.float64)
    x = 0.9 * bound * x / x.norm(dim=1, keepdim=True)
    for far in (-x, x + 1e-3 * bound * x.roll(1, 2)):
        moved = (loaded.cell.step(s, x) - loaded.cell.step(s, far)).abs()
        assert (moved <= comparison.inputs @ (x - far).abs() + 1e-14).all()


@pytest.mark.parametrize("cell", CELLS_OF)
def test_no_larger_than_need_be(cell):
    """Without recurrence, biases and large inputs, half of what is allowed does happen in h."""
    g = CELLS[cell].gates
    U = torch.zeros(g, 2, 1, dtype=torch.float64)
    U[2] = torch.tensor([[1.0], [-3.0]])
    weights = {"weight_ih": U.reshape(2 * g, 1), "weight_hh": torch.zeros(2 * g, 2).double()}
    loaded = load_model(weights, cell)
    comparison = kind_of(cell).analyse(loaded, 1e-3).comparison
    x = torch.full((1, 1, 1), 1e-3, dtype=torch.float64)
    still = torch.zeros(1, comparison.box.shape[1], 1, dtype=torch.float64)
    moved = loaded.cell.step(still, x) - loaded.cell.step(still, -x)
    ratio = moved.abs() / (comparison.inputs @ (2 * x))
    assert (ratio <= 1).all()
    assert (ratio >= 0.999).all()
