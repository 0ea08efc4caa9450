"""``rnnbounds experiment gradients-close``: gradients and weights of truncated models."""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import torch
from flint import arb, ctx
from torch import Tensor

from rnnbounds.experiments.engine.experiment import Experiment, Job, LoadedData, Unit, all_units
from rnnbounds.experiments.engine.figures import Chart
from rnnbounds.experiments.engine.record import Outcome, Run, make_curve
from rnnbounds.experiments.engine.scores import figure_or_inf, score_text, select_runs, worst_group
from rnnbounds.experiments.stable.instances import TRAINED, Instances, Sizes, draw_instances
from rnnbounds.impl.gradients.adjoint import gradient_gaps
from rnnbounds.impl.gradients.adjoint_error import gradient_gap_error
from rnnbounds.impl.gradients.constants import Constants
from rnnbounds.impl.gradients.weight_sets import Region
from rnnbounds.impl.gradients.windows.rollout import rollout
from rnnbounds.impl.models.rnn import RNN
from rnnbounds.impl.numbers.ball_functions import float_above
from rnnbounds.impl.numbers.outward import add_up, gamma, mul_up
from rnnbounds.impl.training.descent import descend, descent_error
from rnnbounds.theory.numbers.special import ball_step_product

BATCH = 40  # systems that are trained at once
GRADIENTS, WEIGHTS = "gradients at the same weights", "weights after training"
BETA = "1/(βt)"
CLOSE = 1e-3  # of what it is at the first window, at a moderate one
MODERATE = 20
_PRECISION, _LARGEST = 128, 300.0  # of balls, in bits; log₁₀ of what is drawn

Rows = list[list[float]]  # a row for each instance, in it an entry for each window


class Gaps(NamedTuple):
    """A gap against k: as observed in float64, log₁₀ of its certified bound, rounded up, and how
    far each gap may be from that in real arithmetic, infinite where nothing is known."""

    observed: Rows
    log10_bound: Rows
    rounding: list[float]


def load_data(setting: Sizes, data: str | None) -> LoadedData:
    """The instances, drawn."""
    instances = draw_instances(setting)
    omega = Region.of_omega(instances.omega, instances.cell, TRAINED)
    start, uniform = (
        Constants(
            instances.cell, instances.B_x, loss=instances.loss, trained=TRAINED, region=region
        )
        for region in (None, omega)
    )
    return LoadedData((instances, start, uniform))


def list_units(setting: Sizes) -> list[Unit]:
    """The gradients of all instances, and a descent of all for each rule of steps."""
    rules = [f"steps {name}" for name in ("1/t", f"{setting.constant:g}", BETA)]
    gradients = all_units([GRADIENTS], ["tanh RNN"], ["Gaussian weights"], [setting.seed])
    return gradients + all_units([WEIGHTS], ["tanh RNN"], rules, [setting.seed])


def run_unit(job: Job[Sizes]) -> Iterable[Run]:
    """A run for each instance."""
    setting, (instances, start, uniform) = job.setting, job.data
    size = 2 * torch.stack((instances.omega.W * instances.cell.n**0.5, instances.omega.U)).norm(
        dim=0
    )
    extra_figures: list[dict[str, float]] = [{} for _ in setting.each_seed]
    if job.unit.task == GRADIENTS:
        gaps = gradient_curve(instances, setting, start)
    else:
        name = job.unit.variant.removeprefix("steps ")
        B = instances.B_x
        alpha = 1 / uniform["beta"] if name == BETA else torch.ones_like(B)
        if name == f"{setting.constant:g}":
            alpha = torch.full_like(B, setting.constant)
        decreasing = name in ("1/t", BETA)
        gaps, extra_figures = weight_curve(decreasing, alpha, instances, setting, uniform)
    for i, seed in enumerate(setting.each_seed):
        observed, bounds = gaps.observed[i], gaps.log10_bound[i]
        ceiling = math.inf if job.unit.task == GRADIENTS else float(size[i])
        drawable = [b if b < _LARGEST and 10.0**b <= ceiling else None for b in bounds]
        pairs = list(zip(setting.windows, observed, bounds, strict=True))
        windows = (setting.windows[0], 5, moderate_window(setting), setting.windows[-1])
        figures = {f"k = {k}": gap for k, gap, _ in pairs if k in windows}
        figures["log₁₀ of the bound, greatest"] = max(bounds)
        figures["a bound broken"] = sum(not is_within(g, b, gaps.rounding[i]) for _, g, b in pairs)
        curves = {
            "observed": make_curve(setting.windows, observed),
            "certified": make_curve(
                setting.windows, [None if b is None else 10.0**b for b in drawable]
            ),
            "log₁₀ certified": make_curve(setting.windows, bounds),
        }
        yield job.make_run(figures | extra_figures[i], curves, seed=seed)


