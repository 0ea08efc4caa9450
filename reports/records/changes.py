"""Changes between two runs, or two certificates of one model, and whether a gate accepts them.

The rows are plain texts, written by a comparison and read by a terminal, a Markdown summary, a page
or another program.
"""

import re
from collections.abc import Sequence
from typing import Literal

import msgspec

from rnnbounds.reports.errors import printable

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
            return f"nothing regressed, {counted or 'and nothing else changed'}"
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
