"""Witnesses that a model is not contractive, in any norm whatever.

A contraction forgets: under one constant input all its orbits meet. So two orbits that certainly
do not are a refutation, and for a linear map an eigenvalue of modulus ≥ 1 is one. Everything is
searched in floats and proved in ball arithmetic; no witness means no verdict.

Witnesses that a gated cell is no contraction of its invariant box, in any norm whatever.

Under one constant input a contraction has one fixed point, which attracts, and no point of another
period beside it. So two points of one period refute, and one that repels, in the box that is proved
invariant; points outside of it, where no run from zero comes, are of no account. Sought in floats,
proved in balls to exist and to lie in the box.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from flint import arb, arb_mat, ctx
from msgspec.structs import replace
from torch import Tensor

from rnnbounds.impl.arithmetic.derivatives.dual_numbers import step_with_jacobian
from rnnbounds.impl.arithmetic.inputs.sets import InputSet
from rnnbounds.impl.cells.refutation.constants import (
    CandidateInputs,
    further_inputs,
    inputs_of_set,
    largest_norm,
    norm_bound,
    steepest_inputs,
)
from rnnbounds.impl.cells.refutation.growth import HOMOGENEOUS, growing_orbits
from rnnbounds.impl.cells.refutation.periodic import (
    PERIODS,
    ExhaustedError,
    FrozenCell,
    FrozenVanilla,
    allow_all,
    limit_states,
    periodic_candidates,
    periodic_pair,
    repelling_point,
)
from rnnbounds.impl.errors import at_most
from rnnbounds.impl.format.document import ALL as ALL
from rnnbounds.impl.format.document import BOX as BOX
from rnnbounds.impl.format.document import Witness, WitnessKind
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.impl.models.rnn import RNN
from rnnbounds.impl.numbers.ball_functions import float_above
from rnnbounds.impl.numbers.spectra.eigenvalues import BALL_SIZE, FLOAT_SIZE, unstable_eigenvalue
from rnnbounds.impl.numbers.spectra.krawczyk import Vector, column, identity

SIZE = 256  # larger nonlinear cells are not refuted: ball arithmetic would take minutes

_PRECISION = 128

NO_BOX_SUFFIX = ", as the cell states no box"
IMPLIED_BOX = "the box that its contraction on all states implies"


@np.errstate(all="ignore")  # a float search that overflows loses its way: nothing is claimed
def refute(
    model: LoadedModel[RNN], input_bound: float, given: CandidateInputs = None
) -> Witness | None:
    """A certified witness that the model is not contractive under inputs ‖x_t‖₂ ≤ B, or None.

    None says nothing about the model. given (m, d): constant inputs to try too.
    Sources: Miller & Hardt, section 3; Krawczyk (1969).
    """
    witness = _find_witness(model, input_bound, given)
    return None if witness is None else replace(witness, bound=float(input_bound))


def reason_too_large(states: int, *, linear: bool = False) -> str | None:
    """Why no witness is sought against a cell whose state is so many numbers, None if one is."""
    text = f"the state has {states} numbers, more than"
    if linear and BALL_SIZE < states <= FLOAT_SIZE:
        return f"{text} {BALL_SIZE}: eigenvalues were bounded in float64 alone"
    limit = FLOAT_SIZE if linear else SIZE
    return f"{text} {limit}" if states > limit else None


def _find_witness(
    model: LoadedModel[RNN], input_bound: float, given: CandidateInputs
) -> Witness | None:
    if model.cell.activation.name == "identity":
        return _eigenvalue_witness(model)
    if model.n > SIZE:
        return None
    with ctx.workprec(_PRECISION):
        try:
            for x, thorough in _constant_inputs(model, input_bound, given):
                if not norm_bound(x) <= input_bound:
                    continue
                frozen = _freeze_input(model, x)
                if witness := periodic_witness(frozen, x, thorough=thorough):
                    return witness
        except np.linalg.LinAlgError:  # the float search lost its way: nothing is claimed
            return None
        except ExhaustedError:  # another search, which takes next to no work, may find one
            pass
        return _growth_witness(model)


def _eigenvalue_witness(model: LoadedModel[RNN]) -> Witness | None:
    if (eigenvalue := unstable_eigenvalue(model.cell.W[0].tolist())) is None:
        return None
    real, imag = eigenvalue.real, eigenvalue.imag
    value_text = f"{real:.6g}{imag:+.6g}i" if imag else f"{real:.6g}"
    text = f"W has an eigenvalue near {value_text}, of modulus ≥ {at_most(eigenvalue.modulus)}"
    return Witness("eigenvalue", text, modulus=eigenvalue.modulus)


def periodic_witness(
    frozen: FrozenCell,
    x: Vector,
    allowed: Callable[[arb_mat], bool] = allow_all,
    *,
    thorough: bool = True,
) -> Witness | None:
    """Two points of one small period under the constant input x (d,), or one that repels."""
    start_states, points_by_period = limit_states(frozen), {}
    for period in PERIODS:
        points_by_period[period] = periodic_candidates(
            frozen, period, start_states, thorough=thorough
        )
        if boxes := periodic_pair(frozen, points_by_period[period], period, allowed):
            return two_orbits_witness(x, boxes, period)
    for period, points in points_by_period.items():
        if repelled := repelling_point(frozen, points, period, allowed):
            box, modulus = repelled
            point = "fixed point" if period == 1 else f"point of period {period}"
            text = (
                f"{_describe_input(x)} the model has an unstable {point}, with an eigenvalue of "
                f"modulus ≥ {at_most(modulus)}"
            )
            return _witness_at("unstable-orbit", text, x, (box,), period, modulus)
    return None


def two_orbits_witness(x: Vector, boxes: tuple[arb_mat, arb_mat], period: int) -> Witness:
    """The witness of two disjoint boxes, each proved to hold a point of that period."""
    points = "fixed points" if period == 1 else f"points of period {period}"
    text = f"{_describe_input(x)} the model has two distinct {points}"
    return _witness_at("two-orbits", text, x, boxes, period, None)


def _describe_input(x: Vector) -> str:
    length = norm_bound(x)
    return f"under a constant input of norm {at_most(length)}" if length else "under the zero input"


def _growth_witness(model: LoadedModel[RNN]) -> Witness | None:
    rho, x = model.cell.activation, np.zeros(model.d)
    if rho.name not in HOMOGENEOUS:
        return None
    frozen = _freeze_input(model, x)
    if (orbits := growing_orbits(frozen.W, frozen.constant, rho)) is None:
        return None
    factor_text = at_most(orbits.factor)
    text = f"under the zero input two orbits move apart, at every step by a factor ≥ {factor_text}"
    points = (orbits.first, orbits.second)
    return Witness("growth", text, tuple(x.tolist()), points, modulus=orbits.factor)


def _freeze_input(model: LoadedModel[RNN], x: Vector) -> FrozenVanilla:
    """The cell under the constant input x (d,), with the two biases added in balls."""
    cell, biases = model.cell, zip(model.bias("bias_ih"), model.bias("bias_hh"), strict=True)
    b = arb_mat([[arb(first) + arb(second)] for first, second in biases])
    return FrozenVanilla(
        cell.W[0].numpy(), b + arb_mat(cell.U[0].tolist()) * column(x), cell.activation
    )


def _constant_inputs(
    model: LoadedModel[RNN], bound: float, given: CandidateInputs
) -> Iterator[tuple[Vector, bool]]:
    """Constant inputs worth trying: zero, then those that aim at steep units; and whether to seek
    thoroughly under each."""
    W, U, b = (part[0].numpy() for part in (model.cell.W, model.cell.U, model.cell.b))
    if isinstance(given, InputSet):
        yield from ((x, True) for x in inputs_of_set(U, given))
        return
    yield np.zeros(model.d), True
    if not bound > 0:
        return
    for z in (0.0, 1.5):  # a fixed point whose pre-activations are all z, as nearly as U allows
        state = model.cell.activation(torch.full((model.n,), z, dtype=torch.float64)).numpy()
        solution = np.linalg.lstsq(U, z - b - W @ state, rcond=None)[0]
        yield _shorten_to(solution, largest_norm(bound)), True
    yield from ((x, True) for x in steepest_inputs(U, bound))
    yield from ((x, False) for x in further_inputs(U, bound, given))


def _shorten_to(x: Vector, bound: float) -> Vector:
    length = norm_bound(x)
    if not length < np.inf:
        return np.zeros_like(x)
    return x * min(1.0, bound / length) if length > 0 else x


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


@dataclass(frozen=True, eq=False)
class FrozenGated:
    """The one cell of a batch of one under a constant input x (d,), in the manner of
    `impl.cells.refutation.periodic.Frozen`.
    """

    cell: Any
    x: Vector
    n: int

    @property
    def W(self) -> Vector:
        """A matrix whose eigenvectors are worth starting from: none is better than another."""
        return np.eye(self.n)

    def step(self, h: Vector) -> Vector:
        """One float step of many states at once: (M, n) -> (M, n)."""
        x = torch.from_numpy(self.x)[None, :, None].expand(1, -1, len(h))
        states: Vector = self.cell.step(torch.from_numpy(h).T[None], x)[0].T.numpy()
        return states

    def orbit(self, h: Vector, period: int) -> tuple[Vector, Vector]:
        """φ^period and its Jacobian in floats: (M, n) -> (M, n), (M, n, n)."""
        s = torch.from_numpy(h).T[None]
        x = torch.from_numpy(self.x)[None, :, None].expand(1, -1, len(h))
        slopes = torch.eye(self.n, dtype=s.dtype)
        for _ in range(period):
            s, jacobian = step_with_jacobian(self.cell.program, self.cell.parameters, s, x)
            slopes = jacobian[0] @ slopes
        return s[0].T.numpy(), slopes.numpy()

    def enclose(self, h: arb_mat, period: int) -> tuple[arb_mat, arb_mat, bool]:
        """φ^period(h) and its Jacobian, which is continuous."""
        slopes, x = identity(self.n), column(self.x)
        for _ in range(period):
            h, jacobian = self.cell.ball_step(h, x)
            slopes = jacobian * slopes
        return h, slopes, True


@np.errstate(all="ignore")  # a float search that overflows loses its way: nothing is claimed
def refute_gated(
    cell: Any, box: Tensor, input_bound: float, given: CandidateInputs = None
) -> Witness | None:
    """Two points of a small period, or one that repels, under one constant input ‖x‖₂ ≤ B, or None.

    None says nothing. box (N,): they lie in |s_i| ≤ box_i. given (m, d): inputs to try too.
    Sources: Banach; Krawczyk (1969).
    """
    size, sides = len(box), box.tolist()
    if size > SIZE:
        return None

    def is_in_box(enclosure: arb_mat) -> bool:
        return all(abs(a) <= end for a, end in zip(enclosure.entries(), sides, strict=True))

    states = BOX if bool(torch.isfinite(box).all()) else ALL
    with ctx.workprec(_PRECISION):
        try:
            for x, is_thorough in _gated_inputs(cell.U[0].detach().numpy(), input_bound, given):
                frozen = FrozenGated(cell, x, size)
                if witness := periodic_witness(frozen, x, is_in_box, thorough=is_thorough):
                    return replace(witness, states=states, bound=float(input_bound))
        except (np.linalg.LinAlgError, ExhaustedError):  # lost, or too long: nothing is claimed
            return None
    return None


def _gated_inputs(
    U: Vector, bound: float, given: CandidateInputs = None
) -> Iterator[tuple[Vector, bool]]:
    """Constant inputs, and whether to seek thoroughly under each."""
    if isinstance(given, InputSet):
        yield from ((x, True) for x in inputs_of_set(U, given))
        return
    yield np.zeros(U.shape[1]), True
    yield from ((x, True) for x in steepest_inputs(U, bound))
    yield from ((x, False) for x in further_inputs(U, bound, given))
