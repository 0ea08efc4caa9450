"""``rnnbounds experiment urnn``: can a URNN learn a contractive network from twice the states?"""

import math
from collections.abc import Iterable, Iterator, Sequence
from statistics import fmean, pstdev
from typing import NamedTuple, cast

import torch
from torch import Tensor

from rnnbounds.experiments.engine.common import seeded_generator
from rnnbounds.experiments.engine.experiment import Experiment, Job, LoadedData, Unit, all_units
from rnnbounds.experiments.engine.figures import Chart
from rnnbounds.experiments.engine.record import (
    Holds,
    Outcome,
    Record,
    Run,
    finite_or_none,
    make_curve,
)
from rnnbounds.experiments.engine.trainer import Plan
from rnnbounds.experiments.unitary.students import (
    KINDS,
    Kind,
    StudentGroup,
    draw_weights,
    epoch_rows,
)
from rnnbounds.experiments.unitary.teacher import (
    FULL,
    SHARE_TOLERANCE,
    Teachers,
    TeacherSizes,
    draw_teachers,
)
from rnnbounds.impl.convert.unitary import unitary
from rnnbounds.impl.numbers.outward import norm_up
from rnnbounds.reports.pages.experiment import Section, Table

FAR = 0.5  # an error so far above the best one, in variances, means that training has exploded
EXACT, TEST, CHECK = "exact equivalents", "test R²", "validation R²"
ON, OFF, GAP, BOUND = "farthest from share on", "further units off", "‖h − h_u‖", "certified"
_STUDENTS, _ORDER = 2, 3  # keys of what is drawn


