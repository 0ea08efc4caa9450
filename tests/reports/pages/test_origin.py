"""Where λ comes from, and every constant with its definition, on a certificate's page."""

import pytest
import torch

import rnnbounds
from rnnbounds.impl.cells.table import CELLS, kind_of
from rnnbounds.impl.norms.meanings import NORM_MEANINGS
from rnnbounds.reports.pages.experiment import Paragraph, Table
from rnnbounds.reports.pages.model.constants import CONSTANTS, find_constant
from rnnbounds.reports.pages.model.origin import norms_table, origin_sections

NETS = {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU}


def document(name: str, layers: int = 1, scale: float = 0.1) -> dict:
    """The record of a small torch network with small weights."""
    torch.manual_seed(0)
    net = NETS[name](1, 3, layers)
    with torch.no_grad():
        for part in net.parameters():
            part *= scale
    return rnnbounds.certify(net, 1.0, 0.1).to_json()


def blocks(told: dict) -> list:
    """Of the section, without its title."""
    return [block for section in origin_sections(told) for block in section.blocks]


@pytest.mark.parametrize("name", NETS)
def test_gates_and_units(name: str) -> None:
    """Each gate with its largest value, and the units that forget last in the perron norm."""
    told = document(name)
    tables = {block.columns[0]: block for block in blocks(told) if isinstance(block, Table)}
    names = [row[0] for row in tables["gate"].rows]
    expected = ["input gate", "forget gate", "candidate", "output gate"]
    assert names == (expected if name == "lstm" else ["update gate", "reset gate", "candidate"])
    values = {row[0]: float(row[1]) for row in tables["gate"].rows}
    forget = {"lstm": ("forget gate", "f_bar"), "gru": ("update gate", "z_bar")}[name]
    assert values[forget[0]] == pytest.approx(told["constants"][forget[1]], rel=1e-5)
    if told["norm"] == "perron":
        units = tables["unit"].rows
        assert {row[0][0] for row in units} <= {"c", "h"}
        assert float(units[0][1]) == pytest.approx(max(told["weights"]), rel=1e-2)


def test_layers() -> None:
    """A stack's layers, the lowest first."""
    told = document("gru", 2)
    (table,) = (block for block in blocks(told) if block.columns[0] == "layer")
    assert [row[0] for row in table.rows] == ["1", "2"]
    assert float(table.rows[1][1]) == pytest.approx(told["constants"]["lam_l1"], rel=1e-5)


def test_an_undecided_model_has_estimates() -> None:
    """By the part that matters most, and no word of a unit."""
    told = document("lstm", scale=1.0) | {"norm": "spectral"}
    assert told["verdict"] == "undecided"
    (table,) = (block for block in blocks(told) if "without" in block.columns[0])
    values = [float(row[1]) for row in table.rows]
    assert values == sorted(values)
    assert len(values) == 4
    assert not any(isinstance(block, Paragraph) for block in blocks(told))


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
