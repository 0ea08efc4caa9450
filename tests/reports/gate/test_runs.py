"""The gate over runs: what each planted regression turns up as, and silence on other seeds."""

import random
from collections.abc import Callable

import pytest
from msgspec.structs import replace

from rnnbounds.reports.gate.runs import compare_runs, restrict_run
from rnnbounds.reports.gate.settings import Thresholds
from rnnbounds.reports.records.checks import Tally
from rnnbounds.reports.records.record import Axiom, Definition, Run


@pytest.fixture
def old(run: Run) -> Run:
    """A run of three claims."""
    return defined(run, "f = 1")


def claim(run: Run, **fields: object) -> Run:
    """The run with other fields in its second claim, truncation."""
    first, second, *rest = run.claims
    return replace(run, claims=(first, replace(second, **fields), *rest))


def form(run: Run, index: int = 0, **fields: object) -> Run:
    """The same of one of its forms."""
    forms = list(run.claims[1].forms)
    forms[index] = replace(forms[index], **fields)
    return claim(run, forms=tuple(forms))


def ledger(run: Run, **fields: object) -> Run:
    """The same of its first ledger."""
    first, *rest = run.claims[1].ledgers
    return claim(run, ledgers=(replace(first, **fields), *rest))


def defined(run: Run, text: str) -> Run:
    """Its first ledger, with a definition of that text."""
    return ledger(run, definitions=(Definition(name="f", text=text),))


def variant(run: Run, **fields: object) -> Run:
    """The same of its first false variant."""
    first, *rest = run.claims[1].variants
    return claim(run, variants=(replace(first, **fields), *rest))


def attack(run: Run, name: str, **fields: object) -> Run:
    """The same of one attack on it."""
    attacks = run.claims[1].attacks
    return claim(run, attacks=attacks | {name: replace(attacks[name], **fields)})


def of(run: Run, verdict: str) -> Tally:
    """The claim's tally with a check that is of the verdict."""
    return replace(run.claims[1].tally, **{verdict: 1})


NEW = Axiom(name="choice", text="a choice", source="")
TRIANGLE = ("triangle", "operator-norm")
# What is planted, and the row that tells of it: its kind, its subject, what it is about.
PLANTED: dict[str, tuple[Callable[[Run], Run], tuple[str, str, str]]] = {
    "violated": (lambda run: claim(run, tally=of(run, "violated")),
        ("regressed", "truncation", "verdict")),
    "undecided": (lambda run: claim(run, tally=of(run, "undecided")),
        ("regressed", "truncation", "verdict")),
    "a definition reworded": (lambda run: defined(run, "f = 2"),
        ("regressed", "truncation", "definition of f")),
    "a variant reworded": (lambda run: variant(run, statement="h_gap <= 0"),
        ("regressed", "truncation, false variant truncation-off-by-one", "statement")),
    "an inclusion assumed": (lambda run: ledger(run, presupposed=("bounded",)),
        ("regressed", "truncation", "forms that assume an inclusion")),
    "a form's tightness lost": (lambda run: form(run, best_ratio=0.5),
        ("regressed", "truncation (finite)", "tightest lhs/rhs")),
    "tightness that is NaN": (lambda run: form(run, best_ratio="nan"),
        ("regressed", "truncation (finite)", "tightest lhs/rhs")),
    "no ratio at all": (lambda run: form(run, best_ratio=None),
        ("regressed", "truncation (finite)", "tightest lhs/rhs")),
    "never tested": (lambda run: claim(run, tally=Tally(vacuous=5)),
        ("regressed", "truncation", "verdict")),
    "a form violated": (lambda run: form(run, tally=Tally(holds=1, violated=1)),
        ("regressed", "truncation (finite)", "verdict")),
    "a form gone": (lambda run: claim(run, forms=run.claims[1].forms[:1]),
        ("gone", "truncation", "forms")),
    "another statement": (lambda run: form(run, text="h_gap <= 2*S_0"),
        ("regressed", "truncation (finite)", "statement")),
    "one more assumption": (
        lambda run: form(run, **{
            name: (*getattr(run.claims[1].forms[0], name), "x = 0")
            for name in ("assumptions", "ids", "typeset")
        }),
        ("regressed", "truncation (finite)", "assumptions")),
    "unproved": (lambda run: ledger(run, proved=False), ("regressed", "truncation", "proof")),
    "one more axiom": (
        lambda run: replace(ledger(run, axioms=(*TRIANGLE, "choice")), axioms=(*run.axioms, NEW)),
        ("regressed", "truncation", "textbook theorems")),
    "one more definition": (
        lambda run: ledger(run, definitions=tuple(
            Definition(name=name, text=f"{name} = 1") for name in "fg")),
        ("regressed", "truncation", "definitions")),
    "a variant survives": (
        lambda run: variant(run, convicted=False, attack=None, counterexample=None),
        ("regressed", "truncation, false variant truncation-off-by-one", "attacks")),
    "a variant is proved": (lambda run: variant(run, ledger_fails=False),
        ("regressed", "truncation, false variant truncation-off-by-one", "ledger")),
    "a variant gone": (lambda run: claim(run, variants=run.claims[1].variants[1:]),
        ("gone", "truncation", "false variants")),
    "a new variant survives": (
        lambda run: claim(run, variants=(*run.claims[1].variants, replace(
            run.claims[1].variants[0], id="new", convicted=False))),
        ("regressed", "truncation, false variant new", "attacks")),
    "an attack gone": (lambda run: attack(run, "gradient", checks=0),
        ("gone", "truncation", "attacks")),
    "a claim gone": (lambda run: replace(run, claims=run.claims[:2]),
        ("gone", "the run", "claims")),
    "a part missing": (lambda run: replace(run, missing_parts=("truncation/random",)),
        ("regressed", "the run", "parts that never reported")),
}  # fmt: skip


