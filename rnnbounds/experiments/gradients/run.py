"""``rnnbounds experiment gradients-close``: gradients and weights of truncated models, against k.

Miller & Hardt's Figure 1 on random instances: how far the gradient of the truncated model is from
that of the full one at the same weights, and how far projected gradient descent on the one ends
from descent on the other, each beside its certified bound (Lemma 2, Proposition 4).
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import torch
from flint import arb, ctx
from torch import Tensor

from impl.gradients.adjoint import gradient_gaps
from impl.gradients.adjoint_error import gradient_gap_error
from impl.gradients.constants import Constants
from impl.gradients.weight_sets import Region
from impl.gradients.windows.rollout import rollout
from impl.models.rnn import RNN
from impl.numbers.ball_functions import float_above
from impl.numbers.outward import add_up, gamma, mul_up
from impl.training.descent import descend, descent_error
from rnnbounds.experiments.engine.common import environment_of, prepare, publish
from rnnbounds.experiments.gradients.instances import TRAINED, Instances, Setting, draw
from rnnbounds.experiments.gradients.page import page
from rnnbounds.experiments.gradients.record import Closeness, Curve, Descent, Rows, problems
from theory.numbers.special import ball_step_product

INSTANCES = 10
BATCH = 40  # systems that are trained at once
PARTS = 4  # of the work: the gradients, and three descents
UNIFORM = ("lam", "B_x", "B_h", "L_w", "L_p", "beta_p", "G_0", "D_1", "beta")
_PRECISION = 128


def run(
    out: Path,
    *,
    seed: int = 0,
    instances: int = INSTANCES,
    setting: Setting | None = None,
    advance: Callable[[str], None] = lambda label: None,
) -> Closeness:
    """Draw, compare and train; write gradients-close.json and index.html to `out`.

    `advance` is called PARTS times. Raises WriteError for a bad place before anything is trained.
    """
    started = datetime.now(UTC)
    torch.set_num_threads(1)
    setting = replace(setting or Setting(), instances=instances)
    prepare(out)
    drawn = draw(setting, seed)
    omega = Region.of_omega(drawn.omega, drawn.cell, TRAINED)
    start, uniform = (
        Constants(drawn.cell, drawn.B_x, loss=drawn.loss, trained=TRAINED, region=region)
        for region in (None, omega)
    )
    radii = drawn.omega.W * setting.states**0.5, drawn.omega.U
    gradients = gradient_curve(drawn, setting, start)
    advance("gradients")
    descents = []
    for name, decreasing, alpha in (
        ("1/t", True, torch.ones_like(drawn.B_x)),
        (f"{setting.constant:g}", False, torch.full_like(drawn.B_x, setting.constant)),
        ("1/(βt)", True, 1 / uniform["beta"]),
    ):
        descents.append(descent(name, decreasing, alpha, drawn, setting, uniform))
        advance(f"steps {name}")
    record = Closeness(
        seed=seed,
        setting=setting,
        constants={name: told(uniform[name]) for name in UNIFORM}
        | {"diameter": told(2 * torch.stack(radii).norm(dim=0))}
        | {f"{name}_start": told(start[name]) for name in ("G_0", "D_1")},
        loss=told(loss_of(drawn, drawn.cell)),
        gradients=gradients,
        descents=tuple(descents),
        environment=environment_of(started),
    )
    record = replace(record, problems=problems(record))
    publish(out, "gradients-close", record, page(record))
    return record


def gradient_curve(drawn: Instances, setting: Setting, constants: Constants) -> Curve:
    """‖∇p_T − ∇p_T^k‖ at the first weights, beside ε_k with their constants (Lemma 2)."""
    K = max(setting.windows)
    part = drawn.cell, drawn.x, K, drawn.loss, TRAINED
    windows = list(setting.windows)
    with ctx.workprec(_PRECISION):
        bounds = tuple(
            tuple(log10_above(arb(epsilon)) for epsilon in row)
            for row in constants.epsilons(K)[:, windows].tolist()
        )
    gaps = gradient_gaps(*part)[:, 0]
    error = add_up(gradient_gap_error(*part)[:, 0], norm_error(gaps, drawn.cell))
    return Curve(rows(gaps[:, windows]), bounds, told(error.amax(1)))


def norm_error(norms: Tensor, cell: RNN) -> Tensor:
    """What rounding adds to computed ‖v − w‖ of trained weights: a difference, squares, a root."""
    return mul_up(gamma(cell.n * (cell.n + cell.d) + 5), norms)


def descent(
    name: str,
    decreasing: bool,
    alpha: Tensor,
    drawn: Instances,
    setting: Setting,
    constants: Constants,
) -> Descent:
    """Train the full and all truncated models of all instances in one batch, and compare."""
    each, N = 1 + len(setting.windows), setting.steps
    times = torch.arange(1, N + 1, dtype=torch.float64)
    rates = alpha[:, None] / (times if decreasing else torch.ones_like(times))
    starts = torch.tensor([0, *(setting.length - k for k in setting.windows)])
    last, error, widest = trained(
        drawn.repeated(each),
        rates.repeat_interleave(each, dim=0),
        starts.repeat(len(alpha)),
        constants["beta"].repeat_interleave(each),
    )
    error = error.reshape(-1, each)
    W, U = (part.reshape(-1, each, *part.shape[1:]) for part in (last.W, last.U))
    full = RNN(W[:, 0], U[:, 0], drawn.cell.b, drawn.cell.activation)
    gaps = distance(W[:, :1] - W[:, 1:], U[:, :1] - U[:, 1:])
    computed = add_up(add_up(error[:, :1], error[:, 1:]), norm_error(gaps, full))
    return Descent(
        name=name,
        decreasing=decreasing,
        alpha=told(alpha),
        weights=Curve(
            rows(gaps),
            weight_bounds(constants, alpha, decreasing, setting),
            told(computed.amax(1)),
        ),
        moved=told(distance(full.W - drawn.cell.W, full.U - drawn.cell.U)),
        loss=told(loss_of(drawn, full)),
        widest=float(widest.max()),
    )


def trained(
    drawn: Instances, rates: Tensor, starts: Tensor, beta: Tensor
) -> tuple[RNN, Tensor, Tensor]:
    """The cells after N steps, bounds on their rounding, and the largest ‖U‖_F/u on the way."""
    cells, errors, widest = [], [], []
    for first in range(0, len(beta), BATCH):
        part = slice(first, first + BATCH)
        some = drawn.part(part)
        task = some.x, some.loss, some.omega, TRAINED, rates[part]
        path = descend(some.cell, *task, starts[part])
        cells.append(path[-1])
        errors.append(descent_error(path, *task, beta[part], starts[part])[:, -1])
        sizes = torch.stack([cell.U.flatten(1).norm(dim=1) for cell in path])
        widest.append((sizes / some.omega.U).amax(0))
    W, U, b = (torch.cat([getattr(cell, name) for cell in cells]) for name in ("W", "U", "b"))
    return RNN(W, U, b, drawn.cell.activation), torch.cat(errors), torch.cat(widest)


def distance(W: Tensor, U: Tensor) -> Tensor:
    """√(‖W‖_F² + ‖U‖_F²) of matrices (…, n, n) and (…, n, d)."""
    size: Tensor = torch.cat([W.flatten(-2), U.flatten(-2)], dim=-1).norm(dim=-1)
    return size


def weight_bounds(constants: Constants, alpha: Tensor, decreasing: bool, setting: Setting) -> Rows:
    """log₁₀ of (ε_k/β)(Π_t (1 + α_tβ) − 1), rounded up (Proposition 4).

    With α_t = α/t the product is Γ(N + 1 + αβ)/(Γ(N + 1) Γ(1 + αβ)), else (1 + αβ)^N.
    """
    windows, N = list(setting.windows), setting.steps
    epsilons = constants.epsilons(max(windows))[:, windows].tolist()
    found = []
    with ctx.workprec(_PRECISION):
        for row, size, beta in zip(epsilons, *map(told, (alpha, constants["beta"])), strict=True):
            c = arb(size) * arb(beta)
            product = ball_step_product(arb(N), c) if decreasing else (1 + c) ** N
            scale = (product - 1) / arb(beta)
            found.append(tuple(log10_above(arb(epsilon) * scale) for epsilon in row))
    return tuple(found)


def log10_above(value: arb) -> float:
    """log₁₀, rounded up; infinite where nothing is known."""
    return float_above(value.log() / arb(10).log())


def loss_of(drawn: Instances, cell: RNN) -> Tensor:
    """½‖C h_T − y‖² of the full model, (B,)."""
    return drawn.loss.value(rollout(cell, drawn.x))[:, 0]


def rows(values: Tensor) -> Rows:
    """(B, windows) as plain numbers."""
    return tuple(tuple(row) for row in values.tolist())


def told(values: Tensor) -> tuple[float, ...]:
    """(B,) as plain numbers."""
    return tuple(values.tolist())
