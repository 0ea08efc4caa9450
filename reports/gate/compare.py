"""Comparisons that the gate is made of: of ranks, of names and of numbers."""

import math
from collections.abc import Collection, Iterator, Sequence

from rnnbounds.reports.pages.text import above, ratio
from rnnbounds.reports.records.changes import Change, Kind, change, listed
from rnnbounds.reports.records.number import Number
from rnnbounds.reports.words import count


def ranked(subject: str, what: str, ranks: Sequence[str], old: str, new: str) -> Iterator[Change]:
    """Of two words, the later in `ranks` is the worse; any other word is the worst."""
    if old != new:
        places = [ranks.index(word) if word in ranks else len(ranks) for word in (old, new)]
        kind: Kind = "regressed" if places[1] > places[0] else "improved"
        yield change(kind, subject, what, old, new)


def reworded(subject: str, what: str, old: str, new: str) -> Iterator[Change]:
    """Which of two texts says more is for a reader to tell, so that any change is told."""
    if old != new:
        yield change("regressed", subject, what, old, new)


def lacking(
    subject: str, what: str, old: Collection[str], new: Collection[str]
) -> Iterator[Change]:
    """Yield the names that are gone and those that are new, where names should stay (forms)."""
    if lost := [name for name in old if name not in new]:
        yield change("gone", subject, what, before=listed(lost))
    if added := [name for name in new if name not in old]:
        yield change("new", subject, what, after=listed(added))


def burden(subject: str, what: str, old: Collection[str], new: Collection[str]) -> Iterator[Change]:
    """Yield a change in names of which fewer are better (axioms): worse if one is added."""
    added = [name for name in new if name not in old]
    lost = [name for name in old if name not in new]
    if added or lost:
        told = [f"with {listed(added)}"] * bool(added) + [f"without {listed(lost)}"] * bool(lost)
        kind: Kind = "regressed" if added else "improved"
        yield change(kind, subject, what, str(len(old)), ", ".join((str(len(new)), *told)))


def fewer(subject: str, what: str, share: float, old: int, new: int) -> Iterator[Change]:
    """Counts of which that share may be missing; the like of it more is an improvement."""
    if new < old * (1 - share):
        yield change("regressed", subject, what, count(old), count(new))
    elif old < new * (1 - share):
        yield change("improved", subject, what, count(old), count(new))


def looser(
    subject: str, what: str, share: float, old: Number | None, new: Number | None
) -> Iterator[Change]:
    """Greatest ratios lhs/rhs of which that share may be lost; NaN is worse than any."""
    before, after = ((-1.0 if r is None else float(r)) for r in (old, new))
    if before == after or (math.isnan(before) and math.isnan(after)):
        return
    if math.isnan(after) or after < before * (1 - share) or (before >= 0 > after):
        yield change("regressed", subject, what, ratio(old), ratio(new))
    elif math.isnan(before) or before < after * (1 - share):
        yield change("improved", subject, what, ratio(old), ratio(new))


def grown(
    subject: str, what: str, old: float | None, new: float | None,
    *, share: float = 0.0, room: int = 0,
) -> Iterator[Change]:  # fmt: skip
    """Bounds that are to be small, of which None is none at all, the worst; both are rounded up to
    as few digits, from six on, as tell them apart."""
    before, after = ((math.inf if bound is None else bound) for bound in (old, new))
    pairs = ((_bound(old, digits), _bound(new, digits)) for digits in (6, 9, 13, 17))
    told = next(pair for pair in pairs if pair[0] != pair[1] or before == after)
    if after > _most(before, share, room):
        yield change("regressed", subject, what, *told)
    elif before > _most(after, share, room):
        yield change("improved", subject, what, *told)


def _bound(bound: float | None, digits: int) -> str:
    if bound is None or bound == float(f"{bound:.{digits}g}"):
        return words(bound)
    return above(bound, digits)


def _most(bound: float, share: float, room: int) -> float:
    """The largest bound that passes for no larger; without a share nothing is rounded."""
    return (bound * (1 + share) if share else bound) + room


def differing(
    subject: str, what: str, old: float | str | None, new: float | str | None
) -> Iterator[Change]:
    """Information: neither of the two is the better one."""
    if old != new:
        yield change("changed", subject, what, words(old), words(new))


def words(told: float | str | None) -> str:
    """A text, or all digits of a number; "none" for nothing."""
    return "none" if told is None else told if isinstance(told, str) else repr(told)
