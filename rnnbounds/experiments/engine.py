"""The engine of all experiments: units of work, a measurement of each, a conclusion from all.

A module ends with EXPERIMENT = Experiment(…). `units(setting)` lists what to train, `work(job)`
trains and measures one unit, `judge(runs, setting)` concludes by the rule that `rule` states.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec
import torch

from rnnbounds.experiments.page import Chart, build_page
from rnnbounds.experiments.record import (
    CertificateSummary,
    Curve,
    Outcome,
    Record,
    Run,
    Setting,
    finite_figures,
)
from rnnbounds.experiments.trainer import Plan, Task, Trained, train
from rnnbounds.impl.models.device import check_device
from rnnbounds.properties.errors import InputError, UnknownChoiceError
from rnnbounds.properties.runs.run import run_environment
from rnnbounds.properties.runs.versions import installed_version
from rnnbounds.reports.files import write_all
from rnnbounds.reports.pages.experiment import render_page

S = TypeVar("S", bound=Setting)
M = TypeVar("M", bound=torch.nn.Module)


@dataclass(frozen=True)
class Unit:
    """One piece of work: a model, trained by a variant on a task from a seed."""

    task: str
    model: str
    variant: str
    seed: int


def all_units(
    tasks: Iterable[str], models: Iterable[str], variants: Iterable[str], seeds: Iterable[int]
) -> list[Unit]:
    """Each with each, in this order: seeds change first."""
    return [Unit(*key) for key in product(tasks, models, variants, seeds)]


@dataclass(frozen=True, kw_only=True)
class Experiment(Generic[S]):
    """One experiment; see this module's own words. `load(setting)` gives `job.data` and the sources
    of the data; `packages`: whose versions the record keeps."""

    name: str
    title: str
    question: str
    conclusion: str
    source: str
    rule: str
    setting: S
    units: Callable[[S], Sequence[Unit]]
    work: Callable[["Job[S]"], Iterable[Run]]
    judge: Callable[[Sequence[Run], S], Outcome]
    load: Callable[[S], tuple[Any, dict[str, str]]] = lambda setting: (None, {})
    charts: tuple[Chart, ...] = ()
    packages: tuple[str, ...] = ()


@dataclass(frozen=True)
class Job(Generic[S]):
    """One unit at work."""

    unit: Unit
    setting: S
    data: Any
    device: str

    def train(self, model: M, task: Task, plan: Plan, **more: Any) -> Trained[M]:
        """`trainer.train` with this unit's seed and device."""
        return train(model, task, plan, seed=self.unit.seed, device=self.device, **more)

    def search_rates(
        self, make: Callable[[], M], task: Task, plan: Plan, rates: Iterable[float], **more: Any
    ) -> tuple[Trained[M], str]:
        """Train what `make` makes at each rate: the one that validates best, and its rate."""
        trainings = [
            (self.train(make(), task, msgspec.structs.replace(plan, rate=rate), **more), rate)
            for rate in rates
        ]
        trained, rate = min(trainings, key=lambda training: training[0].best[0])
        return trained, f"{rate:g}"

    def make_run(
        self, figures: Mapping[str, Any], curves: Mapping[str, Curve] | None = None, *,
        certificate: CertificateSummary | None = None, notes: Mapping[str, str] | None = None,
        **other: Any,
    ) -> Run:  # fmt: skip
        """The run of this unit; `other` may name another model, variant, task or seed."""
        return Run(
            **(vars(self.unit) | other), figures=finite_figures(figures),
            curves=dict(curves or {}), certificate=certificate, notes=dict(notes or {}),
        )  # fmt: skip


def run_experiment(
    experiment: Experiment[S], out: Path, *, setting: S | None = None, device: str = "auto",
    advance: Callable[[str], None] = lambda label: None,
) -> Record:  # fmt: skip
    """Run an experiment; write NAME.json and index.html to `out`. `advance` is called once a unit.

    Raises InputError for a device or a package that is not there, before anything is trained.
    """
    started, chosen = datetime.now(UTC), experiment.setting if setting is None else setting
    torch.set_num_threads(1)
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    device = check_device(device)
    data, sources = experiment.load(chosen)
    runs: list[Run] = []
    for unit in experiment.units(chosen):
        runs += experiment.work(Job(unit, chosen, data, device))
        advance(", ".join(map(str, vars(unit).values())))
    found = run_environment(device, 1, started, ())
    versions = {name: installed_version(name) for name in experiment.packages}
    texts = ("name", "title", "question", "conclusion", "source", "rule")
    record = Record(
        **{text: getattr(experiment, text) for text in texts},
        outcome=experiment.judge(runs, chosen), options=rerun_options(experiment, chosen),
        settings=msgspec.to_builtins(chosen), sources=sources, runs=tuple(runs),
        environment=msgspec.structs.replace(found, versions=found.versions | versions),
    )  # fmt: skip
    document = msgspec.json.format(msgspec.json.encode(record), indent=2)
    page = render_page(build_page(record, experiment.charts))
    write_all(out, {f"{experiment.name}.json": document, "index.html": page})
    return record


def rerun_options(experiment: Experiment[S], setting: S) -> tuple[str, ...]:
    """The options of the command that makes a run of this setting."""
    base, options = msgspec.to_builtins(experiment.setting), []
    for name, value in msgspec.to_builtins(setting).items():
        if value != base[name]:
            plain = value if isinstance(value, str) else msgspec.json.encode(value).decode()
            options.append(
                f"--{name} {plain}" if name in ("seed", "seeds") else f"--set {name}={plain}"
            )
    return tuple(options)


def make_setting(experiment: Experiment[S], changed: Mapping[str, Any]) -> S:
    """The sizes by default with these in place; raises UnknownChoiceError and InputError."""
    fields = msgspec.structs.asdict(experiment.setting)
    for name in changed:
        if name not in fields:
            raise UnknownChoiceError(f"setting of {experiment.name}", name, tuple(fields))
    try:
        return msgspec.convert({**fields, **changed}, type(experiment.setting), strict=False)
    except msgspec.ValidationError as error:
        raise InputError(
            f"{error}; give a setting as {experiment.name} has it by default"
        ) from None
