"""Models near recorded inputs: what `measure` certifies there, and inputs that are that near.

The recorded numbers, δ and how far inputs are moved are multiples of small powers of two, so that
inputs are within δ exactly.
"""

from __future__ import annotations

import dataclasses
from functools import cached_property
from typing import Any

import numpy as np
import torch
from msgspec.structs import replace

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS
from rnnbounds.impl.arithmetic.invariance import InvariantBox
from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.memory.runs import Runner
from rnnbounds.impl.memory.tube.near import NearCertificate, near
from rnnbounds.impl.memory.tube.runs import Around
from rnnbounds.impl.memory.tube.search import Search
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.impl.models.readout import FIRST, Linear, Readout
from rnnbounds.impl.models.surroundings import isolated
from rnnbounds.properties.systems.certified.models import (
    StoredCells,
    cached_by,
    load_member,
    stack_weights,
    unbounded_box,
)
from rnnbounds.properties.systems.drawing.draws import GRID, Array, grid_normals, member_generator
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.supply.route import BatchParts

Tensor = torch.Tensor
DIRECTION_STEPS = 2.0**10  # of directions
ASCENTS = 2
CORNER, CLIMBED, SIGNS, INSIDE = range(4)


class NearCells(StoredCells):
    """Models of which no box is asked."""

    @cached_property
    def invariant_box(self) -> InvariantBox:
        """All states."""
        return unbounded_box(self.raw)


def member_fields_only(spec: SystemSpec) -> SystemSpec:
    """Reduce a spec to the fields that a member depends on."""
    return replace(spec, member=None, sequence=None, batch=1, sequences=1)


@cached_by(lambda spec: replace(member_fields_only(spec), distance=0.0))
@isolated()
def near_model(spec: SystemSpec, member: int) -> LoadedModel[Any]:
    """The model of a member, as a user's is read; an odd number of predictions is that of a chain,
    which ends with the identity as an activation."""
    loaded_model = load_member(spec, member)
    if not spec.units:
        return loaded_model
    C = torch.from_numpy(
        grid_normals(member_generator(spec, member, stream=6), spec.units, loaded_model.n)
    )
    first = Linear("C.weight", C.to(getattr(torch, spec.dtype)))
    others = (ACTIVATIONS["identity"],) if spec.units % 2 else ()
    return dataclasses.replace(loaded_model, readout=Readout((first, *others)))


def recorded_inputs(spec: SystemSpec, member: int) -> Tensor:
    """The inputs that are recorded, (T, d)."""
    shape = spec.T, near_model(spec, member).d
    draws = grid_normals(member_generator(spec, member, stream=2), *shape)
    signs = np.where(np.arange(spec.T) % 2 == 0, 1.0, -1.0)[:, None]
    sequences = {
        "constant": np.ones(shape),
        "alternating": np.broadcast_to(signs, shape),
        "impulse": np.eye(*shape)[:, :1] * np.ones(shape),
        "zero": np.zeros(shape),
    }.get(spec.inputs, draws)
    return torch.from_numpy(np.rint(sequences * spec.scale * GRID) / GRID)


@cached_by(member_fields_only)
def member_search(spec: SystemSpec, member: int) -> Search:
    """The search through the inputs within δ of those that are recorded."""
    return Search(
        Runner.of(near_model(spec, member)),
        recorded_inputs(spec, member)[None],
        spec.distance,
        spec.start,
    )


@cached_by(member_fields_only)
def near_certificate(spec: SystemSpec, member: int) -> NearCertificate:
    """Certify a member near its recorded inputs, as `measure` prints it."""
    runner, x = Runner.of(near_model(spec, member)), recorded_inputs(spec, member)[None]
    return near(
        runner, x, spec.distance, (spec.epsilon * spec.scale,), states=spec.start,
        ks=range(max(spec.T, spec.K + 1)),
    )  # fmt: skip


def recorded_gaps(spec: SystemSpec, member: int) -> list[float]:
    """Bound the gap at k = 0, …, K for the recorded inputs alone (δ = 0)."""
    found = member_search(replace(spec, distance=0.0), member)
    found.ask(range(spec.K + 1))
    return [found.gap(k) for k in range(spec.K + 1)]


