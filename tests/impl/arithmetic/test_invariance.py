"""Boxes that cells state are proposals: what rests on them is proved."""

import pytest
import torch
from gated_draws import cho, draw, gru, lstm
from program_draws import SAMPLES, cells, inputs

from rnnbounds.impl.arithmetic.base import Arithmetic, V
from rnnbounds.impl.arithmetic.invariance import prove_box
from rnnbounds.impl.cells import table
from rnnbounds.impl.cells.kind import fixed
from rnnbounds.impl.cells.program import ProgramCell, program_kind
from rnnbounds.impl.certificate.certify import certify

SHAPES = {"W_f": "n n", "U_f": "n d", "b_f": "n", "W": "n n", "U": "n d", "b": "n"}


class Janet(ProgramCell):
    """h⁺ = f∘h + (1 − f)∘tanh(W h + U x + b), f = σ(W_f h + U_f x + b_f): |h| ≤ 1."""

    reads = "U"
    size = 1.0

    def program(self, m: Arithmetic[V], s: V, x: V) -> V:
        """One step."""
        f = (m.affine("W_f", None, s) + m.affine("U_f", "b_f", x)).sigmoid()
        return m.mix(f, s, (m.affine("W", None, s) + m.affine("U", "b", x)).tanh())

    def box(self, B):
        """Its size for every unit."""
        return torch.full_like(self.parameters["b"], self.size)


class Small(Janet):
    """The same with a box that is 64 times too small."""

    size = 1 / 64


class Boxless(Janet):
    """The same without a box."""

    box = ProgramCell.box


def known(monkeypatch, make) -> None:
    """The cell under the name `janet`."""
    kind = program_kind("janet", make, fixed(SHAPES))
    monkeypatch.setattr(table, "CELLS", {**table.CELLS, "janet": kind})


def janet(steep: float) -> dict[str, torch.Tensor]:
    """One unit whose forget gate follows its state by so much."""
    one = {"W_f": [[steep]], "U_f": [[0.0]], "b_f": [-2.0], "W": [[0.5]], "U": [[1.0]], "b": [0.0]}
    return {name: torch.tensor(part).double() for name, part in one.items()}


@pytest.mark.slow
def test_a_box_that_is_too_small_certifies_nothing(monkeypatch):
    """A box 64 times too small made λ = 0.73 and k = 2 for ε = 0.01, where runs are 0.47 apart."""
    known(monkeypatch, Small)
    told = certify(janet(2.0), inputs=1.0, cell="janet")
    assert (told.verdict, told.window(1e-2)) == ("undecided", None)
    assert "|s_1| ≤ 0.015625 in it, but one step may lead to 0.6" in told.reason
    assert told.reason == told.to_dict()["reason"]
    gentle = certify(janet(0.25), inputs=1.0, cell="janet")
    assert (gentle.verdict, gentle.witness) == ("undecided", None)


def test_a_cell_without_a_box_is_told_so(monkeypatch):
    """On all of ℝⁿ the gate has no bound: the reason says that a box is missing."""
    known(monkeypatch, Boxless)
    told = certify(janet(0.25), inputs=1.0, cell="janet")
    assert (told.verdict, told.lam) == ("undecided", float("inf"))
    assert "the cell states no box" in told.reason


@pytest.mark.parametrize("name", SAMPLES)
def test_boxes_that_ship_are_proved(name):
    """Every finite bound of today's cells is proved, and hardly any wider than stated."""
    cell = cells(name, 40, seed=11)
    told = cell.proved_box(1.5)
    assert not bool(told.refused.any())
    finite = torch.isfinite(cell.box(1.5))
    assert bool(torch.isfinite(told.box)[finite].all())
    assert bool((told.box <= cell.box(1.5) * (1 + 1e-9))[finite].all())


@pytest.mark.parametrize("name", [*SAMPLES, "lstm", "gru", "cho"])
def test_a_smaller_box_is_refused(name):
    """The test of the test: a quarter of what a run reaches is no box."""
    if name in ("lstm", "gru", "cho"):
        cell = draw({"lstm": lstm, "gru": gru, "cho": cho}[name], 3, systems=20, seed=5)
    else:
        cell = cells(name, 20, seed=5)
    told = cell.proved_box(1.5)
    x = inputs(20, 60, 2, 1.5).mT
    s, most = torch.zeros(20, told.box.shape[1], 1).double(), torch.zeros_like(told.box)
    for t in range(60):
        s = cell.step(s, x[:, :, t : t + 1])
        most = torch.maximum(most, s[:, :, 0].abs())
    assert bool((most <= told.box * (1 + 1e-12)).all())
    again = prove_box(cell.program, cell.parameters, most / 4, 1.5, cell.d)
    assert bool(again.refused.all())
    assert again.reason is not None


def test_a_wrong_box_is_told_although_none_is_needed(monkeypatch):
    """A cell that contracts everywhere, with a false box: not certified until that is mended."""

    class Mistaken(ProgramCell):
        """h⁺ = tanh(W h/2 + U x) on a box that it leaves."""

        reads = "U"

        def program(self, m: Arithmetic[V], s: V, x: V) -> V:
            """One step."""
            return (m.affine("W", None, s) + m.affine("U", None, x)).tanh()

        def box(self, B):
            """Too small."""
            return torch.full((1, 1), 0.1).double()

    kind = program_kind("mistaken", Mistaken, fixed({"W": "n n", "U": "n d"}))
    monkeypatch.setattr(table, "CELLS", {**table.CELLS, "mistaken": kind})
    told = certify({"W": torch.tensor([[0.5]]), "U": torch.ones(1, 1)}, inputs=1.0, cell="mistaken")
    assert told.lam < 0.501
    assert (told.verdict, told.window(1e-2)) == ("undecided", None)
    assert "not proved invariant" in told.reason


def test_nothing_is_proved_of_numbers_that_are_none():
    """NaN, negative sizes and gates outside of [0, 1] hold nothing."""
    cell = cells("leaky-relu", 1)
    for size in (float("nan"), -1.0):
        told = prove_box(cell.program, cell.parameters, torch.full((1, 4), size).double(), 1.0, 2)
        assert not bool(torch.isfinite(told.box).any())

    class Wide(ProgramCell):
        """A mix by a gate of 2, which moves out of what it mixes."""

        reads = "U"

        def program(self, m: Arithmetic[V], s: V, x: V) -> V:
            """One step."""
            return m.mix(m.vector("g"), m.affine("U", None, x), s)

    made = Wide({"g": torch.full((1, 1), 2.0).double(), "U": torch.ones(1, 1, 1).double()})
    assert bool(prove_box(made.program, made.parameters, torch.ones(1, 1).double(), 1.0, 1).refused)
    assert not bool((made.compare_on(torch.ones(1, 1).double(), 1.0).matrices < 1).any())
