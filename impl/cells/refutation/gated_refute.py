"""Witnesses that a gated cell is no contraction of its invariant box, in any norm whatever.

Under one constant input a contraction has one fixed point, which attracts, and no point of another
period beside it. So two points of one period refute, and one that repels, in the box that is proved
invariant; points outside of it, where no run from zero comes, are of no account. Sought in floats,
proved in balls to exist and to lie in the box.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from flint import arb_mat, ctx
from torch import Tensor

from rnnbounds.impl.arithmetic.inputs.sets import InputSet
from rnnbounds.impl.cells.programs import step_with_jacobian
from rnnbounds.impl.cells.refutation.constants import (
    CandidateInputs,
    further_inputs,
    inputs_of_set,
    steepest_inputs,
)
from rnnbounds.impl.cells.refutation.refute import ALL, BOX, SIZE, Witness, periodic_witness
from rnnbounds.impl.cells.refutation.work import ExhaustedError
from rnnbounds.impl.numbers.spectra.krawczyk import Vector, column, identity

_PRECISION = 128


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
            for x, is_thorough in _constant_inputs(cell.U[0].detach().numpy(), input_bound, given):
                frozen = FrozenGated(cell, x, size)
                if witness := periodic_witness(frozen, x, is_in_box, thorough=is_thorough):
                    return replace(witness, states=states, bound=float(input_bound))
        except (np.linalg.LinAlgError, ExhaustedError):  # lost, or too long: nothing is claimed
            return None
    return None


def _constant_inputs(
    U: Vector, bound: float, given: CandidateInputs = None
) -> Iterator[tuple[Vector, bool]]:
    """Constant inputs, and whether to seek thoroughly under each."""
    if isinstance(given, InputSet):
        yield from ((x, True) for x in inputs_of_set(U, given))
        return
    yield np.zeros(U.shape[1]), True
    yield from ((x, True) for x in steepest_inputs(U, bound))
    yield from ((x, False) for x in further_inputs(U, bound, given))
