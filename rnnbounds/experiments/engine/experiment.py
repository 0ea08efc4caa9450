"""Experiment: units of work, a measurement of each, and a conclusion from all.

An experiment is one small module that ends with

    EXPERIMENT = Experiment(name=…, setting=Sizes(), units=units, work=work, judge=judge, …)

`units(setting)` lists the units to train. `work(job)` trains and measures one unit, mostly by

    model = make(job.unit.model, job.unit.seed)          # of torch.nn; first weights by the seed
    trained = job.train(model, task, plan, project=…)    # resumes by itself
    return [job.run({"held-out, bits": bits(model, task)}, {"observed": curve(x, y)},
                    certificate=certified(model.rnn, bound, 1e-2))]

`judge(runs, setting)` concludes from all runs, by the rule that `rule` states. `load(setting,
data)` reads the data once: its `value` is `job.data`, its `sources` (where from, SHA-256) go into
the record. The page comes from the record by itself: a table a task, of the figures' mean and
spread over the seeds, and `charts` of curves; `sections` may add more, from the record alone.

A new module is entered in `rnnbounds.experiments.HOMES`. Its settings are a subclass of `Setting`:
each field is an option of the command, `--set NAME=VALUE`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, Generic, TypeVar

import torch
from msgspec.structs import replace

from rnnbounds.experiments.engine.figures import Chart
from rnnbounds.experiments.engine.parts import PartStore, TrainingSlot
from rnnbounds.experiments.engine.record import (
    CertificateSummary,
    Curve,
    Outcome,
    Record,
    Run,
    Setting,
    record_figures,
)
from rnnbounds.experiments.engine.trainer import Plan, Task, Trained, train
from rnnbounds.reports.pages.experiment import Section

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


@dataclass(frozen=True)
class LoadedData:
    """Data that an experiment reads, and their sources: a line for each name, such as a SHA-256."""

    value: Any = None
    sources: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Experiment(Generic[S]):
    """One experiment; see this module's own words.

    `full` are the sizes of --full, None where there are none; `takes_data`: whether --data is
    known; `packages`: whose versions the record keeps. Texts are plain.
    """

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
    full: S | None = None
    load: Callable[[S, str | None], LoadedData] = lambda setting, data: LoadedData()
    takes_data: bool = False
    charts: tuple[Chart, ...] = ()
    sections: Callable[[Record], Sequence[Section]] = lambda record: ()
    packages: tuple[str, ...] = ()


@dataclass(frozen=True)
class Job(Generic[S]):
    """One unit at work: what it is given, and what it hands back."""

    unit: Unit
    setting: S
    data: Any
    device: str
    name: str
    parts: PartStore
    tick: Callable[[], None]
    files: dict[str, bytes] = field(default_factory=dict)

    def train(self, model: M, task: Task, plan: Plan, *, name: str = "", **more: Any) -> Trained[M]:
        """`trainer.train` with this unit's seed and device, resumed where it was stored.

        A unit that trains more than one model gives each a `name`.
        """
        options: dict[str, Any] = {
            "seed": self.unit.seed,
            "device": self.device,
            "advance": self.tick,
        } | more
        return train(
            model, task, plan, slot=TrainingSlot(self.parts, f"{self.name}~{name}"), **options
        )

    def search_rates(
        self,
        make: Callable[[], M],
        task: Task,
        plan: Plan,
        rates: Iterable[float],
        *,
        name: str = "",
        **more: Any,
    ) -> tuple[Trained[M], str]:
        """Train what `make` makes at each rate: the one that validates best, and its rate."""
        trainings = []
        for rate in rates:
            rate_plan = replace(plan, rate=rate)
            trained = self.train(make(), task, rate_plan, name=f"{name}{rate:g}", **more)
            trainings.append((trained, f"{rate:g}"))
        return min(trainings, key=lambda training: training[0].best[0])

    def make_run(
        self,
        figures: Mapping[str, Any],
        curves: Mapping[str, Curve] | None = None,
        *,
        certificate: CertificateSummary | None = None,
        notes: Mapping[str, str] | None = None,
        times: Mapping[str, float] | None = None,
        **other: Any,
    ) -> Run:
        """The run of this unit; `other` may name another model, variant or task."""
        unit = self.unit
        labels: dict[str, Any] = {"task": unit.task, "model": unit.model, "variant": unit.variant}
        return Run(
            **(labels | {"seed": unit.seed} | other), figures=record_figures(figures),
            curves=dict(curves or {}), certificate=certificate, told=dict(notes or {}),
            times=dict(times or {}),
        )  # fmt: skip

    def keep_file(self, name: str, data: bytes) -> None:
        """A file that is written beside the record."""
        self.files[name] = data
