"""Runs in a dtype: gates that may round to 1, and weights of a set."""

import pytest
import torch
from program_draws import cells

from rnnbounds.impl.arithmetic.interval_arithmetic import IntervalArithmetic
from rnnbounds.impl.arithmetic.invariance import saturating_gates
from rnnbounds.impl.arithmetic.roundings import DtypeRun


def test_a_cell_that_keeps_nothing_as_it_is() -> None:
    """A deep transition has no gate that could round to 1."""
    cell = cells("deep-tanh", 1)
    assert saturating_gates(cell, torch.bfloat16, cell.proved_box(1.0).box, 1.0) is None


@pytest.mark.parametrize("of_inputs", [False, True])
def test_a_run_with_weights_of_the_set_is_not_rounded_further(of_inputs: bool) -> None:
    """Of all weights near 0 sums are off by what those at the edge are off by."""
    run, still = DtypeRun(torch.float16, fused=True), torch.zeros(1, 1, 1, dtype=torch.float64)
    edge = {"W": still + 1, "b": still[0] + 1}
    radii = {name: torch.ones(1, dtype=torch.float64) for name in edge}
    box = still[0] + 1
    whole = IntervalArithmetic({name: 0 * value for name, value in edge.items()}, run, radii=radii)
    v = whole.inputs(1.0, box, 1) if of_inputs else whole.box(box)
    told, one = (m.affine("W", "b", v).range for m in (whole, IntervalArithmetic(edge, run)))
    assert told.high >= one.high
