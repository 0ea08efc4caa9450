"""Cells of the user's own: registered by a call or an entry point, with numbers of Python's."""

from importlib.metadata import EntryPoint

import pytest
import torch

import rnnbounds
from rnnbounds.impl.cells import table
from rnnbounds.impl.cells.table import CELLS, register, register_installed
from rnnbounds.impl.errors import InputError
from rnnbounds.impl.norms.state_norms import NORMS


class Numbers(rnnbounds.ProgramCell):
    """h⁺ = 0.75 h + (1 − 0.75) tanh(W h + U x), with numbers on either side."""

    reads = "U"

    def program(self, m, s, x):
        moved = (m.affine("W", None, s) + m.affine("U", None, x)).tanh()
        return 0.75 * s + moved * (1 - 0.75) + 2 * (0.5 - s + s - 0.5) * 0


class Vectors(rnnbounds.ProgramCell):
    """The same with vectors of parameters."""

    reads = "U"

    def program(self, m, s, x):
        moved = (m.affine("W", None, s) + m.affine("U", None, x)).tanh()
        return m.vector("keep") * s + m.vector("rest") * moved


SHAPES = {"W": "n n", "U": "n d"}
NUMBERS = rnnbounds.program_kind("numbers", Numbers, rnnbounds.fixed(SHAPES))
FURTHER = {"keep": "n", "rest": "n"}
VECTORS = rnnbounds.program_kind("vectors", Vectors, rnnbounds.fixed(SHAPES | FURTHER))


@pytest.fixture(autouse=True)
def table_as_it_was(monkeypatch):
    """What a test registers is gone after it."""
    monkeypatch.setattr(table, "CELLS", dict(CELLS))
    for name in (
        "rnnbounds.impl.reading.recognition.recognise",
        "rnnbounds.impl.reading.recognition.misfit",
        "rnnbounds.impl.certificate.certify",
    ):
        monkeypatch.setattr(f"{name}.CELLS", table.CELLS)


@pytest.fixture
def weights():
    """Three units, two inputs."""
    generator = torch.Generator().manual_seed(0)
    W, U = (torch.randn(3, size, generator=generator).double() / 8 for size in (3, 2))
    return {"W": W, "U": U}


def test_a_registered_cell(weights):
    """It is recognised by its names, certified and truncated; numbers are what vectors are."""
    rnnbounds.register(NUMBERS, VECTORS)
    rnnbounds.register(NUMBERS)
    told = {"keep": torch.full((3,), 0.75).double(), "rest": torch.full((3,), 0.25).double()}
    found = rnnbounds.certify(weights, inputs=1.0)
    other = rnnbounds.certify(weights | told, inputs=1.0)
    assert (found.cell, other.cell) == ("numbers", "vectors")
    assert found.verdict == other.verdict == "certified"
    assert found.lam == pytest.approx(other.lam, rel=1e-12)
    module = rnnbounds.truncate(weights, eps=1e-3, inputs=1.0).module.float()
    whole = type(module)(dict(module.named_parameters()), cell="numbers", k=60)
    x = torch.nn.functional.normalize(torch.randn(2, 60, 2), dim=2)
    with torch.no_grad():
        assert float((whole(x) - module(x)).norm(dim=2).max()) <= 1e-3


@pytest.mark.parametrize(
    ("kind", "error", "told"),
    [
        (3, InputError, "int is no kind of cell; register what program_kind returns"),
        (rnnbounds.program_kind("lstm", Numbers, NUMBERS.layout), InputError, "'lstm'"),
        (rnnbounds.program_kind("stack", Numbers, NUMBERS.layout), InputError, "for stacks"),
        (
            rnnbounds.program_kind("own", Numbers, NUMBERS.layout, ("own",)),
            InputError,
            "is unknown",
        ),
    ],
)
def test_what_is_refused(kind, error, told):
    """Nothing of it is registered."""
    before = dict(table.CELLS)
    with pytest.raises(error, match=told):
        register(NUMBERS, kind)
    assert before == table.CELLS
    assert "spectral" in NORMS


def test_entry_points(monkeypatch):
    """Kinds that are installed, one or several; one that fails is named."""
    here = __name__ if "." not in __name__ else __name__.rpartition(".")[2]

    def installed(value):
        point = EntryPoint("mine", value, "rnnbounds.cells")
        monkeypatch.setattr(table, "entry_points", lambda group: [point])
        return point

    point = installed(f"{here}:NUMBERS")
    monkeypatch.setattr(EntryPoint, "load", lambda self: (NUMBERS, VECTORS))
    register_installed()
    assert table.CELLS["vectors"] is VECTORS
    assert point.group == "rnnbounds.cells"
    monkeypatch.undo()
    installed("nowhere.at.all:KIND")
    with pytest.raises(InputError, match=r"point mine of rnnbounds.cells fails \(Module.*correct"):
        register_installed()
