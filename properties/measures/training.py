"""Projected gradient descent on the full and on the truncated loss, side by side.

Float64 readings, with the errors of both descents. The steps are α/t.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import torch
from flint import arb, fmpq

from rnnbounds.impl.gradients.loss import loss as make_loss
from rnnbounds.impl.gradients.windows.rollout import rollout
from rnnbounds.impl.models.rnn import RNN
from rnnbounds.impl.numbers.outward import UNIT, add_up, mul_up
from rnnbounds.impl.training.descent import descend, descent_error
from rnnbounds.properties.measures import ball_descent, descent
from rnnbounds.properties.measures.measure import FastPath, Opaque, enclose_with_error
from rnnbounds.properties.measures.slack import (
    ROUND_UP,
    norm_rounding,
    product_rounding,
    state_rounding,
    vector_norms,
    zero_full_window,
)
from rnnbounds.properties.read.numbers.sizes import float_ends
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.properties.systems.cells.batch import cells_of
from rnnbounds.properties.systems.exact.members import rational
from rnnbounds.properties.systems.vanilla.networks import Networks
from rnnbounds.properties.systems.vanilla.plain import Rnn, convert_spec
from rnnbounds.theory.numbers.interval import Interval

Tensor = torch.Tensor
PARTS = ("W", "U", "b")


@dataclass(frozen=True)
class TrainingRuns:
    """w_1 … w_{N+1} of the full model and of every truncated one, (K+2)B cells at a time: the full
    ones first, then those of k = 0, 1, …; their errors (K+2, B, N+1)."""

    cells: list[RNN]
    errors: Tensor
    starts: Tensor
    inputs: Tensor


def descents(batch: Batch) -> TrainingRuns:
    """The full and all truncated descents of a batch, cached."""
    if "descents" not in batch.cache:
        batch.cache["descents"] = run_descents(batch)
    runs: TrainingRuns = batch.cache["descents"]
    return runs


@torch.no_grad()
def run_descents(batch: Batch) -> TrainingRuns:
    """All descents in one, and rigorous bounds on their errors."""
    spec, copies = batch.spec, batch.K + 2
    windows = torch.arange(batch.K + 1, device=batch.x.device)
    starts = torch.cat([torch.zeros_like(windows[:1]), spec.T - windows])
    starts = starts.repeat_interleave(batch.cell.batch)
    parts = {name: repeat_batch(getattr(batch.cell, name), copies) for name in PARTS}
    cell = RNN(**parts, activation=batch.cell.activation)
    y = None if batch.y is None else repeat_batch(batch.y, copies)
    loss = make_loss(spec.loss, repeat_batch(batch.C, copies), y)
    omega = replace(
        batch.omega, **{name: repeat_batch(getattr(batch.omega, name), copies) for name in PARTS}
    )
    x, rates = repeat_batch(batch.x, copies), repeat_batch(step_sizes(batch), copies)
    cells = descend(cell, x, loss, omega, spec.trained, rates, starts)
    beta = repeat_batch(batch.constants["beta"], copies)
    error = descent_error(cells, x, loss, omega, spec.trained, rates, beta, starts)
    error = add_up(error, rate_error(batch, rates, beta, copies))
    return TrainingRuns(cells, error.view(copies, -1, spec.steps + 1), starts, x)


def repeat_batch(tensor: Tensor, copies: int) -> Tensor:
    """The batch, several times."""
    return tensor.repeat(copies, *[1] * (tensor.ndim - 1))


def step_sizes(batch: Batch) -> Tensor:
    """α/t in float64, (B, N)."""
    t = torch.arange(1, batch.spec.steps + 1, dtype=torch.float64, device=batch.x.device)
    alpha = torch.from_numpy(batch.step_size).to(batch.x.device)[:, 0]
    return alpha / t


def rate_error(batch: Batch, rates: Tensor, beta: Tensor, copies: int) -> Tensor:
    """Bound the error of rounding α/t: u α_t ‖∇p‖ a step, grown by 1 + α_t β, (·, N+1)."""
    known = batch.constants
    steepest = mul_up(known["L_p"], known["L_w"]) / known.gap * ROUND_UP
    size = repeat_batch(2 * UNIT * steepest, copies)
    errors = [torch.zeros_like(beta)]
    for rate in rates.unbind(1):
        propagated = mul_up(add_up(1.0, mul_up(rate, beta)), errors[-1])
        new_error = torch.zeros_like(rate) if len(errors) == 1 else mul_up(rate, size)
        errors.append(add_up(torch.where(errors[-1] == 0, 0.0, propagated), new_error))
    return torch.stack(errors, dim=1)


def split_descents(batch: Batch, tensor: Tensor) -> tuple[Tensor, Tensor]:
    """Split a tensor into full descents (B, …) and truncated ones (B, K+1, …)."""
    stacked = tensor.reshape(batch.K + 2, -1, *tensor.shape[1:])
    return stacked[0], stacked[1:].transpose(0, 1)


def w_gap(batch: Batch) -> Tensor:
    """‖w_{N+1} − ŵ_{N+1}‖ at every window, (B, 1, K+1)."""
    cell = descents(batch).cells[-1]
    gaps = []
    for name in batch.spec.trained:
        full, short = split_descents(batch, getattr(cell, name))
        gaps.append((full[:, None] - short).flatten(2))
    return zero_full_window(batch, vector_norms(torch.cat(gaps, dim=2), 2)[:, None])


def last_errors(batch: Batch) -> Tensor:
    """The errors of both weights after all steps, (B, 1, K+1)."""
    errors = descents(batch).errors[:, :, -1]
    return (errors[0] + errors[1:]).T[:, None] * ROUND_UP


def w_gap_rounding(batch: Batch, value: Tensor) -> Tensor:
    """Bound the error of ‖w − ŵ‖: the errors of both descents, and the norm's."""
    n, d = batch.cell.n, batch.cell.d
    own = norm_rounding(n * (n + d + 1) + 1, value)
    return zero_full_window(batch, last_errors(batch) * ROUND_UP + own)


