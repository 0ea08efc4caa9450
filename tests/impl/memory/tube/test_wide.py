"""Wide balls of starts: sets of higher order hold all runs, and are no wider than plain ones."""

from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS
from rnnbounds.impl.memory.runs import Runner
from rnnbounds.impl.memory.tube.chords import curve
from rnnbounds.impl.memory.tube.ends import Ends
from rnnbounds.impl.memory.tube.polynomials import Polynomial, fitted
from rnnbounds.impl.memory.tube.runs import Around
from rnnbounds.impl.memory.tube.wide import Wide, from_ball
from rnnbounds.impl.reading.adapters import load_model
from rnnbounds.properties.systems.certified.near import NearData
from rnnbounds.properties.systems.certified.near_batch import near_model, recorded_inputs
from rnnbounds.properties.systems.certified.specs import COMMON, RARE_STACKS

SLACK = 1e-11  # of float64 runs
T, DELTA = 6, 2.0**-5


def wide(cell: str, start: float) -> Wide:
    """Around a recorded sequence of a model of that kind."""
    layers = 2 if cell.startswith(("stacked", "deep")) else 1
    spec = NearData(
        cell=cell, T=T, K=T, regime="gaussian", inputs="gaussian", layers=layers, distance=DELTA,
        n=2, lam=1.5, scale=1.0, bias=0.5, seed=7,
    )  # fmt: skip
    runner, x = Runner.of(near_model(spec, 0)), recorded_inputs(spec, 0)[None]
    return Wide(runner, x, DELTA, start, plain=Around(runner, x, DELTA, start))


@pytest.mark.slow
@pytest.mark.parametrize("cell", [*COMMON, *RARE_STACKS, "rnn-softplus", "rnn-erf"])
@pytest.mark.parametrize("start", [0.5, 2.0])
def test_no_run_leaves(cell: str, start: float) -> None:
    """Of any starts and inputs of the sets; nor are two runs further apart than the gap says."""
    around = wide(cell, start)
    rng, N, n = torch.Generator().manual_seed(3), around.runner.states, around.runner.n
    draws = torch.rand(24, N + T * around.x.shape[2], generator=rng, dtype=torch.float64) * 2 - 1
    draws[:12] = draws[:12].sign()
    starts = start * draws[:, :N]
    x = around.x + DELTA * draws[:, N:].reshape(24, T, -1)
    s, runs = starts, [starts]
    for t in range(T):
        s = around.runner.step(s[None], x[None, :, t])[0]
        runs.append(s)
        stage = around.stages[t + 1]
        assert ((s - stage.s[0]).abs() <= stage.reach + SLACK).all()
    for k in (0, 1, 3, T):
        late = starts.roll(1, 0)
        for t in range(T - k, T):
            late = around.runner.step(late[None], x[None, :, t])[0]
        gaps = (s - late)[:, -n:].norm(dim=1)
        assert (gaps <= around.gaps(k) + SLACK).all()
    assert (around.gaps(1, 3) <= around.plain.gaps(1, 3)).all()
    assert (around.widths <= around.plain.widths).all()


@given(
    st.sampled_from([*ACTIVATIONS, "exp", "sin", "cos", "sqrt"]),
    st.floats(-4, 4), st.floats(0, 4), st.floats(-1, 1), st.integers(2, 5),
)  # fmt: skip
@settings(deadline=None)
def test_a_fit_is_as_near_as_it_says(name: str, c: float, r: float, share: float, p: int) -> None:
    """At any point of the interval, of every function and degree."""
    f, at = curve(name), torch.tensor([[c]], dtype=torch.float64)
    form = Polynomial.ball(torch.full_like(at, r), p) if r else Polynomial.ball(at * 0 + 1, p)
    form = replace(form, centre=at, ends=Ends(at - r, at + r))
    g, off = fitted(f, form)
    z = share * r
    value = float(f.function(torch.tensor(c + z, dtype=torch.float64)))
    near = sum(float(coefficient) * z**i for i, coefficient in enumerate(g))
    assert abs(value - near) <= float(off) * (1 + 1e-9) + 1e-12 * (1 + abs(value))
    image = f.image(form.ends)
    assert float(image.low) - 1e-12 <= value <= float(image.high) + 1e-12


@pytest.mark.parametrize(
    ("name", "c", "r", "p"),
    [("sin", 2.389, 5.37, 4), ("sin", 5.42, 5.768, 4), ("cos", 0.78, 6.65, 5)],
)
def test_a_fit_bends_between_its_points(name: str, c: float, r: float, p: int) -> None:
    """Over several waves, where the fit bends the other way: at all points between."""
    f, at = curve(name), torch.tensor([[c]], dtype=torch.float64)
    form = replace(Polynomial.ball(torch.full_like(at, r), p), centre=at, ends=Ends(at - r, at + r))
    g, off = fitted(f, form)
    z = torch.linspace(-r, r, 4097, dtype=torch.float64)
    left = f.function(c + z) - sum(float(part) * z**i for i, part in enumerate(g))
    assert float(left.abs().amax()) <= float(off)


@pytest.mark.parametrize("p", [2, 3, 4, 5])
def test_terms_beyond_the_degree_are_in_the_rest(p: int) -> None:
    """α^(p + 1) has none up to p; powers up to p have no rest but of rounding."""
    unit = power = Polynomial.ball(torch.ones(1, 2, dtype=torch.float64), p)
    for _ in range(p - 1):
        power = power * unit
    assert (power.rest.reach < 1e-9).all()
    assert (power.swing >= 1).all()
    power = power * unit
    assert (power.swing + power.rest.reach >= 1).all()


def test_wider_balls_are_certified() -> None:
    """A GRU that contracts on its data: the plain tube grows to its box, this one shrinks."""
    torch.manual_seed(0)
    module = torch.nn.GRU(1, 12)
    with torch.no_grad():
        module.weight_hh_l0 *= 2.2
    runner = Runner.of(load_model(module))
    x = torch.randn(1, 24, 1, dtype=torch.float64) / 2
    plain = Around(runner, x, 0.0, 0.06)
    found = from_ball(plain)
    assert float(plain.gaps(23)) > 1
    assert float(found.gaps(23)) < 0.1
    assert from_ball(Around(runner, x, 0.0, 0.0)).__class__ is Around
