"""Projected gradient descent on the full and on the truncated loss, side by side.

Float64 readings, with the errors of both descents. The steps are α/t or α.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch

from rnnbounds.impl.gradients.loss import loss as make_loss
from rnnbounds.impl.gradients.windows.rollout import rollout
from rnnbounds.impl.models.rnn import RNN
from rnnbounds.impl.numbers.outward import UNIT, add_up, mul_up
from rnnbounds.impl.training.descent import descend, descent_error
from rnnbounds.properties.measures.readings.slack import (
    UP,
    before_start,
    map_slack,
    norm_slack,
    norms,
    state_slack,
)
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.properties.systems.vanilla.networks import Networks
from rnnbounds.properties.systems.vanilla.specs import Rnn, turned

Tensor = torch.Tensor
PARTS = ("W", "U", "b")


@dataclass(frozen=True)
class Descents:
    """w_1 … w_{N+1} of the full model and of every truncated one, (K+2)B cells at a time: the full
    ones first, then those of k = 0, 1, …; their errors (K+2, B, N+1)."""

    cells: list[RNN]
    errors: Tensor
    starts: Tensor
    inputs: Tensor


def descents(batch: Batch) -> Descents:
    """Both descents of a batch, made once."""
    if "descents" not in batch.cache:
        batch.cache["descents"] = train(batch)
    found: Descents = batch.cache["descents"]
    return found


@torch.no_grad()
def train(batch: Batch) -> Descents:
    """All descents in one, and rigorous bounds on their errors."""
    spec, copies = batch.spec, batch.K + 2
    windows = torch.arange(batch.K + 1, device=batch.x.device)
    starts = torch.cat([torch.zeros_like(windows[:1]), spec.T - windows])
    starts = starts.repeat_interleave(batch.cell.batch)
    parts = {name: repeated(getattr(batch.cell, name), copies) for name in PARTS}
    cell = RNN(**parts, activation=batch.cell.activation)
    y = None if batch.y is None else repeated(batch.y, copies)
    loss = make_loss(spec.loss, repeated(batch.C, copies), y)
    omega = replace(
        batch.omega, **{name: repeated(getattr(batch.omega, name), copies) for name in PARTS}
    )
    x, rates = repeated(batch.x, copies), repeated(step_sizes(batch), copies)
    cells = descend(cell, x, loss, omega, spec.trained, rates, starts)
    beta = repeated(batch.constants["beta"], copies)
    error = descent_error(cells, x, loss, omega, spec.trained, rates, beta, starts)
    error = add_up(error, rate_error(batch, rates, beta, copies))
    return Descents(cells, error.view(copies, -1, spec.steps + 1), starts, x)


def repeated(tensor: Tensor, copies: int) -> Tensor:
    """The batch, several times."""
    return tensor.repeat(copies, *[1] * (tensor.ndim - 1))


def step_sizes(batch: Batch) -> Tensor:
    """α/t or α, in float64, (B, N)."""
    t = torch.arange(1, batch.spec.steps + 1, dtype=torch.float64, device=batch.x.device)
    alpha = torch.from_numpy(batch.step_size).to(batch.x.device)[:, 0]
    return alpha / t if batch.spec.schedule == "inverse" else alpha.expand(-1, len(t)).clone()


def rate_error(batch: Batch, rates: Tensor, beta: Tensor, copies: int) -> Tensor:
    """Bound the error of rounding α/t: u α_t ‖∇p‖ a step, grown by 1 + α_t β, (·, N+1)."""
    known = batch.constants
    steepest = mul_up(known["L_p"], known["L_w"]) / known.gap * UP
    size = repeated(2 * UNIT * steepest, copies)
    found = [torch.zeros_like(beta)]
    for rate in rates.unbind(1):
        grown = mul_up(add_up(1.0, mul_up(rate, beta)), found[-1])
        rounded = torch.zeros_like(rate) if len(found) == 1 else mul_up(rate, size)
        found.append(add_up(torch.where(found[-1] == 0, 0.0, grown), rounded))
    return torch.stack(found, dim=1)


def split(batch: Batch, tensor: Tensor) -> tuple[Tensor, Tensor]:
    """Split a tensor into full descents (B, …) and truncated ones (B, K+1, …)."""
    every = tensor.reshape(batch.K + 2, -1, *tensor.shape[1:])
    return every[0], every[1:].transpose(0, 1)


def weights_after(batch: Batch, steps: int) -> Tensor:
    """‖w − ŵ‖ after so many steps, at every window, (B, 1, K+1)."""
    cell = descents(batch).cells[steps]
    gaps = []
    for name in batch.spec.trained:
        full, short = split(batch, getattr(cell, name))
        gaps.append((full[:, None] - short).flatten(2))
    return before_start(batch, norms(torch.cat(gaps, dim=2), 2)[:, None])


def w_gap(batch: Batch) -> Tensor:
    """‖w_{N+1} − ŵ_{N+1}‖."""
    return weights_after(batch, batch.spec.steps)


def w_gap_before(batch: Batch) -> Tensor:
    """‖w_N − ŵ_N‖."""
    return weights_after(batch, max(batch.spec.steps - 1, 0))


def drift(batch: Batch, steps: int) -> Tensor:
    """The errors of both weights after so many steps, (B, 1, K+1)."""
    errors = descents(batch).errors[:, :, steps]
    return (errors[0] + errors[1:]).T[:, None] * UP


def w_gap_slack(batch: Batch, value: Tensor) -> Tensor:
    """Its error."""
    return weights_slack(batch, batch.spec.steps, value)


def w_gap_before_slack(batch: Batch, value: Tensor) -> Tensor:
    """Its error."""
    return weights_slack(batch, max(batch.spec.steps - 1, 0), value)


def weights_slack(batch: Batch, steps: int, value: Tensor) -> Tensor:
    """Both descents' errors, and the norm's."""
    n, d = batch.cell.n, batch.cell.d
    own = norm_slack(n * (n + d + 1) + 1, value)
    return before_start(batch, drift(batch, steps) * UP + own)


@torch.no_grad()
def last_states(batch: Batch) -> tuple[Tensor, Tensor]:
    """h_T at w_{N+1}, and h_T^k at ŵ_{N+1}, as (B, n) and (B, K+1, n)."""
    found = descents(batch)
    h = rollout(found.cells[-1], found.inputs, found.starts)
    return split(batch, h[..., 0])


def state_gaps(batch: Batch) -> Tensor:
    """h_T(w_{N+1}) − h_T^k(ŵ_{N+1}), (B, n, K+1)."""
    if "state gaps" not in batch.cache:
        full, short = last_states(batch)
        batch.cache["state gaps"] = (full[:, None] - short).transpose(1, 2)
    found: Tensor = batch.cache["state gaps"]
    return found


def trained_gap(batch: Batch) -> Tensor:
    """‖C(h_T(w_{N+1}) − h_T^k(ŵ_{N+1}))‖, (B, 1, K+1)."""
    return before_start(
        batch, norms(torch.einsum("bpn,bnk->bpk", batch.C, state_gaps(batch)))[:, None]
    )


def trained_gap_slack(batch: Batch, value: Tensor) -> Tensor:
    """Its error: the weights' through L_w/(1 − λ), the rollouts', then C's own."""
    known, found = batch.constants, descents(batch)
    spec = turned(Rnn, batch.spec)
    copies = repeated(batch.C, batch.K + 2)
    systems = Networks(found.cells[-1], *batch.systems.states)
    last = replace(batch, spec=spec, systems=systems, x=found.inputs, C=copies, y=None, whole=None)
    full, short = split(batch, state_slack(last)[:, 0, 0])
    rollouts = (full[:, None] + short)[:, None] * UP
    reach = (known["L_w"] / known.gap * UP)[:, None, None]
    moved = drift(batch, batch.spec.steps)
    carried = torch.where(moved == 0, 0.0, mul_up(reach, moved))
    inner = mul_up(known["L_f"][:, None, None], add_up(rollouts, carried))
    gaps = norms(state_gaps(batch))[:, None]
    own = map_slack(batch.C, gaps, torch.zeros_like(gaps), value)
    return before_start(batch, (inner + own) * UP)
