"""Random gated cells, and states of their boxes."""

import pytest
import torch
from torch import Tensor

from rnnbounds.impl.cells.gated import GRU, LSTM
from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.reading.adapters import load_model

Cell = LSTM | GRU


def generator(seed: int) -> torch.Generator:
    """A generator of its own."""
    return torch.Generator().manual_seed(seed)


def lstm(W: Tensor, U: Tensor, b_ih: Tensor, b_hh: Tensor) -> LSTM:
    """The LSTM of these weights."""
    return named("lstm", W, U, b_ih, b_hh)


def gru(W: Tensor, U: Tensor, b_ih: Tensor, b_hh: Tensor) -> GRU:
    """Torch's GRU of these weights."""
    return named("gru", W, U, b_ih, b_hh)


def cho(W: Tensor, U: Tensor, b_ih: Tensor, b_hh: Tensor) -> GRU:
    """Cho's GRU of these weights."""
    return named("gru-cho", W, U, b_ih, b_hh)


def named(kind: str, W: Tensor, U: Tensor, b_ih: Tensor, b_hh: Tensor) -> Cell:
    """The cell of that kind with these weights."""
    parts = {"weight_hh": W, "weight_ih": U, "bias_ih": b_ih, "bias_hh": b_hh}
    return kind_of(kind).build(parts)


MAKES = pytest.mark.parametrize("make", [lstm, gru, cho])


def scalar(make, **parts: float) -> Cell:
    """One unit with one input, its parts by name: W_f, U_z, b_n, c_n, …; the rest is zero."""
    gates = "ifzo" if make is lstm else "rzn"
    W, U, b, c = (
        torch.tensor([[parts.get(f"{kind}_{gate}", 0.0) for gate in gates]], dtype=torch.float64)
        for kind in "WUbc"
    )
    return make(W[:, :, None], U[:, :, None], b, c)


def draw(make, n: int, *, systems: int = 1, d: int = 2, scale: float = 1.0, seed: int = 0) -> Cell:
    """Gaussian weights, the recurrent ones of row sums near `scale`; some with large biases."""
    by, rows = generator(seed), (4 if make is lstm else 3) * n
    shapes = ((rows, n), (rows, d), (rows,), (rows,))
    W, U, b, c = (torch.randn(systems, *s, generator=by, dtype=torch.float64) for s in shapes)
    wide = torch.rand(systems, 1, generator=by, dtype=torch.float64) < 0.3
    return make(scale * W / n, U, torch.where(wide, 4 * b, b), c)


def corners(box: Tensor, count: int, by: torch.Generator) -> Tensor:
    """States in the box, (B, N, count), half of them at its corners."""
    inside = 2 * torch.rand(*box.shape, count, generator=by, dtype=torch.float64) - 1
    at_corner = torch.rand(box.shape[0], 1, count, generator=by, dtype=torch.float64) < 0.5
    return torch.where(at_corner, inside.sign(), inside) * box.clamp(max=1e6)[:, :, None]


def layer(cell: str, n: int = 4, *, scale: float = 0.2, seed: int = 0, bias: bool = True):
    """A torch layer with small recurrent weights, in float64."""
    torch.manual_seed(seed)
    made = (torch.nn.LSTM if cell == "lstm" else torch.nn.GRU)(
        2, n, bias=bias, batch_first=True, dtype=torch.float64
    )
    with torch.no_grad():
        made.weight_hh_l0.mul_(scale)
    return made


def model(cell: str, **options):
    """It, as loaded."""
    return load_model(layer(cell, **options).state_dict(), cell)
