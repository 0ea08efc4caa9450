"""The first sentences of the page claim no more than the run did."""

from msgspec.structs import replace

from reports.pages.headline import headline, lead
from reports.pages.page import render
from reports.pages.summary import summarise
from reports.records.matrix import Column, Entry, Matrix
from reports.records.tally import Tally

PRESUPPOSED = "presupposed: the printed number is right"


def judged_on(run, *columns, vacuous=()):
    """The run with a matrix: its first claim judged on these columns, only vacuously on others."""
    entries = tuple(
        Entry(claim=run.claims[0].id, column=name, standing="HOLDS", forms=("finite",),
              tallies={name: Tally(holds=0 if name in vacuous else 3, vacuous=2)})
        for name in (*columns, *vacuous)
    )  # fmt: skip
    names = tuple(Column(name=e.column, title=e.column, cells=(e.column,)) for e in entries)
    return replace(run, matrix=Matrix(columns=names, entries=entries))


def presupposing(claim):
    """The claim, its second form assuming what it states."""
    first, second = claim.forms
    return replace(claim, forms=(first, replace(second, assumptions=(PRESUPPOSED,))))


def test_the_headline_has_its_scope(run):
    """How many claims are proved, from how many laws, and the cells with a check that counts."""
    seen = judged_on(run, "linear", "lstm", "no-cell", vacuous=("gru",))
    told = "3 of 3 claims proved from 2 laws; attacked on 2 cell types, none violated."
    assert headline(seen, False, False) == told
    assert headline(seen, False, True) == told[:-1] + ", but something regressed."


def test_without_a_matrix_the_pairs_are_counted(run):
    """An older record says nothing of cells."""
    assert "attacked on 288,000 pairs of system and input" in headline(run, False, False)


def test_a_run_of_one_claim_says_so(run):
    """It names the claim, and counts the laws of its own proofs alone."""
    claim = run.claims[1]
    ledgers = tuple(replace(ledger, axioms=("triangle",)) for ledger in claim.ledgers)
    one = judged_on(replace(run, claims=(replace(claim, ledgers=ledgers),)), "lstm")
    told = "1 claim, truncation, proved from 1 law; attacked on 1 cell type, none violated."
    assert headline(one, False, False) == told
    assert "34" not in lead(one, False)


def test_a_failing_run_names_no_success(run):
    """It counts the claims that failed, and nothing else."""
    bad = replace(run.claims[0], ledgers=())
    assert headline(replace(run, claims=(bad, *run.claims[1:])), True, False) == (
        "This run fails. 1 of 3 claims failed."
    )
    assert headline(run, True, False) == "This run fails."


def test_what_is_assumed_is_no_plain_proof(run):
    """A form that assumes what it states: named in the lead, in its row, section and ledger."""
    claim = presupposing(run.claims[1])
    assert claim.presupposing == ("uniform",)
    some = replace(run, claims=(run.claims[0], claim))
    assert "assume part of what they state: truncation (1 of 2 forms)." in lead(some, False)
    assert "assume part" not in lead(run, False)
    assert "assumed in part what they state: truncation" in summarise(some).unproved
    page = render(some).decode()
    assert page.count("△ proved, assumed in part") == 1
    assert page.count("holds, assumed in part") == 1
    assert page.count("△ proved from assumptions that state part of it") == 1
    assert page.count("✓ proved</span> · form") == 3


def test_vacuous_checks_are_no_evidence(run):
    """They are counted apart from those that were judged, in the lead and at a glance."""
    claims = tuple(replace(one, tally=Tally(holds=5, vacuous=1_000)) for one in run.claims)
    passing = replace(run, claims=claims)
    told = lead(passing, False)
    assert f"Attack: {5 * len(claims)} checks on " in told
    assert f"{1_000 * len(claims):,} more are vacuous, which is no evidence." in told
    assert f"{5 * len(claims)} checks" in summarise(passing).judged
    bare = replace(run, claims=tuple(replace(one, tally=Tally(holds=5)) for one in run.claims))
    assert "vacuous" not in lead(bare, False)
