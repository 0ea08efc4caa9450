"""Receptive field of a feed-forward model: comparison with the truncated model and with itself.

The field is tested bit by bit: outside it the inputs are replaced, by huge ones too, and the output
must not change at all. Shapes (B, S, K+1), windows k = 0 … K.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch

from rnnbounds.impl.convert.feedforward import FeedForward
from rnnbounds.properties.measures.measure import FastPath, Opaque
from rnnbounds.properties.read.float_carrier import FLOATS
from rnnbounds.properties.read.numbers.norms import euclidean_norm
from rnnbounds.properties.read.numbers.rounded import Rounded, expand_columns, join_parts
from rnnbounds.properties.read.quantity import cached_world
from rnnbounds.properties.read.reader import read_all
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.properties.systems.caching import cached_reading
from rnnbounds.properties.systems.causal import batch_modules
from rnnbounds.properties.systems.cells.batch import cells_of
from rnnbounds.properties.systems.draws import grid_normals, member_generator
from rnnbounds.properties.systems.exact.networks import exact_members
from rnnbounds.properties.systems.kind import kind_of_spec
from rnnbounds.theory.numbers.interval import Interval

Tensor = torch.Tensor
HUGE = 2.0**900
LATER = 3  # inputs after time T, at most


def is_causal(batch: Batch) -> bool:
    """True if the systems are causal feed-forward models."""
    return kind_of_spec(batch.spec).family == "causal"


def has_recurrent_module(batch: Batch) -> bool:
    """True if the systems are recurrent ones in floats, for which a module ships."""
    return not exact_members(batch) and not is_causal(batch)


def truncated_outputs(batch: Batch, inputs: Tensor) -> Tensor:
    """H_T^{(k)} of the shipped module for every window, (K+1, B, T, d, S) -> (B, S, K+1, n)."""
    outputs = []
    for modules, at_window in zip(truncated_modules(batch), inputs, strict=True):
        members = []
        for module, x in zip(modules, at_window, strict=True):
            # A copy has one layout and alignment: a library's last bits depend on them.
            sequences = x.permute(2, 0, 1).clone(memory_format=torch.contiguous_format)
            members.append(module(sequences)[:, -1])
        outputs.append(torch.stack(members))
    return torch.stack(outputs, dim=2)


@cached_reading
def own_outputs(batch: Batch) -> Tensor:
    """H_T^{(k)} on the batch's own inputs for every window, (B, S, K+1, n)."""
    return truncated_outputs(batch, windows_of(batch))


@cached_reading
def truncated_modules(batch: Batch) -> list[list[FeedForward]]:
    """The truncated models of all members, by window."""
    windows, members = range(batch.K + 1), range(batch.cell.batch)
    return [[truncated_module(batch, i, k) for i in members] for k in windows]


def truncated_module(batch: Batch, i: int, k: int) -> FeedForward:
    """The truncated model of one member, of whatever cell it is."""
    cells = cells_of(batch)
    if cells is not None:
        weights = {name: part[i] for name, part in cells.parameters.items()}
        return FeedForward(weights, cell=cells.kind, k=k)
    cell = batch.cell
    weights = {"weight_hh": cell.W[i], "weight_ih": cell.U[i], "bias_ih": cell.b[i]}
    return FeedForward(weights, activation=cell.activation.name, k=k)


def causal_outputs(batch: Batch, inputs: Tensor) -> Tensor:
    """y_T of every member's module, (K+1, B, T', d, S) -> (B, S, K+1, m)."""
    last_outputs = []
    for i, module in enumerate(batch_modules(batch)):
        x = inputs[:, i].permute(3, 0, 1, 2)
        y: Tensor = module(x.flatten(0, 1).clone(memory_format=torch.contiguous_format))
        last_outputs.append(y[:, batch.spec.T - 1].reshape(*x.shape[:2], -1))
    return torch.stack(last_outputs)


def windows_of(batch: Batch) -> Tensor:
    """The batch's own inputs, once for every window: (K+1, B, T, d, S)."""
    return batch.x.expand(batch.K + 1, *batch.x.shape)


def replaced(batch: Batch) -> Iterator[Tensor]:
    """For every window k, the inputs at times ≤ T − k replaced by others, then by huge ones."""
    times = torch.arange(batch.spec.T, device=batch.x.device)[None, None, :, None, None]
    windows = torch.arange(batch.K + 1, device=batch.x.device)[:, None, None, None, None]
    for factor in (1.0, HUGE):
        yield torch.where(
            times < batch.spec.T - windows, replacement_inputs(batch) * factor, batch.x
        )


