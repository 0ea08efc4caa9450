"""What a feed-forward model sees: it is compared with the truncated model and with itself.

The field is read bit by bit: outside it the inputs are replaced by huge ones, and the output of the
module must not change at all. Shapes (B, S, K+1), windows k = 0 … K.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch

from rnnbounds.impl.convert.feedforward import FeedForward
from rnnbounds.impl.gradients.windows.rollout import rollout, truncations
from rnnbounds.properties.measures.readings.slack import norm_slack, norms, state_slack
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.properties.systems.drawing.regimes import generator, normal
from rnnbounds.theory.numbers.interval import Interval

Tensor = torch.Tensor
HUGE = 2.0**900


def last_outputs(batch: Batch, inputs: Callable[[int], Tensor]) -> Tensor:
    """H_T^{(k)} of the module for every window, (B, S, K+1, n); ``inputs(k)`` has x's shape."""
    cell, found = batch.cell, []
    for k in range(batch.K + 1):
        x = inputs(k)
        members = []
        for i in range(cell.batch):
            module = feed_forward(batch, i, k)
            # A copy has one layout and alignment: a library's last bits depend on them.
            seen = x[i].permute(2, 0, 1).clone(memory_format=torch.contiguous_format)
            members.append(module(seen)[:, -1])
        found.append(torch.stack(members))
    return torch.stack(found, dim=2)


def own_outputs(batch: Batch) -> Tensor:
    """The same of the batch's own inputs, made once."""
    if "module outputs" not in batch.cache:
        batch.cache["module outputs"] = last_outputs(batch, lambda k: batch.x)
    found: Tensor = batch.cache["module outputs"]
    return found


def feed_forward(batch: Batch, i: int, k: int) -> FeedForward:
    """The truncated model of one member, of whatever cell it is."""
    if batch.cells is not None:
        weights = {name: part[i] for name, part in batch.cells.parameters.items()}
        return FeedForward(weights, cell=batch.cells.kind, k=k)
    cell = batch.cell
    weights = {"weight_hh": cell.W[i], "weight_ih": cell.U[i], "bias_ih": cell.b[i]}
    return FeedForward(weights, activation=cell.activation.name, k=k)


def bitwise(batch: Batch, inputs: Callable[[int], Tensor]) -> Interval:
    """Gap between the module's outputs on x and on changed inputs: [0, 0] if no bit differs."""
    with torch.no_grad():
        one, two = own_outputs(batch), last_outputs(batch, inputs)
        gap = torch.linalg.vector_norm(one - two, dim=3)
        same = (one == two).all(dim=3)
        low = torch.where(same, 0.0, torch.clamp(gap * (1 - 2.0**-40), min=5e-324))
        high = torch.where(same, 0.0, gap * (1 + 2.0**-40) + 2.0**-500)
    return Interval(low.cpu().numpy(), high.cpu().numpy())


def field_gap(batch: Batch) -> Interval:
    """Inputs at times ≤ T − k replaced by huge ones."""
    noise = foreign(batch) * HUGE

    def changed(k: int) -> Tensor:
        outside = torch.arange(batch.spec.T, device=batch.x.device) < batch.spec.T - k
        return torch.where(outside[None, :, None, None], noise, batch.x)

    return bitwise(batch, changed)


def edge_gap(batch: Batch) -> Interval:
    """Only the input at time T − k + 1 replaced, the oldest one inside; not defined at k = 0.

    A gap of the real model, within its rounding bound: what seems unchanged in float64 may change.
    """
    with torch.no_grad():
        other = edge_inputs(batch)
        times = torch.arange(batch.spec.T, device=batch.x.device)[None, :, None, None]
        changed = last_outputs(
            batch, lambda k: torch.where(times == batch.spec.T - k, other, batch.x)
        )
        found = rounded(batch, own_outputs(batch) - changed, other)
    low, high = np.array(found.lo), np.array(found.hi)
    low[..., 0] = high[..., 0] = np.nan
    return Interval(low, high)


def edge_inputs(batch: Batch) -> Tensor:
    """Inputs (B, T, d, S) that differ from x at every time: −x_t, or a unit vector for 0."""
    still = (batch.x == 0).all(dim=2, keepdim=True)
    unit = torch.zeros_like(batch.x)
    unit[:, :, 0] = 1.0
    return torch.where(still, unit, -batch.x)


def edge_rows(batch: Batch) -> list[list[float]]:
    """The other inputs of one pair, (T, d)."""
    rows: list[list[float]] = edge_inputs(batch)[0, :, :, 0].tolist()
    return rows


def foreign(batch: Batch) -> Tensor:
    """Other inputs of x's shape, from the spec's seed, at least 1 in modulus; a pair's own are the
    same in its batch and alone."""
    spec, (T, d) = batch.spec, batch.x.shape[1:3]
    draws = []
    for member in spec.members:
        z = normal(generator(spec, member, stream=3), spec.sequences, T, d)
        chosen = z if spec.sequence is None else z[spec.sequence : spec.sequence + 1]
        draws.append((chosen + np.copysign(1.0, chosen)).transpose(1, 2, 0))
    return torch.from_numpy(np.stack(draws)).to(batch.x.device)


def forward_gap(batch: Batch) -> Interval:
    """‖H_T^{(k)} − h_T^k‖: two programs for one quantity, each within its rounding bound."""
    with torch.no_grad():
        network = own_outputs(batch)
        short = truncations(batch.cell, batch.x, batch.K)[1].permute(0, 3, 2, 1)
        return rounded(batch, network - short)


def padding_gap(batch: Batch) -> Interval:
    """Truncated model against the full one whose inputs are zero before the window."""
    with torch.no_grad():
        short = truncations(batch.cell, batch.x, batch.K)[1].permute(0, 3, 2, 1)
        return rounded(batch, changed_rollouts(batch, torch.zeros_like(batch.x)) - short)


def recurrent_gap(batch: Batch) -> Interval:
    """Full recurrent model against itself, inputs before the window with their signs changed."""
    with torch.no_grad():
        full = rollout(batch.cell, batch.x).transpose(1, 2)[:, :, None]
        return rounded(batch, changed_rollouts(batch, -batch.x) - full)


def changed_rollouts(batch: Batch, other: Tensor) -> Tensor:
    """h_T of the full model, inputs at times ≤ T − k taken from ``other``, (B, S, K+1, n)."""
    times = torch.arange(batch.spec.T, device=batch.x.device)[None, :, None, None]
    found = [
        rollout(batch.cell, torch.where(times < batch.spec.T - k, other, batch.x)).transpose(1, 2)
        for k in range(batch.K + 1)
    ]
    return torch.stack(found, dim=2)


def rounded(batch: Batch, vectors: Tensor, other: Tensor | None = None) -> Interval:
    """‖v‖ of a difference of two computed states, (B, S, K+1, n), with both states' rounding;
    ``other`` are inputs that one of the two may have seen."""
    seen = (
        batch if other is None else replace(batch, x=torch.cat([batch.x, other], dim=3), whole=None)
    )
    value = norms(vectors, 3)
    error = 2 * state_slack(seen) + norm_slack(batch.spec.n + 1, value)
    low, high = (value - error).cpu().numpy(), (value + error).cpu().numpy()
    return Interval(np.maximum(np.nextafter(low, -np.inf), 0.0), np.nextafter(high, np.inf))
