"""Run records, their judgement and comparison, and the pages made from them."""

from rnnbounds.reports.errors import InputError, RecordError
from rnnbounds.reports.records.codec import decode, encode, json_schema, load
from rnnbounds.reports.records.ledger import Axiom, LedgerRecord, LedgerStep
from rnnbounds.reports.records.outcome import run_problems, without_environment
from rnnbounds.reports.records.record import (
    SCHEMA,
    AttackRecord,
    Check,
    ClaimRecord,
    Cost,
    Environment,
    FormRecord,
    Run,
    Tally,
    VariantRecord,
)

__all__ = [
    "SCHEMA",
    "AttackRecord",
    "Axiom",
    "Check",
    "ClaimRecord",
    "Cost",
    "Environment",
    "FormRecord",
    "InputError",
    "LedgerRecord",
    "LedgerStep",
    "RecordError",
    "Run",
    "Tally",
    "VariantRecord",
    "decode",
    "encode",
    "json_schema",
    "load",
    "run_problems",
    "without_environment",
]
