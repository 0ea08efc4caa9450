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

from rnnbounds.impl.arithmetic.invariance import InvariantBox
from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.memory.runs import Runner
from rnnbounds.impl.memory.tube.near import NearCertificate, Search
from rnnbounds.impl.memory.tube.runs import Around
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.impl.models.surroundings import isolated
from rnnbounds.impl.reading.readout import Readout
from rnnbounds.properties.systems.certified.models import (
    Stored,
    anywhere,
    kept_for,
    loaded,
    parts_of,
)
from rnnbounds.properties.systems.drawing.regimes import GRID, Array, generator, normal
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.supply.route import Parts

Tensor = torch.Tensor
STEPS = 2.0**10  # of directions
ASCENTS = 2
CORNER, CLIMBED, SIGNS, INSIDE = range(4)


class NearCells(Stored):
    """Models of which no box is asked."""

    @cached_property
    def proved_box(self) -> InvariantBox:
        """All states."""
        return anywhere(self.raw)


def whole(spec: SystemSpec) -> SystemSpec:
    """Reduce a spec to the fields that a member depends on."""
    return replace(spec, member=None, sequence=None, batch=1, sequences=1)


@kept_for(lambda spec: replace(whole(spec), distance=0.0))
@isolated()
def model(spec: SystemSpec, member: int) -> LoadedModel[Any]:
    """The model of a member, as a user's is read."""
    found = loaded(spec, member)
    if not spec.units:
        return found
    C = torch.from_numpy(normal(generator(spec, member, stream=6), spec.units, found.n))
    return dataclasses.replace(found, readout=Readout("C.weight", C.to(getattr(torch, spec.dtype))))


def recorded(spec: SystemSpec, member: int) -> Tensor:
    """The inputs that are recorded, (T, d)."""
    shape = spec.T, model(spec, member).d
    draws = normal(generator(spec, member, stream=2), *shape)
    signs = np.where(np.arange(spec.T) % 2 == 0, 1.0, -1.0)[:, None]
    found = {
        "constant": np.ones(shape),
        "alternating": np.broadcast_to(signs, shape),
        "impulse": np.eye(*shape)[:, :1] * np.ones(shape),
        "zero": np.zeros(shape),
    }.get(spec.inputs, draws)
    return torch.from_numpy(np.rint(found * spec.scale * GRID) / GRID)


@kept_for(whole)
def search(spec: SystemSpec, member: int) -> Search:
    """The search through the inputs within δ of those that are recorded."""
    return Search(
        Runner.of(model(spec, member)), recorded(spec, member)[None], spec.distance, spec.start
    )


@kept_for(whole)
def told(spec: SystemSpec, member: int) -> NearCertificate:
    """Certify a member near its recorded inputs, as `measure` prints it."""
    ks = range(max(spec.T, spec.K + 1))
    return search(spec, member).told((spec.epsilon * spec.scale,), ks=ks)


def recorded_gaps(spec: SystemSpec, member: int) -> list[float]:
    """Bound the gap at k = 0, …, K for the recorded inputs alone (δ = 0)."""
    found = search(replace(spec, distance=0.0), member)
    found.ask(range(spec.K + 1))
    return [found.gap(k) for k in range(spec.K + 1)]


def around(spec: SystemSpec, member: int) -> Around:
    """The tube of a member."""
    return search(spec, member).around[0]


def computed(spec: SystemSpec) -> Tensor:
    """ŝ_T of each member on what is recorded, (B, N)."""
    return torch.stack([around(spec, member).sets[0][-1][0, 0] for member in spec.members])


@torch.inference_mode(mode=False)
def response(spec: SystemSpec, member: int) -> Array:
    """|∂s_T/∂x_t| at what is recorded, in floats, (N, T, d)."""
    one, x = Runner.of(model(spec, member)), recorded(spec, member)

    def last(x: Tensor) -> Tensor:
        s = one.zero(1)
        for t in range(len(x)):
            s = one.step(s, x[None, None, t])
        return s[0, 0]

    found = torch.autograd.functional.jacobian(last, x, strict=True)  # type: ignore[no-untyped-call]
    response: Array = np.abs(found.numpy())
    return response


def directions(spec: SystemSpec, member: int) -> Array:
    """How inputs are moved, in δ: (S, T, d) of numbers up to 1."""
    d = model(spec, member).d
    rng, shape = generator(spec, member, stream=4), (spec.sequences, spec.T, d)
    signs = np.where(rng.random(shape) < 0.5, -1.0, 1.0)
    found = np.where(rng.random(shape) < 0.5, signs, 1.0)
    for i in range(spec.sequences):
        turn = (i + spec.seed) % 4
        if turn == CORNER:
            found[i] = 1.0
        elif turn == CLIMBED:
            found[i] = climbed(spec, member)
        elif turn == SIGNS:
            found[i] = signs[i]
        else:
            found[i] = np.rint(found[i] * rng.random(shape[1:]) * STEPS) / STEPS
    return found


@torch.inference_mode(mode=False)
def climbed(spec: SystemSpec, member: int) -> Array:
    """The corner that ascent on ‖h_T − h_T^k‖₂ comes to, for a k below T."""
    one, x = Runner.of(model(spec, member)), recorded(spec, member)
    k, sign = (spec.seed // 4) % spec.T, torch.ones_like(x)
    for _ in range(ASCENTS):
        move = sign.clone().requires_grad_()
        ends = []
        for inputs in (x + spec.distance * move, (x + spec.distance * move)[spec.T - k :]):
            s = one.zero(1)
            for row in inputs:
                s = one.step(s, row[None, None])
            ends.append(s)
        apart = (ends[0] - ends[1])[..., -one.n :].square().sum()
        (slope,) = torch.autograd.grad(apart, move)
        sign = torch.where(slope < 0, -1.0, 1.0)
    return np.asarray(sign.numpy())


def starts(spec: SystemSpec, member: int, states: int) -> Array:
    """Draw both runs' initial states in units of r: (2, S, N) in [−1, 1], corners and others."""
    rng, shape = generator(spec, member, stream=5), (2, spec.sequences, states)
    signs = np.where(rng.random(shape) < 0.5, -1.0, 1.0)
    signs[:, 0] = np.array([1.0, -1.0])[:, None]
    signs[:, 3::4] = np.rint(signs[:, 3::4] * rng.random(signs[:, 3::4].shape) * STEPS) / STEPS
    return signs


def near_parts(spec: SystemSpec) -> Parts:
    """A batch of models, on inputs near those that are recorded."""
    models = [model(spec, member) for member in spec.members]
    parts = parts_of(models)
    rows = [
        recorded(spec, member).numpy() + spec.distance * directions(spec, member)
        for member in spec.members
    ]
    here = slice(None) if spec.sequence is None else slice(spec.sequence, spec.sequence + 1)
    x = torch.from_numpy(np.stack(rows)[:, here].transpose(0, 2, 3, 1).copy())
    sizes = kind_of(spec.cell).layout(models[0].weights).sizes(models[0].weights)
    both = np.stack([starts(spec, member, sizes.state) for member in spec.members])[:, :, here]
    begun = torch.from_numpy(spec.start * both.transpose(1, 0, 3, 2))
    bound = torch.full((len(models),), torch.inf, dtype=torch.float64)
    build = kind_of(spec.cell).build
    cells = NearCells(build(parts), spec.cell, bound, begun[0], begun[1], parts)
    own = torch.eye(sizes.n, dtype=torch.float64)
    read = [own if one.readout is None else one.readout.weight.double() for one in models]
    return Parts(cells, torch.stack(read), x)
