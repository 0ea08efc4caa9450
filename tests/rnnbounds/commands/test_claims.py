"""``claims`` and ``prove``."""

import re
from collections import Counter

import pytest

from rnnbounds.commands.proofs import prove as module
from rnnbounds.commands.proofs.prove import claim_row
from rnnbounds.reports import load
from rnnbounds.reports.pages.text import ratio_text
from rnnbounds.reports.records.ledger import LedgerRecord, LedgerStep
from rnnbounds.reports.table import Tightest, build_table
from rnnbounds.theory import CLAIMS
from rnnbounds.theory.language.vocabulary import VOCABULARY
from rnnbounds.theory.proof.foundations.basis import basis

STANDS = re.compile(r"  (\d+ )?(derived|inclusion assumed)(, \d+ [a-z ]+)*; \d+ steps?, ")


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
    """[{id, title, source, relation, needs, false_variants, proof}] in reading order."""
    documents = call("claims", "--format", "json").json
    assert [document["id"] for document in documents] == [claim.id for claim in CLAIMS]
    for document, claim in zip(documents, CLAIMS, strict=True):
        assert {"title", "source", "relation", "needs", "false_variants", "proof"} <= set(document)
        assert document["relation"] == claim.statement.relation
        assert document["false_variants"] == [variant.id for variant in claim.false_variants]
        assert {"steps", "axioms"} <= set(document["proof"])
        assert document["proof"]["proved"]


def test_claims_table(call):
    """A line for each claim below the header."""
    outcome = call("claims")
    assert (outcome.code, outcome.err) == (0, "")
    header, *rows = outcome.out.splitlines()
    assert header.split()[:4] == ["claim", "statement", "source", "proof"]
    assert [row.split()[0] for row in rows] == [claim.id for claim in CLAIMS]
    assert all(STANDS.search(row) for row in rows)


def test_tables_say_what_forms_rest_on(call):
    """Text, Markdown and JSON count the forms of each kind; the theory has the same counts."""
    mixed = "3 derived, 8 inclusion assumed, 6 restates; 54 steps"
    assert f" {mixed}, " in call("claims", "certificate").out
    assert f" | {mixed} | " in call("claims", "certificate", "--markdown").out
    documents = call("claims", "--format", "json").json
    forms = [kind for document in documents for kind in document["proof"]["forms"].values()]
    assert len(forms) == sum(len(claim.forms) for claim in CLAIMS)
    found = Counter(basis(form).kind for claim in CLAIMS for form in claim.forms)
    assert Counter(forms) == found


def test_claims_say_what_is_not_proved(call, proofs):
    """The table shows the state of the proof, and lists nothing as proved that is not."""
    proofs(ledger("failed", proved=False))
    outcome = call("claims", "--now")
    assert outcome.code == 0
    assert outcome.out.count("NOT PROVED; 1 step, ") == len(CLAIMS)


@pytest.mark.slow
def test_prove_document(call):
    """[{id, steps: [{statement, method, uses, verdict}], axioms, proved}]."""
    (document,) = call("prove", "state-bound", "--format", "json").json
    assert document["id"] == "state-bound"
    assert document["proved"] is True
    kinds = {form["name"]: (form["basis"], form["presupposed"]) for form in document["forms"]}
    assert kinds == {
        "finite": ("derived", []),
        "uniform": ("derived", []),
        "box": ("inclusion assumed", ["invariant box"]),
    }
    assert document["axioms"] == sorted(set(document["axioms"]))
    for step in document["steps"]:
        assert {"statement", "method", "uses", "verdict"} <= set(step)
        assert step["verdict"] == "proved"


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


def test_prove_says_why(call, proofs):
    """A failed step shows its detail; what a step did not need is listed."""
    proofs(ledger("failed", proved=False))
    out = call("prove", "truncation").out
    assert "truncation (finite): NOT PROVED" in out
    assert "it does not follow" in out
    assert "not needed: contractive" in out


def test_the_table_of_a_run(call, record):
    """`claims --run` tells of that run what `claims` tells of the one that is carried."""
    (row,) = build_table(load(record)).claims
    (document,) = call("claims", "--run", record, "--format", "json").json
    assert (document["id"], document["proof"]["proved"]) == ("certified-norm", True)
    now = claim_row(next(c for c in CLAIMS if c.id == row.id), ())
    assert (row.statement, row.false_variants) == (now.statement, now.false_variants)
    assert list(row.needs) == list(now.needs)
    assert document["needs"] == sorted(set(now.needs.values()))
    assert isinstance(row.tightest, Tightest)
    assert row.reached == f"{ratio_text(row.tightest.ratio)}, random"


def test_claims_answer_without_proving(call, monkeypatch):
    """The table and the matrix come from the record that the package carries."""
    monkeypatch.setattr(module, "ledger_records", None)
    monkeypatch.setattr(module, "probe_matrix", None)
    assert call("claims").code == 0
    assert call("claims", "--matrix").code == 0
    documents = call("claims", "--format", "json").json
    for document, claim in zip(documents, CLAIMS, strict=True):
        needed = {a.id for form in claim.forms for a in form.assumptions}
        assert document["needs"] == sorted(needed)


def test_the_vocabulary(call, refused):
    """Every quantity with its norm, and what ledgers unfold it to; as text and as JSON."""
    head, *rows = call("claims", "--vocabulary").out.splitlines()
    assert head.split()[:3] == ["name", "notation", "meaning"]
    assert [row.split()[0] for row in rows] == list(VOCABULARY)
    documents = call("claims", "--vocabulary", "--format", "json").json
    (gap,) = (entry for entry in documents if entry["name"] == "h_gap")
    assert gap == {
        "name": "h_gap", "notation": "‖h_T-h_T^(k)‖", "latex": r"\lVert h_T-h_T^{(k)}\rVert",
        "meaning": "full against truncated state", "norm": "Euclidean", "role": "measured",
        "value": "measured", "least": 0, "definition": "norm(state(x, 0, T) - state(x, T - k, k))",
        "definition_latex": gap["definition_latex"], "systems": [],
    }  # fmt: skip
    assert "leave out the names" in refused("claims", "truncation", "--vocabulary")


def test_the_vocabulary_says_that_constants_are_upper_bounds(call):
    """Every certified constant, in both formats; S_0 of a vanilla cell is spelled out."""
    bound = "certified upper bound of the model, not the supremum"
    rows = call("claims", "--vocabulary").out.splitlines()[1:]
    documents = call("claims", "--vocabulary", "--format", "json").json
    for row, entry in zip(rows, documents, strict=True):
        assert (entry["role"] == "certified") == (entry["value"] == bound) == (bound in row)
    (drive,) = (row for row in rows if row.startswith("S_0 "))
    assert "vanilla cells: L_ρ ‖U‖₂ B_x + ‖ρ(b)‖₂" in drive
