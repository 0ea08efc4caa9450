"""Every experiment at a size for tests, and what its files, its page and its command must have."""

import gzip
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rnnbounds.experiments.digits import run as digits
from rnnbounds.experiments.digits.idx import NAMES
from rnnbounds.experiments.digits.record import Setting as Digits
from rnnbounds.experiments.gradients import run as gradients
from rnnbounds.experiments.gradients.instances import Setting as Instances
from rnnbounds.experiments.norms import run as norms
from rnnbounds.experiments.norms.record import Setting as Norms
from rnnbounds.experiments.students import KINDS
from rnnbounds.experiments.sunspots import run as sunspots
from rnnbounds.experiments.urnn import run as urnn
from rnnbounds.experiments.urnn.teacher import Setting as Teachers

EPOCHS = 12  # of sunspots
GRADIENTS = Instances(
    instances=2, states=4, inputs=2, outputs=3, length=14, steps=5, windows=(1, 2, 4, 8, 13)
)
NORMS = Norms(systems=2, most=5)
DIGITS = Digits(data="folder", images=40, hidden=4, networks=2, epochs=4, batch=16, block=2)
URNN = Teachers(
    sequences=12, length=60, hidden=(2, 4), realisations=2, together=1, epochs=2, batch=4
)
UNITS = 12  # 2 realisations × 2 SNR × 3 kinds


@dataclass(frozen=True)
class Small:
    """How an experiment is run here, its work, an option that it has not, and what it says."""

    module: Any
    options: dict[str, Any]
    work: int
    foreign: str
    head: tuple[str, ...]
    words: tuple[str, ...]
    figures: int = 2
    files: frozenset[str] = frozenset()


SMALL = {
    "sunspots": Small(
        sunspots, {"epochs": EPOCHS}, 2 * EPOCHS, "instances",
        ("network", "verdict"), (f"seed 0 · {EPOCHS} epochs each",),
        files=frozenset({"stable.safetensors", "unconstrained.safetensors"})
        | {f"truncated-{epsilon}.safetensors" for epsilon in (0.1, 0.01, 0.001)},
    ),
    "gradients-close": Small(
        gradients, {"instances": 2, "setting": GRADIENTS}, gradients.PARTS,
        "epochs", ("k", "mean", "least"),
        (
            "seed 0 · 2 instances · 5 steps", "The certified bound is vacuous at every k here",
            "The certified bound says something from k = ",
        ),
    ),
    "norms": Small(
        norms, {"instances": 2, "setting": NORMS}, 2, "data",
        ("norm", "certifies"), ("auto certifies 2",), figures=1,
    ),
    "urnn": Small(
        urnn, {"setting": URNN}, URNN.epochs * UNITS, "instances",
        ("units,", "15", "dB"),
        (
            "what the noise allows, 0.9693", "8 states", "units were exactly 0 at all times",
            "rnnbounds experiment urnn --seed 0 --epochs 2 --realisations 2",
        ),
    ),
    "permuted-digits": Small(
        digits, {"setting": DIGITS}, len(KINDS) * DIGITS.epochs,
        "realisations", ("kind", "after", "the"),
        ("rnnbounds experiment permuted-digits --seed 0 --data FOLDER --epochs 4",),
    ),
}  # fmt: skip


def idx_bytes(values: np.ndarray) -> bytes:
    """An idx file of bytes."""
    shape = b"".join(length.to_bytes(4, "big") for length in values.shape)
    return bytes((0, 0, 8, values.ndim)) + shape + values.astype(np.uint8).tobytes()


def write_folder(folder: Path) -> Path:
    """Forty and thirty images of 4 × 3 pixels: the digit is how bright they are."""
    folder.mkdir()
    rng = np.random.default_rng(0)
    for count, (images, labels) in ((40, NAMES[:2]), (30, NAMES[2:])):
        told = np.arange(count) % 10
        shown = 20 * told[:, None, None] + rng.integers(0, 9, (count, 4, 3))
        (folder / images).write_bytes(idx_bytes(shown))
        (folder / f"{labels}.gz").write_bytes(gzip.compress(idx_bytes(told)))
    return folder


def without_environment(folder: Path, name: str) -> dict[str, Any]:
    """The record but for the times and the machine."""
    told = json.loads((folder / f"{name}.json").read_text())
    return {field: part for field, part in told.items() if field != "environment"}


def stop_after(calls: int) -> Callable[[str], None]:
    """An `advance` that is interrupted like a program is, after so many calls."""
    left = iter(range(calls))

    def advance(label: str) -> None:
        if next(left, None) is None:
            raise KeyboardInterrupt

    return advance
