"""Ledgers as a page tells them: what several steps, or several forms, have in common only once."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rnnbounds.reports.records.ledger import LedgerRecord, LedgerStep


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
    """What a ledger says of each of several steps by one method, so that it is said once."""
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
