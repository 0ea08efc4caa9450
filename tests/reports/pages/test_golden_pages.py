"""Pages of runs as a reader sees them, kept as text: other records, other words."""

from pathlib import Path

import pytest
from msgspec.structs import replace
from shown import Shown, kept

from rnnbounds.reports.pages.page import render_run
from rnnbounds.reports.records.changes import Changes, make_change
from rnnbounds.reports.records.checks.tally import Tally
from rnnbounds.reports.records.matrix import Column, Entry, Matrix

HERE = Path(__file__).parent / "golden"


def with_claim(run, claim):
    """The run with this claim in place of its second one."""
    return replace(run, claims=(run.claims[0], claim, *run.claims[2:]))


def bases(run):
    """Forms of each kind: 3 derived, 2 from an assumed inclusion, 1 that restates one."""
    kinds = (
        ("derived", "inclusion assumed"), ("derived", "derived"), ("inclusion assumed", "restates"),
    )  # fmt: skip
    claims = tuple(
        replace(claim, ledgers=tuple(
            replace(ledger, basis=basis, presupposed=() if basis == "derived" else ("bounded",))
            for ledger, basis in zip(claim.ledgers, kind, strict=True)
        ))
        for claim, kind in zip(run.claims, kinds, strict=True)
    )  # fmt: skip
    return replace(run, claims=claims)


def judged(run):
    """A matrix: two columns with a check that counts, one vacuous, one that applies to nothing."""
    names = ("linear", "lstm", "gru", "none", "no-cell")
    tallies = {"gru": Tally(vacuous=2)}
    entries = tuple(
        Entry(claim=claim.id, column=name, standing="NOT APPLICABLE", reason="φ is linear")
        if name == "none"
        else Entry(claim=claim.id, column=name, standing="HOLDS", forms=("finite",),
                   tallies={name: tallies.get(name, Tally(holds=3, vacuous=2))})
        for claim in run.claims
        for name in names
    )  # fmt: skip
    columns = tuple(Column(name=n, title=n.upper(), cells=(n,)) for n in names)
    return replace(run, matrix=Matrix(columns=columns, entries=entries))


def failing(run, check):
    """Violated, undecided, not proved; a variant that survives, one that is proved; a lost part."""
    claim = run.claims[1]
    survivor = replace(claim.variants[0], convicted=False, counterexample=None, attack=None)
    bad = replace(
        claim,
        tally=replace(claim.tally, holds=0, violated=2, undecided=1),
        failing=(replace(check(ratio=1.07, verdict="VIOLATED"), explanation="n = 1, W = λ"),),
        variants=(survivor, replace(claim.variants[1], ledger_fails=False)),
        ledgers=(replace(claim.ledgers[0], proved=False, axioms=()),),
    )
    return replace(run, claims=(run.claims[0], bad), missing_parts=("instability/random",))


def bare(run):
    """A record with next to nothing in it."""
    claim = replace(
        run.claims[0], attacks={}, worst=None, tightest=(), forms=(), ledgers=(), variants=(),
        mathml="",
    )  # fmt: skip
    return replace(run, claims=(claim,), axioms=())


def odd(run, check):
    """What few records have: the nearest checks, one check of two forms, vacuous ones, a form that
    no system is known to meet, an attack that was not announced, a step that differs."""
    one, claim = check(), run.claims[1]
    near = replace(one, spec={"states": 3}, lhs=2.0**-40, replay="rnnbounds replay nearest")
    same = replace(one, form="uniform", replay="another command")
    first, second = claim.ledgers
    own = replace(second.steps[1], statement="h_start <= 7*S_0", quantifier="for all t")
    claim = replace(
        claim,
        forms=(replace(claim.forms[0], nearest=(near,)), *claim.forms[1:]),
        tightest=(one, same, replace(one, lhs=0.1, ratio=None)),
        vacuous_by_assumption={"bounded": 1200, "finite B_h": 4, "start": 0},
        tally=replace(claim.tally, vacuous=1204),
        ledgers=(replace(first, met=False),
                 replace(second, steps=(second.steps[0], own, second.steps[2]))),
        attacks={"a-new-one": claim.attacks["random"], **claim.attacks},
    )  # fmt: skip
    groups = ("training", "contraction", "mine")
    claims = (run.claims[0], claim, run.claims[2])
    return replace(
        run, claims=tuple(replace(c, group=g) for c, g in zip(claims, groups, strict=True))
    )


def older(run):
    """What records before this version lack."""
    claims = tuple(
        replace(claim, forms=tuple(replace(form, typeset=(), ids=()) for form in claim.forms))
        for claim in run.claims
    )
    return replace(run, claims=claims, symbols=())


REGRESSED = make_change("regressed", "truncation", "proof", "proved", "not <proved>")
NEW = make_change("new", "growth", "claim")
PAGES = {
    "passing": lambda run, check: render_run(run),
    "judged": lambda run, check: render_run(
        judged(bases(run)), Changes(old="a", new="b", rows=(NEW,))
    ),
    "one": lambda run, check: render_run(replace(run, claims=run.claims[1:2])),
    "regressed": lambda run, check: render_run(run, Changes(old="a", new="b", rows=(REGRESSED,))),
    "failing": lambda run, check: render_run(failing(run, check)),
    "bare": lambda run, check: render_run(bare(run)),
    "empty": lambda run, check: render_run(replace(run, claims=())),
    "odd": lambda run, check: render_run(odd(run, check)),
    "older": lambda run, check: render_run(older(run)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_page(run, check, name, request):
    """Every word of it."""
    now = str(Shown(PAGES[name](run, check).decode()))
    now = "".join(f"{line}\n" for line in now.splitlines() if line)
    assert now == kept(HERE / f"{name}.txt", now, request)
