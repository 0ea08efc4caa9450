"""Errors of this room: each is built from facts and ends with the remedy."""

from collections.abc import Iterable
from difflib import SequenceMatcher

from rnnbounds.errors import InputError as InputError

MOST_NAMES = 40  # in one line


class UnknownNameError(InputError):
    """A name that is not in a table; lists the close matches."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        names = list(known)
        likeness = {known: SequenceMatcher(None, known, name).ratio() for known in names}
        alike = [known for known in names if likeness[known] >= 0.5]  # the usual ones come first
        close = sorted(alike, key=likeness.__getitem__, reverse=True)[:4]
        listed = names if len(names) <= MOST_NAMES else [*names[:MOST_NAMES], "..."]
        remedy = f"did you mean {' or '.join(close)}?" if close else f"known: {', '.join(listed)}"
        super().__init__(f"unknown {kind} {name[:80]!r}; {remedy}")


class UnknownClaimError(UnknownNameError):
    """No claim, form or variant has this name."""


class StatementError(InputError):
    """A statement that cannot be read or evaluated."""


class MachineError(InputError):
    """The machine lacks what a proof needs, so that nothing is proved and nothing is disproved."""
