"""Whole runs of torch's own modules in their dtype, against exact ones."""

import math

import pytest
import torch
from draws import normal
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from rnnbounds.impl.arithmetic.entries import Balls, Columns
from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.reading.adapters import load_model

SMALL = {"LSTM": 0.3, "GRU": 0.3, "RNN": 0.3}


def module_of(name, dtype, layers=1, n=6, size=None):
    """A module of torch's with small weights."""
    torch.manual_seed(3)
    module = getattr(torch.nn, name)(2, n, num_layers=layers, batch_first=True)
    with torch.no_grad():
        for part in module.parameters():
            part *= SMALL[name] if size is None else size
    return module.to(dtype)


@pytest.mark.slow
@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize(
    ("name", "dtype"),
    [("LSTM", torch.float32), ("GRU", torch.float16), ("RNN", torch.bfloat16),
     ("LSTM", torch.bfloat16)],
)  # fmt: skip
def test_runs_are_within(name, dtype, layers):
    """Torch's kernels, whichever way round they add up."""
    module = module_of(name, dtype, layers, size=0.2)
    told = certify(module, inputs=1.0)
    assert told.verdict == "certified"
    if math.isinf(told.rounding.state):
        assert (dtype, layers) == (torch.bfloat16, 2)
        assert told.rounding.reason.startswith("layer ")
        return
    x = normal(16, 30, 2, seed=1)
    x = (0.98 * x / x.norm(dim=2, keepdim=True)).to(dtype)
    ran = module(x)[0].detach().double()
    model = load_model(module)
    N = layers * (12 if name == "LSTM" else 6)
    s, worst = torch.zeros(1, N, 16, dtype=torch.float64), 0.0
    for t in range(30):
        s = model.cell.step(s, x[:, t].double().mT[None])
        gap = ran[:, t] - s[0, -6:].mT
        worst = max(worst, float(gap.norm(dim=1).max()))
    assert 0 < worst <= told.rounding.state


@settings(max_examples=10)
@given(
    st.sampled_from(["LSTM", "GRU", "RNN"]), st.integers(1, 3), st.integers(0, 2**32),
    st.sampled_from([torch.float64, torch.float32, torch.bfloat16, torch.float16]),
)  # fmt: skip
def test_a_run_in_a_dtype_against_one_in_balls(name, n, seed, dtype):
    """Ten steps of the cell's own rows from zero are within the bound of the exact ones."""
    torch.manual_seed(seed)
    module = getattr(torch.nn, name)(2, n, batch_first=True)
    with torch.no_grad():
        for part in module.parameters():
            part *= 0.3
    model = load_model(module.to(dtype))
    told, kind = certify(model, inputs=1.0, norm="infinity"), kind_of(model.name)
    x = torch.randn(1, 10, 2)
    x = (0.9 * x / x.norm(dim=2, keepdim=True)).to(dtype)
    s = torch.zeros(1, n * (2 if name == "LSTM" else 1), dtype=dtype)
    with ctx.workprec(200):
        m = Balls({role: part.double() for role, part in model.weights.items()})
        exact = Columns([[arb(0)]] * s.shape[1])
        for driven, row in zip(kind.drive(model.weights, x).unbind(1), x[0].tolist(), strict=True):
            s = kind.step(model.weights, driven, s)
            exact = model.cell.program(m, exact, Columns([[arb(a)] for a in row]))
            pairs = zip(s[0, -n:].tolist(), exact.units[-n:], strict=True)
            square = sum(((arb(a) - b) ** 2 for a, (b,) in pairs), arb(0))
            assert square <= arb(told.rounding.state) ** 2


def test_unknown():
    """Why nothing is known: no contraction, or one that rounding leads out of."""
    told = certify(module_of("GRU", torch.float32, size=3.0), inputs=1.0)
    assert math.isinf(told.rounding.state)
    assert told.rounding.reason == "no norm certifies the model"
    told = certify(module_of("LSTM", torch.bfloat16, n=32), inputs=1.0)
    assert math.isinf(told.rounding.state)
    assert "rounding" in told.rounding.reason


def test_norms_by_diagonal_weights():
    """These contract everywhere; of a box that is infinite nothing is known."""
    draw = torch.Generator().manual_seed(0)
    weights = {
        "W": 0.1 * torch.randn(3, 3, generator=draw),
        "W_in": torch.randn(3, 2, generator=draw),
        "leak": torch.full((3,), 0.5),
    }
    told = certify(weights, inputs=1.0, cell="leaky-identity", norm="diagonal")
    assert told.verdict == "certified"
    assert 0 < told.rounding.state < 1e-3
