"""Experiments: each runs something real or random, compares, and writes a page and a record."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from properties.errors import InputError, UnknownChoiceError
from reports.pages.experiment import Page
from rnnbounds.experiments.digits import page as digits_page
from rnnbounds.experiments.digits import run as digits
from rnnbounds.experiments.digits.record import Digits
from rnnbounds.experiments.gradients import page as gradients_page
from rnnbounds.experiments.gradients import run as gradients
from rnnbounds.experiments.gradients.record import Closeness
from rnnbounds.experiments.norms import page as norms_page
from rnnbounds.experiments.norms import run as norms
from rnnbounds.experiments.norms.record import Norms
from rnnbounds.experiments.sunspots import page as sunspots_page
from rnnbounds.experiments.sunspots import run as sunspots
from rnnbounds.experiments.sunspots.record import Sunspots
from rnnbounds.experiments.urnn import page as urnn_page
from rnnbounds.experiments.urnn import run as urnn
from rnnbounds.experiments.urnn.record import Unitary

HOMES: Mapping[str, str] = {
    "certifiable": "rnnbounds.experiments.stable.certifiable",
    "models": "rnnbounds.experiments.models.run",
    "stable-vs-unstable": "rnnbounds.experiments.replications.stable_vs_unstable",
    "feed-forward": "rnnbounds.experiments.replications.feed_forward",
    "deep-cell": "rnnbounds.experiments.replications.deep_cell",
    "similarity": "rnnbounds.experiments.replications.similarity",
    "sigmoid-gap": "rnnbounds.experiments.replications.sigmoid_gap",
}
"""The module of each experiment, which ends with its EXPERIMENT; imported when it is asked for."""

Record = Sunspots | Closeness | Unitary | Digits | Norms
Options = Mapping[str, Any]


class OptionError(InputError):
    """An option that an experiment does not have."""

    def __init__(self, name: str, option: str) -> None:
        super().__init__(f"the experiment {name} has no {option}; leave --{option} out")


@dataclass(frozen=True)
class Experiment:
    """`run(folder, seed=…, advance=…, **options)`, its options by default, how often it advances.

    An option that is None by default has a value that depends on the others.
    """

    run: Callable[..., Record]
    page: Callable[[Any], Page]
    options: Options
    work: Callable[..., int]


_TRAINED: Options = {"full": False, "epochs": None, "device": "auto"}
EXPERIMENTS: Mapping[str, Experiment] = {
    "sunspots": Experiment(
        sunspots.run,
        sunspots_page.page,
        {"epochs": sunspots.EPOCHS},
        lambda epochs: 2 * int(epochs),
    ),
    "gradients-close": Experiment(
        gradients.run,
        gradients_page.page,
        {"instances": gradients.INSTANCES},
        lambda instances: gradients.PARTS,
    ),
    "norms": Experiment(
        norms.run, norms_page.page, {"instances": norms.SYSTEMS}, lambda instances: int(instances)
    ),
    "urnn": Experiment(urnn.run, urnn_page.page, {**_TRAINED, "realisations": None}, urnn.work),
    "permuted-digits": Experiment(
        digits.run, digits_page.page, {**_TRAINED, "data": "digits"}, digits.work
    ),
}


def find_experiment(name: str) -> Any:
    """The experiment of that name; raises UnknownChoiceError."""
    if name in EXPERIMENTS:
        return EXPERIMENTS[name]
    if name not in HOMES:
        raise UnknownChoiceError("experiment", name, (*EXPERIMENTS, *HOMES))
    return import_module(HOMES[name]).EXPERIMENT


def options_of(name: str, asked: Options) -> dict[str, Any]:
    """The options of a run: those asked for, else those by default; raises OptionError.

    What is None or False was not asked for.
    """
    options = dict(find_experiment(name).options)
    for option, value in asked.items():
        if value is None or value is False:
            continue
        if option not in options:
            raise OptionError(name, option)
        options[option] = value
    return options
