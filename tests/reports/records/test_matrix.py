"""The matrix: no blank, no entry against its own counts, and all of it on the page."""

import pytest
from msgspec.structs import replace

from rnnbounds.reports import Tally, decode, encode, run_problems
from rnnbounds.reports.pages.page import render_run
from rnnbounds.reports.pages.run.summary import entry_text
from rnnbounds.reports.records.matrix import Column, Entry, Matrix, matrix_problems

NAMES = ("state-bound", "truncation", "instability")
COLUMNS = (
    Column(name="linear", title="linear", cells=("linear",)),
    Column(name="rnn-smooth", title="RNN, smooth ρ", cells=("rnn-tanh", "rnn-erf")),
)
HOSTILE = "<script>alert(1)</script>\"'{{7*7}}"


def entry(claim: str, column: str, **fields) -> Entry:
    """An entry that holds, unless the fields say otherwise."""
    cell = {"rnn-smooth": "rnn-tanh"}.get(column, column)
    held = {"standing": "HOLDS", "forms": ("finite",), "tallies": {cell: Tally(holds=1234)}}
    return Entry(claim=claim, column=column, **(held | fields))


@pytest.fixture
def matrix(run) -> Matrix:
    """Three claims on two columns: four hold, one is not applicable, one not yet proved."""
    found = {(claim, c.name): entry(claim, c.name) for claim in NAMES for c in COLUMNS}
    nothing = {"forms": (), "tallies": {}}
    found["truncation", "rnn-smooth"] = entry(
        "truncation", "rnn-smooth", standing="NOT YET PROVED", reason="nobody did", **nothing
    )
    found["instability", "rnn-smooth"] = entry(
        "instability", "rnn-smooth", standing="NOT APPLICABLE", reason="φ is linear", **nothing
    )
    for claim in run.claims:  # the counts of a claim are those of its entries together
        there = found[claim.id, "rnn-smooth"].tally
        rest = replace(claim.tally, holds=claim.tally.holds - there.holds)
        found[claim.id, "linear"] = entry(claim.id, "linear", tallies={"linear": rest})
    return Matrix(columns=COLUMNS, entries=tuple(found.values()))


def changed(matrix: Matrix, i: int, **fields) -> Matrix:
    """The matrix with other fields in one entry."""
    entries = list(matrix.entries)
    entries[i] = replace(entries[i], **fields)
    return replace(matrix, entries=tuple(entries))


def test_a_run_keeps_its_matrix(run, matrix):
    """It reads back as it was written, passes, and a record without one is read as well."""
    whole = replace(run, matrix=matrix)
    assert decode(encode(whole)) == whole
    assert run_problems(whole) == []
    older = encode(run).replace(b',\n "matrix": null', b"")
    assert older != encode(run)
    assert decode(older) == run


def test_every_blank_is_a_problem(run, matrix):
    """Each entry in turn is missed by its claim and column."""
    for i, missing in enumerate(matrix.entries):
        fewer = replace(matrix, entries=matrix.entries[:i] + matrix.entries[i + 1 :])
        (line,) = run_problems(replace(run, matrix=fewer))
        assert line == f"the matrix has no entry for {missing.claim} on {missing.column}"
        assert "missing" in render_run(replace(run, matrix=fewer)).decode()
    assert len(matrix_problems(replace(matrix, entries=()), NAMES)) == 6


@pytest.mark.parametrize(
    "tally", [Tally(), Tally(vacuous=3), Tally(holds=5, violated=1), Tally(holds=5, undecided=1)]
)
def test_an_entry_cannot_hold_against_its_counts(matrix, tally):
    """Nothing judged, or anything but HOLDS, and the entry is a contradiction."""
    for standing in ("HOLDS", "ARGUED"):
        bad = changed(matrix, 1, standing=standing, tallies={"rnn-tanh": tally})
        (line,) = matrix_problems(bad, NAMES)
        assert "against its own counts" in line


def test_why_must_be_said(matrix):
    """What does not hold says which assumption fails, or what is missing."""
    for i in (3, 5):
        (line,) = matrix_problems(changed(matrix, i, reason=""), NAMES)
        assert line.endswith("does not say why")


def test_hostile_text_stays_text(run, matrix):
    """Names, titles and reasons of a record are escaped."""
    column = Column(name=HOSTILE, title=HOSTILE, cells=(HOSTILE, HOSTILE))
    bad = entry(HOSTILE, HOSTILE, standing="NOT APPLICABLE", reason=HOSTILE)
    page = render_run(replace(run, matrix=Matrix(columns=(column,), entries=(bad,)))).decode()
    assert page.count("<script") == 1
    assert "{{7*7}}" in page


def test_cells_without_a_judged_check_are_told(matrix):
    """A cell whose systems met no assumption does not hide behind another of its column."""
    both = {"rnn-tanh": Tally(holds=2), "rnn-erf": Tally(vacuous=7)}
    told = entry_text(entry("truncation", "rnn-smooth", tallies=both), COLUMNS[1])
    assert told == "holds, checks that hold: rnn-tanh 2 of 2; only vacuous: rnn-erf"
