"""``claims --matrix``."""

import json

import pytest
from msgspec.structs import replace

from rnnbounds.commands.proofs import prove as proofs
from rnnbounds.properties.runs.matrix import build_matrix
from rnnbounds.properties.runs.probe import probe
from rnnbounds.properties.systems.batch import build_batch
from rnnbounds.reports import LedgerRecord, encode, load
from rnnbounds.reports.records.matrix import matrix_problems
from rnnbounds.theory import CLAIMS, claim

FEW = ("contraction-rnn", "contraction-linear", "certified-norm")


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


@pytest.fixture
def few(monkeypatch):
    """A few claims in the place of all."""
    monkeypatch.setattr(proofs, "chosen_claims", lambda ids: [claim(id) for id in FEW])


@pytest.mark.slow
def test_the_matrix_as_text(call, few):
    """Within 120 columns, a row for each claim in each block, and every reason below by number."""
    outcome = call("claims", "--matrix", "--now", "-n", 0)
    assert (outcome.code, outcome.err) == (0, "")
    lines = [line.rstrip() for line in outcome.out.splitlines()]
    assert max(map(len, lines)) <= 120
    blocks = sum(line.startswith("claim ") for line in lines)
    assert blocks > 1
    for id in FEW:
        assert sum(line.startswith(f"{id} ") for line in lines) == blocks
    row = next(line.split() for line in lines if line.startswith("contraction-rnn "))
    assert row[1:4] == ["holds"] * 3
    assert row[4:6] == ["n/a", "[1]"]
    assert "[1] φ(h, x) = ρ(W h + U x + b), with ρ from the table of activations" in outcome.out
    assert "RNN, kinked ρ: rnn-relu, rnn-leaky-relu" in lines


@pytest.mark.slow
def test_the_matrix_as_a_document(call, monkeypatch):
    """Columns, and an entry for each claim and column with its tallies or its reason."""
    monkeypatch.setattr(proofs, "chosen_claims", lambda ids: [claim(id) for id in FEW[:1]])
    document = call("claims", "--matrix", "--now", "-n", 0, "--format", "json").json
    assert set(document) == {"columns", "entries"}
    assert len(document["entries"]) == len(document["columns"])
    first = document["entries"][0]
    assert (first["claim"], first["column"], first["standing"]) == (FEW[0], "linear", "HOLDS")
    assert first["tallies"]["linear"]["holds"] > 0
    for entry in document["entries"]:
        assert (entry["standing"] == "HOLDS") is bool(entry["forms"])
        assert (entry["standing"] == "HOLDS") is not bool(entry["reason"])


# One of each set of kinds: claims about the same kinds are probed on the same systems.
EACH = {frozenset(form.about for form in one.forms): one for one in reversed(CLAIMS)}


@pytest.fixture(scope="module")
def built():
    """Each system is built once, whichever claims are probed on it."""
    known = {}

    def once(spec):
        if spec.text not in known:
            known[spec.text] = build_batch(spec)
        return known[spec.text]

    return once


@pytest.mark.slow
@pytest.mark.parametrize("entry", EACH.values(), ids=lambda entry: entry.id)
def test_every_claim_on_all_cells(entry, built, monkeypatch):
    """No blank, nothing untested, and nothing against any claim, all of which are proved."""
    monkeypatch.setattr("rnnbounds.properties.runs.probe.build_batch", built)
    proved = [
        LedgerRecord(form=form.name, steps=(), axioms=(), proved=True) for form in entry.forms
    ]
    found = build_matrix([entry], {entry.id: probe(entry)}, {entry.id: proved})
    assert matrix_problems(found, (entry.id,)) == []
    standings = {told.standing for told in found.entries}
    assert standings <= {"HOLDS", "NOT APPLICABLE", "NOT YET PROVED", "NOT ATTACKED"}


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
