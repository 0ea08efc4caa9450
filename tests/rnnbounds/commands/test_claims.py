"""``claims`` and ``prove``."""

from pathlib import Path
from shutil import copytree

import pytest

from rnnbounds.commands.proofs import ledgers as module
from rnnbounds.commands.proofs.claims import claim_heads
from rnnbounds.reports.records.codec import load
from rnnbounds.reports.records.record import LedgerRecord, LedgerStep
from rnnbounds.reports.text import ratio_text
from rnnbounds.theory import CLAIMS
from rnnbounds.theory.claims import table
from rnnbounds.theory.language.vocabulary import VOCABULARY


def ledger(*verdicts: str, proved: bool) -> LedgerRecord:
    """A ledger with a step of each verdict."""
    steps = tuple(
        LedgerStep(
            id=f"step {i}", statement="h_gap <= 1", uses=("lemma",), verdict=verdict,
            method="smt", detail="it does not follow",
        )
        for i, verdict in enumerate(verdicts)
    )  # fmt: skip
    return LedgerRecord(form="finite", steps=steps, axioms=(), proved=proved)


@pytest.fixture
def proofs(monkeypatch):
    """Put one ledger in the place of every claim's."""

    def use(found: LedgerRecord) -> None:
        monkeypatch.setattr(module, "ledger_records", lambda entry: (found,))
        monkeypatch.setattr(module, "unused_assumptions", lambda entry: {})

    return use


def test_claims_document(call):
    """[{id, title, source, relation, needs, forms, false_variants}] in reading order; unproved."""
    documents = call("claims", "--format", "json").json
    assert [document["id"] for document in documents] == [claim.id for claim in CLAIMS]
    for document, claim in zip(documents, CLAIMS, strict=True):
        assert document["relation"] == claim.statement.relation
        assert document["false_variants"] == [variant.id for variant in claim.false_variants]
        assert document["forms"] == {form.name: [*form.inclusions] for form in claim.forms}
        needed = {a.id for form in claim.forms for a in form.assumptions}
        assert document["needs"] == sorted(needed)
        assert "proof" not in document


def test_claims_are_listed_as_they_are_stated(call):
    """What is read off the files is what these state, in reading order."""
    assert claim_heads() == [(claim.id, claim.title, claim.source.text) for claim in CLAIMS]
    header, *rows = call("claims").out.splitlines()
    assert header.split() == ["claim", "title", "source"]
    assert [row.split()[0] for row in rows] == [claim.id for claim in CLAIMS]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('id="truncation"', "id=", "truncation.py:{line}: SyntaxError: invalid syntax"),
        ('id="truncation"', 'id="other"', "no file states truncation; restore it"),
    ],
)
def test_a_claim_s_file_that_is_broken_is_no_list(refused, monkeypatch, tmp_path, old, new, said):
    """Nothing is left out in silence, though no file is evaluated."""
    folder = tmp_path / "theory" / "claims"
    copytree(Path(table.__file__).parent, folder)
    (path,) = folder.rglob("truncation.py")
    before, found, after = path.read_text().partition(old)
    assert found
    path.write_text(before + new + after)
    monkeypatch.setattr("rnnbounds.commands.proofs.claims.files", lambda package: tmp_path)
    assert said.format(line=1 + before.count("\n")) in refused("claims")


def test_claims_say_what_is_not_proved(call, proofs):
    """The table shows the state of the proof, and lists nothing as proved that is not."""
    proofs(ledger("failed", proved=False))
    outcome = call("claims", "--now")
    assert outcome.code == 0
    assert outcome.out.count("NOT PROVED; 1 step, ") == len(CLAIMS)


@pytest.mark.parametrize(
    ("found", "code"),
    [
        (ledger("proved", proved=True), 0),
        (ledger("proved", "failed", proved=False), 1),
        (ledger(proved=False), 1),
        (ledger("proved", proved=False), 1),
    ],
)
def test_exit_codes_of_prove(call, proofs, found, code):
    """A failed step and an empty ledger fail."""
    proofs(found)
    outcome = call("prove", "truncation", "--format", "json")
    assert outcome.code == code
    (document,) = outcome.json
    assert document["proved"] is found.proved


def test_the_table_of_a_run(call, record):
    """`claims --run` adds what that run saw: the proof, and how tight the claim was."""
    (claim,) = load(record).claims
    (document,) = call("claims", "--run", record, "--format", "json").json
    (now,) = call("claims", claim.id, "--format", "json").json
    assert {name: document[name] for name in now} == now
    assert document["proof"]["proved"]
    assert document["proof"]["steps"] == sum(len(ledger.steps) for ledger in claim.ledgers)
    assert document["tightest"] == {"ratio": claim.best_ratio, "attack": "random"}
    (_, row) = call("claims", "--run", record).out.splitlines()
    assert f"  {ratio_text(claim.best_ratio)}, random  " in row


def test_the_vocabulary(call, refused):
    """Every quantity with its norm, and what ledgers unfold it to; as text and as JSON: a certified
    constant is an upper bound in both."""
    head, *rows = call("claims", "--vocabulary").out.splitlines()
    assert head.split()[:3] == ["name", "notation", "meaning"]
    assert [row.split()[0] for row in rows] == list(VOCABULARY)
    documents = call("claims", "--vocabulary", "--format", "json").json
    bound = "certified upper bound of the model, not the supremum"
    for row, entry in zip(rows, documents, strict=True):
        assert (entry["role"] == "certified") == (entry["value"] == bound) == (bound in row)
    (gap,) = (entry for entry in documents if entry["name"] == "h_gap")
    assert gap == {
        "name": "h_gap", "notation": "‖h_T-h_T^(k)‖", "latex": r"\lVert h_T-h_T^{(k)}\rVert",
        "meaning": "full against truncated state", "norm": "Euclidean", "role": "measured",
        "value": "measured", "least": 0, "definition": "norm(state(x, 0, T) - state(x, T - k, k))",
        "definition_latex": gap["definition_latex"], "systems": [],
    }  # fmt: skip
    assert "leave out the names" in refused("claims", "truncation", "--vocabulary")
