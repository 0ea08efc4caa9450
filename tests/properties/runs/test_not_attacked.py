"""A cell that is read but not drawn is *not attacked*: nothing is known of it, nothing missing."""

from dataclasses import replace

import pytest
from msgspec.structs import replace as replace_record

from rnnbounds.impl.cells.table import CELLS
from rnnbounds.properties.runs.matrix import UNDRAWN_REASON, build_matrix
from rnnbounds.properties.systems import columns as columns_module
from rnnbounds.properties.systems.columns import column_name, drawn_cells
from rnnbounds.reports.pages.run.summary import entry_text as tooltip
from rnnbounds.reports.records.checks.tally import Tally
from rnnbounds.reports.records.matrix import Entry, Matrix, matrix_problems
from rnnbounds.theory import CLAIMS, claim


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> Matrix:
    """The matrix of all claims with a cell that is registered and no more, nothing judged."""
    kept = replace(CELLS["gru-cho"], name="kept")
    monkeypatch.setattr(columns_module, "CELLS", {**CELLS, "kept": kept})
    return build_matrix(CLAIMS, {}, {})


def test_a_cell_that_is_not_drawn(bare: Matrix) -> None:
    """A cell ruled out by an assumption or for want of a state stays so, and no other does."""
    standing = {entry.claim: entry for entry in bare.entries if entry.column == "kept"}
    assert standing.keys() == {one.id for one in CLAIMS}
    for id, entry in standing.items():
        assert entry.standing in ("NOT ATTACKED", "NOT APPLICABLE"), id
    assert (standing["truncation"].standing, standing["truncation"].reason) == (
        "NOT ATTACKED",
        UNDRAWN_REASON,
    )
    assert standing["contraction-lstm"].standing == "NOT APPLICABLE"
    assert matrix_problems(bare, tuple(one.id for one in CLAIMS)) == []


def test_it_has_words_of_its_own(bare: Matrix) -> None:
    """In the table, on the page and in the record."""
    entry = bare.rows["truncation"]["kept"]
    assert entry.words == entry.short == "not attacked"
    (column,) = (c for c in bare.columns if c.name == "kept")
    assert "not attacked" in tooltip(entry, column)


def test_what_is_proved_of_any_output_but_shown_to_some(bare: Matrix) -> None:
    """The constants of the loss: proved for every cell, attacked on vanilla ones."""
    row = bare.rows["loss-constants"]
    assert row["lstm"].standing == "NOT ATTACKED"
    assert row["rnn-smooth"].standing == "NOT TESTED"


def test_it_counts_nothing() -> None:
    """An entry with counts was attacked; and one must say why it was not."""
    entry = Entry(claim="truncation", column="kept", standing="NOT ATTACKED", reason=UNDRAWN_REASON)
    counted = replace_record(entry, tallies={"kept": Tally(holds=1)})
    dumb = replace_record(entry, reason="")
    for wrong, said in ((counted, "against its own counts"), (dumb, "does not say why")):
        (problem,) = matrix_problems(Matrix(columns=(), entries=(wrong,)), ())
        assert said in problem


def test_every_column_of_today_is_drawn() -> None:
    """No cell of today waits for its attack; not even one of those that share a column."""
    assert set(CELLS) <= set(drawn_cells())
    assert {column_name(cell) for cell in CELLS} <= {column_name(cell) for cell in drawn_cells()}
    assert claim("truncation").id == "truncation"
