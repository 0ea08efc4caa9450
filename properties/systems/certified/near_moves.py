"""Inputs within δ of those that are recorded, and starts within what is stated: corners, those that
ascent on the gap comes to, and others."""

from __future__ import annotations

import numpy as np
import torch

from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.memory.runs import Runner
from rnnbounds.impl.models.readout import READOUT
from rnnbounds.properties.systems.cells.batch import INWARD
from rnnbounds.properties.systems.certified.models import stack_weights
from rnnbounds.properties.systems.certified.near_batch import (
    NearCells,
    ball_radii,
    near_model,
    recorded_inputs,
    recorded_pasts,
)
from rnnbounds.properties.systems.drawing.draws import Array, member_generator
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.supply.route import BatchParts

Tensor = torch.Tensor
DIRECTION_STEPS = 2.0**10  # of directions
ASCENTS = 2
CORNER, CLIMBED, SIGNS, INSIDE = range(4)


def starts_of(spec: SystemSpec, member: int, states: int) -> tuple[Tensor, Tensor]:
    """Centres around which the first run of each sequence starts, and how far from these at most,
    (S, N) each: in the stated ball, near one of the pasts, or in one of the printed balls."""
    rows = torch.arange(spec.sequences)
    zero = torch.zeros(spec.sequences, states, dtype=torch.float64)
    pasts = recorded_pasts(spec, member)
    if pasts is not None:
        radius = (pasts.amax(0) - pasts.amin(0)) * spec.start * INWARD
        return pasts[rows % len(pasts)], radius.expand_as(zero)
    if spec.has("start"):
        return zero, torch.full_like(zero, spec.start)
    radii = ball_radii(spec, member)
    return zero, radii[rows % len(radii)]


def drawn_moves(spec: SystemSpec, member: int, states: int) -> tuple[Array, Array]:
    """How inputs are moved, in δ, (S, T, d), and both runs' starts, in their radii, (2, S, N): all
    numbers up to 1, corners and others."""
    moves, starts = input_moves(spec, member), start_moves(spec, member, states)
    for i in range(spec.sequences):
        if choice_of(spec, i) == CLIMBED:
            moves[i], starts[:, i] = climbed_corner(spec, member, i, states)
    return moves, starts


def choice_of(spec: SystemSpec, sequence: int) -> int:
    """How the inputs of a sequence are moved."""
    return (sequence + spec.seed) % 4


def input_moves(spec: SystemSpec, member: int) -> Array:
    """How inputs are moved, in δ: (S, T, d) of numbers up to 1."""
    d = near_model(spec, member).d
    rng, shape = member_generator(spec, member, stream=4), (spec.sequences, spec.T, d)
    signs = np.where(rng.random(shape) < 0.5, -1.0, 1.0)
    moves = np.where(rng.random(shape) < 0.5, signs, 1.0)
    for i in range(spec.sequences):
        choice = choice_of(spec, i)
        if choice == CORNER:
            moves[i] = 1.0
        elif choice == SIGNS:
            moves[i] = signs[i]
        elif choice == INSIDE:
            moves[i] = np.rint(moves[i] * rng.random(shape[1:]) * DIRECTION_STEPS) / DIRECTION_STEPS
    return moves


@torch.inference_mode(mode=False)
def climbed_corner(
    spec: SystemSpec, member: int, sequence: int, states: int
) -> tuple[Array, Array]:
    """The corner of inputs (T, d) and starts (2, N) that ascent on a gap comes to: on that of two
    runs which end together, or from a past and from zero after some steps."""
    runner, x = Runner.of(near_model(spec, member)), recorded_inputs(spec, member)
    centres, radii = starts_of(spec, member, states)
    from_past = recorded_pasts(spec, member) is not None
    k = (spec.seed // 4) % spec.T if spec.has("start") else spec.T
    moves = torch.ones_like(x)
    starts = torch.ones(2, states, dtype=torch.float64) * torch.tensor([[1.0], [-1.0]])

    def end(s: Tensor, inputs: Tensor) -> Tensor:
        for row in inputs:
            s = runner.step(s, row[None, None])
        return s[..., -runner.n :]

    for _ in range(ASCENTS):
        moves.requires_grad_()
        starts.requires_grad_()
        inputs = x + spec.distance * moves
        first, second = centres[sequence] + radii[sequence] * starts[0], radii[sequence] * starts[1]
        if from_past:
            inputs = inputs[: k + 1]
            gap = end(first[None, None], inputs) - end(runner.zero(1), inputs)
        else:
            gap = end(first[None, None], inputs) - end(second[None, None], inputs[spec.T - k :])
        slopes = torch.autograd.grad(gap.square().sum(), (moves, starts), materialize_grads=True)
        moves, starts = (torch.where(slope < 0, -1.0, 1.0) for slope in slopes)
    return moves.numpy(), starts.numpy()


def start_moves(spec: SystemSpec, member: int, states: int) -> Array:
    """Draw both runs' starts in units of their radii: (2, S, N) in [−1, 1], corners and others."""
    rng, shape = member_generator(spec, member, stream=5), (2, spec.sequences, states)
    signs = np.where(rng.random(shape) < 0.5, -1.0, 1.0)
    signs[:, 0] = np.array([1.0, -1.0])[:, None]
    signs[:, 3::4] = (
        np.rint(signs[:, 3::4] * rng.random(signs[:, 3::4].shape) * DIRECTION_STEPS)
        / DIRECTION_STEPS
    )
    return signs


def build_near(spec: SystemSpec) -> BatchParts:
    """A batch of models, on inputs near those that are recorded."""
    models = [near_model(spec, member) for member in spec.members]
    parts = stack_weights(models)
    sizes = kind_of(spec.cell).layout(models[0].weights).sizes(models[0].weights)
    here = slice(None) if spec.sequence is None else slice(spec.sequence, spec.sequence + 1)
    inputs, first, second = [], [], []
    for member in spec.members:
        moves, starts = drawn_moves(spec, member, sizes.state)
        centres, radius = starts_of(spec, member, sizes.state)
        inputs.append(recorded_inputs(spec, member) + spec.distance * torch.from_numpy(moves))
        first.append(centres + radius * torch.from_numpy(starts[0]))
        second.append(radius * torch.from_numpy(starts[1]))
    x = torch.stack(inputs)[:, here].permute(0, 2, 3, 1).contiguous()
    initial = [torch.stack(part)[:, here].mT.contiguous() for part in (first, second)]
    bound = torch.full((len(models),), torch.inf, dtype=torch.float64)
    build = kind_of(spec.cell).build
    cells = NearCells(build(parts), spec.cell, bound, initial[0], initial[1], parts)
    identity = torch.eye(sizes.n, dtype=torch.float64)
    readouts = [
        identity if one.readout is None else one.readout.parameters[READOUT] for one in models
    ]
    return BatchParts(cells, torch.stack(readouts), x)
