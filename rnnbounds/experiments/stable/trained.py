"""Networks that several experiments read off: RNN and LSTM, kept stable and not, on real tasks."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial

import torch
from torch import Tensor

from rnnbounds.experiments.engine.experiment import Experiment, Job, LoadedData, all_units
from rnnbounds.experiments.engine.record import Holds, Run, Setting
from rnnbounds.experiments.engine.trainer import Plan
from rnnbounds.experiments.networks.recurrent import (
    Network,
    no_projection,
    recurrent_network,
    stable_projection,
)
from rnnbounds.experiments.tasks import load_tasks
from rnnbounds.experiments.tasks.task import Task
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.certificate.record import Certificate

BROKEN_BOUNDS = "certified bounds broken"
WAYS = ("stable", "free")
LENGTH = 128  # of the held-out windows that are looked at


class BaseSizes(Setting, frozen=True, kw_only=True):
    """Networks of `states` units, trained for `steps` steps on all of the data or a part.

    The stable ones are projected after each step to where one step contracts by at most `lam`.
    """

    tasks: tuple[str, ...] = ("characters", "words")
    cells: tuple[str, ...] = ("RNN", "LSTM")
    states: int = 48
    steps: int = 600
    rate: float = 0.01
    lam: float = 0.95
    all_data: bool = False


class Sizes(BaseSizes, frozen=True, kw_only=True):
    """`epsilon` is the ε of the certified k."""

    epsilon: float = 1e-2


FULL = Sizes(states=256, steps=20_000, rate=0.002, all_data=True)


def load_data(setting: BaseSizes, data: str | None) -> LoadedData:
    """The tasks by name, from published files where a path is given; raises DataError."""
    return load_tasks(setting.tasks, data, setting.all_data)


def train_network(job: Job[Sizes]) -> tuple[Network, Task, Certificate]:
    """The trained network of a unit in float64 on the CPU, its task, and the core's certificate."""
    s, task = job.setting, job.data[job.unit.task]
    model = recurrent_network(job.unit.model, task, s.states, job.unit.seed)
    project = (
        stable_projection(s.lam, task.bound) if job.unit.variant == "stable" else no_projection
    )
    model = job.train(model, task, Plan(steps=s.steps, rate=s.rate), project=project).model
    model = model.cpu().double()
    return model, task, certify(model.core, task.bound, (s.epsilon,))


@torch.no_grad()
def held_out_windows(model: Network, task: Task, length: int) -> tuple[Tensor, Tensor]:
    """Held-out sequences cut into windows: fed (M, length, d), targets (M, length, …)."""
    pieces: list[tuple[Tensor, Tensor]] = []
    for x, y in task.batches("held out"):
        for start in range(0, x.shape[1] - length + 1, length):
            part = slice(start, start + length)
            pieces.append((model.core_inputs(x[:, part]), y[:, part]))
    fed, targets = (torch.cat(part) for part in zip(*pieces, strict=True))
    return fed, targets


def is_broken(observed: float, bound: float, rounding: float | None) -> bool:
    """True if `observed`, less its rounding error, exceeds `bound` or is NaN; False if the error is
    unknown (None)."""
    return rounding is not None and not observed * (1 - 2.0**-40) - rounding <= bound


def tally_seeds(runs: Iterable[Run], fits: Callable[[Run], bool]) -> tuple[Holds, int, str]:
    """Conclusion by RULE, the number of runs that fit it, and rows where some seed does not."""
    rows: dict[tuple[str, str, str], list[bool]] = {}
    for run in runs:
        rows.setdefault((run.task, run.model, run.variant), []).append(fits(run))
    missed = [" ".join(row) for row, answers in rows.items() if not all(answers)]
    never = not all(any(answers) for answers in rows.values())
    holds: Holds = "does not hold" if never else "undecided" if missed else "holds"
    missed_text = f" Not from every seed: {', '.join(missed)}." if missed else ""
    return holds, sum(map(sum, rows.values())), missed_text


def is_at_most(run: Run, name: str, limit: float) -> bool:
    """True if the figure `name` of the run is known and at most `most`."""
    value = run.figures[name]
    return value is not None and value <= limit


def broken_lines(runs: Sequence[Run]) -> tuple[str, ...]:
    """The certified bounds that fell, in words."""
    return tuple(
        f"{run.task}, {run.model}, {run.variant}, seed {run.seed}: {count:g} bounds are broken"
        for run in runs
        if (count := run.figures.get(BROKEN_BOUNDS))
    )


RULE = "It does not hold if for some task and model no seed does so; otherwise it is undecided."
make_experiment = partial(
    Experiment[Sizes],
    setting=Sizes(),
    full=FULL,
    units=lambda setting: all_units(setting.tasks, setting.cells, WAYS, setting.each_seed),
    load=load_data,
    takes_data=True,
)
"""What is read off these networks: an `Experiment` but for its texts, `work`, `judge`, charts."""