def is_within(gap: float, log10_bound: float, rounding: float) -> bool:
    """True if gap + rounding ≤ 10^log10_bound; a rounding that is not finite counts as 0."""
    total = gap + (rounding if math.isfinite(rounding) else 0.0)
    return total == 0 or (total > 0 and math.log10(total) <= log10_bound)


def gradient_curve(instances: Instances, setting: Sizes, constants: Constants) -> Gaps:
    """‖∇p_T − ∇p_T^k‖ at the first weights, beside ε_k with their constants (Lemma 2)."""
    K = max(setting.windows)
    part = instances.cell, instances.x, K, instances.loss, TRAINED
    windows = list(setting.windows)
    with ctx.workprec(_PRECISION):
        epsilons = constants.epsilons(K)[:, windows].tolist()
        bounds = [[log10_above(arb(epsilon)) for epsilon in row] for row in epsilons]
    gaps = gradient_gaps(*part)[:, 0]
    error = add_up(gradient_gap_error(*part)[:, 0], norm_error(gaps, instances.cell))
    return Gaps(gaps[:, windows].tolist(), bounds, error.amax(1).tolist())


def norm_error(norms: Tensor, cell: RNN) -> Tensor:
    """Bound the rounding error of computed ‖v − w‖ of weights: a difference, squares, a root."""
    return mul_up(gamma(cell.n * (cell.n + cell.d) + 5), norms)


def weight_curve(
    decreasing: bool, alpha: Tensor, instances: Instances, setting: Sizes, constants: Constants
) -> tuple[Gaps, list[dict[str, float]]]:
    """Train the full and all truncated models of all instances in one batch, and compare.

    Steps are α/t if `decreasing`, else α. Also of each instance how far the full model's weights
    moved, and its loss before and after.
    """
    copies, N = 1 + len(setting.windows), setting.steps
    times = torch.arange(1, N + 1, dtype=torch.float64)
    rates = alpha[:, None] / (times if decreasing else torch.ones_like(times))
    first_steps = torch.tensor([0, *(setting.length - k for k in setting.windows)])
    last, error = train_cells(
        instances.repeat(copies),
        rates.repeat_interleave(copies, dim=0),
        first_steps.repeat(len(alpha)),
        constants["beta"].repeat_interleave(copies),
    )
    error = error.reshape(-1, copies)
    W, U = (part.reshape(-1, copies, *part.shape[1:]) for part in (last.W, last.U))
    full = RNN(W[:, 0], U[:, 0], instances.cell.b, instances.cell.activation)
    gaps = weight_distance(W[:, :1] - W[:, 1:], U[:, :1] - U[:, 1:])
    computed = add_up(add_up(error[:, :1], error[:, 1:]), norm_error(gaps, full))
    columns = {
        "moved": weight_distance(full.W - instances.cell.W, full.U - instances.cell.U),
        "loss before": full_loss(instances, instances.cell),
        "loss after": full_loss(instances, full),
        "β": constants["beta"],
    }
    rows = zip(*(part.tolist() for part in columns.values()), strict=True)
    bounds = weight_bounds(constants, alpha, decreasing, setting)
    weight_gaps = Gaps(gaps.tolist(), bounds, computed.amax(1).tolist())
    return weight_gaps, [dict(zip(columns, row, strict=True)) for row in rows]


def train_cells(
    instances: Instances, rates: Tensor, first_steps: Tensor, beta: Tensor
) -> tuple[RNN, Tensor]:
    """The cells after N steps, and bounds on their rounding."""
    cells, errors = [], []
    for first in range(0, len(beta), BATCH):
        part = slice(first, first + BATCH)
        some = instances.select(part)
        task = some.x, some.loss, some.omega, TRAINED, rates[part]
        path = descend(some.cell, *task, first_steps[part])
        cells.append(path[-1])
        errors.append(descent_error(path, *task, beta[part], first_steps[part])[:, -1])
    W, U, b = (torch.cat([getattr(cell, name) for cell in cells]) for name in ("W", "U", "b"))
    return RNN(W, U, b, instances.cell.activation), torch.cat(errors)


def weight_distance(W: Tensor, U: Tensor) -> Tensor:
    """√(‖W‖_F² + ‖U‖_F²) of matrices (…, n, n) and (…, n, d)."""
    size: Tensor = torch.cat([W.flatten(-2), U.flatten(-2)], dim=-1).norm(dim=-1)
    return size


