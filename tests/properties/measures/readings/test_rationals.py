"""Exact readings of one pair: what is run side by side is what is run alone."""

import pytest

from rnnbounds.properties.measures.readings.rationals import (
    gap,
    minus,
    rolled,
    seen,
    started,
    truncated,
)
from rnnbounds.properties.systems.batch import build
from rnnbounds.properties.systems.table import system


@pytest.mark.parametrize(
    ("activation", "inputs", "known"),
    [("identity", "gaussian", True), ("relu", "gaussian", True), ("elu", "impulse", True),
     ("tanh", "zero", True), ("tanh", "gaussian", False)],
)  # fmt: skip
def test_truncated_states_are_those_of_runs_alone(
    activation: str, inputs: str, known: bool
) -> None:
    """All windows at once give the gap of each, and the states of one run those before it."""
    pair = build(system(
        kind="rnn", activation=activation, inputs=inputs, regime="gaussian", n=3, d=2, T=9, K=5,
        seed=4,
    ))  # fmt: skip
    assert (truncated(pair) is not None) == known
    for k in range(6):
        assert gap(pair, k) == minus(rolled(pair, 0), rolled(pair, 9 - k))
        assert started(pair, k) == rolled(pair, 0, seen(pair)[: 9 - k])
