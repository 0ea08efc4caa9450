"""Evidence: counted right, merged in any order, shown with the command that replays it."""

import itertools
from types import SimpleNamespace

import msgspec
import numpy as np
import pytest

from rnnbounds.properties.judging.evidence import KEPT_CHECKS, Evidence, check_record, tightness_key
from rnnbounds.properties.judging.judge import Judgement, Verdict, judge
from rnnbounds.properties.systems.batch import build_batch
from rnnbounds.properties.systems.table import make_spec
from rnnbounds.reports.records.record import Cost
from rnnbounds.theory import claim
from rnnbounds.theory.numbers.interval import Interval

CLAIM = claim("truncation")
FORM = CLAIM.form("uniform")


def one(seed: int, lam: float = 0.5, **fields: object) -> Evidence:
    """Evidence from one small batch."""
    found = Evidence.empty(CLAIM, FORM)
    spec = make_spec(regime="gaussian", n=2, T=4, K=2, lam=lam, seed=seed, batch=3, **fields)
    batch = build_batch(spec)
    found.add_batch(batch, judge(FORM.statement, FORM.assumptions, batch))
    return found


def merged(parts: list[Evidence]) -> Evidence:
    """All parts merged, first to last."""
    total = Evidence.empty(CLAIM, FORM)
    for part in parts:
        total.merge(part)
    return total


def test_merging_is_independent_of_order() -> None:
    """All orders of merging, and all groupings, give the same evidence to the last byte."""
    parts = [one(1), one(2, inputs="resonant"), one(3, lam=1.5), one(1)]
    first = msgspec.json.encode(merged(parts))
    for turned in itertools.permutations(parts):
        assert msgspec.json.encode(merged(list(turned))) == first
    grouped = merged([merged(parts[:2]), merged(parts[2:])])
    assert msgspec.json.encode(grouped) == first


def test_counts() -> None:
    """Systems and pairs that met no assumption are not evidence; every check is in the tally."""
    good, vacuous = one(1, sequences=2), one(3, lam=1.5)
    assert (good.systems, good.pairs, good.tally.total) == (3, 6, 18)
    assert good.tally.holds == 18
    assert (vacuous.systems, vacuous.pairs, vacuous.tally.vacuous) == (0, 0, 9)
    assert vacuous.vacuous == {"contractive": 9}
    assert vacuous.best_ratio is None
    assert merged([good, vacuous, vacuous]).vacuous == {"contractive": 18}


def test_tightest_are_the_largest_ratios() -> None:
    """The shown checks are the largest ratios of different systems, best first."""
    spec = make_spec(regime="gaussian", n=2, T=4, K=2, seed=4, batch=8)
    found, batch = Evidence.empty(CLAIM, FORM), build_batch(spec)
    seen = judge(FORM.statement, FORM.assumptions, batch)
    found.add_batch(batch, seen)
    best = np.sort(np.nanmax(seen.ratio, axis=(1, 2)))[::-1][:KEPT_CHECKS]
    assert [check.ratio for check in found.tightest] == best.tolist()
    assert found.best_ratio == best[0]
    assert len({check.spec["member"] for check in found.tightest}) == KEPT_CHECKS


def test_failing_checks_are_shown_violated_first() -> None:
    """Violations come before open checks, at most a few are kept, and none is called tight."""
    found = Evidence.empty(CLAIM, FORM)
    batch = build_batch(make_spec(n=2, T=4, K=2, batch=3))
    codes = np.full((3, 1, 3), Verdict.UNDECIDED, dtype=np.int8)
    codes[2] = Verdict.VIOLATED
    sides = Interval(np.full((3, 1, 3), 2.0), np.full((3, 1, 3), 3.0))
    found.add_batch(batch, Judgement(codes, sides, Interval(sides.lo - 1, sides.lo - 1)))
    assert (found.tally.violated, found.tally.undecided) == (3, 6)
    assert len(found.failing) == KEPT_CHECKS
    assert found.tightest == []
    again = Evidence.empty(CLAIM, FORM)
    again.add_batch(batch, Judgement(codes[:], sides, sides))
    found.merge(again)
    assert len(found.failing) == KEPT_CHECKS
    violated = Evidence.empty(CLAIM, FORM)
    violated.add_batch(batch, Judgement(np.full_like(codes, Verdict.VIOLATED), sides, sides))
    found.merge(violated)
    assert {check.verdict for check in found.failing} == {"VIOLATED"}


def judged(verdicts: list[Verdict], lhs: float, rhs: float) -> Judgement:
    """One check a system, at its only window, with the same sides."""
    codes = np.array(verdicts, dtype=np.int8).reshape(-1, 1, 1)
    sides = (Interval(np.full(codes.shape, a), np.full(codes.shape, a)) for a in (lhs, rhs))
    return Judgement(codes, *sides)


