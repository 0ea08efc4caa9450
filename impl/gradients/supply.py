"""Arguments of the constants' formulas: a batch of cells, and constants computed before."""

from collections.abc import Callable, Container, Mapping
from functools import cached_property
from typing import Any, ClassVar

import torch
from torch import Tensor

from rnnbounds.impl.errors import PrecisionError, ShapeError, UnknownConstantError, UnknownNameError
from rnnbounds.impl.gradients.loss import Loss
from rnnbounds.impl.gradients.rounding import absolute_norms
from rnnbounds.impl.gradients.weight_sets import Region
from rnnbounds.impl.models.rnn import RNN
from rnnbounds.impl.norms.weighted import (
    WeightedNorm,
    diagonal_scaling,
    perron_vector,
    quadratic_norm,
)
from rnnbounds.impl.numbers.outward import subtract_down

TRAINABLE = ("W", "U", "b", "WU", "Wb", "Ub", "WUb")


class Supply:
    """Constants by name, each by its formula; see `impl.gradients.constants.Constants`."""

    formulas: ClassVar[Mapping[str, Callable[[Any], Tensor]]]
    of_one_cell: ClassVar[Container[str]]

    def __init__(
        self,
        cell: RNN,
        B_x: Tensor,
        C: Tensor | None = None,
        *,
        loss: Loss | None = None,
        trained: str = "WUb",
        region: Region | None = None,
    ) -> None:
        if B_x.shape != cell.b.shape[:1]:
            raise ShapeError("B_x", f"({cell.batch},)", B_x)
        if B_x.dtype != torch.float64:
            raise PrecisionError("B_x", B_x.dtype)
        for name, readout in (("C", C), ("the loss's C", None if loss is None else loss.C)):
            shape = () if readout is None else readout.shape
            if readout is not None and (len(shape) != 3 or shape[::2] != (cell.batch, cell.n)):
                raise ShapeError(name, f"({cell.batch}, p, {cell.n})", readout)
        if trained not in TRAINABLE:
            raise UnknownNameError("trained part", trained, TRAINABLE)
        self.cell: RNN = cell
        self.B_x: Tensor = B_x.detach()
        self.C: Tensor | None = C
        self.loss: Loss | None = loss
        self.trained: str = trained
        self.region: Region = Region.of(cell) if region is None else region
        self._known: dict[str, Tensor] = {}

    def __getitem__(self, name: str) -> Tensor:
        if name not in self.formulas:
            raise UnknownConstantError(name, self.formulas)
        if name not in self._known:
            known = self.region.single or name not in self.of_one_cell
            value = self.formulas[name](self) if known else self.filled(torch.inf)
            self._known[name] = value.to(self.B_x).nan_to_num(torch.inf, torch.inf)
        return self._known[name]

    @property
    def P_root(self) -> Tensor:
        """Q (B, n, n) of the quadratic norm ‖Q h‖₂, P = QᵀQ, exactly as certified."""
        return self.quadratic.weights

    @property
    def D(self) -> Tensor:
        """The positive diagonal matrix (B, n, n) of the norm ‖D h‖₂, exactly as certified."""
        return self.diagonal.weights

    @property
    def v(self) -> Tensor:
        """The positive weights (B, n) of the norm max |h_i|/v_i, exactly as certified."""
        return self.perron.weights

    @cached_property
    def quadratic(self) -> WeightedNorm:
        """The norm in which a linear system contracts as soon as its spectral radius is below 1."""
        return quadratic_norm(self.cell.W)

    @cached_property
    def diagonal(self) -> WeightedNorm:
        """The diagonally scaled Euclidean norm."""
        return diagonal_scaling(self.cell.W)

    @cached_property
    def perron(self) -> WeightedNorm:
        """The weighted maximum norm."""
        return perron_vector(self.cell.W)

    @cached_property
    def absolute(self) -> tuple[Tensor, Tensor, Tensor]:
        """‖|W|‖₂, ‖|U|‖₂ and ‖b‖₂."""
        return absolute_norms(self.cell)

    @cached_property
    def gap(self) -> Tensor:
        """A lower bound on 1 − λ, zero if λ ≥ 1."""
        return subtract_down(1.0, self["lam"]).clamp(min=0.0)

    def filled(self, value: float) -> Tensor:
        """Return the value once per system: (B,)."""
        return torch.full_like(self.B_x, value)

    def slope(self, B_h: Tensor) -> Tensor:
        """L_p over ‖h‖ ≤ B_h (B,), infinite without a loss."""
        return self.filled(torch.inf) if self.loss is None else self.loss.slope(B_h)

    def curvature(self) -> Tensor:
        """β_p, infinite without a loss."""
        return self.filled(torch.inf) if self.loss is None else self.loss.curvature
