"""What holds of LSTM cells and of both kinds of GRU: the step, the box, and the factors in it."""

import math

import pytest
import torch
from gated_draws import (
    MAKES,
    draw,
    lstm,
    scalar,
)


@MAKES
def test_zero_weights(make):
    """Without weights the state rests at zero, and half of it is kept at each step."""
    found = scalar(make).comparison(1.0)
    assert not found.box.any()
    assert not found.drive.any()
    assert found.norm("infinity").lam == 0.5


@MAKES
@pytest.mark.parametrize("b", [1e300, -1e300, 700.0, -700.0])
def test_saturated_gates(make, b):
    """A gate that copies for ever never certifies; one that is shut, or overwrites, does."""
    parts = {"W_f": 0.1, "W_z": 0.1, "U_z": 1.0, "b_f": b} if make is lstm else (
        {"W_n": 0.3, "U_n": 1.0, "b_z": b}
    )  # fmt: skip
    cell = scalar(make, **parts)
    norm = cell.comparison(1.0).norm("perron")
    assert (norm.lam < 1) == (b < 0)
    assert (norm.window(1e-3) is None) == (b > 0)
    one = torch.ones(1, 2 if make is lstm else 1, 1).double()
    assert math.isfinite(float(cell.step(0 * one, one[:, :1]).sum()))


@MAKES
@pytest.mark.parametrize("size", [1e10, 1e300])
def test_huge_weights(make, size):
    """Weights beyond all measure are not certified, and nothing becomes NaN."""
    found = draw(make, 3, scale=size).comparison(1.0)
    for name in ("spectral", "infinity", "perron", *(["comparison"] if make is lstm else [])):
        norm = found.norm(name)
        assert norm.lam >= 1
        assert norm.window(1.0) is None
        assert not math.isnan(norm.lam + norm.drive + norm.equivalence)