class NoisyTask:
    """Teachers of a block, with noise: standardised outputs in float32, x and y (T, R, N, ·).

    Mean and unit are of the training sequences, the unit the same for all outputs of a teacher.
    Students follow one another teacher by teacher. Losses are mean squared errors.
    """

    def __init__(self, teachers: Teachers, setting: TeacherSizes, snr: float, block: slice) -> None:
        self.setting, y = setting, teachers.noisy(snr)[block]
        training = y[:, setting.parts[0]]
        unit = training.var((1, 2), correction=0).mean(1).sqrt()[:, None, None, None]
        tensors = teachers.x[block], (y - training.mean((1, 2), keepdim=True)) / unit
        students = len(setting.hidden)
        self.x, self.y = (
            part.permute(2, 0, 1, 3).float().repeat_interleave(students, 1) for part in tensors
        )

    @property
    def steps(self) -> int:
        """Of an epoch."""
        count: int = self.setting.parts[0].stop
        return -(-count // self.setting.batch)

    def batch(self, seed: int, step: int) -> tuple[Tensor, Tensor]:
        """The next sequences in the order of the epoch."""
        chosen = epoch_rows(step, self.setting.parts[0].stop, self.setting.batch, 0, _ORDER)
        return self.x[:, :, chosen], self.y[:, :, chosen]

    def batches(self, part: str) -> Iterator[tuple[Tensor, Tensor]]:
        """The sequences of validation."""
        yield self.x[:, :, self.setting.parts[1]], self.y[:, :, self.setting.parts[1]]

    def loss(self, outputs: Tensor, y: Tensor) -> Tensor:
        """Of each network."""
        losses: Tensor = (outputs - y).square().mean((0, 2, 3))
        return losses

    @torch.no_grad()
    def score(self, students: StudentGroup, part: slice) -> Tensor:
        """R² = 1 − Σ(y − ŷ)²/Σ(y − mean)² over all outputs, (R, sizes)."""
        device = students.weights["C"].device
        x, y = self.x[:, :, part].to(device), self.y[:, :, part].to(device)
        variance = y.var((0, 2), correction=0).mean(-1)
        explained = 1 - self.loss(students(x), y) / variance
        return explained.double().cpu().reshape(-1, len(self.setting.hidden))


def load_data(setting: TeacherSizes, data: str | None) -> LoadedData:
    """The teachers, drawn."""
    return LoadedData(draw_teachers(setting))


def list_units(setting: TeacherSizes) -> list[Unit]:
    """Blocks of realisations for each noise and kind; then each teacher's exact equivalent."""
    noises, seeds = [f"noise at {snr:g} dB" for snr in setting.snr], setting.each_seed
    trained = all_units(noises, KINDS, ["students"], seeds[:: setting.together])
    return trained + all_units([EXACT], ["URNN"], ["converted"], seeds)


def run_unit(job: Job[TeacherSizes]) -> Iterable[Run]:
    """A block of students, a run for each realisation; or one exact equivalent."""
    s, unit = job.setting, job.unit
    if unit.task == EXACT:
        yield job.make_run(equivalent_figures(job.data, unit.seed - s.seed, s))
        return
    snr = next(snr for snr in s.snr if unit.task == f"noise at {snr:g} dB")
    block = slice(unit.seed - s.seed, min(unit.seed - s.seed + s.together, s.seeds))
    seeds = s.each_seed[block]
    task = NoisyTask(job.data, s, snr, block)
    kind = cast(Kind, unit.model)
    generators = [seeded_generator(0, _STUDENTS, seed, n) for seed in seeds for n in s.hidden]
    sizes = s.hidden * len(seeds)
    students = StudentGroup(kind, sizes, draw_weights(kind, sizes, s.inputs, s.outputs, generators))
    plan = Plan(
        steps=s.epochs * task.steps, rate=s.rate, schedule="cosine", every=task.steps, back=FAR,
        save=10 * task.steps,
    )  # fmt: skip
    job.train(students, task, plan, project=StudentGroup.project)
    test, check = (task.score(students, part).tolist() for part in s.parts[:0:-1])
    for i, seed in enumerate(seeds):
        figures = {f"R², {n} units": r2 for n, r2 in zip(s.hidden, test[i], strict=True)}
        curves = {TEST: make_curve(s.hidden, test[i]), CHECK: make_curve(s.hidden, check[i])}
        yield job.make_run(figures, curves, seed=seed)


def equivalent_figures(
    teachers: Teachers, r: int, setting: TeacherSizes
) -> dict[str, float | None]:
    """One teacher's exact URNN for all inputs as large as those drawn, on the test sequences."""
    cell, n = teachers.cell, setting.states
    weights = {
        "weight_hh_l0": cell.W[r], "weight_ih_l0": cell.U[r], "bias_ih_l0": cell.b[r],
        "bias_hh_l0": torch.zeros_like(cell.b[r]),
    }  # fmt: skip
    converted = unitary(weights, float(norm_up(teachers.x[r]).max()), cell="rnn-relu")
    x, h = teachers.x[r, setting.parts[2]], teachers.states[r, setting.parts[2]]
    with torch.no_grad(), torch.random.fork_rng(devices=[]):  # a new module draws its weights
        s = converted.rnn(batch_first=True)(x)[0]
    y = torch.einsum("stn,pn->stp", converted.original(s), teachers.C[r])
    figures: dict[str, float | None] = {
        "‖W‖₂": converted.certificate["constants"]["W_norm"],
        ON: float((teachers.on[r] - setting.on).abs().max()),
        "states": converted.states,
        GAP: float(norm_up(h - s[..., :n]).max()),
        BOUND: finite_or_none(converted.certificate["difference"]["float64"]),
        OFF: float(bool((s[..., n:] == 0).all())),
    }
    for snr in setting.snr:
        noisy = teachers.noisy(snr)[r, setting.parts[2]]
        variance = noisy.var((0, 1), correction=0).mean()
        for name, forecast in (("teacher", teachers.y[r, setting.parts[2]]), ("URNN", y)):
            error = (noisy - forecast).square().mean()
            figures[f"R², {snr:g} dB, {name}"] = float(1 - error / variance)
    return figures


class Comparison(NamedTuple):
    """An RNN of n units against the URNN of `units` ≤ 2n that does best on validation: mean test
    R², the RNN's spread, and whether it was reached; "undecided" is within that spread."""

    task: str
    n: int
    units: int
    rnn: float
    spread: float
    urnn: float
    reached: Holds

    @property
    def rnn_text(self) -> str:
        """The RNN's."""
        return f"{self.rnn:.4f} ± {self.spread:.4f}"


def compare_networks(runs: Sequence[Run], hidden: Sequence[int]) -> list[Comparison]:
    """Each RNN against the best URNN with at most twice its units."""

    def columns(task: str, kind: str, name: str) -> list[list[float]]:
        some = [run.curves[name].y for run in runs if (run.task, run.model) == (task, kind)]
        return [[-math.inf if y is None else y for y in ys] for ys in zip(*some, strict=True)]

    comparisons = []
    for task in dict.fromkeys(run.task for run in runs if run.task != EXACT):
        chosen = [fmean(column) for column in columns(task, "URNN", CHECK)]
        rnns, urnns = columns(task, "RNN", TEST), columns(task, "URNN", TEST)
        for i, n in enumerate(hidden):
            best = max((j for j, m in enumerate(hidden) if m <= 2 * n), key=lambda j: chosen[j])
            rnn, urnn = fmean(rnns[i]), fmean(urnns[best])
            spread = pstdev(rnns[i]) if math.isfinite(rnn) else math.nan
            comparisons.append(
                Comparison(
                    task, n, hidden[best], rnn, spread, urnn, compare_scores(urnn, rnn, spread)
                )
            )
    return comparisons


def compare_scores(urnn: float, rnn: float, spread: float) -> Holds:
    """Compare mean R²: undecided if URNN < RNN by at most the spread; NaN never holds."""
    if urnn >= rnn:
        return "holds"
    return "undecided" if urnn >= rnn - spread else "does not hold"


def judge_runs(runs: Sequence[Run], setting: TeacherSizes) -> Outcome:
    """Judge whether URNNs reach the RNNs' R² with at most twice the states; list problems."""
    comparisons = compare_networks(runs, setting.hidden)
    missed, undecided = (
        [
            f"{comparison.task}, n = {comparison.n}"
            for comparison in comparisons
            if comparison.reached == kind
        ]
        for kind in ("does not hold", "undecided")
    )
    reached = f"{len(comparisons) - len(missed) - len(undecided)} of {len(comparisons)}"
    summary = f"In {reached} cases the URNN reached the RNN’s R² with at most twice the states"
    last = min(comparisons, key=lambda comparison: comparison.urnn - comparison.rnn)
    summary += f", in the worst, {last.task}, n = {last.n}, {last.urnn:.4f} against {last.rnn_text}"
    if undecided:
        summary += f"; within the RNN’s spread: {'; '.join(undecided)}"
    if missed:
        summary += f"; not reached: {'; '.join(missed)}"
    holds: Holds = "does not hold" if missed else "undecided" if undecided else "holds"
    return Outcome(holds, f"{summary}.", find_problems(runs, setting))


def find_problems(runs: Sequence[Run], setting: TeacherSizes) -> tuple[str, ...]:
    """A teacher or a student that is not what it should be."""
    lines = []
    for run in runs:
        label, value = f"realisation {run.seed}", run.figures
        if run.task != EXACT:
            if None in value.values():
                lines.append(f"{label}, {run.task}, {run.model}: an R² is not finite")
            continue
        if not (value[ON] or 0.0) <= SHARE_TOLERANCE:
            lines.append(f"{label}: a unit is not on {setting.on:.0%} of the time")
        if not (value["states"] or math.inf) <= 2 * setting.states:
            lines.append(f"{label}: the exact URNN has {value['states']} states")
        if value[OFF] != 1:
            lines.append(f"{label}: a further unit of the exact URNN is on")
        gap, bound = value[GAP], value[BOUND]
        if gap is None or not gap <= (math.inf if bound is None else bound):
            lines.append(f"{label}: the exact URNN is {gap} from the teacher, not ≤ its bound")
    return tuple(lines)


def extra_sections(record: Record) -> Sequence[Section]:
    """Each RNN beside the URNN with at most twice its states."""
    words = {"holds": "reached", "undecided": "within the spread", "does not hold": "not reached"}
    rows = tuple(
        (comparison.task, str(comparison.n), comparison.rnn_text, str(comparison.units),
         f"{comparison.urnn:.4f}", words[comparison.reached])
        for comparison in compare_networks(record.runs, record.settings["hidden"])
    )  # fmt: skip
    columns = ("noise", "RNN units n", "RNN", "URNN units", "URNN", "URNN ≤ 2n")
    table = Table(columns, rows, frozenset({1, 2, 3, 4}), "Mean test R² over the realisations.")
    return (Section("With at most twice the states", (table,)),)


EXPERIMENT = Experiment(
    name="urnn",
    title="Learning contractive networks with unitary ones",
    question=(
        "A contractive ReLU network with n states has a unitary equivalent with 2n; can one be "
        "learned from data? Teachers: W = I − ε AᵀA/‖A‖², all else Gaussian, biases set so that "
        "units are on for a share of time. RNN and URNN students start alike from the identity; "
        "the URNN is returned to the nearest orthogonal matrix after every step. The weights that "
        "do best on validation sequences are kept. The noise allows R² = 1 − 1/(1 + 10^(SNR/10)). "
        "Dimensions, optimiser, start, schedule and number of sequences are chosen here."
    ),
    conclusion=(
        "a URNN with twice the states learns as well as an RNN; each teacher has an exact unitary "
        "equivalent with at most 2n states"
    ),
    source="Emami et al., Input-Output Equivalence of Unitary and Contractive RNNs, experiments",
    rule=(
        "for every noise and every RNN of n units the URNN of at most 2n units that does best on "
        "validation has a mean test R² of at least the RNN’s. Undecided where it lacks less than "
        "the RNN’s standard deviation over the realisations."
    ),
    setting=TeacherSizes(),
    full=FULL,
    units=list_units,
    work=run_unit,
    judge=judge_runs,
    load=load_data,
    sections=extra_sections,
    charts=(Chart(title="R² on the test sequences", curves=(TEST,), x="hidden units", y=TEST),),
)
