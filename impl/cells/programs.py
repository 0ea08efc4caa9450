"""Steps that are written over any arithmetic, run in floats and enclosed in balls.

The parameters of B systems are (B, m, n) and (B, m), by name.
"""

from collections.abc import Mapping

import torch
from flint import arb_mat
from torch import Tensor

from rnnbounds.impl.arithmetic.base import ALL, Floats, Program, Rows
from rnnbounds.impl.arithmetic.derivatives.dual_numbers import Dual, DualArithmetic
from rnnbounds.impl.arithmetic.entries import Balls, Columns
from rnnbounds.impl.numbers.spectra.krawczyk import identity


class DrivenFloats(Floats):
    """Floats for a cell of torch's whose inputs come as U x + b_ih, computed for all times."""

    def affine(self, weight: str, bias: str | None, v: Rows, rows: slice = ALL) -> Rows:
        """W v + b; what U makes of the inputs is there."""
        return v if weight == "weight_ih" else super().affine(weight, bias, v, rows)


def float_step(program: Program, parameters: Mapping[str, Tensor], s: Tensor, x: Tensor) -> Tensor:
    """One step of M columns a system: s (B, N, M), x (B, d, M) -> (B, N, M)."""
    return program(Floats(parameters), Rows(s.mT), Rows(x.mT)).value.mT


def ball_step(
    program: Program, parameters: Mapping[str, Tensor], s: arb_mat, x: arb_mat
) -> tuple[arb_mat, arb_mat]:
    """One step in balls of the one system of a batch of one, and its Jacobian in the state.

    s (N, 1), x (d, 1) -> (N, 1), (N, N).
    """
    state = Dual(Columns.of(s), Columns.of(identity(s.nrows())))
    drive = Dual(Columns.of(x), Columns.of(arb_mat(x.nrows(), 1)))
    dual = program(DualArithmetic(_balls_of(parameters)), state, drive)
    return dual.value.matrix, dual.tangent.matrix


def _balls_of(parameters: Mapping[str, Tensor]) -> Balls:
    return Balls({name: tensor[0] for name, tensor in parameters.items()})


def step_with_jacobian(
    program: Program, parameters: Mapping[str, Tensor], s: Tensor, x: Tensor
) -> tuple[Tensor, Tensor]:
    """One step, (B, N, M), and its Jacobian in the state, (B, M, N, N)."""
    expanded = {name: tensor[:, None] for name, tensor in parameters.items()}
    state, given = (Rows(tensor.mT[:, :, None]) for tensor in (s, x))
    eye = Rows(torch.eye(s.shape[1], dtype=s.dtype, device=s.device))
    still = Dual(given, Rows(torch.zeros_like(given.value)))
    dual = program(DualArithmetic(Floats(expanded)), Dual(state, eye), still)
    return dual.value.value[:, :, 0].mT, dual.tangent.value.mT
