"""Several dtypes side by side round as each does by itself."""

import pytest
import torch
from program_draws import SAMPLES, cells

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS
from rnnbounds.impl.arithmetic.interval_arithmetic import IntervalArithmetic, step_bound
from rnnbounds.impl.arithmetic.intervals import Interval
from rnnbounds.impl.arithmetic.roundings import DtypeRuns
from rnnbounds.impl.arithmetic.saturation import DTYPES, repeat_parameters, saturating_gates

LOW = torch.tensor([-1.0e39, -70000.0, -1 / 3, -0.0, 1.0e-40, 1 / 3, torch.nan]).double()
HIGH = torch.tensor([-1 / 3, 70000.0, 1 / 3, 5.0e-324, 0.1, torch.inf, torch.nan]).double()


@pytest.mark.parametrize("fused", [False, True])
def test_every_operation(fused: bool) -> None:
    """Of numbers that overflow, underflow or are none, too."""
    both, size = (
        DtypeRuns(DTYPES, fused),
        torch.tensor([[0.0, 1e-30, 0.5, 3.0, torch.inf]]).double(),
    )
    wide = Interval(LOW.expand(4, -1), HIGH.expand(4, -1))
    rows = size.expand(4, -1)
    for i, dtype in enumerate(DTYPES):
        run, alone = DtypeRuns((dtype,), fused), Interval(LOW[None], HIGH[None])
        pairs = [
            (both.round(wide), run.round(alone)),
            (both.round_within(wide, both.unit), run.round_within(alone, run.unit)),
        ]
        for told, one in pairs:
            assert torch.equal(told.low[i], one.low[0])
            assert torch.equal(told.high[i], one.high[0])
        for terms in (1, 200, 2**12):  # of which half precision knows nothing in the end
            assert torch.equal(both.sum_error(terms, rows)[i], run.sum_error(terms, size)[0])
        for rho in ACTIVATIONS.values():
            assert torch.equal(
                both.activation_error(rho, rows)[i], run.activation_error(rho, size)[0]
            )


@pytest.mark.parametrize("name", SAMPLES)
def test_cells(name: str) -> None:
    """Where a step may lead, and which decays may round to 1, dtype by dtype."""
    cell = cells(name, 1)
    box = cell.proved_box(1.0).box
    wide = box.expand(len(DTYPES), -1)
    run = DtypeRuns(DTYPES, fused=True)
    weights = repeat_parameters(cell.parameters, len(DTYPES))
    there = step_bound(cell.program, weights, wide, 1.0, cell.d, run)
    told = cell.saturating_gates(DTYPES, box, 1.0)
    for i, dtype in enumerate(DTYPES):
        alone = step_bound(
            cell.program, cell.parameters, box, 1.0, cell.d, DtypeRuns((dtype,), fused=True)
        )
        assert torch.equal(there[i], alone[0])
        one = cell.saturating_gates([dtype], box, 1.0)
        assert one is None if told is None else torch.equal(told[i], one[0])


def test_a_cell_that_keeps_nothing_as_it_is() -> None:
    """A deep transition has no gate that could round to 1."""
    cell = cells("deep-tanh", 1)
    assert saturating_gates(cell, DTYPES, cell.proved_box(1.0).box, 1.0) is None


@pytest.mark.parametrize("of_inputs", [False, True])
def test_a_run_with_weights_of_the_set_is_not_rounded_further(of_inputs: bool) -> None:
    """Of all weights near 0 sums are off by what those at the edge are off by."""
    run, still = DtypeRuns((torch.float16,), fused=True), torch.zeros(1, 1, 1, dtype=torch.float64)
    edge = {"W": still + 1, "b": still[0] + 1}
    radii = {name: torch.ones(1, dtype=torch.float64) for name in edge}
    box = still[0] + 1
    whole = IntervalArithmetic({name: 0 * value for name, value in edge.items()}, run, radii=radii)
    v = whole.inputs(1.0, box, 1) if of_inputs else whole.box(box)
    told, one = (m.affine("W", "b", v).range for m in (whole, IntervalArithmetic(edge, run)))
    assert told.high >= one.high
