"""Layouts, and cells of the user's own: registered by a call or an entry point."""

from importlib.metadata import EntryPoint

import pytest
import torch

import rnnbounds
from rnnbounds.impl.cells import table
from rnnbounds.impl.cells.kind import Layout, Sizes
from rnnbounds.impl.cells.table import CELLS, register, register_installed
from rnnbounds.impl.errors import InputError, ShapeError
from rnnbounds.impl.norms.state_norms import NORMS


class Numbers(rnnbounds.cells.ProgramCell):
    """h⁺ = 0.75 h + (1 − 0.75) tanh(W h + U x), with numbers on either side."""

    reads = "U"

    def program(self, m, s, x):
        moved = (m.affine("W", None, s) + m.affine("U", None, x)).tanh()
        return 0.75 * s + moved * (1 - 0.75) + 2 * (0.5 - s + s - 0.5) * 0


class Vectors(rnnbounds.cells.ProgramCell):
    """The same with vectors of parameters."""

    reads = "U"

    def program(self, m, s, x):
        moved = (m.affine("W", None, s) + m.affine("U", None, x)).tanh()
        return m.vector("keep") * s + m.vector("rest") * moved


SHAPES = {"W": "n n", "U": "n d"}
NUMBERS = rnnbounds.cells.program_kind("numbers", Numbers, rnnbounds.cells.fixed(SHAPES))
FURTHER = {"keep": "n", "rest": "n"}
VECTORS = rnnbounds.cells.program_kind("vectors", Vectors, rnnbounds.cells.fixed(SHAPES | FURTHER))


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
    rnnbounds.cells.register(NUMBERS, VECTORS)
    rnnbounds.cells.register(NUMBERS)
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
        (rnnbounds.cells.program_kind("lstm", Numbers, NUMBERS.layout), InputError, "'lstm'"),
        (rnnbounds.cells.program_kind("stack", Numbers, NUMBERS.layout), InputError, "for stacks"),
        (
            rnnbounds.cells.program_kind("own", Numbers, NUMBERS.layout, ("own",)),
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


CELL = Layout({"R": "p n", "W": "4n p", "U": "4n d", "b": "4n", "gain": "2"}, ("b",), "n+p", "p")


def zeros(**shapes: tuple[int, ...]) -> dict[str, torch.Tensor]:
    """Zeros of those shapes, where they differ from a good cell."""
    good = {"R": (2, 3), "W": (12, 2), "U": (12, 5), "b": (12,), "gain": (2,)}
    return {name: torch.zeros(shape) for name, shape in (good | shapes).items()}


@pytest.mark.parametrize(
    ("name", "shape", "needed"),
    [
        ("R", (2, 3, 1), r"\(p, n\) with p ≥ 1 and n ≥ 1"),
        ("R", (0, 3), r"\(p, n\) with p ≥ 1 and n ≥ 1"),
        ("W", (12, 3), r"\(12, 2\)"),
        ("U", (12, 0), r"\(12, d\) with d ≥ 1"),
        ("U", (11, 5), r"\(12, d\) with d ≥ 1"),
        ("b", (3,), r"\(12,\)"),
        ("gain", (3,), r"\(2,\)"),
    ],
)
def test_misfits(name, shape, needed):
    """What does not fit is named, with the numbers that are already known; a symbol that is only
    seen four times over must be a fourth."""
    found = zeros(**{name: shape})
    with pytest.raises(ShapeError, match=f"{name} has shape .* but {needed} is needed"):
        CELL.sizes(found)
    assert CELL.count_fitting(found) == list(CELL.shapes).index(name)
    layout = Layout({"b": "4n", "U": "n d"})
    assert layout.sizes({"b": torch.zeros(8), "U": torch.zeros(2, 1)}) == Sizes(2, 1, 2)
    with pytest.raises(ShapeError, match=r"\(4n,\) with n ≥ 1"):
        layout.sizes({"b": torch.zeros(7), "U": torch.zeros(2, 1)})