def with_later_inputs(inputs: Tensor, later: Tensor) -> Tensor:
    """The inputs (K+1, B, T, d, S), then the first few of the others (B, T, d, S) after them."""
    after = later[:, :LATER].expand(len(inputs), *later[:, :LATER].shape)
    return torch.cat([inputs, after], dim=2)


def replacement_inputs(batch: Batch) -> Tensor:
    """Other inputs of x's shape, from the spec's seed, at least 1 in modulus; a pair's own are the
    same in its batch and alone."""
    spec, (T, d) = batch.spec, batch.x.shape[1:3]
    draws = []
    for member in spec.members:
        z = grid_normals(member_generator(spec, member, stream=3), spec.sequences, T, d)
        chosen = z if spec.sequence is None else z[spec.sequence : spec.sequence + 1]
        draws.append((chosen + np.copysign(1.0, chosen)).transpose(1, 2, 0))
    return torch.from_numpy(np.stack(draws)).to(batch.x.device)


def bitwise_gap(own: Tensor, changes: Iterator[Tensor]) -> Interval:
    """[0, 0] where no change alters a bit of the outputs (B, S, K+1, n); else the first finite gap,
    and NaN where an output is not finite."""
    gaps, is_changed = (
        torch.zeros_like(own[..., 0]),
        torch.zeros_like(own[..., 0], dtype=torch.bool),
    )
    for changed in changes:
        largest = (changed - own).abs().amax(3)
        size = torch.linalg.vector_norm((changed - own) / largest[..., None], dim=3)
        distance = largest * size  # no square underflows
        is_changed |= ((changed != own) | (changed.signbit() != own.signbit())).any(3)
        gaps = torch.where((gaps == 0) & distance.isfinite(), distance, gaps)
    # A change that is seen in infinities or NaN alone decides nothing.
    is_unknown = ~own.isfinite().all(3) | (is_changed & (gaps == 0))
    value, is_equal = torch.where(is_unknown, torch.nan, gaps).cpu().numpy(), ~is_changed.cpu()
    low, high = value * (1 - 2.0**-40), value * (1 + 2.0**-40)
    return Interval(np.where(is_equal, value, low), np.where(is_equal, value, high))


@torch.no_grad()
def field_gap(batch: Batch) -> Interval:
    """The truncated model, inputs before its window replaced."""
    return bitwise_gap(own_outputs(batch), (truncated_outputs(batch, x) for x in replaced(batch)))


@torch.no_grad()
def causal_gap(batch: Batch) -> Interval:
    """A causal model, inputs before the window and after time T replaced."""
    own = causal_outputs(batch, with_later_inputs(windows_of(batch), batch.x))
    other = replacement_inputs(batch)
    changed = (with_later_inputs(x, other) for x in replaced(batch))
    return bitwise_gap(own, (causal_outputs(batch, x) for x in changed))


def truncated_states(batch: Batch) -> Rounded:
    """h_T^k for k = 0 … K, (B, n, K+1, S)."""
    world, T = cached_world(batch, FLOATS), batch.spec.T
    states = read_all([("state", ("x",), T - k, k) for k in range(batch.K + 1)], world)
    S = batch.x.shape[3]
    shown = [expand_columns(world.shown(world.state(s)), (S,))[:, :, None] for s in states]
    return join_parts(shown, dim=2)


@torch.no_grad()
def forward_gap(batch: Batch) -> Interval:
    """‖H_T^{(k)} − h_T^k‖: the module that ships against runs of the step, within the rounding of
    these, which bounds that of the module too: any order of its sums."""
    expected = truncated_states(batch)
    computed = own_outputs(batch).permute(0, 3, 2, 1)
    return euclidean_norm(Rounded(computed, expected.error) - expected)


REASON = "what a module computes is compared bit by bit, on inputs as large as floats"
FAST = (
    FastPath("forward_gap", has_recurrent_module, enclosure=forward_gap),
    Opaque("field_gap", has_recurrent_module, enclosure=field_gap, reason=REASON),
    Opaque("causal_gap", is_causal, enclosure=causal_gap, reason=REASON),
)
