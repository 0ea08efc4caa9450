"""Receptive field of a feed-forward model: comparison with the truncated model and with itself.

The field is tested bit by bit: outside it the inputs are replaced by huge ones, and the output of
the module must not change at all. Shapes (B, S, K+1), windows k = 0 … K.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch

from rnnbounds.impl.convert.feedforward import FeedForward
from rnnbounds.properties.measures.measure import FastPath, Opaque
from rnnbounds.properties.read.float_carrier import FLOATS
from rnnbounds.properties.read.numbers.norms import euclidean_norm
from rnnbounds.properties.read.numbers.rounded import Rounded, join_parts
from rnnbounds.properties.read.quantity import cached_world
from rnnbounds.properties.read.reader import ZERO
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.properties.systems.drawing.draws import grid_normals, member_generator
from rnnbounds.properties.systems.kind import kind_of_spec
from rnnbounds.properties.systems.supply.lazy import cached_reading
from rnnbounds.theory.numbers.interval import Interval

Tensor = torch.Tensor
HUGE = 2.0**900


def has_recurrent_module(batch: Batch) -> bool:
    """True if the systems are recurrent ones in floats, for which a module ships."""
    return not batch.exact and not kind_of_spec(batch.spec).route.causal


def last_outputs(batch: Batch, inputs: Callable[[int], Tensor]) -> Tensor:
    """H_T^{(k)} of the module for every window, (B, S, K+1, n); ``inputs(k)`` has x's shape."""
    outputs = []
    for k, modules in enumerate(truncated_modules(batch)):
        members = []
        for module, x in zip(modules, inputs(k), strict=True):
            # A copy has one layout and alignment: a library's last bits depend on them.
            sequences = x.permute(2, 0, 1).clone(memory_format=torch.contiguous_format)
            members.append(module(sequences)[:, -1])
        outputs.append(torch.stack(members))
    return torch.stack(outputs, dim=2)


@cached_reading
def truncated_modules(batch: Batch) -> list[list[FeedForward]]:
    """The truncated models of all members, by window."""
    windows, members = range(batch.K + 1), range(batch.cell.batch)
    return [[truncated_module(batch, i, k) for i in members] for k in windows]


@cached_reading
def cached_outputs(batch: Batch) -> Tensor:
    """Evaluate H_T^{(k)} on the batch's own inputs for every window, (B, S, K+1, n)."""
    return last_outputs(batch, lambda k: batch.x)


def truncated_module(batch: Batch, i: int, k: int) -> FeedForward:
    """The truncated model of one member, of whatever cell it is."""
    if batch.cells is not None:
        weights = {name: part[i] for name, part in batch.cells.parameters.items()}
        return FeedForward(weights, cell=batch.cells.kind, k=k)
    cell = batch.cell
    weights = {"weight_hh": cell.W[i], "weight_ih": cell.U[i], "bias_ih": cell.b[i]}
    return FeedForward(weights, activation=cell.activation.name, k=k)


def bitwise_gap(batch: Batch, inputs: Callable[[int], Tensor]) -> Interval:
    """Gap between the module's outputs on x and on changed inputs: [0, 0] if no bit differs."""
    with torch.no_grad():
        own_output, changed_output = cached_outputs(batch), last_outputs(batch, inputs)
        gap = torch.linalg.vector_norm(own_output - changed_output, dim=3)
        is_equal = (own_output == changed_output).all(dim=3)
        low = torch.where(is_equal, 0.0, torch.clamp(gap * (1 - 2.0**-40), min=5e-324))
        high = torch.where(is_equal, 0.0, gap * (1 + 2.0**-40) + 2.0**-500)
    return Interval(low.cpu().numpy(), high.cpu().numpy())


def field_gap(batch: Batch) -> Interval:
    """Inputs at times ≤ T − k replaced by huge ones."""
    noise = replacement_inputs(batch) * HUGE

    def changed(k: int) -> Tensor:
        outside = torch.arange(batch.spec.T, device=batch.x.device) < batch.spec.T - k
        return torch.where(outside[None, :, None, None], noise, batch.x)

    return bitwise_gap(batch, changed)


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


def truncated_states(batch: Batch) -> Rounded:
    """h_T^k for k = 0 … K, all windows at once, (B, n, K+1, S)."""
    reader_world = cached_world(batch, FLOATS)
    rest, S = reader_world.state(ZERO), batch.x.shape[3]
    at = rest
    for t in range(batch.spec.T - batch.K, batch.spec.T):
        x = Rounded.exact(batch.x[:, t].repeat(1, 1, at.v.shape[2] // S))
        at = join_parts([reader_world.phi((), at, x), rest], dim=2)
    shape = (len(batch.x), -1, batch.K + 1, S)
    return Rounded(
        *(
            p.reshape(shape).flip(2)
            for p in (reader_world.shown(at).value, reader_world.shown(at).error)
        )
    )


def forward_gap(batch: Batch) -> Interval:
    """‖H_T^{(k)} − h_T^k‖: the module that ships against runs of the step, within the rounding of
    these, which bounds that of the module too: any order of its sums."""
    with torch.no_grad():
        expected = truncated_states(batch)
        computed = cached_outputs(batch).permute(0, 3, 2, 1)
        return euclidean_norm(Rounded(computed, expected.error) - expected)


FAST = (
    FastPath("forward_gap", has_recurrent_module, enclosure=forward_gap),
    Opaque(
        "field_gap", has_recurrent_module, enclosure=field_gap,
        reason="its inputs are as large as floats: what no bit of a module's output depends on",
    ),
)  # fmt: skip
