"""``rnnbounds experiment permuted-digits``: images pixel by pixel, in a random order."""

from collections.abc import Iterable, Iterator, Sequence
from statistics import fmean
from typing import cast

import torch
from msgspec.structs import replace
from torch import Tensor
from torch.nn.functional import cross_entropy

from rnnbounds.experiments.engine.common import seeded_generator
from rnnbounds.experiments.engine.experiment import Experiment, Job, LoadedData, all_units
from rnnbounds.experiments.engine.figures import Chart
from rnnbounds.experiments.engine.page import spread_text
from rnnbounds.experiments.engine.record import Holds, Outcome, Run, Setting, make_curve
from rnnbounds.experiments.engine.trainer import Plan
from rnnbounds.experiments.tasks.pixels import Pixels
from rnnbounds.experiments.tasks.pixels import load_pixels as load_pixels
from rnnbounds.experiments.unitary.students import (
    KINDS,
    Kind,
    StudentGroup,
    draw_weights,
    epoch_rows,
)

CLASSES = 10
TEST_BATCH = 500  # images that are tested at once
END, COMMONEST = "test accuracy", "always the commonest digit"
_STUDENTS, _ORDER = 3, 4  # keys of what is drawn


class Sizes(Setting, frozen=True, kw_only=True):
    """At most `images` to train on and half as many for the test; networks with `hidden` units,
    trained for `epochs` by Adam on batches of `batch` images, from the learning `rate` down to 0
    along a cosine. `source`: digits or mnist28, where no path to MNIST's idx files is given."""

    source: str = "digits"
    images: int = 2000
    hidden: int = 64
    epochs: int = 50
    batch: int = 50
    rate: float = 0.003


