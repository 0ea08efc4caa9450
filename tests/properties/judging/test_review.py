"""Faults that an adversarial review found, each kept away by one test."""

import numpy as np
import pytest
from flint import arb, ctx

from properties.judging.judge import Verdict, judge
from properties.judging.referee import first_precision
from properties.measures.readings import receptive_field as field
from properties.measures.table import MEASURES
from properties.systems.batch import Batch, build
from properties.systems.spec import Values
from properties.systems.table import system
from theory import claim


def pair(**parts: list) -> Batch:  # type: ignore[type-arg]
    """One linear system of one state and one input."""
    plain = {"W": [[0.5]], "U": [[1.0]], "b": [0.0], "C": [[1.0]], "x": [[1.0]]}
    values = Values(**(plain | {"h": [0.0], "h_other": [0.0]} | parts))
    return build(system(activation="identity", T=len(values.x), values=values))


def encloses(batch: Batch, name: str) -> bool:
    """Whether the float64 enclosure of a measure at k = 0 meets its ball."""
    found = MEASURES[name].enclose(batch)
    with ctx.workprec(3000):
        truth = MEASURES[name].ball(batch, 0, 3000)
        low, high = (arb(float(end[0, 0, 0])) for end in (found.lo, found.hi))
        return not (truth < low or truth > high)


@pytest.mark.parametrize("activation", ["identity", "tanh"])
@pytest.mark.parametrize("n", [8, 17])
def test_the_longest_window_keeps_the_finite_bound(n: int, activation: str) -> None:
    """At k = T the gap and its bound are both 0, whatever a library's columns look like."""
    spec = system(
        activation=activation, regime="gaussian", inputs="gaussian", n=n, d=2, T=9, K=9,
        bias=0.25, seed=n, batch=2, sequences=3,
    )  # fmt: skip
    found = judge(claim("truncation").statement, claim("truncation").assumptions, build(spec))
    assert (found.verdicts == Verdict.HOLDS).all()


@pytest.mark.parametrize(("n", "d", "T"), [(17, 2, 9), (17, 5, 9), (9, 9, 5)])
def test_the_field_is_exact_in_every_layout(n: int, d: int, T: int) -> None:
    """The inputs' layout and alignment differ between the two runs; the module's bits do not."""
    spec = system(
        activation="tanh", regime="gaussian", inputs="gaussian", n=n, d=d, T=T, K=T,
        lam=0.875, bias=0.25, seed=n, batch=2, sequences=3,
    )  # fmt: skip
    assert not field.field_gap(build(spec)).hi.any()


def test_a_readout_that_underflows_is_not_exactly_zero() -> None:
    """C and the gap are both 2⁻⁶⁰⁰: their product is 0 in float64 only."""
    assert encloses(pair(C=[[2.0**-600]], x=[[2.0**-600]]), "y_gap")


def test_a_readout_with_many_rows() -> None:
    """The norm of many outputs is rounded more often than that of one state."""
    rows = 1 + np.random.Generator(np.random.Philox(key=1)).random(20_000) / 2
    assert encloses(pair(C=[[value] for value in rows.tolist()]), "y_gap")
    assert encloses(pair(C=[[1.1]] * 20_000), "y_gap")


def test_subnormal_gaps_are_not_exact() -> None:
    """|h_i|/v_i is rounded there by more than a relative error says."""
    for steps in range(1, 40):
        h, W = [steps * 5e-324, steps * 1.5e-323], [[0.5, 0.3], [0.2, 0.1]]
        values = Values(W=W, U=[[1.0], [1.0]], b=[0.0] * 2, C=W, x=[[0.0]], h=h, h_other=[0.0, 0.0])
        batch = build(system(n=2, values=values))
        for name in ("state_gap_v", "state_gap_P", "state_gap_D"):
            assert encloses(batch, name)


def test_subnormal_factors_have_a_first_precision() -> None:
    """1/λ would overflow."""
    assert first_precision(build(system(lam=5e-324)), 2) == 2240