@torch.no_grad()
def trained_states(batch: Batch) -> tuple[Tensor, Tensor]:
    """h_T at w_{N+1}, and h_T^k at ŵ_{N+1}, as (B, n) and (B, K+1, n)."""
    runs = descents(batch)
    h = rollout(runs.cells[-1], runs.inputs, runs.starts)
    return split_descents(batch, h[..., 0])


def trained_state_gaps(batch: Batch) -> Tensor:
    """h_T(w_{N+1}) − h_T^k(ŵ_{N+1}), (B, n, K+1)."""
    if "state gaps" not in batch.cache:
        full, short = trained_states(batch)
        batch.cache["state gaps"] = (full[:, None] - short).transpose(1, 2)
    gaps: Tensor = batch.cache["state gaps"]
    return gaps


def trained_gap(batch: Batch) -> Tensor:
    """‖C(h_T(w_{N+1}) − h_T^k(ŵ_{N+1}))‖, (B, 1, K+1)."""
    return zero_full_window(
        batch,
        vector_norms(torch.einsum("bpn,bnk->bpk", batch.C, trained_state_gaps(batch)))[:, None],
    )


def trained_gap_rounding(batch: Batch, value: Tensor) -> Tensor:
    """Bound the error of `trained_gap`: weights through L_w/(1 − λ), rollouts, product with C."""
    known, runs = batch.constants, descents(batch)
    spec = convert_spec(Rnn, batch.spec)
    copies = repeat_batch(batch.C, batch.K + 2)
    systems = Networks(runs.cells[-1], *batch.systems.states)
    last = replace(batch, spec=spec, systems=systems, x=runs.inputs, C=copies, y=None, whole=None)
    full, short = split_descents(batch, state_rounding(last)[:, 0, 0])
    rollouts = (full[:, None] + short)[:, None] * ROUND_UP
    weight_gain = (known["L_w"] / known.gap * ROUND_UP)[:, None, None]
    weight_error = last_errors(batch)
    carried = torch.where(weight_error == 0, 0.0, mul_up(weight_gain, weight_error))
    inner = mul_up(known["L_f"][:, None, None], add_up(rollouts, carried))
    gaps = vector_norms(trained_state_gaps(batch))[:, None]
    own = product_rounding(batch.C, gaps, value)
    return zero_full_window(batch, (inner + own) * ROUND_UP)


