"""Checks as a page lists them: those that differ in their form alone stand once."""

from collections.abc import Iterable
from dataclasses import dataclass

from rnnbounds.reports.records.record import Check, ClaimRecord, identity


@dataclass(frozen=True)
class Shared:
    """One check, and the forms of the claim that share it to the last bit; `times` is how often it
    stands in the record."""

    check: Check
    forms: tuple[str, ...]
    times: int


def shared(checks: Iterable[Check]) -> list[Shared]:
    """Each check once, in order."""
    groups: dict[bytes, list[Check]] = {}
    for check in checks:
        groups.setdefault(identity(check), []).append(check)
    return [
        Shared(same[0], tuple(dict.fromkeys(check.form for check in same)), len(same))
        for same in groups.values()
    ]


def unmet(claim: ClaimRecord) -> list[tuple[str, int, tuple[str, str]]]:
    """The assumptions that made checks vacuous: name, number of checks, text typeset and plain.

    The name `finite X` stands for a constant X without a finite bound.
    """
    texts = {
        id: (typeset, plain)
        for form in reversed(claim.forms)
        for id, typeset, plain in form.assumed
    }
    found = []
    for name, count in sorted(claim.vacuous_by_assumption.items()):
        constant = name.removeprefix("finite ")
        known = "" if constant == name else f"the constant {constant} has no finite bound there"
        if count:
            found.append((name, count, texts.get(name, ("", known))))
    return found
