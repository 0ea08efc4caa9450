"""Two runs under two input sequences: the second inputs, how far apart they drive states."""

import math
from fractions import Fraction

import numpy as np
import pytest
import torch
from any_kind import any_system
from msgspec.structs import replace

from rnnbounds.properties.judging.judge import judge
from rnnbounds.properties.measures.table import MEASURES
from rnnbounds.properties.systems.batch import build_batch
from rnnbounds.properties.systems.cells.batch import cells_of
from rnnbounds.properties.systems.other_inputs import other_inputs, x_gap
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.table import make_spec
from rnnbounds.theory import claim

CLAIM = claim("input-robustness")
VANILLA = make_spec(
    kind="rnn", activation="gelu", regime="gaussian", inputs="gaussian", n=3, d=2, T=5, lam=0.5,
    bias=0.5, seed=4, batch=3, sequences=6,
)  # fmt: skip
CELLS = [
    any_system(
        kind=kind, regime=regime, inputs="gaussian", n=2, d=2, T=4, lam=0.25, bias=0.5, seed=5,
        layers=2, batch=2, sequences=3,
    )
    for kind, regime in (
        ("lstm", "gaussian"), ("gru", "driven"), ("stack", "lstm"), ("leaky", "signs"),
    )
]  # fmt: skip
SPECS = [VANILLA, replace(VANILLA, inputs="zero", activation="tanh"), *CELLS]
IDS = [f"{spec.kind}-{spec.inputs}" for spec in SPECS]


@pytest.mark.slow
@pytest.mark.parametrize("spec", SPECS, ids=IDS)
def test_second_inputs(spec: SystemSpec) -> None:
    """Rebuilt alone to the same bits, within the bound of cells, and truly within δ of the first;
    all of the three ways differ from the first."""
    batch = build_batch(spec)
    other, delta = other_inputs(batch), x_gap(batch)
    assert (delta > 0).all()
    assert np.isfinite(delta).all()
    for member in range(spec.batch):
        for sequence in range(spec.sequences):
            alone = build_batch(spec.select_pair(member, sequence))
            same = other[member : member + 1, :, :, sequence : sequence + 1]
            assert torch.equal(other_inputs(alone), same)
            assert x_gap(alone).item() == delta[member, sequence, 0]
            steps = zip(alone.x[0, :, :, 0].tolist(), same[0, :, :, 0].tolist(), strict=True)
            squares = [
                sum((Fraction(p) - Fraction(q)) ** 2 for p, q in zip(x, y, strict=True))
                for x, y in steps
            ]
            bound = Fraction(delta[member, sequence, 0])
            assert max(squares) <= bound**2 <= max(squares) * Fraction(1001, 1000)
    if cells_of(batch) is not None:
        assert bool((other.norm(dim=2).amax((1, 2)) <= batch.B_x).all())


@pytest.mark.slow
@pytest.mark.parametrize("spec", SPECS, ids=IDS)
def test_readings_are_those_of_plain_runs(spec: SystemSpec) -> None:
    """Two runs in floats, one after the other, end as far apart."""
    batch = build_batch(spec)
    cells = cells_of(batch)
    inputs = batch.x, other_inputs(batch)
    starts = [batch.h, batch.h_other]
    if cells is not None:
        starts = [h / 2 for h in starts]
    model = batch.cell if cells is None else cells.cell

    def end(start: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        for one in x.unbind(1):
            start = model.step(start, one)
        return start

    forced, response = (end(starts[0], inputs[0]) - end(starts[two], inputs[1]) for two in (0, 1))
    shown = forced[:, -batch.cell.n :]
    expected = {
        "forced_gap": shown.norm(dim=1),
        "forced_gap_y": torch.einsum("bpn,bns->bps", batch.C, shown).norm(dim=1),
    }
    if cells is not None:
        v = cells.v[:, :, None]
        boxed = {"forced_gap_box": forced, "response_gap_box": response}
        boxed["response_start_box"] = starts[0] - starts[1]
        expected |= {name: (s.abs() / v).amax(1) for name, s in boxed.items()}
    for name, value in expected.items():
        seen = MEASURES[name].enclose(batch).hi[:, :, 0]
        assert seen == pytest.approx(value.numpy(), rel=1e-9, abs=1e-11), name


def test_not_said_of_inputs_beyond_the_bound() -> None:
    """Inputs outside the ball on which a cell's constants hold are vacuous."""
    batch = build_batch(CELLS[0])
    batch.readings[other_inputs] = 3 * batch.x
    assert (x_gap(batch) == math.inf).all()
    seen = judge(CLAIM.form("box-state").statement, (), batch)
    assert seen.vacuous == {"finite x_gap": seen.verdicts.size}
