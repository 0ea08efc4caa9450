"""Changes between two runs, or two certificates of one model, and whether a gate accepts them.

The rows are plain texts, written by a comparison and read by a terminal, a Markdown summary, a page
or another program.
"""

import math
import re
from collections.abc import Collection, Iterator, Sequence
from typing import Literal

import msgspec

from rnnbounds.errors import printable
from rnnbounds.reports.text import Number, bound_text, ratio_text

Kind = Literal["regressed", "gone", "improved", "new", "changed"]
KINDS: tuple[Kind, ...] = ("regressed", "gone", "improved", "new", "changed")
SCHEMA: Literal["rnnbounds/changes/1"] = "rnnbounds/changes/1"
LONGEST_TEXT = 300  # characters of one text
_LINK_MARK = re.compile(r":(?=//)|(?<=www)\.", re.IGNORECASE)  # what makes a bare address a link


class Change(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One thing about one subject, a claim say, before and after; what is new has no `before`, and
    what has `changed` is information, neither better nor worse."""

    kind: Kind
    subject: str
    what: str
    before: str = ""
    after: str = ""

    @property
    def line(self) -> str:
        """The change in a line: "truncation: proof: proved → not proved"."""
        values = " → ".join(text for text in (self.before, self.after) if text)
        return ": ".join(text for text in (self.subject, self.what, values) if text)


class Changes(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """All changes from `old` to `new`, each a few words on what was compared; rows of a kind that
    `fails` fail the gate."""

    schema: Literal["rnnbounds/changes/1"] = SCHEMA
    old: str
    new: str
    rows: tuple[Change, ...] = ()
    fails: tuple[Kind, ...] = ("regressed", "gone")

    @property
    def failing(self) -> tuple[Change, ...]:
        """The rows that fail the gate."""
        return tuple(row for row in self.rows if row.kind in self.fails)

    @property
    def summary(self) -> str:
        """How many rows there are of each kind: "2 regressed, 1 new"; or that nothing changed."""
        counts = {kind: sum(row.kind == kind for row in self.rows) for kind in KINDS}
        counted = ", ".join(f"{count} {kind}" for kind, count in counts.items() if count)
        if counts["changed"] == len(self.rows):
            none = "nothing changed by more than the thresholds allow"
            return f"nothing regressed, {counted}" if counted else none
        return counted

    @property
    def text(self) -> tuple[str, ...]:
        """Lines for a terminal, the worst first."""
        rows = [f"{row.kind.upper()}: {printable(row.line)}" for row in sort_changes(self.rows)]
        return (*rows, self.summary)

    @property
    def markdown(self) -> str:
        """A table in Markdown; whatever a record says stands there as text."""
        head = (
            f"**{self.summary}**, from {escape_markdown(self.old)} to {escape_markdown(self.new)}"
        )
        if not self.rows:
            return f"{head}\n"
        lines = ["|  | what | before | after |", "|---|---|---|---|"]
        for row in sort_changes(self.rows):
            cells = (row.kind, f"{row.subject}: {row.what}", row.before, row.after)
            lines.append(f"| {' | '.join(map(escape_markdown, cells))} |")
        return "\n".join((head, "", *lines, ""))


def make_change(kind: Kind, subject: str, field: str, before: str = "", after: str = "") -> Change:
    """A row, its texts cut at a length that a reader can take in."""
    return Change(kind=kind, subject=shorten(subject), what=shorten(field), before=shorten(before),
                  after=shorten(after))  # fmt: skip


def sort_changes(rows: tuple[Change, ...]) -> list[Change]:
    """The rows as they are read: by kind, the worst first."""
    return sorted(rows, key=lambda row: KINDS.index(row.kind))


def list_names(names: Sequence[str], limit: int = 5) -> str:
    """A few names, and how many more there are."""
    beginning = ", ".join(names[:limit])
    return beginning if len(names) <= limit else f"{beginning} and {len(names) - limit} more"


def shorten(text: str, limit: int = LONGEST_TEXT) -> str:
    """The beginning of a text that is too long."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def escape_markdown(text: str) -> str:
    """Text in Markdown that is only text: no markup, no table's bar, no tag, no new line, and no
    bare address that would become a link."""
    plain = printable(text)
    plain = "".join(f"&#{ord(c)};" if c in "&<>|`*_[]\\~#@" else c for c in plain)
    return _LINK_MARK.sub(lambda match: f"&#{ord(match[0])};", plain)


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
