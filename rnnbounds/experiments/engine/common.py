"""Helpers of all experiments: environment, devices, and random generators seeded by a key."""

from datetime import datetime
from pathlib import Path

import msgspec
import numpy as np
import torch

from rnnbounds.impl.models.device import check_device
from rnnbounds.properties.errors import InputError
from rnnbounds.properties.runs.run import run_environment
from rnnbounds.properties.runs.versions import installed_version
from rnnbounds.reports.files import WriteError
from rnnbounds.reports.records.record import Environment


class MissingPackageError(InputError):
    """An optional package that is needed here is not installed."""

    def __init__(self, package: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs {package}; install it with: pip install {package}")


def make_run_folder(out: Path) -> None:
    """Make the folder, before the work and not after it; raises WriteError."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WriteError(out, error) from None


def record_environment(started: datetime, *packages: str, device: str = "cpu") -> Environment:
    """Record the environment and times of a run, with the versions of these packages too."""
    found = run_environment(device, 1, started, ())
    versions = found.versions | {name: installed_version(name) for name in packages}
    return msgspec.structs.replace(found, versions=versions)


def choose_device(name: str) -> str:
    """The device of that name; "auto" is CUDA where there is one. Raises UnknownDeviceError."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    return check_device(name)


def seeded_generator(*key: int) -> torch.Generator:
    """A random generator on the CPU of its own for every key of numbers ≥ 0, such as (seed, 3)."""
    state = np.random.SeedSequence(key).generate_state(1, np.uint64)
    return torch.Generator().manual_seed(int(state[0] >> np.uint64(1)))
