"""Measures: every name bound once, every enclosure holds its ball."""

import math

import numpy as np
import pytest
import torch
from flint import arb, fmpq
from msgspec.structs import replace
from seen import PRECISION, readings

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS
from rnnbounds.impl.gradients.constants import Constants
from rnnbounds.properties.attacks.extremal import SPECIAL
from rnnbounds.properties.measures import causal, cells, gates, table, training
from rnnbounds.properties.measures.certified import models, near
from rnnbounds.properties.measures.certified import unitary as shipped
from rnnbounds.properties.measures.exact import layers, limits, memory, unitary
from rnnbounds.properties.measures.table import ALL, MEASURES, Measure, around
from rnnbounds.properties.systems.batch import build
from rnnbounds.properties.systems.spec import INPUTS, REGIMES, SystemSpec
from rnnbounds.properties.systems.table import KINDS, system
from rnnbounds.theory.language.vocabulary import VOCABULARY

FLOAT_READ = [m.name for m in ALL if m.enclosure is not None or m.value is not None]
# What training gives, what other cells do and what is decided in rationals has tests of its own,
# and so has what compares two weights or matrices.
OTHERS = (causal, cells, gates, layers, limits, memory, models, near, training, unitary, shipped)
OWN_TESTS = {measure.name for module in OTHERS for measure in module.MEASURES} | {
    name for name in MEASURES if name.startswith("response_") and name.endswith("_box")
}
OWN_TESTS.add("forced_gap_box")
APART = OWN_TESTS | {"grad_gap_weights", "weight_distance"}
WITH_BALLS = [
    m.name for m in ALL if m.balls is not None and m.name in FLOAT_READ and m.name not in APART
]
NOT_PLAIN = (
    "matrix",
    *(k.name for k in KINDS.values() if k.route.rational or k.spec.stacked[0] > 1),
)
PLAIN = [n for n, s in SPECIAL.items() if s.kind not in NOT_PLAIN]
GAPS_OF_MODULES = ("forward_gap", "edge_gap", "padding_gap", "recurrent_gap")


def names_of(role: str) -> list[str]:
    """The names of the vocabulary with this role."""
    return [q.name for q in VOCABULARY.values() if q.role == role]


def test_every_name_is_bound_once() -> None:
    """Measured names are the measures' names, each once."""
    assert len(ALL) == len(MEASURES)
    assert sorted(m.name for m in ALL) == sorted(names_of("measured"))


def test_a_second_measure_of_a_name_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """It does not take the place of the first, so that the registry can refuse it."""
    monkeypatch.setattr(limits, "MEASURES", (*limits.MEASURES, MEASURES["h_gap"]))
    assert [measure.name for measure in table.found()].count("h_gap") == 2


def test_certified_names_are_supplied() -> None:
    """Every certified name is a constant of any batch, and never NaN."""
    batch = build(system(n=3, d=2, T=2, batch=4, bias=0.5))
    for name in names_of("certified"):
        value = batch.constant(name).hi
        assert value.shape[0] == 4
        assert not np.isnan(value).any(), name


def test_parameters_are_bound_once() -> None:
    """Every parameter is bound by a batch, and nothing else is."""
    assert sorted(build(system()).parameters) == sorted(names_of("parameter"))


def spec_of(i: int, activation: str) -> SystemSpec:
    """Another regime, input, size and scale for every i."""
    n = 1 + i % 4
    slope = ACTIVATIONS[activation].slope
    return system(
        activation=activation, regime=REGIMES[i % len(REGIMES)], inputs=INPUTS[i % len(INPUTS)],
        n=n, d=1 + i % 2, T=4 + i % 3, K=4, lam=(0.9, 0.5, 1.5, 0.0)[i % 4] / slope,
        scale=(1.0, 2.0**-40, 30.0)[i % 3], bias=(0.0, 0.5)[i % 2], seed=i, batch=2, sequences=2,
    )  # fmt: skip


def contains(low: float, high: float, value: arb) -> bool:
    """Whether the ball meets [low, high]; NaN contains nothing."""
    outside = bool(arb(low) > value) or bool(arb(high) < value)
    return not (math.isnan(low) or math.isnan(high) or outside)


def check_enclosures(spec: SystemSpec, names: list[str]) -> None:
    """Every enclosure of two pairs of the batch holds the ball of the pair alone."""
    batch = build(spec)
    for seen in readings(batch, names, [(0, 0), (batch.cell.batch - 1, batch.x.shape[3] - 1)]):
        assert seen.held, seen


