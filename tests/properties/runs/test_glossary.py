"""Symbols, works, files and steps in a run's record, from the theory itself."""

from pathlib import Path

from rnnbounds.properties.runs.ledgers import ledger_record
from rnnbounds.properties.runs.record import cited_works, claim_file, symbol_names, symbol_records
from rnnbounds.theory import CLAIMS, claim
from rnnbounds.theory.language.printing import statement_mathml
from rnnbounds.theory.language.vocabulary import VOCABULARY
from rnnbounds.theory.proof.proof import check

TRUNCATION = claim("truncation")


def test_the_symbols_of_a_claim_are_those_that_it_states():
    """Of its statements and conditions, in the vocabulary's order, and no others."""
    names = symbol_names(TRUNCATION)
    assert {"h_gap", "S_0", "lam", "k", "T", "epsilon"} <= set(names)
    assert not {"W_rank", "alpha"} & set(names)
    assert [name for name in VOCABULARY if name in names] == list(names)


def test_each_symbol_is_recorded_once():
    """With notation, meaning, norm and definition."""
    records = symbol_records([TRUNCATION, claim("prediction"), TRUNCATION])
    names = [record.name for record in records]
    assert len(set(names)) == len(names)
    (gap,) = (record for record in records if record.name == "h_gap")
    assert (gap.notation, gap.norm, gap.role) == ("‖h_T-h_T^(k)‖", "Euclidean", "measured")
    assert gap.definition == "norm(state(x, 0, T) - state(x, T - k, k))"
    assert gap.mathml.startswith("<math>")
    assert "<mi>state</mi>" in gap.definition_mathml
    (rate,) = (record for record in records if record.name == "lam")
    assert (rate.definition, rate.definition_mathml, rate.role) == ("", "", "certified")


def test_works_have_the_address_of_their_text():
    """That on arXiv; a book has none."""
    (paper,) = cited_works(TRUNCATION)
    assert (paper.title, paper.url) == (
        "Stable Recurrent Models", "https://arxiv.org/abs/1805.10369",
    )  # fmt: skip
    assert "" in {work.url for work in cited_works(claim("tbptt-gap"))}
    assert all(cited_works(entry) for entry in CLAIMS)


def test_each_claim_names_the_file_that_states_it():
    """One of the theory's claims, which names the claim's title or its form."""
    root = Path(__file__).parents[3]
    for entry in CLAIMS:
        file = root / claim_file(entry)
        assert claim_file(entry).startswith("theory/claims/"), entry.id
        assert file.is_file(), entry.id


def test_the_steps_of_a_ledger_are_typeset():
    """Each by its own statement and variables; without the proof they are plain."""
    form = TRUNCATION.forms[0]
    ledger = check(form.proof, form.statement, form.assumptions)
    steps = ledger_record(form.name, ledger, form.proof).steps
    assert [step.mathml for step in steps] == [
        statement_mathml(step.conclusion) for step in form.proof.steps
    ]
    assert steps[0].scope == "for all <math><mi>s</mi></math>, <math><mi>j</mi></math>"
    assert steps[-1].scope == ""
    assert {step.mathml for step in ledger_record(form.name, ledger).steps} == {""}
