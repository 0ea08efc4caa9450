"""Experiments: each runs something real or random, compares, and writes a page and a record."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from properties.errors import InputError, UnknownChoiceError
from rnnbounds.experiments import gradients, sunspots
from rnnbounds.experiments.closeness import Closeness
from rnnbounds.experiments.record import Sunspots

Record = Sunspots | Closeness


class SizeError(InputError):
    """A size that an experiment does not have."""

    def __init__(self, name: str, size: str) -> None:
        super().__init__(f"the experiment {name} has no {size}; leave --{size} out")


@dataclass(frozen=True)
class Experiment:
    """`run(folder, seed=…, advance=…, **sizes)`, the sizes by default, how often it advances."""

    run: Callable[..., Record]
    sizes: Mapping[str, int]
    work: Callable[[Mapping[str, int]], int]


EXPERIMENTS: Mapping[str, Experiment] = {
    "sunspots": Experiment(
        sunspots.run, {"epochs": sunspots.EPOCHS}, lambda sizes: 2 * sizes["epochs"]
    ),
    "gradients-close": Experiment(
        gradients.run, {"instances": gradients.INSTANCES}, lambda sizes: gradients.PARTS
    ),
}


def find_experiment(name: str) -> Experiment:
    """The experiment of that name; raises UnknownChoiceError."""
    if name not in EXPERIMENTS:
        raise UnknownChoiceError("experiment", name, tuple(EXPERIMENTS))
    return EXPERIMENTS[name]


def sizes_of(name: str, asked: Mapping[str, int | None]) -> dict[str, int]:
    """The sizes of a run: those asked for, else those by default; raises SizeError."""
    sizes = dict(find_experiment(name).sizes)
    for size, value in asked.items():
        if value is not None and size not in sizes:
            raise SizeError(name, size)
        if value is not None:
            sizes[size] = value
    return sizes
