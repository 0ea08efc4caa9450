"""Bounds on how far apart two networks can be, for all inputs of the interval at all times."""

from dataclasses import replace as change

import numpy as np
import pytest
from flint import fmpq
from msgspec.structs import replace
from sympy import Rational

from rnnbounds.properties.attacks.extremal import NAMED_SPECS
from rnnbounds.properties.judging.judge import judge
from rnnbounds.properties.judging.verdict import Verdict
from rnnbounds.properties.systems.batch import build_batch
from rnnbounds.properties.systems.limits.gap_bounds import is_relu_equivalent, tanh_gap_bound
from rnnbounds.properties.systems.limits.pairs import sigmoid_pair_member
from rnnbounds.properties.systems.limits.sigmoid import BOUND, SigmoidNetwork
from rnnbounds.properties.systems.table import make_spec
from rnnbounds.theory.language.statement import le
from rnnbounds.theory.language.vocabulary import symbols

(sigmoid_gap,) = symbols("sigmoid_gap")
PAIR = make_spec(kind="sigmoid", activation="sigmoid", lam=0.6, states=3, start=1.0)
RHO = {"tanh": np.tanh, "sigmoid": lambda z: 1 / (1 + np.exp(-z)), "relu": lambda z: max(z, 0)}


def run(net: SigmoidNetwork, x: np.ndarray) -> np.ndarray:
    """The outputs in floats."""
    V = np.array([[float(v) for v in row] for row in net.V.tolist()])
    g, d, s, e = (np.array([float(v) for v in part]) for part in (net.g, net.d, net.start, net.e))
    found = []
    for value in x:
        s = np.vectorize(RHO[net.activation])(V @ s + g * value + d)
        found.append(e @ s + float(net.e0))
    return np.array(found)


@pytest.mark.slow
@pytest.mark.parametrize("regime", ["unrelated", "held", "cancelling"])
@pytest.mark.parametrize("n", [1, 2])
def test_no_input_goes_beyond(regime: str, n: int) -> None:
    """Long drawn and constant inputs of the interval stay below the bound, which is finite."""
    rng = np.random.default_rng(0)
    seen = 0
    for seed in range(8):
        spec = replace(PAIR, regime=regime, n=n, seed=seed, states=2 * n)
        try:
            pair = sigmoid_pair_member(spec, 0)
        except KeyError:
            continue
        most = float(pair.gap_bound())
        limit = float(BOUND)
        for x in (*rng.uniform(-limit, limit, (6, 200)), np.full(200, limit), np.full(200, -limit)):
            assert np.abs(run(pair.network, x) - run(pair.candidate, x)).max() <= most + 1e-12
            seen += 1
    assert seen


def test_what_is_held_is_near_for_all_inputs() -> None:
    """The more a unit is held the smaller the bound is."""
    bounds = [
        float(sigmoid_pair_member(replace(PAIR, regime="held", states=2, seed=seed), 0).gap_bound())
        for seed in range(8)
    ]
    assert min(bounds) < 1e-12
    assert max(bounds) > 1e-6


def test_probes_alone_do_not_say_near() -> None:
    """A fit that is near on probes is not called near: between both ends nothing is decided."""
    pair = sigmoid_pair_member(replace(PAIR, regime="unrelated", states=2), 0)
    low, high = float(pair.probe_gap), float(pair.gap_bound())
    assert low < high
    batch = build_batch(replace(PAIR, regime="unrelated", states=2))
    verdicts = judge(le(sigmoid_gap, Rational((low + high) / 2)), (), batch).verdicts
    assert {Verdict(int(v)).name for v in verdicts.ravel()} == {"UNDECIDED"}


class TestRelu:
    """The ReLU pair is the same map on the interval, and what is changed is not called so."""

    pair = sigmoid_pair_member(replace(NAMED_SPECS["relu-dilation"], start=1.0), 0)

    def test_the_dilation_is_the_same_map(self) -> None:
        """All inputs of the interval are covered by the bias."""
        assert is_relu_equivalent(self.pair.network, self.pair.candidate)

    CHANGES = {
        "bias": lambda net: change(net, d=(net.d[0], net.d[1] * fmpq(999, 1000))),
        "input": lambda net: change(net, g=(net.g[0], fmpq(1))),
        "start": lambda net: change(net, start=(net.start[0], fmpq(1, 8))),
        "read": lambda net: change(net, e=(net.e[0] * 2, net.e[1])),
        "weight": lambda net: change(net, V=net.V * fmpq(9, 10)),
    }

    @pytest.mark.parametrize("part", CHANGES)
    def test_what_is_changed_is_not(self, part: str) -> None:
        """Each premise is looked at."""
        assert not is_relu_equivalent(self.pair.network, self.CHANGES[part](self.pair.candidate))

    def test_a_far_start_needs_another_bias(self) -> None:
        """The bias of a start near 0 does not hold the unit of a network that starts far away."""
        one, other = self.pair.network, self.pair.candidate
        start = one.start[0] + 100
        far = change(other, start=(start, fmpq(0)))
        assert not is_relu_equivalent(change(one, start=(start,)), far)

    def test_other_activations_are_not(self) -> None:
        """The argument is about ReLU."""
        one, other = self.pair.network, self.pair.candidate
        changed = (change(net, activation="tanh") for net in (one, other))
        assert not is_relu_equivalent(*changed)


def test_equal_networks_have_no_gap() -> None:
    """The bound of a network against itself is 0, with one weight changed it is not."""
    net = sigmoid_pair_member(replace(PAIR, regime="unrelated", states=1), 0).network.as_tanh
    assert tanh_gap_bound(net, net) < 1e-12
    assert tanh_gap_bound(net, change(net, d=(net.d[0] + fmpq(1, 4),))) > 1e-3
