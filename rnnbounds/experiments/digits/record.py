"""The record of the permuted-digits experiment, and what is wrong with it."""

import math
from dataclasses import dataclass, field
from statistics import fmean, pstdev

from reports.records.record import Environment

SCHEMA = "rnnbounds/permuted-digits/1"

Rows = tuple[tuple[float, ...], ...]  # a row for each epoch, in it an entry for each network


@dataclass(frozen=True)
class Setting:
    """What is trained on what.

    `data` by name or "folder", at most `images` of them to train on and half as many for the test;
    `networks` of each kind with `hidden` units, trained for `epochs` by Adam on
    batches of `batch` images, from the learning `rate` down to 0 along a cosine; their state is
    stored every `block` epochs.
    """

    data: str = "digits"
    images: int = 2000
    hidden: int = 64
    networks: int = 3
    epochs: int = 50
    batch: int = 50
    rate: float = 0.003
    block: int = 5


@dataclass(frozen=True)
class Learned:
    """The networks of one kind: mean loss in each epoch, and test accuracy after it.

    `mean` and `spread` (the standard deviation over the networks) are of `accuracy`.
    """

    kind: str
    loss: Rows
    accuracy: Rows
    mean: tuple[float, ...]
    spread: tuple[float, ...]

    @classmethod
    def of(cls, kind: str, loss: Rows, accuracy: Rows) -> "Learned":
        """The curves with their mean and spread."""
        mean = tuple(fmean(row) for row in accuracy)
        return cls(kind, loss, accuracy, mean, tuple(pstdev(row) for row in accuracy))


@dataclass(frozen=True)
class Digits:
    """One run; everything but `environment` is a function of seed, setting, data and device.

    `pixels` is the length of a sequence; `digest` the SHA-256 of the data as they were used;
    `chance` the accuracy of always saying the commonest digit of the test.
    """

    seed: int
    setting: Setting
    source: str
    digest: str
    pixels: int
    training: int
    testing: int
    chance: float
    learned: tuple[Learned, ...]
    environment: Environment
    problems: tuple[str, ...] = ()
    schema: str = field(default=SCHEMA)


def problems(run: Digits) -> tuple[str, ...]:
    """What fails, in words: training that has broken down.

    How well a kind has learned is an observation, and no failure.
    """
    return tuple(
        f"{told.kind}: a loss is not finite"
        for told in run.learned
        if not all(math.isfinite(value) for row in told.loss for value in row)
    )