def member_tube(spec: SystemSpec, member: int) -> Around:
    """The tube of a member."""
    return member_search(spec, member).around


def computed_last_states(spec: SystemSpec) -> Tensor:
    """ŝ_T of each member on what is recorded, (B, N)."""
    return torch.stack([member_tube(spec, member).stages[-1].s[0, 0] for member in spec.members])


@torch.inference_mode(mode=False)
def input_response(spec: SystemSpec, member: int) -> Array:
    """|∂s_T/∂x_t| at what is recorded, in floats, (N, T, d)."""
    runner, x = Runner.of(near_model(spec, member)), recorded_inputs(spec, member)

    def last_state(x: Tensor) -> Tensor:
        s = runner.zero(1)
        for t in range(len(x)):
            s = runner.step(s, x[None, None, t])
        return s[0, 0]

    jacobian = torch.autograd.functional.jacobian(last_state, x, strict=True)  # type: ignore[no-untyped-call]
    response: Array = np.abs(jacobian.numpy())
    return response


def input_moves(spec: SystemSpec, member: int) -> Array:
    """How inputs are moved, in δ: (S, T, d) of numbers up to 1."""
    d = near_model(spec, member).d
    rng, shape = member_generator(spec, member, stream=4), (spec.sequences, spec.T, d)
    signs = np.where(rng.random(shape) < 0.5, -1.0, 1.0)
    moves = np.where(rng.random(shape) < 0.5, signs, 1.0)
    for i in range(spec.sequences):
        choice = (i + spec.seed) % 4
        if choice == CORNER:
            moves[i] = 1.0
        elif choice == CLIMBED:
            moves[i] = ascent_corner(spec, member)
        elif choice == SIGNS:
            moves[i] = signs[i]
        else:
            moves[i] = np.rint(moves[i] * rng.random(shape[1:]) * DIRECTION_STEPS) / DIRECTION_STEPS
    return moves


@torch.inference_mode(mode=False)
def ascent_corner(spec: SystemSpec, member: int) -> Array:
    """The corner that ascent on ‖h_T − h_T^k‖₂ comes to, for a k below T."""
    runner, x = Runner.of(near_model(spec, member)), recorded_inputs(spec, member)
    k, sign = (spec.seed // 4) % spec.T, torch.ones_like(x)
    for _ in range(ASCENTS):
        offsets = sign.clone().requires_grad_()
        last_states = []
        for inputs in (x + spec.distance * offsets, (x + spec.distance * offsets)[spec.T - k :]):
            s = runner.zero(1)
            for row in inputs:
                s = runner.step(s, row[None, None])
            last_states.append(s)
        gap_square = (last_states[0] - last_states[1])[..., -runner.n :].square().sum()
        (gradient,) = torch.autograd.grad(gap_square, offsets)
        sign = torch.where(gradient < 0, -1.0, 1.0)
    return np.asarray(sign.numpy())


def initial_states(spec: SystemSpec, member: int, states: int) -> Array:
    """Draw both runs' initial states in units of r: (2, S, N) in [−1, 1], corners and others."""
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
    inputs = [
        recorded_inputs(spec, member).numpy() + spec.distance * input_moves(spec, member)
        for member in spec.members
    ]
    here = slice(None) if spec.sequence is None else slice(spec.sequence, spec.sequence + 1)
    x = torch.from_numpy(np.stack(inputs)[:, here].transpose(0, 2, 3, 1).copy())
    sizes = kind_of(spec.cell).layout(models[0].weights).sizes(models[0].weights)
    pairs = np.stack([initial_states(spec, member, sizes.state) for member in spec.members])[
        :, :, here
    ]
    initial = torch.from_numpy(spec.start * pairs.transpose(1, 0, 3, 2))
    bound = torch.full((len(models),), torch.inf, dtype=torch.float64)
    build = kind_of(spec.cell).build
    cells = NearCells(build(parts), spec.cell, bound, initial[0], initial[1], parts)
    identity = torch.eye(sizes.n, dtype=torch.float64)
    readouts = [
        identity if one.readout is None else one.readout.parameters[FIRST] for one in models
    ]
    return BatchParts(cells, torch.stack(readouts), x)
