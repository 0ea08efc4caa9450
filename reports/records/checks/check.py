"""Single checks of a run: one relation, decided on one system with one input sequence."""

from typing import Any, ClassVar, Literal

import msgspec
from msgspec import structs

from rnnbounds.reports.records.checks.tally import Count
from rnnbounds.reports.records.number import Number, record_number

Verdict = Literal["HOLDS", "VIOLATED", "UNDECIDED", "VACUOUS"]


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Base of all records; the fields that a class lists in `numbers` go through `number`."""

    numbers: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        for name in self.numbers:
            value = getattr(self, name)
            if value is not None:
                structs.force_setattr(self, name, record_number(value))


class Check(Record, frozen=True, kw_only=True):
    """One relation decided on one (system, input sequence) and, where it has one, one window k.

    `lhs_error` and `rhs_error` are rigorous absolute bounds; `ratio` is lhs/rhs, None where it
    says nothing (rhs = 0, a VACUOUS system).
    """

    numbers = ("lhs", "lhs_error", "rhs", "rhs_error", "ratio")

    claim: str
    form: str
    spec: dict[str, Any]
    k: Count | None
    lhs: Number
    lhs_error: Number
    rhs: Number
    rhs_error: Number
    ratio: Number | None
    verdict: Verdict
    replay: str
    explanation: str = ""


def check_identity(check: Check) -> bytes:
    """Bytes that two checks share if they differ in their form and its replay command alone."""
    without_form = structs.replace(check, form="", replay="")
    return msgspec.json.encode(without_form, order="deterministic")
