"""Bounds over at most T steps: no run is beyond them, and why λ is infinite is said."""

import math

import pytest
import torch

import rnnbounds
from rnnbounds.impl.cells.table import CELLS
from rnnbounds.impl.errors import RangeError
from rnnbounds.impl.memory.runs import Runner
from rnnbounds.impl.memory.tube.horizon import horizon
from rnnbounds.impl.reading.adapters import load_model
from rnnbounds.properties.systems.certified.near import NearData
from rnnbounds.properties.systems.certified.near_batch import near_model
from rnnbounds.properties.systems.certified.specs import COMMON

B, T = 0.5, 12
SLACK = 1 + 1e-12  # of float64 runs


def keeping(cell: str = "lstm", bias: float = 900.0) -> torch.nn.Module:
    """A module whose unit 2 may keep all of itself."""
    torch.manual_seed(0)
    module = {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU}[cell](2, 3)
    with torch.no_grad():
        module.bias_ih_l0[4] = bias
    return module


def worst(runner: Runner, x: torch.Tensor, climbs: int = 4) -> tuple[torch.Tensor, float]:
    """The largest |s_t,i| and ‖h_t‖₂ of runs on inputs of norm B: as given, and after ascent."""
    most, output = torch.zeros(runner.states, dtype=torch.float64), 0.0
    for _ in range(climbs):
        x = (x / x.norm(dim=2, keepdim=True).clamp(min=1e-300) * B).requires_grad_()
        s, total = runner.zero(len(x)), 0.0
        for t in range(x.shape[1]):
            s = runner.step(s, x[None, :, t])
            most = torch.maximum(most, s[0].detach().abs().amax(0))
            output = max(output, float(s[0, :, -runner.n :].detach().norm(dim=1).max()))
            total = total + s.square().sum()
        (gradient,) = torch.autograd.grad(total, x)
        x = (x + gradient).detach()
    return most, output


@pytest.mark.parametrize("cell", sorted({*COMMON} & {*CELLS}))
def test_no_run_is_beyond(cell: str) -> None:
    """At any time up to T, whether the cell contracts or not."""
    spec = NearData(
        cell=cell, T=2, K=2, regime="gaussian", inputs="gaussian", n=2, lam=1.5, scale=1.0,
        bias=0.5, seed=7, distance=0.0,
    )  # fmt: skip
    model = near_model(spec, 0)
    runner = Runner.of(model)
    rng = torch.Generator().manual_seed(1)
    x = torch.randn(24, T, model.d, generator=rng, dtype=torch.float64)
    x[:4] = x[:4, :1]  # that stand still
    most, output = worst(runner, x)
    found = horizon(model, B, T)
    assert (most <= torch.tensor(found.states, dtype=torch.float64) * SLACK).all()
    assert output <= found.output * SLACK
    assert horizon(model, B, T + 1).output >= found.output


@pytest.mark.parametrize("cell", ["lstm", "gru"])
def test_gates_that_reach_one(cell: str) -> None:
    """A unit that forgets nothing grows: not beyond T ī z̄, and to a third of what is stated."""
    module = keeping(cell)
    model = load_model(module)
    found = horizon(model, B, T)
    most, output = worst(Runner.of(model), torch.ones(8, T, 2, dtype=torch.float64))
    assert (most <= torch.tensor(found.states, dtype=torch.float64) * SLACK).all()
    assert output <= found.output * SLACK
    if cell == "lstm":
        assert T / 12 < found.states[1] <= T
        assert float(most[1]) >= found.states[1] / 3
        assert horizon(model, B, 2 * T).states[1] > 1.5 * found.states[1]
        assert max(found.states[0], found.states[2]) < 3
        assert "|s_2| ≤ " in found.line()


def test_a_linear_unit_meets_it() -> None:
    """h⁺ = h + x reaches T B, and no more."""
    weights = {"weight_hh_l0": torch.ones(1, 1), "weight_ih_l0": torch.ones(1, 1)}
    found = horizon(load_model(weights, "linear"), B, T)
    assert found.states == (pytest.approx(T * B, rel=1e-12),)
    assert found.states[0] >= T * B
    huge = {"weight_hh_l0": torch.full((1, 1), 1e30), "weight_ih_l0": torch.ones(1, 1)}
    beyond = horizon(load_model(huge, "linear"), B, 100)
    assert math.isinf(beyond.output)
    assert "no bound" in beyond.line()
    assert beyond.to_json() == {"steps": 100, "states": [None], "output": None}


@pytest.mark.parametrize("steps", [0, -1, 1.5, True, 10**9])
def test_no_number_of_steps(steps: object) -> None:
    """A whole number, of steps that are done one by one."""
    with pytest.raises(RangeError, match="the horizon"):
        horizon(load_model(keeping()), B, steps)  # type: ignore[arg-type]


def test_why_no_factor_is_known() -> None:
    """The unit that keeps itself, in its layer; a norm that was not found; never without a word."""
    one = rnnbounds.certify(keeping(), B)
    assert math.isinf(one.lam)
    reasons = {row["norm"]: row.get("reason") for row in one.to_json()["norms_tried"]}
    assert all("unit 2 may keep all of itself" in str(text) for text in reasons.values())
    torch.manual_seed(0)
    two = torch.nn.LSTM(2, 3, num_layers=2)
    with torch.no_grad():
        two.bias_ih_l1[5] = 900.0
    rows = rnnbounds.certify(two, B).to_json()["norms_tried"]
    assert all(
        ("in layer 2 1 of the 6" in row.get("reason", "")) == (row["lambda"] is None)
        for row in rows
        if not row.get("skipped")
    )
    linear = {"weight_hh_l0": 1.5 * torch.eye(2), "weight_ih_l0": torch.ones(2, 1)}
    rows = rnnbounds.certify(linear, B, cell="linear").to_json()["norms_tried"]
    told = {row["norm"]: row["reason"] for row in rows if "reason" in row}
    assert [*told] == ["quadratic"]
    assert "found no such norm" in told["quadratic"]
    certified = rnnbounds.certify(keeping(bias=1.0), B).to_json()
    assert not any("reason" in row for row in certified["norms_tried"])
