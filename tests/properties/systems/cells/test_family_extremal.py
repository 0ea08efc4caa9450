"""The worst cells of each kind reach what they are to reach."""

import pytest
import torch

from rnnbounds.properties.measures.runs.readings import runs
from rnnbounds.properties.systems.batch import build_batch
from rnnbounds.properties.systems.cells.extremal import (
    worst_cell_specs,
    worst_of_any_cell,
    worst_of_single_cells,
)
from rnnbounds.properties.systems.table import FAMILIES

KINDS = FAMILIES["cell"].members


@pytest.mark.parametrize("kind", KINDS)
def test_first_steps_attain_the_drive(kind: str):
    """From zero some unit goes nine tenths of the way that the comparison allows, or further."""
    batch = build_batch(worst_of_any_cell(KINDS[kind].spec)["first step"])
    drive = batch.cells.comparison.drive
    share = (runs(batch).states[1].value[:, :, 0].abs() / drive).nan_to_num(0.0)
    assert (share <= 1).all()
    assert share.max() > 0.9


@pytest.mark.parametrize("kind", KINDS)
def test_inputs_are_aligned(kind: str):
    """All inputs of a run lie on one line, that of the weights that they meet."""
    batch = build_batch(worst_of_any_cell(KINDS[kind].spec)["aligned"])
    x = batch.x[:, :, :, 0]
    assert torch.allclose((x * x[:, :1]).sum(2).abs(), x.square().sum(2))
    U = batch.cells.cell.U
    if U.shape[1] == 1:
        assert torch.allclose((U[:, 0] * x[:, 0]).sum(1).abs(), U[:, 0].norm(dim=1))


def test_layers_are_stacked():
    """Deep transitions and stacks are attacked with more layers than one."""
    deep = [worst_of_any_cell(KINDS[kind].spec)["edge"] for kind in ("deep", "stack")]
    deep += [spec for spec in worst_of_single_cells() if spec.kind == "stack"]
    assert {spec.layers for spec in deep} == {2}
    assert {spec.kind for spec in worst_cell_specs(tuple(KINDS.values()))} == set(KINDS)
