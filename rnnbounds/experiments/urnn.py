"""``rnnbounds experiment urnn``: can a URNN learn a contractive network from twice the states?"""

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from statistics import fmean, pstdev
from typing import Any, NamedTuple

import torch
from torch import Tensor

from rnnbounds.experiments.engine import Experiment, Job, all_units
from rnnbounds.experiments.networks import KINDS, Student
from rnnbounds.experiments.record import Holds, Outcome, Run, make_setting, select_runs
from rnnbounds.experiments.tasks import epoch_rows
from rnnbounds.experiments.trainer import Plan, part_loss, seeded_generator
from rnnbounds.impl.convert.unitary import unitary
from rnnbounds.impl.numbers.outward import norm_up

STATES, INPUTS, OUTPUTS = 4, 2, 2  # of teachers
EPSILON, ON, SHARE = 0.01, 0.6, 0.02  # the share of time that a unit is on, and how closely
FAR = 0.5  # an error so far above the best one, in variances, means that training has exploded
NOISES = ("noise at 15 dB", "noise at 20 dB")
EXACT, TEST, CHECK = "exact equivalents", "test R²", "validation R²"
GAP, BOUND, OFF = "‖h − h_u‖", "certified", "further units off"


class Teacher(NamedTuple):
    """W = I − ε AᵀA/‖A‖², A, U, b and C Gaussian; inputs x (N, T, d), states, outputs y and noise
    (N, T, p), in float64."""

    core: torch.nn.RNN
    x: Tensor
    states: Tensor
    y: Tensor
    noise: Tensor

    @property
    def parts(self) -> dict[str, slice]:
        """Three tenths of the sequences are for the test, a tenth is for validation."""
        last, middle = (len(self.x) - max(1, round(share * len(self.x))) for share in (0.3, 0.4))
        return {"training": slice(middle), "validation": slice(middle, last),
                "held out": slice(last, len(self.x))}  # fmt: skip


@torch.no_grad()
def draw_teacher(sequences: int, length: int, seed: int) -> Teacher:
    """A teacher, calibrated by stochastic approximation, b ← b + 2/(1 + i/20)·(on − share), until
    each unit is on for the share of time that is wanted."""
    n, d, p, generator = STATES, INPUTS, OUTPUTS, seeded_generator(0, 1, seed)
    shapes = ((n, n), (n, d), (n,), (p, n), (sequences, length, d), (sequences, length, p))
    A, U, b, C, x, noise = (torch.randn(shape, generator=generator).double() for shape in shapes)
    core = Student("RNN", n, d, p, generator).core.double()
    W = torch.eye(n).double() - EPSILON * A.mT @ A / torch.linalg.matrix_norm(A, 2) ** 2
    for name, part in (("weight_hh_l0", W), ("weight_ih_l0", U), ("bias_ih_l0", b)):
        core.get_parameter(name).copy_(part)
    bias, states = core.get_parameter("bias_ih_l0"), core(x)[0]
    for i in range(1000):
        away = ON - (states > 0).double().mean((0, 1))
        if bool((away.abs() <= SHARE).all()):
            break
        bias.add_(2 / (1 + i / 20) * away)
        states = core(x)[0]
    return Teacher(core, x, states, states @ C.mT, noise)


class NoisyTask:
    """A teacher's outputs with noise of the variance mean var(y)/10^(SNR/10), standardised by the
    training sequences, in float32. The loss is the mean squared error."""

    loss = staticmethod(torch.nn.functional.mse_loss)

    def __init__(self, teacher: Teacher, snr: float, batch: int) -> None:
        self.parts, self.size = teacher.parts, batch
        variance = teacher.y.var((0, 1), correction=0).mean() / 10 ** (snr / 10)
        y = teacher.y + variance.sqrt() * teacher.noise
        training = y[self.parts["training"]]
        unit = training.var((0, 1), correction=0).mean().sqrt()
        self.x, self.y = teacher.x.float(), ((y - training.mean((0, 1))) / unit).float()

    def batch(self, seed: int, step: int) -> tuple[Tensor, Tensor]:
        """The next sequences in the order of the epoch, the same for all networks."""
        rows = epoch_rows(step, self.parts["training"].stop, self.size, 0)
        return self.x[rows], self.y[rows]

    def batches(self, part: str) -> Iterator[tuple[Tensor, Tensor]]:
        """All sequences of the part."""
        yield self.x[self.parts[part]], self.y[self.parts[part]]

    def explained(self, student: Student, part: str) -> float:
        """R² = 1 − Σ(y − ŷ)²/Σ(y − mean)² over all outputs."""
        variance = self.y[self.parts[part]].var((0, 1), correction=0).mean()
        return 1 - part_loss(student, self, part) / float(variance)


