"""Repeated parts of a page, shown once: steps of several ledgers, details of several steps, checks
of several forms; and the assumptions that made checks vacuous."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rnnbounds.reports.records.ledger import LedgerRecord, LedgerStep
from rnnbounds.reports.records.record import Check, ClaimRecord, identity


@dataclass(frozen=True)
class Repeated:
    """Steps, one after the other, that the ledger of another form of the claim has told."""

    form: str
    steps: tuple[LedgerStep, ...]


def told(ledgers: Sequence[LedgerRecord]) -> list[tuple[LedgerRecord, list[LedgerStep | Repeated]]]:
    """Each ledger with its rows: a step, or several that an earlier one has, to the letter."""
    seen: dict[LedgerStep, str] = {}
    found = []
    for ledger in ledgers:
        found.append((ledger, list(_rows(ledger, seen))))
        for step in ledger.steps:
            seen.setdefault(step, ledger.form)
    return found


def usual(ledger: LedgerRecord) -> dict[str, str]:
    """Most frequent detail of a ledger's steps, by method; only details of at least two steps."""
    details: dict[str, list[str]] = {}
    for step in ledger.steps:
        details.setdefault(step.method, []).append(step.detail)
    often = {method: max(dict.fromkeys(all), key=all.count) for method, all in details.items()}
    return {m: detail for m, detail in often.items() if detail and details[m].count(detail) > 1}


def _rows(ledger: LedgerRecord, seen: dict[LedgerStep, str]) -> Iterator[LedgerStep | Repeated]:
    form, steps = "", tuple[LedgerStep, ...]()
    for step in ledger.steps:
        if steps and seen.get(step) != form:
            yield Repeated(form, steps)
            steps = ()
        if step in seen:
            form, steps = seen[step], (*steps, step)
        else:
            yield step
    if steps:
        yield Repeated(form, steps)


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
