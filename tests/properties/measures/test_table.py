"""Measures at the ends of floats, what is supplied of systems, and known values."""

import math

import numpy as np
import pytest
import torch
from flint import arb
from seen import PRECISION, readings

from rnnbounds.impl.errors import UnknownNameError
from rnnbounds.impl.gradients.constants import Constants
from rnnbounds.properties.measures.table import MEASURES
from rnnbounds.properties.read.numbers.norms import around
from rnnbounds.properties.systems.batch import PARAMETERS, build_batch
from rnnbounds.properties.systems.table import make_spec
from rnnbounds.theory.language.vocabulary import VOCABULARY


def names_of(role: str) -> list[str]:
    """The names of the vocabulary with this role."""
    return [q.name for q in VOCABULARY.values() if q.role == role]


def test_certified_names_are_supplied() -> None:
    """Every certified name is a constant of any batch, and never NaN."""
    batch = build_batch(make_spec(n=3, d=2, T=2, batch=4, bias=0.5))
    for name in names_of("certified"):
        value = batch.constant(name).hi
        assert value.shape[0] == 4
        assert not np.isnan(value).any(), name


def test_parameters_are_bound_once() -> None:
    """Every parameter is bound by a batch, and nothing else is."""
    assert sorted(PARAMETERS) == sorted(names_of("parameter"))


def contains(low: float, high: float, value: arb) -> bool:
    """True if the ball meets [low, high]; NaN contains nothing."""
    outside = bool(arb(low) > value) or bool(arb(high) < value)
    return not (math.isnan(low) or math.isnan(high) or outside)


@pytest.mark.parametrize("scale", [2.0**-1060, 2.0**-530, 2.0**300, 2.0**480])
def test_enclosures_at_extreme_scales(scale: float) -> None:
    """Enclosures hold the truth for squares that underflow or nearly overflow."""
    spec = make_spec(
        activation="identity", regime="gaussian", inputs="gaussian",
        n=3, d=2, T=4, K=3, scale=scale, batch=2, sequences=2,
    )  # fmt: skip
    batch, names = (
        build_batch(spec),
        ["h_norm", "h_start", "h_gap", "y_gap", "step_gap", "forced_gap"],
    )
    for seen in readings(batch, names, [(0, 0), (1, 1)]):
        assert seen.held, seen


@pytest.mark.slow
@pytest.mark.parametrize("n", [1, 2, 3, 4, 6, 8])
@pytest.mark.parametrize("T", [1, 2, 5])
def test_no_gap_where_the_window_is_the_whole_sequence(n: int, T: int) -> None:
    """At k = T both models are one: the gap is 0 to the last bit, in any order of summation."""
    for activation in ("identity", "tanh", "sigmoid"):
        for sequences in (1, 2, 5):
            batch = build_batch(make_spec(
                activation=activation, regime="gaussian", inputs="gaussian", n=n, d=3, T=T, K=T,
                bias=0.5, batch=4, sequences=sequences, seed=n,
            ))  # fmt: skip
            for name in ("h_gap", "y_gap"):
                found = MEASURES[name].enclose(batch)
                assert (found.hi[..., T] == 0).all()


def test_overflow_fails_closed() -> None:
    """Squares that overflow give a NaN or infinite enclosure, which decides nothing."""
    batch = build_batch(make_spec(activation="identity", n=2, T=2, K=1, scale=2.0**600))
    found = MEASURES["h_norm"].enclose(batch)
    assert not np.isfinite(found.hi).any()


@pytest.mark.parametrize("name", ["h_gap", "h_norm", "y_gap", "step_gap", "dh_dx"])
def test_a_liar_is_outside(name: str) -> None:
    """The containment check fails for a reading that is off by one part in 10⁹."""
    spec = make_spec(regime="gaussian", inputs="gaussian", n=3, T=5, K=2, sequences=1)
    batch = build_batch(spec)
    found = MEASURES[name].enclose(batch)
    ball = MEASURES[name].ball(batch, 0, PRECISION)
    low, high = float(found.lo[0, 0, 0]), float(found.hi[0, 0, 0])
    assert contains(low, high, ball)
    assert not contains(low * (1 + 1e-9), high * (1 + 1e-9), ball)
    assert not contains(low * (1 - 1e-9), high * (1 - 1e-9), ball)
    assert not contains(math.nan, math.nan, ball)


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


def test_constants_refuse_an_unknown_name() -> None:
    """A name that is not in the vocabulary has no constant."""
    with pytest.raises(UnknownNameError):
        build_batch(make_spec()).constant("lambda")
    assert isinstance(build_batch(make_spec()).constants, Constants)
