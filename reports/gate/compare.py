"""Comparisons that the gate is made of: of ranks, of names and of numbers."""

import math
from collections.abc import Collection, Iterator, Sequence

from rnnbounds.reports.pages.text import bound_text, ratio_text
from rnnbounds.reports.records.changes import Change, Kind, list_names, make_change
from rnnbounds.reports.records.number import Number


def compare_ranks(
    subject: str, field: str, ranks: Sequence[str], old: str, new: str
) -> Iterator[Change]:
    """Of two words, the later in `ranks` is the worse; any other word is the worst."""
    if old != new:
        places = [ranks.index(word) if word in ranks else len(ranks) for word in (old, new)]
        kind: Kind = "regressed" if places[1] > places[0] else "improved"
        yield make_change(kind, subject, field, old, new)


def compare_texts(subject: str, field: str, old: str, new: str) -> Iterator[Change]:
    """Which of two texts says more is for a reader to tell, so that any change is told."""
    if old != new:
        yield make_change("regressed", subject, field, old, new)


def compare_names(
    subject: str, field: str, old: Collection[str], new: Collection[str]
) -> Iterator[Change]:
    """Yield the names that are gone and those that are new, where names should stay (forms)."""
    if removed := [name for name in old if name not in new]:
        yield make_change("gone", subject, field, before=list_names(removed))
    if added := [name for name in new if name not in old]:
        yield make_change("new", subject, field, after=list_names(added))


def compare_burdens(
    subject: str, field: str, old: Collection[str], new: Collection[str]
) -> Iterator[Change]:
    """Yield a change in names of which fewer are better (axioms): worse if one is added."""
    added = [name for name in new if name not in old]
    removed = [name for name in old if name not in new]
    if added or removed:
        lists = (("with", added), ("without", removed))
        notes = [f"{word} {list_names(names)}" for word, names in lists if names]
        kind: Kind = "regressed" if added else "improved"
        yield make_change(kind, subject, field, str(len(old)), ", ".join((str(len(new)), *notes)))


def compare_ratios(
    subject: str, field: str, allowed: float, old: Number | None, new: Number | None
) -> Iterator[Change]:
    """Greatest ratios lhs/rhs, which may fall by so much; NaN is worse than any."""
    before, after = ((-1.0 if r is None else float(r)) for r in (old, new))
    if before == after or (math.isnan(before) and math.isnan(after)):
        return
    if math.isnan(after) or after < before - allowed or before >= 0 > after:
        yield make_change("regressed", subject, field, ratio_text(old), ratio_text(new))
    elif math.isnan(before) or before < after - allowed:
        yield make_change("improved", subject, field, ratio_text(old), ratio_text(new))


def compare_bounds(
    subject: str, field: str, old: float | None, new: float | None,
    *, share: float = 0.0, margin: int = 0,
) -> Iterator[Change]:  # fmt: skip
    """Bounds that are to be small, of which None is none at all, the worst; both are rounded up to
    as few digits, from six on, as tell them apart."""
    before, after = ((math.inf if bound is None else bound) for bound in (old, new))
    pairs = ((_bound_text(old, digits), _bound_text(new, digits)) for digits in (6, 9, 13, 17))
    texts = next(pair for pair in pairs if pair[0] != pair[1] or before == after)
    if after > _largest_allowed(before, share, margin):
        yield make_change("regressed", subject, field, *texts)
    elif before > _largest_allowed(after, share, margin):
        yield make_change("improved", subject, field, *texts)


def _bound_text(bound: float | None, digits: int) -> str:
    if bound is None:
        return "none"
    return repr(bound) if bound == float(f"{bound:.{digits}g}") else bound_text(bound, digits)


def _largest_allowed(limit: float, share: float, margin: int) -> float:
    """The largest bound that passes for no larger; without a share nothing is rounded."""
    return (limit * (1 + share) if share else limit) + margin
