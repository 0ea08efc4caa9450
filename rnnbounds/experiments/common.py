"""What all experiments share: where they write, what they record, how they word numbers."""

import math
from collections.abc import Sequence
from datetime import datetime
from decimal import ROUND_CEILING, Context, Decimal
from pathlib import Path
from typing import Any

import msgspec

from properties.run import environment, found
from reports.files import WriteError
from reports.record import Environment


def prepare(out: Path) -> None:
    """Make the folder, before the work and not after it; raises WriteError."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WriteError(out, error) from None


def encode(record: Any) -> bytes:
    """A record as JSON; what is not finite is null."""
    return msgspec.json.format(msgspec.json.encode(record), indent=2)


def environment_of(started: datetime, *packages: str) -> Environment:
    """Where and when, with the versions of these packages too."""
    told = environment("cpu", 1, started, ())
    versions = told.versions | {name: found(name) for name in packages}
    return msgspec.structs.replace(told, versions=versions)


def logarithmic(values: Sequence[float]) -> list[float]:
    """A gap of zero has no place on a logarithmic axis."""
    return [value if value > 0 else math.nan for value in values]


def up(value: float) -> str:
    """A bound to three digits, rounded up."""
    rounded = Context(prec=3, rounding=ROUND_CEILING).create_decimal(Decimal(value))
    return f"{rounded.normalize():f}"
