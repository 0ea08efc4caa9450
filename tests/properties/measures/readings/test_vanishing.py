"""Gradients that are equal are read as equal: in float64 too, and nowhere else."""

import pytest

from rnnbounds.properties.measures.table import MEASURES
from rnnbounds.properties.systems.batch import build_batch
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.table import make_spec

NAMES = ("grad_gap", "tbptt_gap", "tb_gap")
K = 8


def equal(spec: SystemSpec, name: str) -> list[bool]:
    """At which windows the enclosure is the point 0; where it is, so is the ball, and no other."""
    batch = build_batch(spec)
    found, pair = MEASURES[name].enclose(batch), batch.pair(0, 0)
    zero = [found.lo[0, 0, k] == found.hi[0, 0, k] == 0 for k in range(K + 1)]
    assert zero == [bool(MEASURES[name].ball(pair, k, 128).is_zero()) for k in range(K + 1)]
    return zero


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("trained", ["WUb", "Ub"])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_nilpotent_pattern(n: int, trained: str, name: str) -> None:
    """With Wⁿ = 0, windows of n are enough, of 2n where W is trained; shorter ones are not."""
    spec = make_spec(
        kind="gradient", activation="tanh", regime="nilpotent", n=n, T=10, K=K, lam=0.9, seed=5,
        trained=trained, bias=0.5,
    )  # fmt: skip
    first = n if name == "tbptt_gap" or "W" not in trained else 2 * n
    empty = name == "tb_gap"  # of no inputs
    assert equal(spec, name) == [k >= first or (k == 0 and empty) for k in range(K + 1)]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("trained", "still"), [("WU", True), ("WUb", False)])
def test_a_run_that_rests(trained: str, still: bool, name: str) -> None:
    """Nothing moves, so that nothing is forgotten; b is moved all the same."""
    spec = make_spec(
        kind="gradient", activation="elu", regime="symmetric", inputs="zero", n=2, d=2, T=10, K=K,
        lam=0.999, scale=2.0**-10, seed=168058302224171, trained=trained, loss="cross-entropy",
    )  # fmt: skip
    assert all(equal(spec, name)[:-1]) is (still or name == "tb_gap")
