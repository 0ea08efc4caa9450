"""The record of the experiment, what it says of each way of training, and what is wrong with it."""

from dataclasses import dataclass, field
from statistics import mean

from reports.records.record import Environment

SCHEMA = "rnnbounds/certifiable/1"


@dataclass(frozen=True)
class Setting:
    """Networks of `states` units, trained for `steps` steps of Adam from `starts` starts each.

    `lam`: what the projection asks for and the penalty aims at, which is `weight` times the excess
    of the estimate; `epsilon` is the ε of k.
    """

    states: int = 32
    steps: int = 300
    starts: int = 3
    rate: float = 0.01
    lam: float = 0.92
    weight: float = 0.2
    epsilon: float = 1e-2


@dataclass(frozen=True)
class Network:
    """One trained network: its loss on held-out data, and its certificate.

    lam: the factor found in `norm`, null where infinite; a bound where the verdict is certified.
    """

    task: str
    cell: str
    training: str
    start: int
    loss: float
    verdict: str
    norm: str
    lam: float | None
    k: int | None


@dataclass(frozen=True)
class Certifiable:
    """One run; everything but `environment` is a function of the seed and the setting.

    bounds: B, and units: what the loss of each task is in.
    """

    seed: int
    setting: Setting
    bounds: dict[str, float]
    units: dict[str, str]
    networks: tuple[Network, ...]
    environment: Environment
    problems: tuple[str, ...] = ()
    schema: str = field(default=SCHEMA)

    def of(self, task: str, cell: str, training: str) -> list[Network]:
        """The networks of one row, one for each start."""
        wanted = (task, cell, training)
        return [one for one in self.networks if (one.task, one.cell, one.training) == wanted]

    def loss(self, task: str, cell: str, training: str) -> float:
        """The mean over the starts."""
        return mean(one.loss for one in self.of(task, cell, training))

    def dearer(self, task: str, cell: str, training: str) -> float:
        """By how much the mean loss is above that of the free networks, relative to it."""
        return self.loss(task, cell, training) / self.loss(task, cell, "free") - 1

    def longest(self, task: str, cell: str, training: str) -> int | None:
        """The largest certified k of the starts; None unless each has one."""
        ks = [one.k for one in self.of(task, cell, training)]
        known = [k for k in ks if k is not None]
        return max(known) if len(known) == len(ks) else None


def problems(run: Certifiable) -> tuple[str, ...]:
    """What fails, in words: a projected network that is not certified."""
    return tuple(
        f"{one.task}: the projected {one.cell} of start {one.start} is {one.verdict}"
        for one in run.networks
        if one.training == "projected" and one.verdict != "certified"
    )
