"""Witnesses that a model is not contractive, in any norm whatever.

A contraction forgets: under one constant input all its orbits meet. So two orbits that certainly
do not are a refutation, and for a linear map an eigenvalue of modulus ≥ 1 is one. Everything is
searched in floats and proved in ball arithmetic; no witness means no verdict.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import torch
from flint import arb, arb_mat, ctx

from rnnbounds.impl.arithmetic.inputs.sets import InputSet
from rnnbounds.impl.cells.refutation.constants import Given, across, chosen, further, largest, size
from rnnbounds.impl.cells.refutation.growth import HOMOGENEOUS, growth
from rnnbounds.impl.cells.refutation.periodic import (
    PERIODS,
    Frozen,
    Orbits,
    anywhere,
    candidates,
    pair,
    repeller,
    settled,
)
from rnnbounds.impl.cells.refutation.work import ExhaustedError
from rnnbounds.impl.errors import at_least, at_most
from rnnbounds.impl.format.document import ALL as ALL
from rnnbounds.impl.format.document import BOX as BOX
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.impl.models.rnn import RNN
from rnnbounds.impl.numbers.ball_functions import float_above
from rnnbounds.impl.numbers.spectra.eigenvalues import BALL_SIZE, FLOAT_SIZE, unstable_eigenvalue
from rnnbounds.impl.numbers.spectra.krawczyk import Vector, column

SIZE = 256  # larger nonlinear cells are not refuted: ball arithmetic would take minutes

_PRECISION = 128

BOXLESS = ", as the cell states no box"
IMPLIED = "the box that its contraction on all states implies"

Kind = Literal["eigenvalue", "two-orbits", "unstable-orbit", "growth"]


@dataclass(frozen=True)
class Witness:
    """Why a model is not contractive.

    `eigenvalue`: a linear map has an eigenvalue of that `modulus` ≥ 1. `two-orbits`: under the
    constant `input` (d,) two distinct points of that `period`, one within `radius` of each of the
    `points` (n,). `unstable-orbit`: one such point, with an eigenvalue of modulus > 1 of the
    Jacobian of a whole period, so that states near it part. `growth`: the orbits of the two points
    stay apart, and move apart by the factor `modulus` ≥ 1 each step. Euclidean distances.

    What it refutes is that any norm makes the step a contraction of its `states` under the inputs
    that were asked for, ‖x_t‖₂ ≤ `bound`: of all states, or of the proved box of those that are
    reached from zero. That the two runs start from zero is not said.
    """

    kind: Kind
    text: str
    input: tuple[float, ...] = ()
    points: tuple[tuple[float, ...], ...] = ()
    radius: float = 0.0
    period: int = 1
    modulus: float | None = None
    states: str = ALL
    bound: float = 0.0

    @property
    def speaks(self) -> str:
        """Refuted claim in words, with the states and the input bound."""
        among = f"‖x_t‖₂ ≤ {at_least(self.bound)}"
        return f"no norm makes it a contraction of {self.states} under {among}"

    @property
    def meaning(self) -> str:
        """Consequence of the witness for a run of the model, in words."""
        if self.kind == "eigenvalue":
            return "two states that differ along its eigenvector never come together"
        if self.kind == "two-orbits" and self.period == 1:
            return "given that input for ever, it rests in either of two states"
        if self.kind == "two-orbits":
            return "given that input for ever, it cycles in either of two orbits"
        if self.kind == "unstable-orbit":
            return "given that input for ever, states however near that orbit part from it"
        return "given that input for ever, two runs move apart at every step"

    def to_json(self) -> dict[str, Any]:
        """The witness as plain JSON data."""
        return {
            "kind": self.kind,
            "text": self.text,
            "input": list(self.input),
            "points": [list(point) for point in self.points],
            "radius": self.radius,
            "period": self.period,
            "modulus": self.modulus,
            "states": self.states,
            "input_bound": self.bound,
        }


@np.errstate(all="ignore")  # a float search that overflows loses its way: nothing is claimed
def refute(model: LoadedModel[RNN], input_bound: float, given: Given = None) -> Witness | None:
    """A certified witness that the model is not contractive under inputs ‖x_t‖₂ ≤ B, or None.

    None says nothing about the model. given (m, d): constant inputs to try too.
    Sources: Miller & Hardt, section 3; Krawczyk (1969).
    """
    found = _sought(model, input_bound, given)
    return None if found is None else replace(found, bound=float(input_bound))


def unsought(states: int, *, linear: bool = False) -> str | None:
    """Why no witness is sought against a cell whose state is so many numbers, None if one is."""
    has = f"the state has {states} numbers, more than"
    if linear and BALL_SIZE < states <= FLOAT_SIZE:
        return f"{has} {BALL_SIZE}: eigenvalues were bounded in float64 alone"
    most = FLOAT_SIZE if linear else SIZE
    return f"{has} {most}" if states > most else None


def _sought(model: LoadedModel[RNN], input_bound: float, given: Given) -> Witness | None:
    if model.cell.activation.name == "identity":
        return _eigenvalue(model)
    if model.n > SIZE:
        return None
    with ctx.workprec(_PRECISION):
        try:
            for x, thorough in _inputs(model, input_bound, given):
                if not size(x) <= input_bound:
                    continue
                frozen = _freeze(model, x)
                if witness := periodic(frozen, x, thorough=thorough):
                    return witness
        except np.linalg.LinAlgError:  # the float search lost its way: nothing is claimed
            return None
        except ExhaustedError:  # another search, which takes next to no work, may find one
            pass
        return _growing(model)


def _eigenvalue(model: LoadedModel[RNN]) -> Witness | None:
    if (found := unstable_eigenvalue(model.cell.W[0].tolist())) is None:
        return None
    where = f"{found.real:.6g}{found.imag:+.6g}i" if found.imag else f"{found.real:.6g}"
    text = f"W has an eigenvalue near {where}, of modulus ≥ {at_most(found.modulus)}"
    return Witness("eigenvalue", text, modulus=found.modulus)


def periodic(
    frozen: Orbits,
    x: Vector,
    allowed: Callable[[arb_mat], bool] = anywhere,
    *,
    thorough: bool = True,
) -> Witness | None:
    """Two points of one small period under the constant input x (d,), or one that repels."""
    begun, found = settled(frozen), {}
    for period in PERIODS:
        found[period] = candidates(frozen, period, begun, thorough=thorough)
        if boxes := pair(frozen, found[period], period, allowed):
            return two_orbits(x, boxes, period)
    for period, points in found.items():
        if repelling := repeller(frozen, points, period, allowed):
            box, modulus = repelling
            point = "fixed point" if period == 1 else f"point of period {period}"
            text = (
                f"{_where(x)} the model has an unstable {point}, with an eigenvalue of modulus ≥ "
                f"{at_most(modulus)}"
            )
            return _witness("unstable-orbit", text, x, (box,), period, modulus)
    return None


def two_orbits(x: Vector, boxes: tuple[arb_mat, arb_mat], period: int) -> Witness:
    """The witness of two disjoint boxes, each proved to hold a point of that period."""
    points = "fixed points" if period == 1 else f"points of period {period}"
    text = f"{_where(x)} the model has two distinct {points}"
    return _witness("two-orbits", text, x, boxes, period, None)


def _where(x: Vector) -> str:
    length = size(x)
    return f"under a constant input of norm {at_most(length)}" if length else "under the zero input"


def _growing(model: LoadedModel[RNN]) -> Witness | None:
    rho, x = model.cell.activation, np.zeros(model.d)
    if rho.name not in HOMOGENEOUS:
        return None
    frozen = _freeze(model, x)
    if (found := growth(frozen.W, frozen.constant, rho)) is None:
        return None
    least = at_most(found.factor)
    text = f"under the zero input two orbits move apart, at every step by a factor ≥ {least}"
    points = (found.first, found.second)
    return Witness("growth", text, tuple(x.tolist()), points, modulus=found.factor)


def _freeze(model: LoadedModel[RNN], x: Vector) -> Frozen:
    """The cell under the constant input x (d,), with the two biases added in balls."""
    cell, biases = model.cell, zip(model.bias("bias_ih"), model.bias("bias_hh"), strict=True)
    b = arb_mat([[arb(first) + arb(second)] for first, second in biases])
    return Frozen(cell.W[0].numpy(), b + arb_mat(cell.U[0].tolist()) * column(x), cell.activation)


def _inputs(model: LoadedModel[RNN], bound: float, given: Given) -> Iterator[tuple[Vector, bool]]:
    """Constant inputs worth trying: zero, then those that aim at steep units; and whether to seek
    thoroughly under each."""
    W, U, b = (part[0].numpy() for part in (model.cell.W, model.cell.U, model.cell.b))
    if isinstance(given, InputSet):
        yield from ((x, True) for x in chosen(U, given))
        return
    yield np.zeros(model.d), True
    if not bound > 0:
        return
    for z in (0.0, 1.5):  # a fixed point whose pre-activations are all z, as nearly as U allows
        state = model.cell.activation(torch.full((model.n,), z, dtype=torch.float64)).numpy()
        yield _within(np.linalg.lstsq(U, z - b - W @ state, rcond=None)[0], largest(bound)), True
    yield from ((x, True) for x in across(U, bound))
    yield from ((x, False) for x in further(U, bound, given))


def _within(x: Vector, most: float) -> Vector:
    length = size(x)
    if not length < np.inf:
        return np.zeros_like(x)
    return x * min(1.0, most / length) if length > 0 else x


def _witness(
    kind: Kind,
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
