"""Networks that several experiments read off: RNN and LSTM, kept stable and not, on text."""

from collections.abc import Callable, Sequence
from functools import partial

import torch
from torch import Tensor

from rnnbounds.experiments.engine import Experiment, Job, all_units
from rnnbounds.experiments.networks import Network, projection, recurrent_network
from rnnbounds.experiments.record import EPSILON, Holds, Run, group_runs, make_setting
from rnnbounds.experiments.tasks import TextTask, load_texts
from rnnbounds.experiments.trainer import falling_rates
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.certificate.record import Certificate
from rnnbounds.impl.numbers.outward import mul_up

BROKEN = "certified bounds broken"
WAYS = ("stable", "free")
LENGTH = 128  # of the held-out windows that are looked at
RULE = "It does not hold if for some task and model no seed does so; otherwise it is undecided."


def train_network(job: Job) -> tuple[Network, TextTask, Certificate]:
    """The trained network of a unit in float64 on the CPU, its task, and the core's certificate."""
    s, task = job.setting, job.data[job.unit.task]
    model = recurrent_network(job.unit.model, task, s.states, job.unit.seed)
    project = projection(job.unit.variant == "stable")
    job.train(model, task, falling_rates(s.steps), project=project)
    model = model.cpu().double()
    return model, task, certify(model.core, 1.0, (EPSILON,))


@torch.no_grad()
def held_out_windows(model: Network, task: TextTask, length: int) -> tuple[Tensor, Tensor]:
    """Held-out sequences cut into windows: inputs (M, length, d), targets (M, length)."""
    x, y = (part[:, : part.shape[1] // length * length].reshape(-1, length)
            for part in task.parts["held out"])  # fmt: skip
    return model.embed(x), y


def powers_up(first: Tensor, lam: float, most: int) -> list[float]:
    """first · λ^i for i = 0, …, most, rounded up."""
    bounds = [float(first)]
    for _ in range(most):
        bounds.append(float(mul_up(bounds[-1], lam)))
    return bounds


def count_broken(values: Sequence[float], bounds: Sequence[float], error: float | None) -> int:
    """How many values, less their rounding error, exceed their bound or are NaN; none if the error
    is unknown."""
    if error is None:
        return 0
    pairs = zip(values, bounds, strict=True)
    return sum(not value * (1 - 2.0**-40) - error <= bound for value, bound in pairs)


def broken_lines(runs: Sequence[Run]) -> tuple[str, ...]:
    """The certified bounds that fell, in words."""
    return tuple(
        f"{run.task}, {run.model}, {run.variant}, seed {run.seed}: {count:g} bounds are broken"
        for run in runs
        if (count := run.figures.get(BROKEN))
    )


def is_at_most(name: str, limit: float) -> Callable[[Run], bool]:
    """True of a run whose figure is known and at most so much."""
    return lambda run: (value := run.figures[name]) is not None and value <= limit


def tally_seeds(runs: Sequence[Run], fits: Callable[[Run], bool]) -> tuple[Holds, int, str]:
    """Conclusion by RULE, how many runs fit it, and the rows where some seed does not, in words."""
    rows = {" ".join(key): [fits(run) for run in some] for key, some in group_runs(runs).items()}
    missed = [row for row, answers in rows.items() if not all(answers)]
    never = not all(any(answers) for answers in rows.values())
    holds: Holds = "does not hold" if never else "undecided" if missed else "holds"
    words = f" Not from every seed: {', '.join(missed)}." if missed else ""
    return holds, sum(map(sum, rows.values())), words


make_experiment = partial(
    Experiment,
    setting=make_setting(
        tasks=("characters", "words"), cells=("RNN", "LSTM"), states=48, steps=600
    ),
    load=lambda s: load_texts(s.tasks),
    units=lambda s: all_units(s.tasks, s.cells, WAYS, s.each_seed),
)
"""An `Experiment` on these networks but for its texts, `work` and `judge`."""