def run_unit(job: Job) -> Iterable[Run]:
    """One student; or one teacher's exact equivalent."""
    s, unit, teacher = job.setting, job.unit, job.data[job.unit.seed]
    if unit.task == EXACT:
        yield job.make_run(equivalent_figures(teacher))
        return
    task, units = NoisyTask(teacher, float(unit.task.split()[2]), s.batch), int(unit.variant)
    generator = seeded_generator(0, 2, unit.seed, units)
    student = Student(unit.model, units, INPUTS, OUTPUTS, generator)
    epoch = -(-task.parts["training"].stop // s.batch)
    plan = Plan(steps=s.epochs * epoch, schedule="cosine", every=epoch, back=FAR)
    job.train(student, task, plan, project=Student.project)
    parts = ((TEST, "held out"), (CHECK, "validation"))
    yield job.make_run({name: task.explained(student, part) for name, part in parts})


@torch.no_grad()
def equivalent_figures(teacher: Teacher) -> dict[str, float | None]:
    """A teacher's exact URNN for all inputs as large as those drawn, on the test sequences."""
    held = teacher.parts["held out"]
    converted = unitary(teacher.core, float(norm_up(teacher.x).max()))
    with torch.random.fork_rng(devices=[]):  # a new module draws its weights
        found = converted.rnn(batch_first=True)(teacher.x[held])[0]
    return {
        "‖W‖₂": converted.certificate["constants"]["W_norm"],
        "states": converted.states,
        GAP: float(norm_up(teacher.states[held] - found[..., :STATES]).max()),
        BOUND: converted.certificate["difference"]["float64"],
        OFF: float(bool((found[..., STATES:] == 0).all())),
    }


def judge_runs(runs: Sequence[Run], setting: Any) -> Outcome:
    """Each RNN of n units against the URNN of at most 2n that does best on validation: "undecided"
    is within the RNN's standard deviation."""
    answers, worst = [], (math.inf, "")

    def values(task: str, kind: str, n: int, name: str) -> list[float]:
        some = select_runs(runs, task=task, model=kind, variant=str(n))
        return [-math.inf if (value := run.figures[name]) is None else value for run in some]

    for task, n in product(NOISES, setting.hidden):
        sizes = [m for m in setting.hidden if m <= 2 * n]
        best = max(sizes, key=lambda m: fmean(values(task, "URNN", m, CHECK)))
        rnns, urnn = values(task, "RNN", n, TEST), fmean(values(task, "URNN", best, TEST))
        rnn = fmean(rnns)
        spread = pstdev(rnns) if math.isfinite(rnn) else 0.0
        answers.append(2 if urnn >= rnn else 1 if urnn >= rnn - spread else 0)
        line = f"{task}, n = {n}, {urnn:.4f} against {rnn:.4f} ± {spread:.4f}"
        worst = min(worst, (urnn - rnn, line))
    holds: Holds = ("does not hold", "undecided", "holds")[min(answers)]
    summary = (
        f"In {answers.count(2)} of {len(answers)} cases the URNN reached the RNN's R² with at most "
        f"twice the states, in the worst, {worst[1]}."
    )
    return Outcome(holds, summary, find_problems(runs))


def find_problems(runs: Sequence[Run]) -> tuple[str, ...]:
    """Exact equivalents that are not what they should be."""
    lines = []
    for run in select_runs(runs, task=EXACT):
        states, off, gap, bound = (run.figures[name] for name in ("states", OFF, GAP, BOUND))
        if states is None or states > 2 * STATES or off != 1:
            lines.append(f"teacher {run.seed}: it has {states} states, or a further unit is on")
        if gap is None or bound is None or not gap <= bound:
            lines.append(f"teacher {run.seed}: it is {gap} from it, not ≤ its bound")
    return tuple(lines)


def list_units(setting: Any) -> list[Run]:
    """Students of each noise, kind and size; then each teacher's exact equivalent."""
    return [*all_units(NOISES, KINDS, map(str, setting.hidden), setting.each_seed),
            *all_units([EXACT], ["URNN"], ["converted"], setting.each_seed)]  # fmt: skip


EXPERIMENT = Experiment(
    name="urnn",
    title="Learning contractive networks with unitary ones",
    question="A contractive ReLU network with n states has a unitary equivalent with 2n; can one "
    "be learned from data? RNN and URNN students, by number of units, start alike from I; W of the "
    "URNN goes to the nearest orthogonal matrix after every step.",
    conclusion="a URNN with twice the states learns as well as an RNN; each teacher has an exact "
    "unitary equivalent with at most 2n states",
    source="Emami et al., Input-Output Equivalence of Unitary and Contractive RNNs, experiments",
    rule="for every noise and every RNN of n units the URNN of at most 2n units that does best on "
    "validation has a mean test R² of at least the RNN's. Undecided where it lacks less than the "
    "RNN's standard deviation.",
    setting=make_setting(sequences=60, length=400, hidden=(2, 4, 8), epochs=100, batch=10),
    units=list_units,
    work=run_unit,
    judge=judge_runs,
    load=lambda s: ({seed: draw_teacher(s.sequences, s.length, seed) for seed in s.each_seed},
                    {"teachers": "drawn from the seeds"}),
)  # fmt: skip
