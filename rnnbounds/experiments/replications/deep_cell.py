"""``rnnbounds experiment deep-cell``: cells of 1 to 6 layers on a task that needs memory."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

import torch
from torch import Tensor

from rnnbounds.experiments.engine.common import seeded_generator
from rnnbounds.experiments.engine.experiment import Experiment, Job, LoadedData, Unit, all_units
from rnnbounds.experiments.engine.figures import group_runs
from rnnbounds.experiments.engine.record import Outcome, Run, Setting, make_curve
from rnnbounds.experiments.engine.scores import mean_score, score_text
from rnnbounds.experiments.engine.trainer import Plan
from rnnbounds.experiments.networks.deep import VARIANTS, DeepTransition
from rnnbounds.experiments.tasks.score import ClassScore
from rnnbounds.reports.pages.text import NOTHING, plural

TASK, CLASSES, NOISE = "recall of the first input", 8, 4
LEARNED_SHARE = 90.0  # per cent
_BATCH, _JUDGED = 32, 512
_PART_KEYS = {"validation": 1, "held out": 2}


class Sizes(Setting, frozen=True, kw_only=True):
    """Cells of `states` units and each of `depths` layers, over `length` steps."""

    depths: tuple[int, ...] = (1, 2, 3, 4, 5, 6)
    states: int = 24
    length: int = 12
    steps: int = 300
    rates: tuple[float, ...] = (0.005,)


class Recall:
    """x_1 is a class as a unit vector, later x_t are noise in other coordinates: y is the class."""

    def __init__(self, length: int) -> None:
        self.length, self.judge = length, ClassScore()

    def batch(self, seed: int, step: int) -> tuple[Tensor, Tensor]:
        """Drawn anew for every step."""
        return self.draw_batch(_BATCH, seeded_generator(seed, 0, step))

    def batches(self, part: str) -> Iterator[tuple[Tensor, Tensor]]:
        """Yield one batch (x, y) of a part of the data, equal for every training seed."""
        yield self.draw_batch(_JUDGED, seeded_generator(0, _PART_KEYS[part]))

    def draw_batch(self, size: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """So many sequences."""
        y = torch.randint(CLASSES, (size,), generator=generator)
        x = torch.zeros(size, self.length, CLASSES + NOISE)
        x[:, 1:, CLASSES:] = torch.randn(size, self.length - 1, NOISE, generator=generator)
        x[torch.arange(size), 0, y] = 1
        return x, y

    def loss(self, outputs: Tensor, y: Tensor) -> Tensor:
        """Cross-entropy."""
        return self.judge.loss(outputs[:, None], y[:, None])


def load_data(setting: Sizes, data: str | None) -> LoadedData:
    """The task, which is drawn."""
    return LoadedData(Recall(setting.length), {TASK: "drawn from the seeds"})


def list_units(setting: Sizes) -> list[Unit]:
    """Every depth, variant and seed."""
    depths = [plural(depth, "layer") for depth in setting.depths]
    return all_units([TASK], depths, VARIANTS, setting.each_seed)


def run_unit(job: Job[Sizes]) -> Iterable[Run]:
    """Gradients at first, the rate that validates best, gradients at the end."""
    unit, s, task = job.unit, job.setting, job.data
    sizes = CLASSES + NOISE, s.states, CLASSES, int(unit.model.split()[0])
    make = partial(DeepTransition, unit.variant, *sizes, unit.seed)
    first = gradient_and_power(make(), task)
    trained, rate = job.search_rates(make, task, Plan(steps=s.steps), s.rates)
    x, y = next(task.batches("held out"))
    with torch.no_grad():
        outputs = trained.model(x.to(job.device))[:, None].cpu()
    right = task.judge.from_tally(task.judge.tally(outputs, y[:, None]))
    last = gradient_and_power(trained.model.cpu(), task)
    figures = {"right, %": right}
    for when, (gradient, law) in (("first", first), ("trained", last)):
        figures |= {f"{when} ‖∂h_T/∂h_0‖₂": gradient, f"{when} ‖A‖^(LT)": law}
    losses = make_curve(trained.steps, trained.validation[:, 0].tolist())
    yield job.make_run(figures, {"validation loss": losses}, notes={"rate": rate})


def gradient_and_power(model: DeepTransition, task: Recall) -> tuple[float, float]:
    """The largest ‖∂h_T/∂h_0‖₂ of some sequences, and ‖A‖^{LT}, in float64."""
    x, _ = task.draw_batch(8, seeded_generator(0, 3))
    dtype = next(model.parameters()).dtype
    model.double()
    result = float(model.gradient_norms(x.double()).max()), model.norm_power(task.length)
    model.to(dtype)
    return result


def judge_runs(runs: Sequence[Run], setting: Sizes) -> Outcome:
    """Judge whether the deepest plain cell fails where each remedy does better."""
    rows = group_runs(runs)
    scores = {key: mean_score(some) or 0.0 for key, some in rows.items()}
    deepest = plural(max(setting.depths), "layer")
    plain = scores[deepest, "plain"]
    better = all(scores[deepest, variant] > plain for variant in VARIANTS[1:])
    best_plain = max(map(_right_share, rows[deepest, "plain"]))
    separated = all(min(map(_right_share, rows[deepest, way])) > best_plain for way in VARIANTS[1:])
    learned = dict.fromkeys(VARIANTS, "")
    for (model, variant), right in scores.items():
        learned[variant] += f", {model.split()[0]}" if right >= LEARNED_SHARE else ""
    summary = (
        f"Of {deepest}, right: "
        f"{', '.join(f'{way} {score_text(rows[deepest, way])}' for way in VARIANTS)} %. "
        f"Depths at which {LEARNED_SHARE:.0f} % was learned: "
        f"{'; '.join(f'{way} {depths[2:] or NOTHING}' for way, depths in learned.items())}."
    )
    if not (plain < LEARNED_SHARE and better):
        return Outcome("does not hold", summary)
    return Outcome("holds" if separated else "undecided", summary)


def _right_share(run: Run) -> float:
    """How many of its answers are right, in per cent; none where that is not known."""
    return next(iter(run.figures.values())) or 0.0


EXPERIMENT = Experiment(
    name="deep-cell",
    title="Training of deep transitions",
    question=(
        "The first input names a class, noise follows, and after the last one the class is asked "
        "for. A cell of L layers multiplies LT matrices in a gradient over T steps: when does it "
        "still learn, and do normalisation, gates and orthogonal first weights help?"
    ),
    conclusion=(
        "gradients of a cell of L layers go as ‖A‖^(LT), so that deep ones hardly train as they "
        "are; normalisation, gates and orthogonal first weights help"
    ),
    source="the question on deep cells; Pascanu et al., How to Construct Deep RNNs (2014)",
    rule=(
        f"it holds if at the greatest depth plain cells tell less than {LEARNED_SHARE:.0f} % "
        "right, in "
        f"the mean over the seeds, and each of the three remedies more than they; it is undecided "
        f"where seeds of plain cells and of a remedy overlap. ‖A‖^(LT) is read as Π‖W_l‖₂^T; that "
        f"it bounds gradients of plain cells is the claim deep-gradient, and is "
        f"not judged here."
    ),
    setting=Sizes(),
    full=Sizes(states=128, length=100, steps=5000, rates=(0.0003, 0.001, 0.003)),
    units=list_units,
    work=run_unit,
    judge=judge_runs,
    load=load_data,
)