def test_an_infinite_bound_is_no_point_of_a_curve_and_no_cost() -> None:
    """It holds of everything, and over it, or it over another, there is nothing to compare."""
    found = Evidence.empty(CLAIM, FORM)
    infinite, zero = (judged([Verdict.HOLDS], 0.0, rhs) for rhs in (np.inf, 0.0))
    found.add_batch(build_batch(make_spec(n=2, T=4, K=0)), infinite)
    assert found.tally.holds == 1
    assert found.curve == {}
    for seen, first in ((infinite, zero), (infinite, infinite), (zero, zero)):
        found.compare_bounds(seen, first)
    assert found.cost is None


def test_what_differs_nowhere_is_nearest_nowhere() -> None:
    """A form that says that two things differ keeps its nearest check only of those that hold."""
    tight = claim("urnn-tight")
    form = next(form for form in tight.forms if form.statement.relation == "!=")
    found, batch = Evidence.empty(tight, form), build_batch(make_spec(n=2, T=4, K=0))
    for verdict in (Verdict.UNDECIDED, Verdict.VACUOUS):
        found.add_batch(batch, judged([verdict], 1.0, 2.0))
    assert found.nearest == {}
    found.add_batch(batch, judged([Verdict.HOLDS], 1.0, 2.0))
    assert [gap for gap, _ in found.nearest.values()] == [1.0]


@pytest.mark.parametrize("verdict", list(Verdict))
def test_record_of_both_sides(verdict: Verdict) -> None:
    """Middles with errors that cover the enclosures; a ratio only where a verdict was reached, and
    of a violation where the enclosures show it."""
    check = check_record("c", "f", make_spec(), 1, verdict, (0.1, 0.3), (0.25, 0.25))
    assert check.lhs - check.lhs_error <= 0.1 <= 0.3 <= check.lhs + check.lhs_error
    assert (check.rhs, check.rhs_error) == (0.25, 0.0)
    assert check.ratio == {"HOLDS": 1.0}.get(verdict.name)
    shown = check_record("c", "f", make_spec(), 1, verdict, (0.26, 0.3), (0.25, 0.25))
    assert shown.ratio == {"HOLDS": 1.0, "VIOLATED": 0.3 / 0.25}.get(verdict.name)


def test_record_with_nothing_to_divide() -> None:
    """0/0, x/0, NaN and infinity leave no ratio, and never look like numbers."""
    for lhs, rhs in (
        ((0.0, 0.0), (0.0, 0.0)),
        ((1.0, 1.0), (0.0, 0.0)),
        ((1.0, 1.0), (float("nan"), float("nan"))),
        ((-float("inf"), float("inf")), (1.0, 1.0)),
    ):
        check = check_record("c", "f", make_spec(), None, Verdict.VIOLATED, lhs, rhs)
        assert check.ratio is None
        msgspec.json.encode(check)
    assert (
        check_record("c", "f", make_spec(), None, Verdict.HOLDS, (0, float("inf")), (1, 1)).lhs
        == "inf"
    )


def test_the_curve() -> None:
    """At each window the largest left side that was judged, with the bound of that very check."""
    spec = make_spec(regime="gaussian", n=2, T=4, K=2, lam=0.5, seed=1, batch=3)
    seen = judge(FORM.statement, FORM.assumptions, build_batch(spec))
    lhs, rhs = (side.hi.reshape(-1, 3) for side in (seen.lhs, seen.rhs))
    largest = lhs.argmax(axis=0)
    told = {k: (float(lhs[largest[k], k]), float(rhs[largest[k], k])) for k in range(3)}
    assert one(1).curve == told
    assert one(1).curve_variable == "k"
    assert one(3, lam=1.5).curve == {}


def test_costs_are_of_checks_that_hold_in_both() -> None:
    """The bound of this form over that of the first; nothing where one of both does not hold."""
    holds, violated = Verdict.HOLDS, Verdict.VIOLATED
    for first, second, wanted in (
        ([holds, holds], [holds, holds], Cost(least=2.0, greatest=2.0)),
        ([holds, violated], [violated, holds], None),
        ([violated, violated], [holds, holds], None),
        ([holds, holds], [violated, violated], None),
    ):
        found = Evidence.empty(CLAIM, FORM)
        found.compare_bounds(judged(first, 1.0, 4.0), judged(second, 1.0, 2.0))
        assert found.cost == wanted


def test_of_equal_ratios_the_longest_run_that_is_drawn_is_first() -> None:
    """Of 64 steps at most: longer runs come last, and 64 before 3."""
    slow = {"lam": 0.9}  # which would be first of runs of one length
    specs = [{"T": 65} | slow, {"T": 3}, {"T": 64}, {"T": 1}]
    runs = [SimpleNamespace(ratio=1.0, spec=spec) for spec in specs]
    in_order = sorted(runs, key=tightness_key)  # type: ignore[arg-type]
    assert [check.spec["T"] for check in in_order] == [64, 3, 1, 65]