class DigitTask:
    """Pixels (T, N, 1) and digits (N,), epochs in a new order each."""

    def __init__(self, pixels: Pixels, setting: Sizes) -> None:
        self.pixels, self.setting = pixels, setting
        self.steps = -(-len(pixels.digits) // setting.batch)

    def batch(self, seed: int, step: int) -> tuple[Tensor, Tensor]:
        """The next images in the order of the epoch, the same for all networks."""
        chosen = epoch_rows(step, len(self.pixels.digits), self.setting.batch, seed, _ORDER)
        return self.pixels.x[:, chosen], self.pixels.digits[chosen]

    def batches(self, part: str) -> Iterator[tuple[Tensor, Tensor]]:
        """The test images: nothing is chosen by them."""
        yield from zip(
            torch.split(self.pixels.x_test, TEST_BATCH, dim=1),
            torch.split(self.pixels.digits_test, TEST_BATCH),
            strict=True,
        )

    def loss(self, outputs: Tensor, y: Tensor) -> Tensor:
        """Cross-entropy of each network: told (G, N, 10)."""
        target = y.expand(len(outputs), -1)
        return cross_entropy(outputs.permute(0, 2, 1), target, reduction="none").mean(1)


class DigitReaders(StudentGroup):
    """Networks that name the digit after the last pixel; `accuracy` after each epoch, (E, G)."""

    accuracy: Tensor

    def forward(self, x: Tensor) -> Tensor:
        """x (T, N, 1) -> (G, N, 10)."""
        inputs = x[:, None].expand(-1, self.networks, -1, -1)
        return self.readout(self.states(inputs)[-1])

    @torch.no_grad()
    def note_accuracy(self, task: DigitTask, epoch: int) -> None:
        """Each network's share of the test images that it names."""
        right = torch.zeros(self.networks, dtype=torch.float64)
        for x, y in task.batches("test"):
            predicted = self(x.to(self.block.device)).argmax(-1).cpu()
            right += (predicted == y).sum(1)
        self.accuracy[epoch] = right / len(task.pixels.digits_test)


def load_data(setting: Sizes, data: str | None) -> LoadedData:
    """The images; raises MissingPackageError, UnknownChoiceError and DataError."""
    pixels = load_pixels(data or setting.source, setting.seed, setting.images)
    return LoadedData(pixels, {"data": f"{pixels.source}, SHA-256 {pixels.digest}"})


def run_unit(job: Job[Sizes]) -> Iterable[Run]:
    """A run for each network of a kind, which are trained side by side."""
    s, task = job.setting, DigitTask(job.data, job.setting)
    kind = cast(Kind, job.unit.model)
    sizes = (s.hidden,) * s.seeds
    generators = [seeded_generator(s.seed, _STUDENTS, network) for network in range(s.seeds)]
    readers = DigitReaders(
        kind, sizes, draw_weights(kind, sizes, 1, CLASSES, generators, start="random")
    )
    readers.register_buffer("accuracy", torch.zeros(s.epochs, s.seeds, dtype=torch.float64))
    plan = Plan(
        steps=s.epochs * task.steps, rate=s.rate, schedule="cosine", every=task.steps, keep="last",
        save=5 * task.steps,
    )  # fmt: skip
    trained = job.train(
        readers, task, plan, project=DigitReaders.project,
        observe=lambda model, step: model.note_accuracy(task, step // task.steps - 1),
    )  # fmt: skip
    epochs, accuracy = range(1, s.epochs + 1), readers.accuracy.cpu()
    counts = torch.bincount(task.pixels.digits_test, minlength=CLASSES)
    common = float(counts.max()) / len(task.pixels.digits_test)
    for g, seed in enumerate(s.each_seed):
        figures = {END: accuracy[-1, g], "training loss": trained.losses[-1, g], COMMONEST: common}
        curves = {
            "accuracy": make_curve(epochs, accuracy[:, g].tolist()),
            "training loss": make_curve(epochs, trained.losses[:, g].tolist()),
        }
        yield job.make_run(figures, curves, seed=seed)


def judge_runs(runs: Sequence[Run], setting: Sizes) -> Outcome:
    """The URNN beside the RNN of the same size."""
    ends = {kind: [run.figures[END] or 0.0 for run in runs if run.model == kind] for kind in KINDS}
    best = sorted(KINDS, key=lambda kind: -fmean(ends[kind]))
    shares = ", ".join(
        f"{kind} {spread_text([100 * end for end in ends[kind]])} %" for kind in best
    )
    common = 100 * (runs[0].figures[COMMONEST] or 0.0)
    summary = f"Of the test images are named: {shares}; {COMMONEST}: {common:.3g} %."
    holds: Holds = "does not hold" if max(ends["URNN"]) < min(ends["RNN"]) else "undecided"
    if min(ends["URNN"]) > max(ends["RNN"]):
        holds = "holds"
    broken = tuple(
        f"{run.model}, network {run.seed}: a loss is not finite"
        for run in runs
        if None in run.curves["training loss"].y
    )
    return Outcome(holds, summary, broken)


SMALL = Sizes()
EXPERIMENT = Experiment(
    name="permuted-digits",
    title="Digits, pixel by pixel in a random order",
    question=(
        "Networks read the pixels of an image one by one, in an order that is random and always "
        "the same, and then name the digit. RNN and URNN with ReLU start from the same random "
        "orthogonal matrix; the URNN is returned to the nearest orthogonal matrix after every step."
    ),
    conclusion="a URNN keeps long memories better than an RNN of the same size",
    source="Emami et al., Input-Output Equivalence of Unitary and Contractive RNNs, experiments",
    rule=(
        "it holds if after the last epoch every URNN names more of the test images than every RNN "
        "with as many hidden units, does not hold if every one names fewer, and is undecided else."
    ),
    setting=SMALL,
    full=replace(SMALL, images=10**6, hidden=128, epochs=100, batch=128),
    units=lambda setting: all_units(["permuted digits"], KINDS, ["trained"], [setting.seed]),
    work=run_unit,
    judge=judge_runs,
    load=load_data,
    takes_data=True,
    packages=("safetensors", "scikit-learn"),
    charts=(
        Chart(title="Of the test images", curves=("accuracy",), x="epoch", y="test accuracy"),
        Chart(
            title="Mean over each epoch",
            curves=("training loss",),
            x="epoch",
            y="training loss",
            log_y=True,
        ),
    ),
)
