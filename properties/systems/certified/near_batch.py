"""Models near recorded inputs: what `measure` certifies there, and inputs that are that near.

The recorded numbers, δ and how far inputs are moved are multiples of small powers of two, so that
inputs are within δ exactly. Runs from recorded pasts start a little inside of what is stated.
"""

from __future__ import annotations

import dataclasses
from functools import cached_property
from typing import Any

import numpy as np
import torch
from msgspec.structs import replace

from rnnbounds.impl.arithmetic.invariance import InvariantBox
from rnnbounds.impl.memory.runs import Runner
from rnnbounds.impl.memory.tube.exponents import largest_exponents
from rnnbounds.impl.memory.tube.largest import parts
from rnnbounds.impl.memory.tube.near import NearCertificate, near
from rnnbounds.impl.memory.tube.pasts import end_states
from rnnbounds.impl.memory.tube.runs import Around
from rnnbounds.impl.memory.tube.search import Search
from rnnbounds.impl.memory.tube.wide import Wide
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.impl.models.readout import Readout
from rnnbounds.impl.models.surroundings import isolated
from rnnbounds.properties.systems.certified.models import (
    StoredCells,
    cached_by,
    load_member,
    unbounded_box,
)
from rnnbounds.properties.systems.drawing.draws import GRID, Array, grid_normals, member_generator
from rnnbounds.properties.systems.spec import SystemSpec

Tensor = torch.Tensor


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
    """The model of a member, as a user's is read."""
    loaded_model = load_member(spec, member)
    if not spec.units:
        return loaded_model
    C = torch.from_numpy(
        grid_normals(member_generator(spec, member, stream=6), spec.units, loaded_model.n)
    )
    readout = Readout("C.weight", C.to(getattr(torch, spec.dtype)))
    return dataclasses.replace(loaded_model, readout=readout)


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
def recorded_pasts(spec: SystemSpec, member: int) -> Tensor | None:
    """The states (P, N) in which recordings end, of kinds that have some."""
    if not spec.has("states"):
        return None
    model = near_model(spec, member)
    draws = grid_normals(
        member_generator(spec, member, stream=7), spec.states * spec.T, model.d
    ).reshape(spec.states, spec.T, model.d)
    x = torch.from_numpy(np.rint(draws * spec.scale * GRID) / GRID)
    return end_states(Runner.of(model), x)


@cached_by(member_fields_only)
def member_search(spec: SystemSpec, member: int) -> Search:
    """The search through the inputs within δ of those that are recorded."""
    return Search(
        Runner.of(near_model(spec, member)),
        recorded_inputs(spec, member)[None],
        spec.distance,
        spec.start,
        recorded_pasts(spec, member),
        relative=True,
    )


@cached_by(member_fields_only)
def near_certificate(spec: SystemSpec, member: int) -> NearCertificate:
    """Certify a member near its recorded inputs, as `measure` prints it."""
    runner, x = Runner.of(near_model(spec, member)), recorded_inputs(spec, member)[None]
    pasts = recorded_pasts(spec, member)
    return near(
        runner, x, spec.distance, (spec.epsilon * spec.scale,), states=spec.start,
        pasts=pasts, relative=pasts is not None, ks=range(max(spec.T, spec.K + 1)),
        largest=not spec.has("start"),
    )  # fmt: skip


def ball_radii(spec: SystemSpec, member: int) -> Tensor:
    """For each of the largest balls of starts that are printed, how far each entry is from 0 at
    most, (balls, N)."""
    runner = Runner.of(near_model(spec, member))
    units, found = parts(runner), near_certificate(spec, member).forgotten
    radii = torch.zeros(len(found), runner.states, dtype=torch.float64)
    for row, ball in zip(radii, found, strict=True):
        row[units[ball.part]] = ball.radius
    return radii


def gaps_for(spec: SystemSpec, member: int, **sizes: float) -> list[float]:
    """Bound the gap at k = 0, …, K for another δ or other starts."""
    found = member_search(replace(spec, **sizes), member)
    found.ask(range(spec.K + 1))
    return [found.gap(k) for k in range(spec.K + 1)]


def recorded_exponent(spec: SystemSpec, member: int) -> float:
    """The exponent of the computed run alone."""
    alone = member_tube(replace(spec, distance=0.0, start=0.0), member)
    with torch.no_grad():
        return float(largest_exponents(alone))


def member_tube(spec: SystemSpec, member: int) -> Around:
    """The tube of a member."""
    return member_search(spec, member).around


def computed_last_states(spec: SystemSpec) -> Tensor:
    """ŝ_T of each member on what is recorded, (B, N): of a wide tube that which the plain one is
    around."""
    tubes = (member_tube(spec, member) for member in spec.members)
    plain = (tube.plain if isinstance(tube, Wide) else tube for tube in tubes)
    return torch.stack([tube.stages[-1].s[0, 0] for tube in plain])


@torch.inference_mode(mode=False)
def last_slopes(spec: SystemSpec, member: int) -> tuple[Array, Array]:
    """|∂s_T/∂x_t| (N, T, d) and |∂s_T/∂s_0| (N, N) of the computed run, in floats."""
    runner, x = Runner.of(near_model(spec, member)), recorded_inputs(spec, member)

    def last_state(x: Tensor, s: Tensor) -> Tensor:
        for t in range(len(x)):
            s = runner.step(s, x[None, None, t])
        return s[0, 0]

    jacobians = torch.autograd.functional.jacobian(  # type: ignore[no-untyped-call]
        last_state, (x, runner.zero(1))
    )
    of_inputs, of_starts = (np.abs(part.numpy()) for part in jacobians)
    return of_inputs, of_starts[:, 0, 0]
