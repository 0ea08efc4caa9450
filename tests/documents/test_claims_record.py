"""The record of the claims that the package carries says what the code says.

``python tests/documents/test_claims_record.py report/run.json`` writes it anew, from the record of
a run; without a record, the texts alone: titles, sources, assumptions and reasons.
"""

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs

import rnnbounds.theory.proof.methods.base as methods
import rnnbounds.theory.proof.proof as proofs
from rnnbounds import disk
from rnnbounds.cli import main
from rnnbounds.commands.proofs.prove import claim_row
from rnnbounds.properties.attacks.budget import PROFILES
from rnnbounds.properties.runs.matrix import unattacked_standing
from rnnbounds.properties.runs.parts import ledger_records
from rnnbounds.properties.systems.columns import matrix_columns
from rnnbounds.reports import load, run_problems
from rnnbounds.reports.table import TABLE_FILE, build_table, encode_table, packaged_table
from rnnbounds.theory import CLAIMS
from rnnbounds.theory.proof.claim import Claim
from rnnbounds.theory.proof.foundations.basis import BasisKind, basis

ATTACKS = ("random", "targeted", "gradient", "extremal")
STANDINGS = {"HOLDS", "ARGUED", "NOT APPLICABLE", "NOT YET PROVED", "NOT ATTACKED"}


def test_every_claim_in_order():
    """No claim more or less."""
    assert [row.id for row in packaged_table().claims] == [claim.id for claim in CLAIMS]


@pytest.fixture
def believed(monkeypatch: pytest.MonkeyPatch):
    """Every step of a machine passes: the proofs are run by the tests of theory."""

    def forget() -> None:
        proofs.check.cache_clear()
        proofs.scopes_of.cache_clear()

    kinds = [methods.Method]
    for kind in kinds:
        kinds += kind.__subclasses__()
        if "prove" in vars(kind):
            monkeypatch.setattr(kind, "prove", lambda *_: "")
    forget()
    yield
    forget()


@pytest.mark.slow
@pytest.mark.usefixtures("believed")
@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_a_claim_is_told_as_it_is_stated_and_proved(claim: Claim):
    """Title, source, statement, assumptions, false variants; steps, axioms and what is in prose."""
    told = next(row for row in packaged_table().claims if row.id == claim.id)
    now = claim_row(claim, ledger_records(claim))
    now = structs.replace(now, proof=structs.replace(now.proof, forms=told.proof.forms))
    names = [name for name in now.__struct_fields__ if name != "tightest"]
    assert {n: getattr(told, n) for n in names} == {n: getattr(now, n) for n in names}
    assert told.tightest is None or told.tightest.attack in ATTACKS


def test_a_form_is_told_by_what_it_rests_on():
    """Each form of each claim, as the theory has it now: no proof needs to be run for that."""
    told = {row.id: row.proof.forms for row in packaged_table().claims}
    assert told == {claim.id: resting(claim) for claim in CLAIMS}


def resting(claim: Claim) -> dict[str, BasisKind]:
    """What each form of a claim rests on."""
    return {form.name: basis(form).kind for form in claim.forms}


def test_every_entry_of_the_matrix():
    """One for each claim and cell of today, none that fails, and none on a cell out of reach."""
    matrix = packaged_table().matrix
    found = {c.name: set(c.cells) for c in matrix.columns}  # with what was drawn besides
    assert found == {c.name: found[c.name] | set(c.cells) for c in matrix_columns()}
    places = [(entry.claim, entry.column) for entry in matrix.entries]
    assert places == [(claim.id, column.name) for claim in CLAIMS for column in matrix.columns]
    assert {entry.standing for entry in matrix.entries} <= STANDINGS
    claims = {claim.id: claim for claim in CLAIMS}
    for entry in matrix.entries:
        claim = claims[entry.claim]
        assert set(entry.forms) <= {form.name for form in claim.forms}
        if not entry.tallies:
            assert (entry.standing, entry.reason) == unattacked_standing(claim, entry.column)


def test_no_part_of_a_run_is_carried(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The record of one claim would take the others away: the file stays as it is."""
    place = tmp_path / "claims.json"
    place.write_bytes(TABLE_FILE.read_bytes())
    monkeypatch.setitem(globals(), "TABLE_FILE", place)
    budget = replace(PROFILES["quick"], random=2, targeted=1, batch=4, sequences=2)
    monkeypatch.setitem(PROFILES, "quick", budget)
    one = ("certified-norm", "-n", "0", "--attacks", "random", "--out", str(tmp_path))
    assert main(["verify", *one]) == 0
    before = place.read_bytes()
    with pytest.raises(SystemExit, match="it is not of all claims"):
        write(tmp_path / "run.json")
    assert place.read_bytes() == before


def write(record: Path) -> None:
    """Carry the table of a whole run that holds; else SystemExit."""
    run = load(record)
    found = run_problems(run)
    if {claim.id for claim in run.claims} != {claim.id for claim in CLAIMS}:
        found.append("it is not of all claims")
    if found:
        raise SystemExit(f"{record}: {found[0]}; write the run of all claims again")
    needs = {claim.id: claim_row(claim, ()).needs for claim in CLAIMS}
    now = build_table(run)
    rows = tuple(structs.replace(row, needs=needs[row.id]) for row in now.claims)
    disk.write({TABLE_FILE: encode_table(structs.replace(now, claims=rows))})


def reword() -> None:
    """Carry the texts of today's claims, and what their forms rest on, with the results of the run
    that is carried."""
    old, claims = packaged_table(), {claim.id: claim for claim in CLAIMS}
    now = [(row, claim_row(claims[row.id], ())) for row in old.claims]
    rows = tuple(
        structs.replace(
            row,
            title=new.title,
            source=new.source,
            needs=new.needs,
            proof=structs.replace(row.proof, forms=resting(claims[row.id])),
        )
        for row, new in now
        if set(row.needs.values()) == set(new.needs.values())
    )
    if len(rows) < len(CLAIMS):
        raise SystemExit("the assumptions are others, and not their texts alone; run all claims")
    entries = tuple(
        entry
        if entry.tallies
        else structs.replace(
            entry, reason=unattacked_standing(claims[entry.claim], entry.column)[1]
        )
        for entry in old.matrix.entries
    )
    matrix = structs.replace(old.matrix, entries=entries)
    disk.write({TABLE_FILE: encode_table(structs.replace(old, claims=rows, matrix=matrix))})


if __name__ == "__main__":
    write(Path(sys.argv[1])) if sys.argv[1:] else reword()
