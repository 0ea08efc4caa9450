"""Measures that are a function of the run: all readings are of one number."""

import numpy as np
import pytest
from flint import arb, ctx, fmpq

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS
from rnnbounds.properties.attacks.extremal import extremal_specs
from rnnbounds.properties.measures.measure import Measure
from rnnbounds.properties.measures.runs.of_run import of_run
from rnnbounds.properties.measures.table import MEASURES
from rnnbounds.properties.systems.batch import Batch, build
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.table import FAMILIES, system

PRECISION = 256


def again(run, k):
    """h_{T+1} − h_T under the constant input x_1."""
    held = run.under([run.x[0]] * (run.T + 1))
    return held.h[-1] - held.h[-2]


SAME = {
    "h_norm": of_run("h_norm", lambda run, k: run.h[-1]),
    "h_start": of_run("h_start", lambda run, k: run.h[run.T - k]),
    "h_gap": of_run("h_gap", lambda run, k: run.h[-1] - run.last(k).h[-1]),
    "y_gap": of_run("y_gap", lambda run, k: run.read(run.h[-1] - run.last(k).h[-1])),
}
AGAIN = of_run("h_norm", again)


def spec_of(i: int, activation: str) -> SystemSpec:
    """Another regime, size and scale for every i."""
    return system(
        activation=activation, regime=("gaussian", "orthogonal", "nilpotent")[i % 3],
        inputs="gaussian", n=1 + i % 3, d=1 + i % 2, T=4, K=3, bias=(0.0, 0.5)[i % 2],
        lam=(0.9, 0.5, 1.5)[i % 3] / ACTIVATIONS[activation].slope,
        scale=(1.0, 2.0**-40, 30.0)[i % 3], seed=i, batch=2, sequences=2,
    )  # fmt: skip


def meets(low: float, high: float, ball: arb) -> bool:
    """Whether a ball meets [low, high]."""
    return not (bool(arb(float(low)) > ball) or bool(arb(float(high)) < ball))


def check(measure: Measure, batch: Batch) -> None:
    """Each enclosure holds the ball, each ball the root of the square; the value is as near."""
    found, value = measure.enclose(batch), measure.value(batch).numpy()
    assert found.lo.shape == found.hi.shape == value.shape
    for i, s, k in np.ndindex(value.shape):
        pair = batch.pair(i, s)
        ball, square = measure.ball(pair, k, PRECISION), measure.square(pair, k)
        assert ball.is_finite()
        assert meets(found.lo[i, s, k], found.hi[i, s, k], ball), (measure.name, i, s, k)
        assert square is None or ball.overlaps(arb(square).sqrt())
    width = found.hi - found.lo
    assert ((found.lo - width <= value) & (value <= found.hi + width)).all()


@pytest.mark.parametrize("activation", sorted(ACTIVATIONS))
@pytest.mark.parametrize("name", [*SAME, "again"])
def test_readings_agree(name: str, activation: str) -> None:
    """In floats, balls and, where the activation keeps to them, rationals."""
    i = sorted(ACTIVATIONS).index(activation)
    measure, batch = SAME.get(name, AGAIN), build(spec_of(i, activation))
    with ctx.workprec(PRECISION):
        check(measure, batch)
        rational = ACTIVATIONS[activation].exact is not None
        assert (measure.square(batch.pair(1, 1), 1) is not None) is rational


@pytest.mark.parametrize("kind", FAMILIES["cell"].members)
def test_readings_of_cells(kind: str) -> None:
    """The program of the cell is run, and what it shows is read."""
    spec = next(spec for spec in extremal_specs("cell") if spec.kind == kind).alone(0, 0)
    batch = build(spec)
    with ctx.workprec(PRECISION):
        for measure in (SAME["h_gap"], AGAIN):
            found, ball = measure.enclose(batch), measure.ball(batch, 0, PRECISION)
            assert meets(found.lo[0, 0, 0], found.hi[0, 0, 0], ball)
            assert np.isfinite(found.hi).all()


@pytest.mark.parametrize("name", SAME)
@pytest.mark.parametrize("activation", ["tanh", "relu"])
def test_the_same_as_a_measure_written_out(name: str, activation: str) -> None:
    """The enclosures meet, and the exact squares are equal."""
    batch = build(spec_of(1, activation))
    one, other = (measure.enclose(batch) for measure in (SAME[name], MEASURES[name]))
    assert ((one.lo <= other.hi) & (other.lo <= one.hi)).all()
    pair = batch.pair(0, 0)
    exact = [m.exact_square(pair, 2, PRECISION) for m in (SAME[name], MEASURES[name])]
    assert exact[0] == exact[1]
    assert (exact[0] is None) is (activation == "tanh")


def test_a_linear_system_is_decided_in_rationals() -> None:
    """Under a constant input h_{T+1} − h_T = λ^T U x exactly."""
    spec = system("linear", regime="diagonal", inputs="constant", lam=0.75, T=5)
    pair = build(spec)
    W, U, x = (
        fmpq(*number.as_integer_ratio())
        for number in (pair.cell.W.item(), pair.cell.U.item(), pair.x[0, 0, 0, 0].item())
    )
    assert AGAIN.square(pair, 0) == (W**5 * U * x) ** 2


@pytest.mark.parametrize("first", ["of run", "of gradients"])
def test_a_pair_keeps_runs_of_each_sort(first: str) -> None:
    """Gradients are read off runs of their own, of the same pair, in any order."""
    spec = next(s for s in extremal_specs("gradient") if s.activation == "identity")
    pair = build(spec.alone(0, 0))
    measures = [SAME["h_gap"], MEASURES["grad_gap"]]
    with ctx.workprec(PRECISION):
        for measure in measures if first == "of run" else reversed(measures):
            ball, square = measure.ball(pair, 1, PRECISION), measure.square(pair, 1)
            assert square is not None
            assert ball.overlaps(arb(square).sqrt())


@pytest.mark.parametrize("kind", ["urnn", "tcn"])
def test_other_systems_have_no_reading(kind: str) -> None:
    """What is decided in rationals, or is not recurrent, is another thing than its float image."""
    batch = build(next(iter(extremal_specs(kind))).alone(0, 0))
    assert np.isnan(AGAIN.enclose(batch).hi).all()
    assert AGAIN.ball(batch, 0, PRECISION).is_nan()
    assert AGAIN.square(batch, 0) is None


def test_the_value_is_differentiable() -> None:
    """So that the gradient attack climbs it."""
    batch = build(spec_of(0, "tanh"))
    batch.cell.W.requires_grad_()
    AGAIN.value(batch).sum().backward()
    assert batch.cell.W.grad.isfinite().all()
    assert (batch.cell.W.grad != 0).any()
