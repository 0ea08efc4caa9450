"""``rnnbounds experiment urnn``: can a URNN learn a contractive network from twice the states?

Source: Emami et al., experiments. Teachers are contractive ReLU networks close to the identity, of
which a student sees inputs and noisy outputs.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from statistics import fmean, pstdev
from typing import NamedTuple

import torch
from torch import Tensor

from rnnbounds.experiments.engine import Experiment, Job, Unit, all_units
from rnnbounds.experiments.networks import KINDS, StudentGroup
from rnnbounds.experiments.page import Chart
from rnnbounds.experiments.record import Holds, Outcome, Run, Setting, make_curve, select_runs
from rnnbounds.experiments.tasks import epoch_rows
from rnnbounds.experiments.trainer import Plan, seeded_generator
from rnnbounds.impl.arithmetic.activation import activation
from rnnbounds.impl.convert.unitary import unitary
from rnnbounds.impl.gradients.windows.rollout import states
from rnnbounds.impl.models.rnn import RNN
from rnnbounds.impl.numbers.outward import norm_up

FAR = 0.5  # an error so far above the best one, in variances, means that training has exploded
SHARE = 0.02  # how close the calibrated share of time is to the one wanted
EXACT, TEST, CHECK = "exact equivalents", "test R²", "validation R²"
GAP, BOUND = "‖h − h_u‖", "certified"


class Sizes(Setting, frozen=True, kw_only=True):
    """`seeds` teachers of n `states`, d `inputs` and p `outputs`, W = I − ε AᵀA/‖A‖² with ε =
    `epsilon`, whose units are `on` for this share of time; `sequences` of a `length`, of which 3/10
    are for the test and a tenth for validation; noise of `snr` dB; students with `hidden` units,
    trained for `epochs` by Adam on batches of `batch` sequences from the learning `rate` on.
    """

    seeds: int = 6
    states: int = 4
    inputs: int = 2
    outputs: int = 2
    epsilon: float = 0.01
    on: float = 0.6
    sequences: int = 60
    length: int = 400
    snr: tuple[float, ...] = (15.0, 20.0)
    hidden: tuple[int, ...] = (2, 4, 6, 8, 10, 12, 14)
    epochs: int = 100
    batch: int = 10
    rate: float = 0.01

    @property
    def parts(self) -> tuple[slice, slice, slice]:
        """The sequences that are trained on, those of validation, those of the test."""
        last = self.sequences - max(1, round(0.3 * self.sequences))
        middle = last - max(1, round(0.1 * self.sequences))
        return slice(middle), slice(middle, last), slice(last, self.sequences)


class Teachers(NamedTuple):
    """R teachers, their inputs x (R, N, T, d), states (R, N, T, n), outputs y and standard Gaussian
    noise (R, N, T, p), in float64."""

    cell: RNN
    C: Tensor
    x: Tensor
    states: Tensor
    y: Tensor
    noise: Tensor

    def noisy(self, snr: float) -> Tensor:
        """y with noise of the variance mean var(y)/10^(SNR/10), the same for all outputs."""
        variance = self.y.var((1, 2), correction=0).mean(1) / 10 ** (snr / 10)
        return self.y + variance.sqrt()[:, None, None, None] * self.noise


def draw_teachers(s: Sizes) -> tuple[Teachers, dict[str, str]]:
    """Teachers with all entries Gaussian, then calibrated by stochastic approximation, b ← b +
    2/(1 + i/20)·(on − share), until each unit is on for the share of time that is wanted."""
    n, d, p, N, T = s.states, s.inputs, s.outputs, s.sequences, s.length
    shapes = ((n, n), (n, d), (n,), (p, n), (N, T, d), (N, T, p))
    samples = [
        [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]
        for generator in (seeded_generator(0, 1, seed) for seed in s.each_seed)
    ]
    A, U, b, C, x, noise = (torch.stack(tensors) for tensors in zip(*samples, strict=True))
    part = s.epsilon / torch.linalg.matrix_norm(A, 2)[:, None, None] ** 2
    W = torch.eye(n, dtype=torch.float64) - part * (A.mT @ A)
    for i in range(1000):
        cell = RNN(W, U, b, activation("relu"))
        share = (run_states(cell, x[:, s.parts[0]]) > 0).double().mean((1, 2))
        far = (share - s.on).abs().amax(1) > SHARE
        if not bool(far.any()):
            break
        b = torch.where(far[:, None], b + 2 / (1 + i / 20) * (s.on - share), b)
    h = run_states(cell, x)
    y = torch.einsum("rstn,rpn->rstp", h, C)
    return Teachers(cell, C, x, h, y, noise), {"teachers": "drawn from the seeds"}


def run_states(cell: RNN, x: Tensor) -> Tensor:
    """All states from the zero state: x (R, N, T, d) -> (R, N, T, n)."""
    return states(cell, x.permute(0, 2, 3, 1))[:, 1:].permute(0, 3, 1, 2)


class NoisyTask:
    """Noisy outputs, standardised by the training sequences, x and y (T, R, N, ·) in float32, each
    teacher once for every size of student. Losses are mean squared errors."""

    def __init__(self, teachers: Teachers, setting: Sizes, snr: float) -> None:
        self.setting, y = setting, teachers.noisy(snr)
        training = y[:, setting.parts[0]]
        unit = training.var((1, 2), correction=0).mean(1).sqrt()[:, None, None, None]
        tensors = teachers.x, (y - training.mean((1, 2), keepdim=True)) / unit
        self.x, self.y = (
            part.permute(2, 0, 1, 3).float().repeat_interleave(len(setting.hidden), 1)
            for part in tensors
        )

    def batch(self, seed: int, step: int) -> tuple[Tensor, Tensor]:
        """The next sequences in the order of the epoch, the same for all networks."""
        rows = epoch_rows(step, self.setting.parts[0].stop, self.setting.batch, 0)
        return self.x[:, :, rows], self.y[:, :, rows]

    def batches(self, part: str) -> Iterator[tuple[Tensor, Tensor]]:
        """The sequences of validation."""
        yield self.x[:, :, self.setting.parts[1]], self.y[:, :, self.setting.parts[1]]

    def loss(self, outputs: Tensor, y: Tensor) -> Tensor:
        """Of each network."""
        losses: Tensor = (outputs - y).square().mean((0, 2, 3))
        return losses

    @torch.no_grad()
    def explained(self, students: StudentGroup, part: slice) -> list[list[float]]:
        """R² = 1 − Σ(y − ŷ)²/Σ(y − mean)² over all outputs, of each teacher and size."""
        x, y = (tensor[:, :, part].to(students.block.device) for tensor in (self.x, self.y))
        r2 = 1 - self.loss(students(x), y) / y.var((0, 2), correction=0).mean(-1)
        rows: list[list[float]] = r2.double().cpu().reshape(-1, len(self.setting.hidden)).tolist()
        return rows


def run_unit(job: Job) -> Iterable[Run]:
    """All students of a kind, a run for each teacher; or one teacher's exact equivalent."""
    s, unit = job.setting, job.unit
    if unit.task == EXACT:
        yield job.make_run(equivalent_figures(job.data, unit.seed - s.seed, s))
        return
    task, kind = NoisyTask(job.data, s, float(unit.task.split()[2])), unit.model
    generators = [seeded_generator(0, 2, seed, n) for seed in s.each_seed for n in s.hidden]
    students = StudentGroup(kind, s.hidden * s.seeds, s.inputs, s.outputs, generators)
    epoch = -(-s.parts[0].stop // s.batch)
    plan = Plan(steps=s.epochs * epoch, rate=s.rate, schedule="cosine", every=epoch, back=FAR)
    job.train(students, task, plan, project=StudentGroup.project)
    test, check = (task.explained(students, part) for part in s.parts[:0:-1])
    for i, seed in enumerate(s.each_seed):
        figures = {f"R², {n} units": r2 for n, r2 in zip(s.hidden, test[i], strict=True)}
        curves = {TEST: make_curve(s.hidden, test[i]), CHECK: make_curve(s.hidden, check[i])}
        yield job.make_run(figures, curves, seed=seed)


def equivalent_figures(teachers: Teachers, r: int, s: Sizes) -> dict[str, float | None]:
    """One teacher's exact URNN for all inputs as large as those drawn, on the test sequences."""
    cell, n = teachers.cell, s.states
    weights = {"weight_hh": cell.W[r], "weight_ih": cell.U[r], "bias_ih": cell.b[r]}
    converted = unitary(weights, float(norm_up(teachers.x[r]).max()), cell="rnn-relu")
    x, h = teachers.x[r, s.parts[2]], teachers.states[r, s.parts[2]]
    with torch.no_grad(), torch.random.fork_rng(devices=[]):  # a new module draws its weights
        found = converted.rnn(batch_first=True)(x)[0]
    return {
        "‖W‖₂": converted.certificate["constants"]["W_norm"],
        "states": converted.states,
        GAP: float(norm_up(h - found[..., :n]).max()),
        BOUND: converted.certificate["difference"]["float64"],
        "further units off": float(bool((found[..., n:] == 0).all())),
    }


def judge_runs(runs: Sequence[Run], setting: Sizes) -> Outcome:
    """Each RNN of n units against the URNN of at most 2n that does best on validation: "undecided"
    is within the RNN's standard deviation."""
    hidden, answers, worst = setting.hidden, [], (math.inf, "")

    def columns(task: str, kind: str, name: str) -> list[list[float]]:
        some = select_runs(runs, task=task, model=kind)
        rows = [[-math.inf if y is None else y for y in run.curves[name].y] for run in some]
        return [list(column) for column in zip(*rows, strict=True)]

    for task in dict.fromkeys(run.task for run in runs if run.task != EXACT):
        chosen = [fmean(column) for column in columns(task, "URNN", CHECK)]
        rnns, urnns = columns(task, "RNN", TEST), columns(task, "URNN", TEST)
        for i, n in enumerate(hidden):
            best = max((j for j, m in enumerate(hidden) if m <= 2 * n), key=lambda j: chosen[j])
            rnn, urnn = fmean(rnns[i]), fmean(urnns[best])
            spread = pstdev(rnns[i]) if math.isfinite(rnn) else 0.0
            answers.append(2 if urnn >= rnn else 1 if urnn >= rnn - spread else 0)
            worst = min(worst, (urnn - rnn, f"{task}, n = {n}, {urnn:.4f} against {rnn:.4f} ± "
                                            f"{spread:.4f}"))  # fmt: skip
    holds: Holds = ("does not hold", "undecided", "holds")[min(answers)]
    summary = (
        f"In {answers.count(2)} of {len(answers)} cases the URNN reached the RNN's R² with at most "
        f"twice the states, in the worst, {worst[1]}."
    )
    return Outcome(holds, summary, find_problems(runs, setting))


def find_problems(runs: Sequence[Run], setting: Sizes) -> tuple[str, ...]:
    """An R² that is not finite, or an exact equivalent that is not what it should be."""
    lines = []
    for run in runs:
        value = {name: math.inf if v is None else v for name, v in run.figures.items()}
        label = f"realisation {run.seed}, {run.task}, {run.model}"
        if run.task != EXACT:
            lines += [f"{label}: an R² is not finite"] * (math.inf in value.values())
            continue
        if not value["states"] <= 2 * setting.states:
            lines.append(f"{label}: it has {value['states']} states")
        if value["further units off"] != 1:
            lines.append(f"{label}: a further unit is on")
        if value[GAP] == math.inf or not value[GAP] <= value[BOUND]:
            lines.append(f"{label}: it is {value[GAP]} from the teacher, not ≤ its bound")
    return tuple(lines)


def list_units(setting: Sizes) -> list[Unit]:
    """Students of each noise and kind; then each teacher's exact equivalent."""
    noises = [f"noise at {snr:g} dB" for snr in setting.snr]
    return [*all_units(noises, KINDS, ["students"], [setting.seed]),
            *all_units([EXACT], ["URNN"], ["converted"], setting.each_seed)]  # fmt: skip


EXPERIMENT = Experiment(
    name="urnn",
    title="Learning contractive networks with unitary ones",
    question="A contractive ReLU network with n states has a unitary equivalent with 2n; can one "
    "be learned from data? RNN and URNN students start alike from the identity; the URNN is "
    "returned to the nearest orthogonal matrix after every step. The noise allows R² = 1 − "
    "1/(1 + 10^(SNR/10)).",
    conclusion="a URNN with twice the states learns as well as an RNN; each teacher has an exact "
    "unitary equivalent with at most 2n states",
    source="Emami et al., Input-Output Equivalence of Unitary and Contractive RNNs, experiments",
    rule="for every noise and every RNN of n units the URNN of at most 2n units that does best on "
    "validation has a mean test R² of at least the RNN's. Undecided where it lacks less than the "
    "RNN's standard deviation over the realisations.",
    setting=Sizes(),
    units=list_units,
    work=run_unit,
    judge=judge_runs,
    load=draw_teachers,
    charts=(Chart(title="R² on the test sequences", curves=(TEST,), x="hidden units", y=TEST),),
)
