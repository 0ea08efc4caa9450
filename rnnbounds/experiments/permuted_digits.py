"""``rnnbounds experiment permuted-digits``: images pixel by pixel, in a random order."""

from collections.abc import Iterable, Sequence
from statistics import fmean

import torch
from torch import Tensor

from rnnbounds.experiments.engine import Experiment, Job, all_units
from rnnbounds.experiments.networks import KINDS, StudentGroup
from rnnbounds.experiments.page import Chart, score_text
from rnnbounds.experiments.record import Holds, Outcome, Run, Setting, make_curve
from rnnbounds.experiments.tasks import DigitTask, digit_task
from rnnbounds.experiments.trainer import Plan, seeded_generator

END = "test accuracy, %"


class Sizes(Setting, frozen=True, kw_only=True):
    """At most `images` to train on; networks with `hidden` units, trained for `epochs` by Adam on
    batches of `batch` images, from the learning `rate` down to 0 along a cosine."""

    images: int = 2000
    hidden: int = 64
    epochs: int = 50
    batch: int = 50
    rate: float = 0.003


class DigitReaders(StudentGroup):
    """Networks that name the digit after the last pixel."""

    def forward(self, x: Tensor) -> Tensor:
        """x (T, N, 1) -> logits (G, N, 10)."""
        return self.readout(self.states(x[:, None].expand(-1, self.networks, -1, -1))[-1])

    @torch.no_grad()
    def accuracy(self, task: DigitTask) -> Tensor:
        """Each network's share of the test images that it names, per cent, (G,)."""
        right = self(task.x_test.to(self.block.device)).argmax(-1).cpu() == task.digits_test
        share: Tensor = 100 * right.double().mean(1)
        return share


def run_unit(job: Job) -> Iterable[Run]:
    """A run for each network of a kind, which are trained side by side."""
    s, task, kind = job.setting, job.data, job.unit.model
    generators = [seeded_generator(s.seed, 4, network) for network in range(s.seeds)]
    readers = DigitReaders(kind, [s.hidden] * s.seeds, 1, 10, generators, orthogonal=True)
    epoch = -(-len(task.digits) // s.batch)
    plan = Plan(steps=s.epochs * epoch, rate=s.rate, schedule="cosine", every=epoch, keep="last")
    seen: list[Tensor] = []
    trained = job.train(
        readers, task, plan, project=DigitReaders.project,
        observe=lambda model, step: seen.append(model.accuracy(task)),
    )  # fmt: skip
    for g, seed in enumerate(s.each_seed):
        path = [float(accuracy[g]) for accuracy in seen]
        figures = {END: path[-1], "training loss": trained.losses[-1, g]}
        curves = {"accuracy": make_curve(range(1, len(path) + 1), path)}
        yield job.make_run(figures, curves, seed=seed)


def judge_runs(runs: Sequence[Run], setting: Sizes) -> Outcome:
    """The URNN beside the RNN of the same size."""
    rows = {kind: [run for run in runs if run.model == kind] for kind in KINDS}
    ends = {kind: [run.figures[END] or 0.0 for run in some] for kind, some in rows.items()}
    best = sorted(KINDS, key=lambda kind: -fmean(ends[kind]))
    shares = ", ".join(f"{kind} {score_text(rows[kind])} %" for kind in best)
    holds: Holds = "does not hold" if max(ends["URNN"]) < min(ends["RNN"]) else "undecided"
    if min(ends["URNN"]) > max(ends["RNN"]):
        holds = "holds"
    broken = tuple(
        f"{run.model}, network {run.seed}: its loss is not finite"
        for run in runs
        if run.figures["training loss"] is None
    )
    return Outcome(holds, f"Of the test images are named: {shares}.", broken)


EXPERIMENT = Experiment(
    name="permuted-digits",
    title="Digits, pixel by pixel in a random order",
    question="Networks read the pixels of an image one by one, in an order that is random and "
    "always the same, and then name the digit. RNN and URNN with ReLU start from the same random "
    "orthogonal matrix; the URNN is returned to the nearest orthogonal matrix after every step.",
    conclusion="a URNN keeps long memories better than an RNN of the same size",
    source="Emami et al., Input-Output Equivalence of Unitary and Contractive RNNs, experiments",
    rule="it holds if after the last epoch every URNN names more of the test images than every RNN "
    "with as many hidden units, does not hold if every one names fewer, and is undecided else.",
    setting=Sizes(),
    units=lambda setting: all_units(["permuted digits"], KINDS, ["trained"], [setting.seed]),
    work=run_unit,
    judge=judge_runs,
    load=lambda setting: digit_task(setting.images, setting.batch, setting.seed),
    charts=(
        Chart(title="Of the test images", curves=("accuracy",), x="epoch", y="test accuracy, %"),
    ),
)
