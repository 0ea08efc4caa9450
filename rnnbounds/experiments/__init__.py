"""Experiments on real data: each trains, certifies, compares, and writes a page and a record."""

from collections.abc import Callable, Mapping

from properties.errors import UnknownChoiceError
from rnnbounds.experiments.record import Sunspots
from rnnbounds.experiments.sunspots import run as run_sunspots

Experiment = Callable[..., Sunspots]

EXPERIMENTS: Mapping[str, Experiment] = {"sunspots": run_sunspots}


def find_experiment(name: str) -> Experiment:
    """The experiment of that name; raises UnknownChoiceError."""
    if name not in EXPERIMENTS:
        raise UnknownChoiceError("experiment", name, tuple(EXPERIMENTS))
    return EXPERIMENTS[name]
