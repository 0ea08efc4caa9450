"""Every constant of a certificate has its definition."""

import pytest
import torch

import rnnbounds
from rnnbounds.impl.cells.table import CELLS, kind_of
from rnnbounds.impl.norms.state_norms import NORM_MEANINGS
from rnnbounds.reports.pages.model.facts import CONSTANTS, find_constant


@pytest.mark.parametrize("cell", CELLS)
def test_every_constant_has_a_definition(cell: str) -> None:
    """Of every cell, alone and in two layers; a name that nobody defined stands for itself."""
    kind, by = kind_of(cell), torch.Generator().manual_seed(0)
    shapes = kind.layout(("transition_1_weight",)).shapes_for({"n": 2, "d": 1, "p": 1, "m1": 3})
    weights = {
        f"{name}{kind.suffix}": torch.rand(shape, generator=by) / 8 + 0.01
        for name, shape in shapes.items()
    }
    told = rnnbounds.certify(weights, inputs=1.0, eps=0.1, cell=cell)
    for name in told.constants:
        assert find_constant(name, cell).meaning, name
    assert {name for name, _, _ in told.tried} <= set(NORM_MEANINGS)


def test_one_letter_two_gates() -> None:
    """z is the candidate of an LSTM, and the update gate of a GRU; layers count from 1."""
    assert "candidate" in find_constant("z_bar", "lstm").meaning
    assert "update gate" in find_constant("z_bar_l0", "stacked-gru").meaning
    assert find_constant("f_bar_l1", "stacked-lstm").symbol == "f̄, layer 2"
    assert find_constant("mine", "my-cell").symbol == "mine"
    assert all(one.symbol and one.meaning for one in CONSTANTS.values())
