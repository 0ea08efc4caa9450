"""``certify``, ``truncate`` and the assertions on LSTM and GRU models as people have them."""

import math
from fractions import Fraction
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

import rnnbounds
from rnnbounds.impl.errors import factor

CELLS = pytest.mark.parametrize("cell", ["lstm", "gru", "gru-cho"])


@pytest.fixture
def gated(tmp_path: Path):
    """Write torch's layer with small recurrent weights: gated("lstm") -> its path."""

    def write(cell: str, scale: float = 0.2, *, kind: str = "safetensors", **options) -> Path:
        torch.manual_seed(0)
        net = (torch.nn.LSTM if cell == "lstm" else torch.nn.GRU)(2, 4, **options)
        with torch.no_grad():
            net.weight_hh_l0.mul_(scale)
        path = tmp_path / f"{cell}.{kind}"
        if kind == "safetensors":
            save_file(net.state_dict(), path)
        else:
            torch.save(net.state_dict(), path)
        return path

    return write


@pytest.mark.slow
@CELLS
def test_assertions(gated, cell):
    """A user's own tests: contractive, remembers, truncates; large weights are told what to do."""
    model = str(gated(cell))
    certificate = rnnbounds.assert_contractive(model, 1.0, cell=cell)
    k = certificate.window(1e-2)
    rnnbounds.assert_remembers(model, at_most=k, eps=1e-2, input_bound=1.0, cell=cell)
    x = torch.randn(3, 40, 2, generator=torch.Generator().manual_seed(0)).sign() / 2
    rnnbounds.assert_truncation(model, x, eps=1e-2, cell=cell)
    with pytest.raises(AssertionError, match="shrink its recurrent weights"):
        rnnbounds.assert_contractive(str(gated(cell, 1.0)), 1.0, cell=cell)


def test_a_factor_near_one_is_shown_as_it_is(call, tmp_path):
    """What is printed is never below the certified factor, nor 1 where that is below 1."""
    b = torch.tensor([0.0, 25.0, 0.0, 0.0], dtype=torch.float64)
    weights = {"weight_hh": torch.zeros(4, 1).double(), "weight_ih": torch.zeros(4, 1).double()}
    save_file(weights | {"bias_ih": b}, tmp_path / "slow.safetensors")
    outcome = call("certify", tmp_path / "slow.safetensors", "--input-bound", 1)
    assert "λ = 0.9999999999862 < 1" in outcome.out
    for value in (0.0, 0.1, 0.75, 1 / 3, 1 - 2.0**-53, 1 - 1e-12, 1.0, 1 + 2.0**-52, 1e300):
        assert Fraction(factor(value)) >= Fraction(value)
        assert (float(factor(value)) < 1) == (value < 1)
    assert factor(math.inf) == "∞"