@pytest.mark.slow
@pytest.mark.parametrize("activation", sorted(ACTIVATIONS))
@pytest.mark.parametrize("round_", range(3))
def test_enclosures_hold_the_balls(activation: str, round_: int) -> None:
    """The float64 enclosure of each quantity contains its reading in 256-bit balls."""
    spec = spec_of(7 * round_ + 2 * sorted(ACTIVATIONS).index(activation), activation)
    names = [n for n in WITH_BALLS if n not in ("step_gap_P", "state_gap_P")]
    if activation == "identity":
        names = WITH_BALLS
    check_enclosures(spec, names)


@pytest.mark.slow
@pytest.mark.parametrize("name", PLAIN)
def test_enclosures_on_special_instances(name: str) -> None:
    """The special instances are enclosed too."""
    spec = SPECIAL[name]
    check_enclosures(
        replace(spec, K=min(spec.K, 4)), [n for n in WITH_BALLS if not n.endswith("_P")]
    )


@pytest.mark.parametrize("scale", [2.0**-1060, 2.0**-530, 2.0**300, 2.0**480])
def test_enclosures_at_extreme_scales(scale: float) -> None:
    """Where squares underflow, and short of where they overflow, the enclosure holds the truth."""
    spec = system(
        activation="identity", regime="gaussian", inputs="gaussian",
        n=3, d=2, T=4, K=3, scale=scale, batch=2, sequences=2,
    )  # fmt: skip
    check_enclosures(spec, ["h_norm", "h_start", "h_gap", "y_gap"])


@pytest.mark.slow
@pytest.mark.parametrize("n", [1, 2, 3, 4, 6, 8])
@pytest.mark.parametrize("T", [1, 2, 5])
def test_no_gap_where_the_window_is_the_whole_sequence(n: int, T: int) -> None:
    """At k = T both models are one: the gap is 0 to the last bit, in any order of summation."""
    for activation in ("identity", "tanh", "sigmoid"):
        for sequences in (1, 2, 5):
            batch = build(system(
                activation=activation, regime="gaussian", inputs="gaussian", n=n, d=3, T=T, K=T,
                bias=0.5, batch=4, sequences=sequences, seed=n,
            ))  # fmt: skip
            for name in ("h_gap", "y_gap"):
                found = MEASURES[name].enclose(batch)
                assert (found.hi[..., T] == 0).all()


def test_overflow_fails_closed() -> None:
    """Where squares overflow the enclosure is NaN or infinite, which decides nothing."""
    batch = build(system(activation="identity", n=2, T=2, K=1, scale=2.0**600))
    found = MEASURES["h_norm"].enclose(batch)
    assert not np.isfinite(found.hi).any()


@pytest.mark.parametrize("name", ["h_gap", "h_norm", "y_gap", "step_gap", "dh_dx"])
def test_a_liar_is_outside(name: str) -> None:
    """The containment check fails for a reading that is off by one part in 10⁹."""
    spec = system(regime="gaussian", inputs="gaussian", n=3, T=5, K=2, sequences=1)
    batch = build(spec)
    found = MEASURES[name].enclose(batch)
    ball = MEASURES[name].ball(batch, 0, PRECISION)
    low, high = float(found.lo[0, 0, 0]), float(found.hi[0, 0, 0])
    assert contains(low, high, ball)
    assert not contains(low * (1 + 1e-9), high * (1 + 1e-9), ball)
    assert not contains(low * (1 - 1e-9), high * (1 - 1e-9), ball)
    assert not contains(math.nan, math.nan, ball)


def test_squares_agree_with_balls() -> None:
    """Exact squares of rational systems agree with the ball readings."""
    for activation in ("identity", "relu", "leaky-relu"):
        for i in range(6):
            pair = build(spec_of(i, activation).alone(1, 1))
            for measure in ALL:
                if (
                    measure.square is None
                    or measure.balls is None
                    or measure.name == "descent_growth"
                    or measure.name in APART
                ):
                    continue
                if measure.name.endswith("_P") and activation != "identity":
                    continue
                square = measure.exact_square(pair, 2, PRECISION)
                assert square is not None
                assert measure.ball(pair, 2, PRECISION).overlaps(arb(square).sqrt()), measure.name


