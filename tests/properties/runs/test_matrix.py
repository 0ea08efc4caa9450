"""The matrix of claims and cells: no blank, and nothing holds but what was judged and proved."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import pytest
from msgspec.structs import replace as replace_record

from rnnbounds.properties.judging.evidence import CellEvidence, Evidence
from rnnbounds.properties.runs.matrix import build_matrix, matrix_entry, unattacked_standing
from rnnbounds.properties.runs.probe import probe_matrix, probe_specs
from rnnbounds.properties.systems.columns import COLUMNS, cell_name, cells_of_kind, column_name
from rnnbounds.properties.systems.columns import matrix_columns as all_columns
from rnnbounds.properties.systems.kind import NO_CELL
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.table import FAMILIES, make_spec
from rnnbounds.reports.records.ledger import LedgerRecord
from rnnbounds.reports.records.matrix import Column, Matrix, matrix_problems
from rnnbounds.reports.records.record import Tally
from rnnbounds.theory import CLAIMS, claim
from rnnbounds.theory.proof.claim import Claim

TRUNCATION = claim("truncation")
IDS = tuple(matrix_entry.id for matrix_entry in CLAIMS)
PROVED = LedgerRecord(form="finite", steps=(), axioms=(), proved=True)
FAILED = replace_record(PROVED, proved=False)


def unanswered(cells: Iterable[str]) -> list[str]:
    """Sentences that a new cell must state."""
    return [
        f"give some kind of system the column of the cell {cell!r}: its title,"
        " and which of the assumptions that tie claims to cells it meets"
        for cell in cells
        if column_name(cell) not in COLUMNS
    ]


def seen(form: str = "finite", **cells: Tally) -> dict[str, Evidence]:
    """Evidence of one form of the truncation, by cell with _ for -."""
    found = Evidence.empty(TRUNCATION, TRUNCATION.form(form))
    for name, tally in cells.items():
        vacuous = {"contractive": 1, "finite lam": tally.vacuous - 1}
        vacuous = {reason: count for reason, count in vacuous.items() if tally.vacuous and count}
        found.add_cell_counts({name.replace("_", "-"): CellEvidence(tally, vacuous)})
    return {form: found}


def standings(claims: Sequence[Claim], found: Matrix) -> dict[str, list[str]]:
    """The columns of one claim by standing."""
    (one,) = claims
    by: dict[str, list[str]] = {}
    for column, there in found.rows[one.id].items():
        by.setdefault(there.standing, []).append(column)
    return by


def column(name: str) -> Column:
    """The column of that name."""
    return next(c for c in all_columns() if c.name == name)


def test_everything_registered_has_an_answer() -> None:
    """Each cell has its column."""
    cells = [cell for c in all_columns() for cell in c.cells]
    assert unanswered(cells) == []
    met = {id for meets in COLUMNS.values() for id in meets.assumptions}
    forms = [form for one in CLAIMS for form in one.forms]
    assert met == {a.id for form in forms for a in form.assumptions if a.ties}


def test_what_is_new_must_say_what_to_add() -> None:
    """A cell that nobody entered is asked for by name."""
    (asked,) = unanswered(["hopfield-net"])
    assert "column of the cell 'hopfield-net'" in asked


def test_no_blank() -> None:
    """Every claim has an entry on every column, with its reason; without evidence nothing holds."""
    bare = build_matrix(CLAIMS, {}, {})
    assert matrix_problems(bare, IDS) == []
    assert len(bare.entries) == len(CLAIMS) * len(bare.columns)
    standing = {found.standing for found in bare.entries}
    assert standing == {"NOT TESTED", "NOT APPLICABLE", "NOT YET PROVED", "NOT ATTACKED"}
    assert {cell for c in bare.columns for cell in c.cells} >= {"linear", "rnn-tanh", "lstm"}


def test_a_new_cell_and_a_new_claim_are_no_blank_either() -> None:
    """Before anybody enters them, a cell may contract, and a claim may speak of it."""
    found = {"truncation": seen(hopfield=Tally(holds=1))}
    there = build_matrix(
        [TRUNCATION, replace(TRUNCATION, id="new")], found, {"truncation": [PROVED]}
    )
    assert [c.name for c in there.columns][-2:] == ["hopfield", NO_CELL]
    assert there.rows["truncation"]["hopfield"].standing == "HOLDS"
    assert there.rows["new"]["hopfield"].standing == "NOT ATTACKED"


@pytest.mark.parametrize(
    ("spec", "cell", "name"),
    [
        (make_spec(kind="linear"), "linear", "linear"),
        (make_spec(kind="rnn", activation="identity"), "linear", "linear"),
        (make_spec(kind="gradient", activation="tanh"), "rnn-tanh", "rnn-smooth"),
        (make_spec(activation="softplus-torch"), "rnn-softplus-torch", "rnn-smooth"),
        (make_spec(kind="unitary"), "rnn-relu", "rnn-kinked"),
        (make_spec(kind="urnn", activation="leaky-relu"), "rnn-leaky-relu", "rnn-kinked"),
        (make_spec(kind="gru-cho"), "gru-cho", "gru-cho"),
        (make_spec(kind="layered", layers=2), "deep-tanh", "deep"),
        (make_spec(kind="layered", layers=1), "rnn-tanh", "rnn-smooth"),
        (make_spec(kind="matrix"), NO_CELL, NO_CELL),
        (make_spec(kind="quadratic"), NO_CELL, NO_CELL),
    ],
)
def test_the_cell_of_a_system(spec: SystemSpec, cell: str, name: str) -> None:
    """By its kind, or by its activation, as the command line names cells."""
    assert cell_name(spec) == cell
    assert column_name(cell) == name
    assert cell in cells_of_kind(spec.kind) or spec.activation == "softplus-torch"


def test_kinds_that_name_their_cell_in_the_regime() -> None:
    """A kind for several architectures tells them by its regime; a family is all its kinds."""
    for name in cells_of_kind("monotone"):
        assert cell_name(make_spec(kind="monotone", regime=name)) == name
    assert {"lstm", "gru", "gru-cho"} <= set(cells_of_kind("cell"))


@pytest.mark.parametrize(
    ("tally", "ledgers", "standing"),
    [
        (Tally(holds=2, vacuous=3), (PROVED,), "HOLDS"),
        (Tally(holds=2), (), "NOT PROVED"),
        (Tally(holds=2), (FAILED,), "NOT PROVED"),
        (Tally(holds=9, violated=1, undecided=1), (PROVED,), "VIOLATED"),
        (Tally(holds=9, undecided=1), (PROVED,), "UNDECIDED"),
        (Tally(vacuous=5), (PROVED,), "NOT YET PROVED"),
        (Tally(), (PROVED,), "NOT TESTED"),
    ],
)
def test_what_was_judged_decides(tally: Tally, ledgers: tuple, standing: str) -> None:
    """One check against it outweighs all that hold; without a proof nothing holds."""
    found = matrix_entry(TRUNCATION, column("rnn-smooth"), seen(rnn_tanh=tally), ledgers)
    assert found.standing == standing
    assert found.tally == tally
    assert found.forms == (("finite",) if tally.holds else ())
    elsewhere = matrix_entry(TRUNCATION, column("linear"), seen(rnn_tanh=tally), ledgers)
    assert elsewhere.standing == "NOT TESTED"


def test_why_every_check_was_vacuous() -> None:
    """For want of a constant where assumptions were met; else by what was drawn, or by the cell."""
    numbers, drawn = (seen(rnn_tanh=Tally(vacuous=n)) for n in (2, 1))
    found = matrix_entry(TRUNCATION, column("rnn-smooth"), numbers, (PROVED,))
    assert (found.standing, found.reason[:26]) == ("NOT YET PROVED", "no finite lam is computed:")
    found = matrix_entry(TRUNCATION, column("rnn-smooth"), drawn, (PROVED,))
    assert (found.standing, found.reason) == ("NOT TESTED", "no drawn system meets it: λ < 1")
    gap = claim("gradient-gap")
    kinked = Evidence.empty(gap, gap.forms[0])
    kinked.add_cell_counts({"rnn-relu": CellEvidence(Tally(vacuous=1), {"finite beta_hh": 1})})
    found = matrix_entry(gap, column("rnn-kinked"), {gap.forms[0].name: kinked}, (PROVED,))
    assert found.standing == "NOT APPLICABLE"
    assert "φ is smooth" in found.reason


@pytest.mark.parametrize(
    ("id", "name", "standing", "reason"),
    [
        ("contraction-lstm", "gru", "NOT APPLICABLE", "c⁺ = f∘c + i∘g"),
        ("contraction-weighted", "lstm", "NOT APPLICABLE", "φ(h, x) = ρ(W h + U x + b)"),
        ("certified-norm", "lstm", "NOT APPLICABLE", "the claim is about a matrix alone"),
        ("truncation", NO_CELL, "NOT APPLICABLE", "not a matrix alone"),
        ("gradient-gap", "leaky", "NOT YET PROVED", "no form"),
        ("rounding-state", "lstm", "NOT YET PROVED", "rounding"),
        ("rounding-state", "tcn", "NOT APPLICABLE", "φ(h, x) = ρ(W h + U x + b)"),
        ("truncation", "wavenet", "NOT APPLICABLE", "φ is λ-Lipschitz"),
        ("urnn-sigmoid", "linear", "NOT APPLICABLE", "it is the sigmoid"),
        ("truncation", "rnn-smooth", "NOT TESTED", ""),
        ("weight-gap", "rnn-kinked", "NOT APPLICABLE", "φ is smooth"),
        ("end-to-end", "rnn-kinked", "NOT APPLICABLE", "φ is smooth"),
    ],
)
def test_assumptions_decide_where_nothing_was_judged(
    id: str, name: str, standing: str, reason: str
) -> None:
    """The first that the cell does not meet, what is missing, or that the run did not look."""
    one = claim(id)
    vanilla = replace(one, forms=tuple(form for form in one.forms if form.about not in FAMILIES))
    found, why = unattacked_standing(vanilla, name)
    assert (found, reason in why) == (standing, True)


@pytest.mark.slow
def test_a_probe_looks_at_every_cell_of_a_claim() -> None:
    """Nothing is left untested, the same at every call, and each activation is among it."""
    heard: list[str] = []
    one = [claim("contraction-rnn")]
    found = probe_matrix(one, 0, heard.append)
    assert heard == ["contraction-rnn"]
    assert standings(one, found)["HOLDS"] == ["linear", "rnn-smooth", "rnn-kinked"]
    assert "NOT TESTED" not in standings(one, found)
    assert set(found.rows["contraction-rnn"]["rnn-smooth"].tallies) >= {"rnn-tanh", "rnn-arctan"}
    assert probe_matrix(one, 1, heard.append) == found


@pytest.mark.parametrize("kind", ["gradient", "urnn", "sigmoid", "matrix", "descent", "lstm"])
def test_specs_about_are_of_the_kind(kind: str) -> None:
    """Every cell that a kind can be, and no more than a few systems of each."""
    specs = list(probe_specs(kind))
    assert {cell_name(spec) for spec in specs} >= set(cells_of_kind(kind)) - {"rnn-softplus-torch"}
    assert len(specs) < 100
