"""The matrix of a run: what each claim comes to on each cell that people run, and no blank."""

from typing import Literal

import msgspec

from rnnbounds.reports.records.checks.tally import Tally

Standing = Literal[
    "HOLDS", "NOT APPLICABLE", "NOT YET PROVED", "NOT ATTACKED",
    "NOT TESTED", "NOT PROVED", "UNDECIDED", "VIOLATED",
]  # fmt: skip
# As a reader sees them.
STANDING_WORDS: dict[Standing, str] = {
    "HOLDS": "holds",
    "NOT APPLICABLE": "not applicable",
    "NOT YET PROVED": "not yet proved",
    "NOT ATTACKED": "not attacked",
    "NOT TESTED": "not tested",
    "NOT PROVED": "stands, not proved",
    "UNDECIDED": "undecided",
    "VIOLATED": "violated",
}
# What must say why.
STANDINGS_WITH_REASON = ("NOT APPLICABLE", "NOT YET PROVED", "NOT ATTACKED")
SHORT_WORDS: dict[Standing, str] = {"NOT APPLICABLE": "n/a", "NOT YET PROVED": "not yet"}


class Column(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A cell, or a few that share what is proved of them; `cells` are their names, one by one."""

    name: str
    title: str
    cells: tuple[str, ...]


class Entry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One claim on one column.

    HOLDS: judged there, never against it, and proved.
    NOT APPLICABLE: `reason` is the assumption that fails. NOT YET PROVED: it could be, `reason`
    says what is missing. NOT ATTACKED: no attack draws a system of that cell, whatever is proved.
    NOT TESTED: proved, but the run judged nothing there. `tallies` counts the checks of each cell,
    `forms` names the forms that hold there.
    """

    claim: str
    column: str
    standing: Standing
    reason: str = ""
    forms: tuple[str, ...] = ()
    tallies: dict[str, Tally] = {}

    @property
    def words(self) -> str:
        """The standing as a reader sees it."""
        return STANDING_WORDS[self.standing]

    @property
    def short(self) -> str:
        """The standing as a reader sees it, abbreviated for a table."""
        return SHORT_WORDS.get(self.standing, self.words)

    @property
    def tally(self) -> Tally:
        """All checks of the column together."""
        total = Tally()
        for tally in self.tallies.values():
            total = total.merge(tally)
        return total


class Matrix(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An entry for each claim and each column."""

    columns: tuple[Column, ...]
    entries: tuple[Entry, ...]

    @property
    def claims(self) -> tuple[str, ...]:
        """The claims, in the order of the entries."""
        return tuple(dict.fromkeys(entry.claim for entry in self.entries))

    @property
    def rows(self) -> dict[str, dict[str, Entry]]:
        """The entries by claim and column."""
        rows: dict[str, dict[str, Entry]] = {claim: {} for claim in self.claims}
        for entry in self.entries:
            rows[entry.claim][entry.column] = entry
        return rows

    @property
    def reasons(self) -> dict[str, int]:
        """Reasons why claims do not apply to columns, each once, numbered from 1."""
        texts = dict.fromkeys(entry.reason for entry in self.entries if entry.reason)
        return {text: number for number, text in enumerate(texts, 1)}


def is_consistent_entry(entry: Entry) -> bool:
    """True if the standing of an entry is consistent with its tally and its forms."""
    tally = entry.tally
    failing = tally.violated + tally.undecided
    if bool(entry.forms) != bool(tally.holds):
        return False
    match entry.standing:
        case "HOLDS" | "NOT PROVED":
            return tally.holds > 0 and not failing
        case "VIOLATED":
            return tally.violated > 0
        case "UNDECIDED":
            return tally.undecided > 0 and not tally.violated
        case "NOT ATTACKED":
            return not tally.total
        case _:
            return not tally.holds and not failing


def missing_entries(matrix: Matrix, claims: tuple[str, ...]) -> list[str]:
    """The claims and columns of which the matrix says nothing, one line each."""
    rows = matrix.rows
    return [
        f"the matrix has no entry for {claim} on {column.name}"
        for claim in claims
        for column in matrix.columns
        if column.name not in rows.get(claim, {})
    ]


def matrix_problems(matrix: Matrix, claims: tuple[str, ...]) -> list[str]:
    """Every blank, and every entry that contradicts its own counts or gives no reason."""
    problems = missing_entries(matrix, claims)
    for entry in matrix.entries:
        subject = f"the matrix's entry for {entry.claim} on {entry.column}"
        if not is_consistent_entry(entry):
            problems.append(f"{subject} is {entry.standing} against its own counts")
        if entry.standing in STANDINGS_WITH_REASON and not entry.reason:
            problems.append(f"{subject} does not say why")
    return problems
