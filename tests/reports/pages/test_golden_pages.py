"""The page of a run as a reader sees it, kept as text; and pages of records that have little."""

from pathlib import Path

import pytest
from msgspec.structs import replace
from shown import Shown, kept

from rnnbounds.reports.pages.run import render_run
from rnnbounds.reports.records.changes import Changes, make_change

GOLDEN = Path(__file__).parent / "golden" / "run.txt"


def odd(run, check):
    """What few records have: the nearest checks, vacuous ones, an assumed inclusion, a form that no
    system is known to meet, an attack that was not announced."""
    one, claim = check(), run.claims[1]
    near = replace(one, spec={"states": 3}, lhs=2.0**-40, replay="rnnbounds replay nearest")
    first, second = claim.ledgers
    return replace(
        claim,
        forms=(replace(claim.forms[0], nearest=(near,)), *claim.forms[1:]),
        tightest=(one, replace(one, lhs=0.1, ratio=None)),
        vacuous_by_assumption={"bounded": 1200, "finite B_h": 4, "start": 0},
        tally=replace(claim.tally, vacuous=1204),
        ledgers=(replace(first, met=False), replace(second, presupposed=("bounded",))),
        attacks={"a-new-one": claim.attacks["random"], **claim.attacks},
    )


def bad(claim, check):
    """Violated, undecided, not proved; a variant that survives, one that is proved."""
    survivor = replace(claim.variants[0], convicted=False, counterexample=None, attack=None)
    return replace(
        claim,
        works=(),
        tally=replace(claim.tally, holds=0, violated=2, undecided=1),
        failing=(replace(check(ratio=1.07, verdict="VIOLATED"), explanation="n = 1, W = λ"),),
        variants=(survivor, replace(claim.variants[1], ledger_fails=False)),
        ledgers=(replace(claim.ledgers[0], proved=False, axioms=()),),
    )


REGRESSED = make_change("regressed", "truncation", "proof", "proved", "not <proved>")


def test_page(run, check, request):
    """Every word of it."""
    claims = (run.claims[0], odd(run, check), bad(run.claims[2], check))
    told = replace(run, claims=claims, missing_parts=("instability/random",))
    page = render_run(told, Changes(old="a", new="b", rows=(REGRESSED,)))
    now = "".join(f"{line}\n" for line in str(Shown(page.decode())).splitlines() if line)
    assert now == kept(GOLDEN, now, request)


@pytest.mark.parametrize("claims", [0, 1])
def test_a_record_with_next_to_nothing(run, claims):
    """No claim at all, or one without forms, ledgers, attacks and variants: it fails, in words."""
    bare = replace(
        run.claims[0], attacks={}, worst=None, tightest=(), forms=(), ledgers=(), variants=(),
        mathml="",
    )  # fmt: skip
    page = str(Shown(render_run(replace(run, claims=(bare,) * claims, axioms=())).decode()))
    assert "✗ This run fails: " in page
    assert ("no form was stated" if claims else "no claim was tested") in page
