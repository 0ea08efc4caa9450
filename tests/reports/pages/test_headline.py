"""The first sentences of the page claim no more than the run did."""

from msgspec.structs import replace

from rnnbounds.reports.pages.headline import headline, lead
from rnnbounds.reports.pages.page import render
from rnnbounds.reports.pages.summary import summarise
from rnnbounds.reports.records.matrix import Column, Entry, Matrix
from rnnbounds.reports.records.tally import Tally


def judged_on(run, *columns, vacuous=()):
    """The run with a matrix: its first claim judged on these columns, only vacuously on others."""
    entries = tuple(
        Entry(claim=run.claims[0].id, column=name, standing="HOLDS", forms=("finite",),
              tallies={name: Tally(holds=0 if name in vacuous else 3, vacuous=2)})
        for name in (*columns, *vacuous)
    )  # fmt: skip
    names = tuple(Column(name=e.column, title=e.column, cells=(e.column,)) for e in entries)
    return replace(run, matrix=Matrix(columns=names, entries=entries))


def resting_on(claim, *bases):
    """The claim, its forms resting on these; what is no derivation presupposes "bounded"."""
    ledgers = tuple(
        replace(ledger, basis=basis, presupposed=() if basis == "derived" else ("bounded",))
        for ledger, basis in zip(claim.ledgers, bases, strict=True)
    )
    return replace(claim, ledgers=ledgers)


def bases(run):
    """A run of three claims with forms of each kind: 3 derived, 2 and 1."""
    kinds = (
        ("derived", "inclusion assumed"), ("derived", "derived"), ("inclusion assumed", "restates"),
    )  # fmt: skip
    pairs = zip(run.claims, kinds, strict=True)
    return replace(run, claims=tuple(resting_on(claim, *kind) for claim, kind in pairs))


def test_the_headline_has_its_scope(run):
    """How many forms are proved, from how many laws, and the cells with a check that counts."""
    seen = judged_on(run, "linear", "lstm", "no-cell", vacuous=("gru",))
    told = "6 of 6 forms proved from 2 laws; attacked on 2 cell types, none violated."
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
    told = (
        "1 claim, truncation, 2 of 2 forms proved from 1 law; attacked on 1 cell type, none"
        " violated."
    )
    assert headline(one, False, False) == told
    assert "34" not in lead(one, False)


def test_a_failing_run_names_no_success(run):
    """It counts the claims that failed, and nothing else."""
    bad = replace(run.claims[0], ledgers=())
    assert headline(replace(run, claims=(bad, *run.claims[1:])), True, False) == (
        "This run fails. 1 of 3 claims failed."
    )
    assert headline(run, True, False) == "This run fails."


def test_the_headline_counts_derived_forms_as_proved(run):
    """What rests on more than hypotheses is counted apart, in the headline, the lead and lists."""
    some = judged_on(bases(run), "linear")
    assert headline(some, False, False) == (
        "3 of 6 forms proved from 2 laws, 2 from an assumed inclusion, 1 restating an assumption;"
        " attacked on 1 cell type, none violated."
    )
    said = (
        "6 forms: 3 derived, 2 derived from an assumed inclusion, 1 restates an assumption and"
        " rests on the attack"
    )
    assert f"Proof: {said}, in 18 steps from 2 laws" in lead(some, False)
    assert f"{said}. Of " in lead(some, True)
    glance = summarise(some)
    assert "3 of 6 forms, step by step" in glance.proved
    first, _, last = (claim.id for claim in some.claims)
    assert glance.unproved[:2] == (
        f"2 forms derived from an assumed inclusion: {first} (1), {last} (1)",
        f"1 form restates an assumption and rests on the attack: {last} (1)",
    )


def test_each_form_is_marked_on_the_page(run):
    """In its row, badge and ledger; the assumptions that make it no derivation are named."""
    some = bases(run)
    page = render(some).decode()
    assert page.count('<span class="good">✓ derived</span> · form') == 3
    for words, count in (
        ("△ derived from an assumed inclusion (bounded)</span> · form", 2),
        ("△ restates an assumption and rests on the attack (bounded)</span> · form", 1),
        ('<b class="warn">△ 1 derived, 1 inclusion assumed</b>', 1),
        ('<b class="warn">△ 1 inclusion assumed, 1 restates</b>', 1),
        ('<span class="good">✓ derived</span> <code>', 1),
        ("holds: 1 inclusion assumed, 1 restates</span>", 1),
    ):
        assert page.count(words) == count, words
    assert page.count("<small>assumed, not derived</small>") > 0
    assert "assumed, not derived" not in render(run).decode()


def test_an_older_record_says_that_forms_are_proved(run):
    """It does not know what they rest on."""
    page = render(run).decode()
    assert page.count("✓ proved</span> · form") == 6
    assert page.count("holds: proved</span>") == 3


def test_a_form_that_no_system_is_known_to_meet_says_so(run):
    """At the form, and in the list of what is not proved."""
    claim = run.claims[0]
    first, second = claim.ledgers
    unmet = replace(claim, ledgers=(replace(first, met=False), second))
    some = replace(run, claims=(unmet, *run.claims[1:]))
    words = "Not shown: that a system meets all of these assumptions."
    assert render(some).decode().count(words) == 2  # of the first form, alone and beside the others
    assert words not in render(run).decode()
    assert "1 form whose assumptions no test shows to hold together" in summarise(some).unproved


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
