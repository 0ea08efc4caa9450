"""``rnnbounds experiment deep-cell``: cells of 1 to 6 layers on a task that needs memory."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

import torch
from torch import Tensor

from rnnbounds.experiments.engine.common import chance
from rnnbounds.experiments.engine.experiment import Experiment, Job, Loaded, Unit, every
from rnnbounds.experiments.engine.figures import rows_of
from rnnbounds.experiments.engine.record import Outcome, Run, Setting, curve
from rnnbounds.experiments.engine.scores import held_out, stated
from rnnbounds.experiments.engine.trainer import Plan
from rnnbounds.experiments.networks.deep import VARIANTS, DeepTransition
from rnnbounds.experiments.tasks.score import Classes
from rnnbounds.reports.pages.text import NOTHING, plural

TASK, CLASSES, NOISE = "recall of the first input", 8, 4
LEARNED = 90.0  # per cent
_BATCH, _JUDGED = 32, 512
_DRAWN = {"validation": 1, "held out": 2}


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
        self.length, self.judge = length, Classes()

    def batch(self, seed: int, step: int) -> tuple[Tensor, Tensor]:
        """Drawn anew for every step."""
        return self.drawn(_BATCH, chance(seed, 0, step))

    def whole(self, part: str) -> Iterator[tuple[Tensor, Tensor]]:
        """Yield one batch (x, y) of a part of the data, equal for every training seed."""
        yield self.drawn(_JUDGED, chance(0, _DRAWN[part]))

    def drawn(self, size: int, by: torch.Generator) -> tuple[Tensor, Tensor]:
        """So many sequences."""
        y = torch.randint(CLASSES, (size,), generator=by)
        x = torch.zeros(size, self.length, CLASSES + NOISE)
        x[:, 1:, CLASSES:] = torch.randn(size, self.length - 1, NOISE, generator=by)
        x[torch.arange(size), 0, y] = 1
        return x, y

    def loss(self, told: Tensor, y: Tensor) -> Tensor:
        """Cross-entropy."""
        return self.judge.loss(told[:, None], y[:, None])


def load(setting: Sizes, data: str | None) -> Loaded:
    """The task, which is drawn."""
    return Loaded(Recall(setting.length), {TASK: "drawn from the seeds"})


def units(setting: Sizes) -> list[Unit]:
    """Every depth, variant and seed."""
    depths = [plural(depth, "layer") for depth in setting.depths]
    return every([TASK], depths, VARIANTS, setting.each_seed)


def work(job: Job[Sizes]) -> Iterable[Run]:
    """Gradients at first, the rate that validates best, gradients at the end."""
    unit, s, task = job.unit, job.setting, job.data
    sizes = CLASSES + NOISE, s.states, CLASSES, int(unit.model.split()[0])
    make = partial(DeepTransition, unit.variant, *sizes, unit.seed)
    first = slopes(make(), task)
    trained, rate = job.search(make, task, Plan(steps=s.steps), s.rates)
    x, y = next(task.whole("held out"))
    with torch.no_grad():
        told = trained.model(x.to(job.device))[:, None].cpu()
    right = task.judge.of(task.judge.tally(told, y[:, None]))
    last = slopes(trained.model.cpu(), task)
    figures = {"right, %": right}
    for when, (gradient, law) in (("first", first), ("trained", last)):
        figures |= {f"{when} ‖∂h_T/∂h_0‖₂": gradient, f"{when} ‖A‖^(LT)": law}
    losses = curve(trained.steps, trained.validation[:, 0].tolist())
    yield job.run(figures, {"validation loss": losses}, told={"rate": rate})


def slopes(model: DeepTransition, task: Recall) -> tuple[float, float]:
    """The largest ‖∂h_T/∂h_0‖₂ of some sequences, and ‖A‖^{LT}, in float64."""
    x, _ = task.drawn(8, chance(0, 3))
    dtype = next(model.parameters()).dtype
    model.double()
    told = float(model.slopes(x.double()).max()), model.law(task.length)
    model.to(dtype)
    return told


def judge(runs: Sequence[Run], setting: Sizes) -> Outcome:
    """Judge whether the deepest plain cell fails where each remedy does better."""
    rows = rows_of(runs)
    told = {who: held_out(some) or 0.0 for who, some in rows.items()}
    deepest = plural(max(setting.depths), "layer")
    plain = told[deepest, "plain"]
    better = all(told[deepest, variant] > plain for variant in VARIANTS[1:])
    most = max(map(_right, rows[deepest, "plain"]))
    apart = all(min(map(_right, rows[deepest, one])) > most for one in VARIANTS[1:])
    learned = dict.fromkeys(VARIANTS, "")
    for (model, variant), right in told.items():
        learned[variant] += f", {model.split()[0]}" if right >= LEARNED else ""
    said = (
        f"Of {deepest}, right: "
        f"{', '.join(f'{one} {stated(rows[deepest, one])}' for one in VARIANTS)} %. "
        f"Depths at which {LEARNED:.0f} % was learned: "
        f"{'; '.join(f'{one} {depths[2:] or NOTHING}' for one, depths in learned.items())}."
    )
    if not (plain < LEARNED and better):
        return Outcome("does not hold", said)
    return Outcome("holds" if apart else "undecided", said)


def _right(run: Run) -> float:
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
        f"it holds if at the greatest depth plain cells tell less than {LEARNED:.0f} % right, in "
        f"the mean over the seeds, and each of the three remedies more than they; it is undecided "
        f"where seeds of plain cells and of a remedy overlap. ‖A‖^(LT) is read as Π‖W_l‖₂^T; that "
        f"it bounds gradients of plain cells is the claim deep-gradient, and is "
        f"not judged here."
    ),
    setting=Sizes(),
    full=Sizes(states=128, length=100, steps=5000, rates=(0.0003, 0.001, 0.003)),
    units=units,
    work=work,
    judge=judge,
    load=load,
)
