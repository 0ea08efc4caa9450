from hypothesis import given
from hypothesis import strategies as st

from rnnbounds.reports.records.checks import MOST_POINTS, build_curve, merge_sides

sides = st.tuples(st.floats(0, 9), st.floats(0, 9))
seen = st.dictionaries(st.integers(0, 9), sides)


@given(seen, seen, seen)
def test_joining_has_no_order(one, other, third):
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
