"""Records of a run: numbers, merges, curves, proofs; what fails a run."""

import math

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from rnnbounds.reports.records.checks import MOST_POINTS, Check, Tally, build_curve, merge_sides
from rnnbounds.reports.records.outcome import run_problems
from rnnbounds.reports.records.record import AttackRecord, Cost
from rnnbounds.reports.text import greatest_ratio, record_number

sides = st.tuples(st.floats(0, 9), st.floats(0, 9))
seen = st.dictionaries(st.integers(0, 9), sides)


@given(st.floats() | st.sampled_from(["inf", "-inf", "nan"]))
def test_a_number_reads_back(value):
    """A finite float stays; any other becomes its name, which stays one, through JSON too."""
    told = record_number(value)
    assert record_number(told) == told
    assert isinstance(told, str) != math.isfinite(float(value))
    assert msgspec.json.decode(msgspec.json.encode(told)) == told


def test_a_check_with_nan_equals_itself(check):
    """As two NaNs do not; infinite and missing numbers read back from JSON."""
    left, right = (replace(check(), lhs=math.nan, rhs=math.inf, ratio=None) for _ in range(2))
    assert left == right
    assert msgspec.json.decode(msgspec.json.encode(left), type=Check) == left


def test_merges():
    """Tallies and attacks add up, costs span both, in any order; NaN is not hidden."""
    one, two = Tally(holds=3, violated=1), Tally(holds=4, undecided=2, vacuous=5)
    assert one.merge(two) == two.merge(one) == Tally(holds=7, violated=1, undecided=2, vacuous=5)
    left = AttackRecord(systems=1, pairs=2, checks=3, best_ratio=0.5)
    right = AttackRecord(systems=10, pairs=20, checks=30, best_ratio=0.9, note="seen")
    both = AttackRecord(systems=11, pairs=22, checks=33, best_ratio=0.9, note="seen")
    assert left.merge(right) == both == right.merge(left)
    low, high = Cost(least=1.0, greatest=2.0), Cost(least=1.5, greatest=math.inf)
    assert low.merge(high) == high.merge(low) == Cost(least=1.0, greatest="inf")
    assert greatest_ratio(0.5, None, 0.7) == 0.7
    assert greatest_ratio(None) is None
    assert greatest_ratio(0.5, "nan", 2.0) == "nan"


@given(seen, seen, seen)
def test_joining_curves_has_no_order(one, other, third):
    """Parts may come in any order: at each place the largest left side stays, with its bound."""
    assert merge_sides(one, other) == merge_sides(other, one)
    assert merge_sides(merge_sides(one, other), third) == merge_sides(
        one, merge_sides(other, third)
    )
    assert list(merge_sides(one, other)) == sorted({*one, *other})


def test_a_curve():
    """Places in order, at most 33 of them with both ends; what has no logarithm is left out."""
    told = build_curve("k", dict.fromkeys(range(1000), (1.0, 2.0)))
    assert told is not None
    places = [point.at for point in told.points]
    assert (len(places), places[0], places[-1]) == (MOST_POINTS, 0, 999)
    assert places == sorted(set(places))
    few = build_curve("T", {3: (0.5, 1.0), 2: (0.0, 1.0), 1: (0.25, 1.0), 9: (1.0, float("inf"))})
    assert few is not None
    assert [(point.at, point.lhs) for point in few.points] == [(1, 0.25), (3, 0.5)]
    assert build_curve("N", {1: (1.0, 1.0)}) is None


def test_how_a_claim_is_proved(run):
    """By a proof of every form; what assumes an inclusion is marked."""
    claim = run.claims[0]
    assert claim.best_ratio == max(attack.best_ratio for attack in claim.attacks.values())
    assert (claim.proved, claim.standing) == (True, "derived")
    marked = replace(claim.ledgers[0], presupposed=("box",))
    one = replace(claim, ledgers=(marked, *claim.ledgers[1:]))
    assert (one.assuming, one.standing) == (("finite",), "derived, 1 of 2 from an inclusion")
    for ledgers in (claim.ledgers[:1], (*claim.ledgers, replace(marked, proved=False))):
        assert replace(claim, ledgers=ledgers).standing == "not proved"


def changed(run, **fields):
    """The run with its first claim changed; of ledgers, forms and variants their first, by name."""
    claim = run.claims[0]
    for name in ("ledgers", "forms", "variants"):
        if name in fields and isinstance(fields[name], dict):
            first, *rest = getattr(claim, name)
            fields[name] = (replace(first, **fields[name]), *rest)
    return replace(run, claims=(replace(claim, **fields), *run.claims[1:]))


def failed(run):
    """A step of the run that failed, in a ledger that is called proved."""
    first, *rest = run.claims[0].ledgers[0].steps
    return (replace(first, verdict="failed"), *rest)


SPOILED = {
    "1 check VIOLATED": lambda run: changed(run, tally=Tally(holds=9, violated=1)),
    "2 checks VIOLATED (form finite)": lambda run: changed(
        run, forms={"tally": Tally(holds=9, violated=2)}
    ),
    "3 checks UNDECIDED": lambda run: changed(run, tally=Tally(holds=9, undecided=3)),
    "never tested in earnest": lambda run: changed(run, tally=Tally(vacuous=5)),
    "no check HOLDS (form finite)": lambda run: changed(run, forms={"tally": Tally()}),
    "not proved (form finite)": lambda run: changed(run, ledgers={"proved": False}),
    "no proof ledger (form uniform)": lambda run: changed(run, ledgers=run.claims[0].ledgers[:1]),
    "no form was stated": lambda run: changed(run, forms=(), ledgers=()),
    "called proved with an unproved step": lambda run: changed(run, ledgers={"steps": failed(run)}),
    "survived 12 systems": lambda run: changed(run, variants={"convicted": False}),
    "the ledger proves the false variant": lambda run: changed(
        run, variants={"ledger_fails": False}
    ),
    "'truncation/gradient' never reported": lambda run: replace(
        run, missing_parts=("truncation/gradient",)
    ),
    "no claim was tested": lambda run: replace(run, claims=()),
}


@pytest.mark.parametrize("text", SPOILED)
def test_each_problem_fails_the_run(run, text):
    """Each single thing that speaks against a run fails it, and is named; nothing else does."""
    assert run_problems(run) == []
    assert any(text in problem for problem in run_problems(SPOILED[text](run)))