@pytest.mark.parametrize("activation", ["identity", "relu"])
def test_squares_of_modules_lie_in_their_enclosures(activation: str) -> None:
    """What no ball reads is enclosed around its exact square."""
    for i in range(4):
        spec = replace(spec_of(i, activation), K=3)
        batch = build(spec)
        for name in GAPS_OF_MODULES:
            found = MEASURES[name].enclose(batch)
            pair = build(spec.alone(1, 1))
            for k in range(1, 4):
                square = MEASURES[name].exact_square(pair, k, PRECISION)
                assert square is not None
                low, high = float(found.lo[1, 1, k]), float(found.hi[1, 1, k])
                assert contains(low, high, arb(square).sqrt())


def test_no_square_where_the_activation_leaves_the_rationals() -> None:
    """tanh has no rational states; a ball that is exactly zero is a square all the same."""
    pair = build(system(n=2, T=3, K=3, bias=0.5))
    for measure in ALL:
        if measure.square is not None and "state_gap" not in measure.name:
            if measure.name in ("descent_growth", "h_gap", "y_gap", "forward_gap", *APART):
                continue
            if measure.name in ("dp", "dp_gap"):  # the loss alone has a say in them
                continue
            assert measure.exact_square(pair, 2, 128) is None, measure.name
    assert MEASURES["h_gap"].exact_square(pair, 1, 128) is None
    assert MEASURES["h_gap"].exact_square(pair, 3, 128) == fmpq(0)
    assert MEASURES["forward_gap"].exact_square(pair, 2, 128) == fmpq(0)  # the same model twice
    assert MEASURES["y_gap"].exact_square(pair, 1, 128) is None
    assert MEASURES["edge_gap"].exact_square(build(system(activation="relu")), 0, 128) is None


def test_a_measure_without_readings_decides_nothing() -> None:
    """No float reading is [nan, nan]; no ball reading is a NaN ball; no square is None."""
    empty, batch = Measure("nothing"), build(system(sequences=2))
    found = empty.enclose(batch)
    assert found.lo.shape == (1, 2, 1)
    assert np.isnan(found.lo).all()
    assert np.isnan(found.hi).all()
    assert not empty.ball(batch, 0, 64).is_finite()
    assert empty.exact_square(batch, 0, 64) is None


def test_around() -> None:
    """An error widens outwards, no error is exact, lower ends stop at 0, NaN stays NaN."""
    value = torch.tensor([1.0, 1.0, 1.0, math.nan, 1.0], dtype=torch.float64)
    error = torch.tensor([0.0, 0.5, 2.0, 0.0, math.inf], dtype=torch.float64)
    found = around(value, error)
    assert (found.lo[0], found.hi[0]) == (1.0, 1.0)
    assert found.lo[1] < 0.5 < 1.5 < found.hi[1]
    assert found.lo[2] == 0.0
    assert np.isnan(found.lo[3])
    assert np.isnan(found.hi[3])
    assert found.hi[4] == math.inf


def test_norm_of_a_matrix_is_decided_exactly() -> None:
    """‖W‖₂ against its own value and a neighbour on either side, decided in rationals."""
    W = system(kind="matrix", regime="permutation", n=3, lam=0.75)
    at_most = MEASURES["W_norm_exact"].at_most
    assert at_most is not None
    assert at_most(build(W), fmpq(3, 4), 0)
    assert not at_most(build(W), fmpq(3, 4) - fmpq(1, 2**80), 0)
    assert at_most(build(W), fmpq(3, 4) + fmpq(1, 2**80), 0)


def test_rounding_of_a_known_state() -> None:
    """0.1 + 0.2 in float64 is off by 2⁻⁵⁴·(exactly known): h_rounding is that."""
    from fractions import Fraction

    from rnnbounds.properties.systems.spec import Values

    values = Values(W=[[0.0]], U=[[0.1]], b=[0.2], C=[[1.0]], x=[[1.0]], h=[0.0], h_other=[0.0])
    pair = build(system(activation="identity", values=values))
    true = Fraction(0.1) + Fraction(0.2)
    off = abs(Fraction(0.1 + 0.2) - true)
    ball = MEASURES["h_rounding"].ball(pair, 0, 256)
    assert off > 0
    assert float(ball) == pytest.approx(float(off), rel=1e-15)


def test_constants_refuse_an_unknown_name() -> None:
    """A name that is not in the vocabulary has no constant."""
    from rnnbounds.impl.errors import UnknownConstantError

    with pytest.raises(UnknownConstantError):
        build(system()).constant("lambda")
    assert isinstance(build(system()).constants, Constants)
