"""Where λ comes from, and every constant with its definition, on a certificate's page."""

import pytest
import torch

import rnnbounds
from rnnbounds.impl.cells.table import CELLS, kind_of
from rnnbounds.impl.norms.meanings import NORM_MEANINGS
from rnnbounds.reports.pages.model.constants import CONSTANTS, find_constant
from rnnbounds.reports.pages.model.facts import norms_table

NETS = {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU}


def document(name: str, layers: int = 1, scale: float = 0.1) -> dict:
    """The record of a small torch network with small weights."""
    torch.manual_seed(0)
    net = NETS[name](1, 3, layers)
    with torch.no_grad():
        for part in net.parameters():
            part *= scale
    return rnnbounds.certify(net, 1.0, 0.1).to_json()


def test_factors_of_one_or_more_prove_nothing() -> None:
    """The table says so; and only where there is one."""
    told = document("lstm", scale=1.0)
    assert norms_table(told).caption == "where λ ≥ 1 the norm proves nothing: λ is an upper bound."
    small = told | {"norms_tried": [{"norm": "perron", "lambda": 0.5, "k": 3}]}
    assert norms_table(small).caption == ""


@pytest.mark.parametrize("cell", CELLS)
def test_every_constant_has_a_definition(cell: str) -> None:
    """Of every cell, alone and in two layers; a name that nobody defined stands for itself."""
    kind, by = kind_of(cell), torch.Generator().manual_seed(0)
    shapes = kind.layout(("transition_1_weight",)).shapes_for({"n": 2, "d": 1, "p": 1, "m1": 3})
    weights = {
        f"{name}{kind.suffix}": torch.rand(shape, generator=by) / 8 + 0.01
        for name, shape in shapes.items()
    }
    told = rnnbounds.certify(weights, 1.0, 0.1, cell=cell)
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
