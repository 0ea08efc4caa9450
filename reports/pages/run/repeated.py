"""Repeated parts of a page, shown once: steps of several ledgers, details of several steps, checks
of several forms; and the assumptions that made checks vacuous."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rnnbounds.reports.records.ledger import LedgerRecord, LedgerStep
from rnnbounds.reports.records.record import Check, ClaimRecord, check_identity


@dataclass(frozen=True)
class RepeatedSteps:
    """Steps, one after the other, that the ledger of another form of the claim has told."""

    form: str
    steps: tuple[LedgerStep, ...]


def ledger_rows(
    ledgers: Sequence[LedgerRecord],
) -> list[tuple[LedgerRecord, list[LedgerStep | RepeatedSteps]]]:
    """Each ledger with its rows: a step, or several that an earlier one has, to the letter."""
    first_forms: dict[LedgerStep, str] = {}
    rows = []
    for ledger in ledgers:
        rows.append((ledger, list(_step_rows(ledger, first_forms))))
        for step in ledger.steps:
            first_forms.setdefault(step, ledger.form)
    return rows


def usual_details(ledger: LedgerRecord) -> dict[str, str]:
    """Most frequent detail of a ledger's steps, by method; only details of at least two steps."""
    details: dict[str, list[str]] = {}
    for step in ledger.steps:
        details.setdefault(step.method, []).append(step.detail)
    common_details = {
        method: max(dict.fromkeys(all), key=all.count) for method, all in details.items()
    }
    return {
        m: detail for m, detail in common_details.items() if detail and details[m].count(detail) > 1
    }


def _step_rows(
    ledger: LedgerRecord, first_forms: dict[LedgerStep, str]
) -> Iterator[LedgerStep | RepeatedSteps]:
    form, steps = "", tuple[LedgerStep, ...]()
    for step in ledger.steps:
        if steps and first_forms.get(step) != form:
            yield RepeatedSteps(form, steps)
            steps = ()
        if step in first_forms:
            form, steps = first_forms[step], (*steps, step)
        else:
            yield step
    if steps:
        yield RepeatedSteps(form, steps)


@dataclass(frozen=True)
class SharedCheck:
    """One check, and the forms of the claim that share it to the last bit; `times` is how often it
    stands in the record."""

    check: Check
    forms: tuple[str, ...]
    times: int


def group_checks(checks: Iterable[Check]) -> list[SharedCheck]:
    """Each check once, in order."""
    groups: dict[bytes, list[Check]] = {}
    for check in checks:
        groups.setdefault(check_identity(check), []).append(check)
    return [
        SharedCheck(equal[0], tuple(dict.fromkeys(check.form for check in equal)), len(equal))
        for equal in groups.values()
    ]


def unmet_assumptions(claim: ClaimRecord) -> list[tuple[str, int, tuple[str, str]]]:
    """The assumptions that made checks vacuous: name, number of checks, text typeset and plain.

    The name `finite X` stands for a constant X without a finite bound.
    """
    texts = {
        id: (typeset, plain)
        for form in reversed(claim.forms)
        for id, typeset, plain in form.assumption_texts
    }
    rows = []
    for name, count in sorted(claim.vacuous_by_assumption.items()):
        symbol = name.removeprefix("finite ")
        unbounded = "" if symbol == name else f"the constant {symbol} has no finite bound there"
        if count:
            rows.append((name, count, texts.get(name, ("", unbounded))))
    return rows
