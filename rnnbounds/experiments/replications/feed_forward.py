"""``rnnbounds experiment feed-forward``: whether feed-forward models do what recurrent ones do."""

from collections.abc import Iterable, Sequence
from functools import partial

from rnnbounds.experiments.engine.experiment import Experiment, Job, LoadedData, all_units
from rnnbounds.experiments.engine.record import Outcome, Run, Setting
from rnnbounds.experiments.engine.scores import (
    mean_score,
    relative_loss,
    score_text,
    score_unit,
    select_runs,
)
from rnnbounds.experiments.engine.trainer import Plan
from rnnbounds.experiments.networks.feedforward import CORES, TruncatedNetwork, feed_forward_network
from rnnbounds.experiments.networks.recurrent import (
    Network,
    nearest_size,
    no_projection,
    recurrent_network,
)
from rnnbounds.experiments.tasks import load_tasks
from rnnbounds.experiments.tasks.task import Task

RECURRENT = ("RNN", "LSTM")
FAMILIES = ("feed-forward", "recurrent")
WORSE = 0.05  # relative: what still counts as doing as well


class Sizes(Setting, frozen=True, kw_only=True):
    """An LSTM of `states` units and whatever has as many parameters; `window` of the truncated.

    Symbols become `vectors` numbers; `whole` takes all of the data.
    """

    tasks: tuple[str, ...] = ("words", "characters")
    states: int = 48
    vectors: int = 32
    steps: int = 300
    rates: tuple[float, ...] = (0.005, 0.03)
    window: int = 31
    whole: bool = False


def load_data(setting: Sizes, data: str | None) -> LoadedData:
    """The tasks; of `data`, those whose files are there."""
    return load_tasks(setting.tasks, data, setting.whole)


def run_unit(job: Job[Sizes]) -> Iterable[Run]:
    """Train each at every rate, keep what validates best, cut the recurrent ones, measure."""
    s, seed = job.setting, job.unit.seed
    task: Task = job.data[job.unit.task]
    target = recurrent_network("LSTM", task, s.states, seed, s.vectors).size
    best: dict[str, Network] = {}
    rates: dict[str, str] = {}
    for kind in (*RECURRENT, *CORES):
        make = partial(nearest_size, partial(make_network, kind, task, seed, s.vectors), target)
        trained, rates[kind] = job.search_rates(
            make, task, Plan(steps=s.steps), s.rates, name=f"{kind} ", project=no_projection
        )
        best[kind] = trained.model
    networks: dict[str, Network | TruncatedNetwork] = dict(best)
    for kind in RECURRENT:
        networks[f"truncated {kind}"] = TruncatedNetwork(best[kind], s.window).to(job.device)
    for name, network in networks.items():
        is_truncated = isinstance(network, TruncatedNetwork)
        window = s.window if is_truncated else getattr(network.core, "field", None)
        size = best[name.removeprefix("truncated ")].size
        notes = {"rate": rates[name.removeprefix("truncated ")]}
        figures = {
            f"held out, {task.unit}": task.evaluate(network),
            "parameters": size,
            "inputs seen": window,
        }
        family = "recurrent" if name in RECURRENT else "feed-forward"
        yield job.make_run(figures, model=name, variant=family, notes=notes)


def make_network(kind: str, task: Task, seed: int, vectors: int, units: int) -> Network:
    """A network of that kind."""
    make = recurrent_network if kind in RECURRENT else feed_forward_network
    return make(kind, task, units, seed, vectors)


def judge_runs(runs: Sequence[Run], setting: Sizes) -> Outcome:
    """The best of each family, task by task."""
    task_texts, fits = [], []
    for task in dict.fromkeys(run.task for run in runs):
        first, second = (
            best_model(select_runs(runs, task=task, variant=family)) for family in FAMILIES
        )
        loss = relative_loss(first, second)
        fits.append(loss is not None and loss <= WORSE)
        task_texts.append(
            f"{task}, {score_unit(first)}: "
            + " against ".join(f"{some[0].model} {score_text(some)}" for some in (first, second))
        )
    summary = (
        f"The best feed-forward model is at most {100 * WORSE:g} % worse than the best recurrent "
        f"one in {sum(fits)} of {len(fits)} tasks ({'; '.join(task_texts)})."
    )
    return Outcome("holds" if all(fits) else "does not hold", summary)


def best_model(runs: Sequence[Run]) -> list[Run]:
    """The runs of the model with the best mean score; of the first where none is finite."""
    groups = [select_runs(runs, model=model) for model in dict.fromkeys(run.model for run in runs)]
    finite = [some for some in groups if mean_score(some) is not None]
    sign = -1 if score_unit(runs).endswith("%") else 1
    return min(finite or groups, key=lambda some: sign * (mean_score(some) or 0.0))


EXPERIMENT = Experiment(
    name="feed-forward",
    title="Feed-forward models in place of recurrent ones",
    question=(
        "Do feed-forward models with a window do what recurrent models of as many parameters do?"
    ),
    conclusion="feed-forward models do as well as recurrent ones on sequences",
    source="Miller, When Recurrent Models Don’t Need to be Recurrent (2018)",
    rule=(
        f"it holds if on every task the best feed-forward model (truncated recurrent ones are "
        f"among them) has a mean held-out score at most {100 * WORSE:g} % worse than the best "
        f"recurrent one. The best are chosen by that score, of five models and of two, which is "
        f"kind to the larger family: all are below."
    ),
    setting=Sizes(),
    full=Sizes(states=256, vectors=256, steps=10_000, rates=(0.001, 0.003, 0.01), whole=True),
    units=lambda setting: all_units(setting.tasks, ["all models"], ["trained"], setting.each_seed),
    work=run_unit,
    judge=judge_runs,
    load=load_data,
    takes_data=True,
)
