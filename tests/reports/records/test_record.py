import math

import msgspec
import pytest

from rnnbounds.reports import AttackRecord, Check, Cost, Tally
from rnnbounds.reports.records.number import greatest_ratio, is_finite, record_number


@pytest.mark.parametrize(
    ("value", "expected"),
    [(1, 1.0), (math.inf, "inf"), (-math.inf, "-inf"), (math.nan, "nan"), ("nan", "nan")],
)
def test_number(value, expected):
    """A number that is not finite becomes its name, and a name stays one."""
    assert record_number(value) == expected
    assert type(record_number(value)) is type(expected)


def test_check_with_nan_equals_itself(check):
    """Two checks with the same NaN are equal, as two NaNs are not."""
    left, right = (msgspec.structs.replace(check(), lhs=math.nan) for _ in range(2))
    assert left == right
    assert left.lhs == "nan"
    assert not is_finite(left.lhs)
    assert not is_finite(None)


def test_check_survives_json(check):
    """Infinite and missing numbers read back from JSON as they were written."""
    odd = msgspec.structs.replace(check(), rhs=math.inf, ratio=None)
    assert msgspec.json.decode(msgspec.json.encode(odd), type=Check) == odd


def test_tally_merge():
    """Tallies add up by verdict, in any order."""
    left = Tally(holds=3, violated=1)
    right = Tally(holds=4, undecided=2, vacuous=5)
    assert left.merge(right) == right.merge(left)
    assert left.merge(right) == Tally(holds=7, violated=1, undecided=2, vacuous=5)
    assert left.merge(right).total == 15


def test_greatest_keeps_nan():
    """A NaN among ratios is not hidden by a greater ratio; absent ones are ignored."""
    assert greatest_ratio(0.5, None, 0.7) == 0.7
    assert greatest_ratio(None) is None
    assert greatest_ratio(0.5, "nan", 2.0) == "nan"
    assert greatest_ratio(0.5, "inf") == "inf"


def test_attack_merge():
    """Attacks add their budgets and keep the greatest ratio and the first note."""
    left = AttackRecord(systems=1, pairs=2, checks=3, best_ratio=0.5)
    right = AttackRecord(systems=10, pairs=20, checks=30, best_ratio=0.9, note="seen")
    both = AttackRecord(systems=11, pairs=22, checks=33, best_ratio=0.9, note="seen")
    assert left.merge(right) == both == right.merge(left)


def test_best_ratio_and_proved(run):
    """A claim's best ratio is its attacks' greatest; it is proved if every form has a proof."""
    claim = run.claims[0]
    assert claim.best_ratio == max(attack.best_ratio for attack in claim.attacks.values())
    assert claim.proved
    assert not msgspec.structs.replace(claim, ledgers=claim.ledgers[:1]).proved
    failed = msgspec.structs.replace(claim.ledgers[0], proved=False)
    assert not msgspec.structs.replace(claim, ledgers=(*claim.ledgers, failed)).proved


def test_costs_merge_to_the_whole_range():
    """The least and the greatest of both parts, whatever their order."""
    one, two = Cost(least=1.0, greatest=2.0), Cost(least=1.5, greatest=math.inf)
    assert one.merge(two) == two.merge(one) == Cost(least=1.0, greatest="inf")