def weight_bounds(constants: Constants, alpha: Tensor, decreasing: bool, setting: Sizes) -> Rows:
    """log₁₀ of (ε_k/β)(Π_t (1 + α_tβ) − 1), rounded up (Proposition 4).

    With α_t = α/t the product is Γ(N + 1 + αβ)/(Γ(N + 1) Γ(1 + αβ)), else (1 + αβ)^N.
    """
    windows, N = list(setting.windows), setting.steps
    epsilons = constants.epsilons(max(windows))[:, windows].tolist()
    bounds = []
    with ctx.workprec(_PRECISION):
        pairs = zip(epsilons, alpha.tolist(), constants["beta"].tolist(), strict=True)
        for row, size, beta in pairs:
            c = arb(size) * arb(beta)
            product = ball_step_product(arb(N), c) if decreasing else (1 + c) ** N
            scale = (product - 1) / arb(beta)
            bounds.append([log10_above(arb(epsilon) * scale) for epsilon in row])
    return bounds


def log10_above(value: arb) -> float:
    """log₁₀, rounded up; infinite where nothing is known."""
    return float_above(value.log() / arb(10).log())


def full_loss(instances: Instances, cell: RNN) -> Tensor:
    """½‖C h_T − y‖² of the full model, (B,)."""
    return instances.loss.value(rollout(cell, instances.x))[:, 0]


def moderate_window(setting: Sizes) -> int:
    """The first window that is so large, or the last."""
    return next((k for k in setting.windows if k >= MODERATE), setting.windows[-1])


def judge_runs(runs: Sequence[Run], setting: Sizes) -> Outcome:
    """How gaps fall with k, and whether a bound fell."""
    task_texts = []
    first, middle = (f"k = {k}" for k in (setting.windows[0], moderate_window(setting)))
    for task in dict.fromkeys(run.task for run in runs):
        _, some = worst_group(select_runs(runs, task=task), middle)
        task_texts.append(
            f"{task}, {some[0].variant}, {score_text(some, first)} to {score_text(some, middle)}"
        )
    fits = [figure_or_inf(run, middle) <= CLOSE * (run.figures[first] or 0.0) for run in runs]
    summary = f"Mean gaps from {first} to {middle}, the farthest there: {'; '.join(task_texts)}."
    broken = tuple(
        f"{run.task}, {run.variant}, instance {run.seed}: {count:g} gaps are above their bounds"
        for run in runs
        if (count := run.figures["a bound broken"])
    )
    if not broken:
        summary += " Every observed gap is below its certified bound."
    return Outcome("holds" if all(fits) and not broken else "does not hold", summary, broken)


EXPERIMENT = Experiment(
    name="gradients-close",
    title="Gradients and weights of truncated models",
    question=(
        "Each instance is a tanh RNN without biases, W Gaussian rescaled to ‖W‖₂ = λ, one Gaussian "
        "sequence, and the loss ½‖C h_T − y‖² of a Gaussian readout. How far is the gradient in W "
        "and U of the model that is cut to its last k inputs from the full one, and how far apart "
        "does projected descent on both end? W stays in ‖W‖₂ ≤ λ, U in a Frobenius ball of twice "
        "its first norm."
    ),
    conclusion=(
        "‖∇p_T − ∇p_T^k‖ ≤ ε_k = λ^k G_0 + k λ^(k−1) D_1 and ‖w_(N+1) − ŵ_(N+1)‖ ≤ "
        "(ε_k/β)(∏(1 + α_t β) − 1): gradients and weights of truncated models come close as k grows"
    ),
    source="Miller & Hardt, Stable Recurrent Models, Lemma 2, Proposition 4 and Figure 1",
    rule=(
        f"it holds if no certified bound is exceeded and, in every instance, the gradients’ gap "
        f"and the weights’ at k = {MODERATE} are at most {CLOSE:g} of those at the first k."
    ),
    setting=Sizes(),
    units=list_units,
    work=run_unit,
    judge=judge_runs,
    load=load_data,
    charts=(
        Chart(
            title="Gaps",
            curves=("observed", "certified"),
            dashed=("certified",),
            x="window k",
            y="gap",
            caption=(
                "Dashed: certified, for weights only where that is below the diameter of the set "
                "of weights. For steps α/t the bound grows like the power αβ of the steps N, for "
                "constant ones exponentially. Flat ends are at the level of float64 rounding."
            ),
            log_y=True,
        ),
    ),
)