def is_kind(kind: str) -> Callable[[Batch], bool]:
    """Build a predicate that is True if the systems are of that kind."""
    return lambda batch: batch.spec.kind == kind


def quadratic_gap(batch: Batch) -> fmpq:
    """w_{N+1} − ŵ_{N+1} on p = −βw²/2 and on p + εw, exactly, as a fraction reduced once: each
    descent is run as it stands, from w = 1."""
    spec = batch.spec
    alpha, beta, epsilon = (v.as_integer_ratio() for v in (spec.alpha, spec.lam, spec.epsilon))
    # w = p/q, ŵ = r/q and w + (α/t)(βw), ŵ + (α/t)(βŵ − ε) over the same denominator.
    p, r, q = 1, 1, 1
    for t in range(1, spec.steps + 1):
        top, bottom = alpha[0], alpha[1] * t
        common = bottom * beta[1] * epsilon[1]
        growth = common + top * beta[0] * epsilon[1]
        p, r = p * growth, r * growth - top * epsilon[0] * beta[1] * q
        q *= common
    return fmpq(p - r, q)


def enclose_quadratic_gap(batch: Batch) -> Interval:
    """The distance of the weights of the quadratic instance, which is known exactly."""
    shape = (batch.cell.batch, batch.x.shape[3], batch.K + 1)
    return Interval(*(np.full(shape, end) for end in float_ends(abs(arb(quadratic_gap(batch))))))


def growth_square(batch: Batch, k: int) -> fmpq:
    """min (a_{t+1}/a_t)² over three steps α/t of descent on p_T(a) = ½ Σ_{i<T} a^{2i} from a = lam.

    a = 0 is a fixed point: the growth is then 0.
    """
    a, alpha, growths = rational(batch.spec.lam), rational(batch.spec.alpha), []
    for t in (1, 2, 3):
        if a == 0:
            return fmpq(0)
        # p_T'(a) = Σ_{i=1}^{T−1} i a^{2i−1}, and the factor is 1 − (α/t) p_T'(a)/a.
        slope = sum((i * a ** (2 * i - 2) for i in range(1, batch.spec.T)), fmpq(0))
        factor = 1 - alpha / t * slope
        growths.append(factor**2)
        a = a * factor
    return min(growths)


IS_TRAINING = is_kind("training")
FAST = (
    FastPath(
        "w_gap", lambda batch: cells_of(batch) is not None, enclosure=descent.w_gap,
        balls=ball_descent.w_gap_ball,
    ),
    FastPath(
        "w_gap", IS_TRAINING, enclosure=enclose_with_error(w_gap, w_gap_rounding),
        balls=ball_descent.w_gap_ball,
    ),
    FastPath(
        "trained_gap", IS_TRAINING,
        enclosure=enclose_with_error(trained_gap, trained_gap_rounding),
        balls=ball_descent.trained_gap_ball,
    ),
    FastPath(
        "w_gap", is_kind("quadratic"), enclosure=enclose_quadratic_gap,
        balls=lambda pair, k: abs(arb(quadratic_gap(pair.batch))),
        square=lambda batch, k: quadratic_gap(batch) ** 2,
    ),
    Opaque(
        "descent_growth", balls=lambda pair, k: arb(growth_square(pair.batch, k)).sqrt(),
        square=growth_square, reason="it is the least growth of three steps",
    ),
)  # fmt: skip
