"""What all experiments share: where they write, what they record, how they word numbers."""

import math
from collections.abc import Sequence
from datetime import datetime
from decimal import ROUND_CEILING, Context, Decimal
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import torch

from properties.device import check_device
from properties.errors import InputError
from properties.runs.run import environment
from properties.runs.versions import found
from reports.files import WriteError, write_all
from reports.pages.experiment import Code, Page, Paragraph, Section, render_experiment
from reports.records.record import Environment


class MissingPackageError(InputError):
    """An optional package that is needed here is not installed."""

    def __init__(self, package: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs {package}; install it with: pip install {package}")


def prepare(out: Path) -> None:
    """Make the folder, before the work and not after it; raises WriteError."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WriteError(out, error) from None


def encode(record: Any) -> bytes:
    """A record as JSON; what is not finite is null."""
    return msgspec.json.format(msgspec.json.encode(record), indent=2)


def publish(out: Path, name: str, record: Any, page: Page) -> None:
    """Write NAME.json and index.html, both or neither; raises WriteError."""
    write_all(out, {f"{name}.json": encode(record), "index.html": render_experiment(page)})


def again(name: str, options: str) -> Section:
    """The command that makes a page again."""
    return Section(
        "Run it again",
        (
            Paragraph(f"Every number of this page is in {name}.json beside it."),
            Code(f"rnnbounds experiment {name} {options}"),
        ),
    )


def environment_of(started: datetime, *packages: str, device: str = "cpu") -> Environment:
    """Where and when, with the versions of these packages too."""
    told = environment(device, 1, started, ())
    versions = told.versions | {name: found(name) for name in packages}
    return msgspec.structs.replace(told, versions=versions)


def choose_device(name: str) -> str:
    """The device of that name; "auto" is CUDA where there is one. Raises UnknownDeviceError."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    return check_device(name)


def chance(*key: int) -> torch.Generator:
    """A random generator on the CPU of its own for every key of numbers ≥ 0, such as (seed, 3)."""
    state = np.random.SeedSequence(key).generate_state(1, np.uint64)
    return torch.Generator().manual_seed(int(state[0] >> np.uint64(1)))


def logarithmic(values: Sequence[float]) -> list[float]:
    """A gap of zero has no place on a logarithmic axis."""
    return [value if value > 0 else math.nan for value in values]


def up(value: float) -> str:
    """A bound to three digits, rounded up."""
    rounded = Context(prec=3, rounding=ROUND_CEILING).create_decimal(Decimal(value))
    return f"{rounded.normalize():f}"
