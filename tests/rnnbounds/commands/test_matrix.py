"""``claims --matrix``."""

import json

import pytest
from msgspec.structs import replace

from rnnbounds.reports import encode, load


def unproved(run):
    """The run with no ledger that concludes, and what its matrix then says."""
    entries = [
        replace(entry, standing="NOT PROVED") if entry.standing == "HOLDS" else entry
        for entry in run.matrix.entries
    ]
    claims = tuple(
        replace(
            claim, ledgers=tuple(replace(part, proved=False, basis="") for part in claim.ledgers)
        )
        for claim in run.claims
    )
    return replace(run, claims=claims, matrix=replace(run.matrix, entries=tuple(entries)))


def test_an_entry_that_fails_fails_the_command(call, record):
    """The record of a claim without its proof: the matrix says so, exit 1."""
    run = load(record)
    record.write_bytes(encode(unproved(run)))
    outcome = call("claims", "--matrix", "--run", record)
    assert outcome.code == 1
    assert "stands, not proved" in outcome.out


def test_records_without_a_matrix(refused, record):
    """Older records are refused in one line."""
    record.write_bytes(encode(replace(load(record), matrix=None)))
    line = refused("claims", "--matrix", "--run", record)
    assert line.endswith("this record has no matrix; write the run again")


@pytest.mark.parametrize("left", [0, 1])
def test_a_blank_is_named(refused, record, left):
    """Whether nothing is left of the matrix or all but one entry."""
    told = json.loads(record.read_text())
    told["matrix"]["entries"] = told["matrix"]["entries"][:left]
    record.write_text(json.dumps(told))
    for form in ("text", "json"):
        line = refused("claims", "--matrix", "--run", record, "--format", form)
        assert "the matrix has no entry for certified-norm on" in line
        assert line.endswith("; write the run again")
