"""Witnesses that a model is not contractive, in any norm whatever.

A contraction forgets: under one constant input all its orbits meet. It has one fixed point, which
attracts, and no point of another period beside it. So two points of one period refute, and one that
repels, in the box that is proved invariant; points outside of it, where no run from zero comes, are
of no account. For a linear map an eigenvalue of modulus ≥ 1 is a witness. Everything is searched in
floats and proved in ball arithmetic; no witness means no verdict.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np
import torch
from flint import arb, arb_mat, ctx
from msgspec.structs import replace
from torch import Tensor

from rnnbounds.impl.arithmetic.inputs.maximisers import input_set_of
from rnnbounds.impl.arithmetic.inputs.sets import InputBound, InputSet
from rnnbounds.impl.cells.refutation.growth import HOMOGENEOUS, growing_orbits
from rnnbounds.impl.cells.refutation.periodic import (
    PERIODS,
    ExhaustedError,
    Frozen,
    limit_states,
    periodic_candidates,
    periodic_pair,
    repelling_point,
)
from rnnbounds.impl.errors import at_most
from rnnbounds.impl.format.record import ALL as ALL
from rnnbounds.impl.format.record import BOX as BOX
from rnnbounds.impl.format.record import Witness, WitnessKind
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.impl.models.rnn import RNN
from rnnbounds.impl.numbers.ball_functions import float_above
from rnnbounds.impl.numbers.outward import norm_up
from rnnbounds.impl.numbers.spectra.eigenvalues import BALL_SIZE, FLOAT_SIZE, unstable_eigenvalue
from rnnbounds.impl.numbers.spectra.krawczyk import Vector

MOST_ROWS = 64  # of a table that are tried
_TOGETHER = 9  # inputs whose limits are sought at once
_LARGEST = 1e6  # norm of an input of a ball that is tried


def norm_bound(x: Vector) -> float:
    """At least ‖x‖₂, at any scale; 0 for the zero input alone."""
    return float(norm_up(torch.from_numpy(x)))


SIZE = 256  # larger nonlinear cells are not refuted: ball arithmetic would take minutes

_PRECISION = 128

NO_BOX_SUFFIX = ", as the cell states no box"
IMPLIED_BOX = "the box that its contraction on all states implies"


def refute_vanilla(model: LoadedModel[RNN], input_bound: InputBound) -> Witness | None:
    """A certified witness that the model is not contractive under inputs ‖x_t‖₂ ≤ B, or None.

    None says nothing about the model.
    Sources: Miller & Hardt, section 3; Krawczyk (1969).
    """
    cell = model.cell
    if cell.activation.name == "identity":
        witness = _eigenvalue_witness(model)
    else:
        stored = {role: part.double()[None] for role, part in model.weights.items()}
        aimed = () if isinstance(input_bound, InputSet) else _aimed_inputs(cell, input_bound)
        witness = _refute_by_orbits(
            partial(Frozen, cell.program, stored, n=model.n, W=cell.W[0].numpy()),
            torch.full_like(cell.b[0], torch.inf),
            float(input_bound),
            constant_inputs(cell.U[0].numpy(), input_bound, aimed),
        ) or _growth_witness(model)
    return None if witness is None else replace(witness, bound=float(input_bound))


def refute_gated(cell: Any, box: Tensor, input_bound: InputBound) -> Witness | None:
    """Two points of a small period, or one that repels, under one constant input ‖x‖₂ ≤ B, or None.

    None says nothing. box (N,): they lie in |s_i| ≤ box_i.
    Sources: Banach; Krawczyk (1969).
    """
    freeze = partial(Frozen, cell.program, cell.parameters, n=len(box))
    inputs = constant_inputs(cell.U[0].detach().numpy(), input_bound)
    return _refute_by_orbits(freeze, box, float(input_bound), inputs)


@np.errstate(all="ignore")  # a float search that overflows loses its way: nothing is claimed
def _refute_by_orbits(
    freeze: Callable[[Vector], Frozen],
    box: Tensor,
    input_bound: float,
    inputs: Iterable[tuple[Vector, bool]],
) -> Witness | None:
    """Two points of a small period, or one that repels, in the box (N,) under one of these inputs,
    each with whether to seek thoroughly."""
    sides = box.tolist()
    if len(sides) > SIZE:
        return None

    def is_in_box(enclosure: arb_mat) -> bool:
        return all(abs(a) <= end for a, end in zip(enclosure.entries(), sides, strict=True))

    states = BOX if bool(torch.isfinite(box).all()) else ALL
    with ctx.workprec(_PRECISION):
        try:
            held = [(freeze(x), deep) for x, deep in inputs if norm_bound(x) <= input_bound]
            for place in range(0, len(held), _TOGETHER):
                some = held[place : place + _TOGETHER]
                starts = limit_states([frozen for frozen, _ in some])
                for (frozen, thorough), states_of in zip(some, starts, strict=True):
                    witness = _periodic_witness(frozen, states_of, is_in_box, thorough=thorough)
                    if witness is not None:
                        return replace(witness, states=states, bound=input_bound)
        except (np.linalg.LinAlgError, ExhaustedError):  # lost, or too long: nothing is claimed
            return None
    return None


def reason_too_large(states: int, *, linear: bool = False) -> str | None:
    """Why no witness is sought against a cell whose state is so many numbers, None if one is."""
    text = f"the state has {states} numbers, more than"
    if linear and BALL_SIZE < states <= FLOAT_SIZE:
        return f"{text} {BALL_SIZE}: eigenvalues were bounded in float64 alone"
    limit = FLOAT_SIZE if linear else SIZE
    return f"{text} {limit}" if states > limit else None


def _eigenvalue_witness(model: LoadedModel[RNN]) -> Witness | None:
    if (eigenvalue := unstable_eigenvalue(model.cell.W[0].tolist())) is None:
        return None
    real, imag = eigenvalue.real, eigenvalue.imag
    value_text = f"{real:.6g}{imag:+.6g}i" if imag else f"{real:.6g}"
    text = f"W has an eigenvalue near {value_text}, of modulus ≥ {at_most(eigenvalue.modulus)}"
    return Witness("eigenvalue", text, modulus=eigenvalue.modulus)


def _periodic_witness(
    frozen: Frozen,
    start_states: tuple[Vector, Vector],
    allowed: Callable[[arb_mat], bool],
    *,
    thorough: bool,
) -> Witness | None:
    """Two points of one small period under the constant input, or one that repels."""
    points_by_period: dict[int, list[Vector]] = {}
    for period in PERIODS:
        points_by_period[period] = periodic_candidates(
            frozen, period, start_states, thorough=thorough
        )
        if boxes := periodic_pair(frozen, points_by_period[period], period, allowed):
            points_text = "fixed points" if period == 1 else f"points of period {period}"
            text = f"{_describe_input(frozen.x)} the model has two distinct {points_text}"
            return _witness_at("two-orbits", text, frozen.x, boxes, period, None)
    for period, points in points_by_period.items():
        if repelled := repelling_point(frozen, points, period, allowed):
            box, modulus = repelled
            point = "fixed point" if period == 1 else f"point of period {period}"
            text = (
                f"{_describe_input(frozen.x)} the model has an unstable {point}, with an "
                f"eigenvalue of modulus ≥ {at_most(modulus)}"
            )
            return _witness_at("unstable-orbit", text, frozen.x, (box,), period, modulus)
    return None


def _describe_input(x: Vector) -> str:
    length = norm_bound(x)
    return f"under a constant input of norm {at_most(length)}" if length else "under the zero input"


def _growth_witness(model: LoadedModel[RNN]) -> Witness | None:
    rho, x = model.cell.activation, np.zeros(model.d)
    if rho.name not in HOMOGENEOUS or model.n > SIZE:
        return None
    with ctx.workprec(_PRECISION):
        biases = zip(model.bias("bias_ih"), model.bias("bias_hh"), strict=True)
        b = arb_mat([[arb(first) + arb(second)] for first, second in biases])
        orbits = growing_orbits(model.cell.W[0].numpy(), b, rho)
    if orbits is None:
        return None
    factor_text = at_most(orbits.factor)
    text = f"under the zero input two orbits move apart, at every step by a factor ≥ {factor_text}"
    points = (orbits.first, orbits.second)
    return Witness("growth", text, tuple(x.tolist()), points, modulus=orbits.factor)


def constant_inputs(
    U: Vector, bound: InputBound, aimed: Iterable[Vector] = ()
) -> Iterator[tuple[Vector, bool]]:
    """Constant inputs ‖x‖₂ ≤ B or of a set worth trying, and whether to seek thoroughly under each.

    The least, those that are aimed, the two along each of two directions that move a cell most by
    its input weights (·, d) and half as far, and rows of a table.
    """
    is_set, B = isinstance(bound, InputSet), float(bound)
    inputs = input_set_of(bound if isinstance(bound, InputSet) else min(bound, _LARGEST))
    smallest = inputs.smallest_input(U.shape[1])
    yield smallest.numpy(), True
    if B > 0:
        yield from ((x, True) for x in aimed)
    if B > 0 and np.isfinite(U).all():
        directions = np.linalg.svd(U, full_matrices=False)[2][:2].copy()
        for place, direction in enumerate(torch.from_numpy(directions)):
            ends = inputs.maximiser(torch.stack([direction, -direction]))
            halves = inputs.interpolate(smallest.expand_as(ends), ends, 0.5)
            yield from ((x, is_set or place == 0) for x in ends.numpy())
            yield from ((x, is_set) for x in halves.numpy())
    if isinstance(bound, InputSet) and bound.rows is not None:
        sample = torch.linspace(0, len(bound.rows) - 1, min(len(bound.rows), MOST_ROWS)).round()
        yield from ((x, True) for x in bound.rows[sample.long()].numpy())


def _aimed_inputs(cell: RNN, bound: float) -> Iterator[Vector]:
    """Inputs with a fixed point whose pre-activations are all z, as nearly as U allows."""
    W, U, b = (part[0].numpy() for part in (cell.W, cell.U, cell.b))
    largest = min(bound, _LARGEST) * (1 - 2.0**-30)
    for z in (0.0, 1.5):
        state = cell.activation(torch.full((cell.n,), z, dtype=torch.float64)).numpy()
        x = np.linalg.lstsq(U, z - b - W @ state, rcond=None)[0]
        if 0 < (length := norm_bound(x)) < np.inf:
            yield x * min(1.0, largest / length)


def _witness_at(
    kind: WitnessKind,
    text: str,
    x: Vector,
    boxes: tuple[arb_mat, ...],
    period: int,
    modulus: float | None,
) -> Witness:
    points = tuple(tuple(float(a.mid()) for a in box.entries()) for box in boxes)
    radius = 0.0
    for box, point in zip(boxes, points, strict=True):
        squares = [(a - p) * (a - p) for a, p in zip(box.entries(), point, strict=True)]
        radius = max(radius, float_above(sum(squares, arb(0)).upper().sqrt()))
    return Witness(kind, text, tuple(x.tolist()), points, radius, period, modulus)