def test_two_ledgers_define_the_same_name(old: Run) -> None:
    """The definition of the first is compared too, not that of the last alone."""
    first, *rest = (replace(one, definitions=(Definition(name="f", text="f = 1"),))
                    for one in old.claims[1].ledgers)  # fmt: skip
    old = claim(old, ledgers=(first, *rest))
    assert rest
    assert compare_runs(old, old, Thresholds()).rows == ()
    (row,) = compare_runs(old, defined(old, "f = 2"), Thresholds()).failing
    assert (row.what, row.before, row.after) == ("definition of f", "f = 1", "f = 2; f = 1")


@pytest.mark.parametrize("name", PLANTED)
def test_each_regression_is_caught(old: Run, name: str) -> None:
    """It fails the gate by the row that is meant, and the way back is an improvement, or new."""
    plant, row = PLANTED[name]
    new = plant(old)
    found = compare_runs(old, new, Thresholds())
    assert row in {(one.kind, one.subject, one.what) for one in found.failing}
    back = compare_runs(new, old, Thresholds())
    if name not in ("another statement", "a new variant survives") and "reworded" not in name:
        assert not back.failing
        assert back.rows


def test_a_new_claim_that_fails(old: Run) -> None:
    """It is new, and a regression too; one that passes is only new."""
    before, after = replace(old, claims=old.claims[::2]), old
    assert [row.kind for row in compare_runs(before, after, Thresholds()).rows] == ["new"]
    found = compare_runs(before, claim(after, tally=of(after, "violated")), Thresholds())
    assert [row.what for row in found.failing] == ["new, and fails"]


def test_a_run_against_itself(old: Run) -> None:
    """Nothing, by any thresholds."""
    strict = Thresholds(tightness=0)
    assert compare_runs(old, old, strict).rows == ()


@pytest.mark.parametrize(("before", "after"), [(0.06, 0.0025), (0.9, 0.51)])
def test_a_form_that_is_not_tight(old: Run, before: float, after: float) -> None:
    """Its greatest ratio may be one draw's. No ratio at all, or NaN, is a loss."""
    run = form(old, best_ratio=before)
    assert compare_runs(run, form(old, best_ratio=after), Thresholds()).failing == ()
    for none in (None, "nan"):
        (row,) = compare_runs(run, form(old, best_ratio=none), Thresholds()).failing
        assert row.subject == "truncation (finite)"


def test_silence_on_other_seeds(old: Run) -> None:
    """Twenty draws that vary as much as those of the quick profile under twenty seeds did."""
    draw = random.Random(0)
    for seed in range(20):
        again = form(replace(old, seed=seed), best_ratio=draw.uniform(0.6, 1))
        for name in ("random", "targeted", "gradient"):
            again = attack(again, name, best_ratio=draw.uniform(0.05, 0.6))
        holds = round(again.claims[1].tally.holds * draw.uniform(0.2, 5))
        again = claim(again, pairs=round(96_000 * draw.uniform(0.25, 4)), tally=Tally(holds=holds))
        assert compare_runs(old, again, Thresholds()).failing == ()


def test_only_the_claims_that_were_run(old: Run) -> None:
    """A run of one claim is compared with what the whole run said of that claim."""
    one = restrict_run(old, ("truncation",))
    assert compare_runs(restrict_run(old, ("truncation",)), one, Thresholds()).rows == ()
    found = compare_runs(old, one, Thresholds())
    assert [row.before for row in found.rows if row.what == "claims"] == [
        "state-bound, instability"
    ]


def test_what_is_gone_may_pass(old: Run) -> None:
    """Where the settings say so."""
    new = replace(old, claims=old.claims[:2])
    assert compare_runs(old, new, Thresholds(gone=True)).failing == ()


def test_whence_and_whither(old: Run) -> None:
    """Profile, seed, time and commit."""
    new = replace(old, seed=3, environment=replace(old.environment, commit="0123456789abcdef"))
    found = compare_runs(old, new, Thresholds())
    assert found.old == "quick, seed 0, 2026-11-21T10:00:00Z"
    assert found.new == "quick, seed 3, 2026-11-21T10:00:00Z, commit 0123456789ab"
