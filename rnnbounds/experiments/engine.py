"""The engine of all experiments: units of work, a measurement of each, a conclusion from all.

A module ends with EXPERIMENT = Experiment(…). `units(setting)` lists what to train, `work(job)`
trains and measures one unit, `judge(runs, setting)` concludes by the rule that `rule` states.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import product
from typing import Any, TypeVar

import msgspec
import torch
from msgspec.structs import replace

from rnnbounds.experiments.record import Outcome, Record, Run
from rnnbounds.experiments.trainer import Data, train
from rnnbounds.impl.models.device import check_device
from rnnbounds.impl.models.surroundings import isolated
from rnnbounds.impl.numbers.json_values import finite_or_none
from rnnbounds.properties.errors import InputError, UnknownChoiceError
from rnnbounds.properties.runs.run import run_environment

M = TypeVar("M", bound=torch.nn.Module)


def all_units(
    setting: Any,
    tasks: Iterable[str],
    models: Iterable[str],
    variants: Iterable[str] = ("trained",),
) -> list[Run]:
    """Each with each, without a figure, in this order: seeds change first."""
    seeds = range(setting.seed, setting.seed + setting.seeds)
    keys = product(tasks, models, variants, seeds)
    return [Run(task=task, model=model, variant=way, seed=seed) for task, model, way, seed in keys]


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """One experiment. `load(setting)` gives `job.data` and the sources of the data; `x` is what
    the curves of its runs are over."""

    name: str
    conclusion: str
    rule: str
    setting: Any
    units: Callable[[Any], Sequence[Run]]
    work: Callable[["Job"], Run]
    judge: Callable[[Sequence[Run], Any], Outcome]
    load: Callable[[Any], tuple[Any, dict[str, str]]] = lambda setting: (None, {})
    x: str = "inputs k"


@dataclass(frozen=True)
class Job:
    """One unit at work, with the setting of its experiment."""

    unit: Run
    setting: Any
    data: Any
    device: str

    def train(self, model: M, data: Data, rates: Sequence[float], **more: Any) -> float:
        """`trainer.train` with this unit's seed and device."""
        return train(model, data, rates, seed=self.unit.seed, device=self.device, **more)

    def make_run(self, figures: Mapping[str, Any], curves: Mapping[str, Any] | None = None) -> Run:
        """The run of this unit."""
        known = {
            name: None if v is None else finite_or_none(float(v)) for name, v in figures.items()
        }
        return replace(self.unit, figures=known, curves=dict(curves or {}))


@isolated()
def run_experiment(
    experiment: Experiment, *, setting: Any, device: str = "auto",
    advance: Callable[[str], None] = lambda label: None,
) -> Record:  # fmt: skip
    """Run an experiment. `advance` is called once a unit.

    Raises InputError for a device or a package that is not there, before anything is trained.
    """
    started, runs = datetime.now(UTC), list[Run]()
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    device = check_device(device)
    data, sources = experiment.load(setting)
    for unit in experiment.units(setting):
        runs.append(experiment.work(Job(unit, setting, data, device)))
        advance(f"{unit.task}, {unit.model}, {unit.variant}, {unit.seed}")
    return Record(
        name=experiment.name, settings=msgspec.to_builtins(setting), sources=sources,
        outcome=experiment.judge(runs, setting), runs=tuple(runs),
        environment=run_environment(device, 1, started, ()),
    )  # fmt: skip


def change_setting(experiment: Experiment, changed: Mapping[str, Any]) -> Any:
    """The sizes by default with these in place; raises UnknownChoiceError and InputError."""
    fields, name = msgspec.structs.asdict(experiment.setting), experiment.name
    for key in changed:
        if key not in fields:
            raise UnknownChoiceError(f"setting of {name}", key, tuple(fields))
    try:
        return msgspec.convert({**fields, **changed}, type(experiment.setting), strict=False)
    except msgspec.ValidationError as error:
        raise InputError(f"{error}; give a setting as {name} has it by default") from None
