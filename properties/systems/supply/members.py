"""What a batch of systems is, whoever supplies its constants and parameters."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from rnnbounds.impl.gradients.constants import Constants
from rnnbounds.impl.gradients.loss import Loss
from rnnbounds.impl.gradients.loss import loss as make_loss
from rnnbounds.impl.models.rnn import RNN
from rnnbounds.impl.numbers.outward import norm_up
from rnnbounds.impl.numbers.spectra.spectral_norm import certified_norm
from rnnbounds.impl.training.descent import Omega
from rnnbounds.properties.systems.cells.batch import Cells
from rnnbounds.properties.systems.drawing.regimes import Array
from rnnbounds.properties.systems.gated.cell import Gated
from rnnbounds.properties.systems.gated.constants import gate_constants
from rnnbounds.properties.systems.kind import about
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.unitary.exact import Exact, constants_of
from rnnbounds.theory.numbers.interval import Interval

LARGEST_STEP = 2.0**500
# Weights of ``training`` may grow to this multiple of the norms that they were drawn with.
ROOM = 1.5


@dataclass(frozen=True)
class Members(ABC):
    """B systems with S input sequences each.

    cell: h_t = ρ(W h_{t−1} + U x_t + b), y_t = C h_t; x (B, T, d, S); a pair of states h, h_other
    (B, n, S); targets y (B, p) of the loss; other: a second cell, for what compares two weights;
    everything float64. The pairs' scale shrinks along S.

    cells: those of any other kind, whose states (B, N, S) lie in the invariant box; ``cell`` is
    then what ships for them. ``gated`` are they if they are LSTMs or GRUs.

    exact: the members in rationals, of the kinds that are; cell, C, x, h and other are then their
    float images, and the statements are decided about the rationals.
    """

    spec: SystemSpec
    cell: RNN
    C: torch.Tensor
    x: torch.Tensor
    h: torch.Tensor
    h_other: torch.Tensor
    y: torch.Tensor | None = None
    other: RNN | None = None
    exact: tuple[Exact, ...] = ()
    cells: Cells | None = None
    cache: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    def K(self) -> int:
        """The largest window."""
        return self.spec.K

    @cached_property
    def B_x(self) -> torch.Tensor:
        """An upper bound on every ‖x_t‖₂ of a system, (B,)."""
        if self.cells is not None:
            return self.cells.B_x
        return norm_up(self.x.transpose(2, 3)).amax(dim=(1, 2))

    @cached_property
    def finite(self) -> npt.NDArray[np.bool_]:
        """Where every number of a pair is finite, (B, S, 1)."""
        system = [
            whole(A, axes=tuple(range(1, A.ndim)))
            for A in (*self.weights.values(), self.C, *weights(self.other), self.y)
            if A is not None
        ]
        pair = whole(self.h, axes=1) & whole(self.h_other, axes=1) & whole(self.x, axes=(1, 2))
        return np.asarray((np.all(system, axis=0)[:, None] & pair)[:, :, None])

    @property
    def weights(self) -> dict[str, torch.Tensor]:
        """The weights by name, stacked where there are gates."""
        if self.cells is not None:
            return self.cells.tensors
        return {"W": self.cell.W, "U": self.cell.U, "b": self.cell.b}

    @property
    def its_cells(self) -> Cells:
        """The cells of a batch that has some."""
        assert self.cells is not None
        return self.cells

    @property
    def gated(self) -> Gated | None:
        """The cells that have gates."""
        return self.cells if isinstance(self.cells, Gated) else None

    @cached_property
    def gate_constants(self) -> dict[str, Array]:
        """The certified constants of gated cells, (B, 1, 1) each."""
        assert self.gated is not None
        found = gate_constants(self.gated).items()
        return {name: value.detach().cpu().numpy().reshape(-1, 1, 1) for name, value in found}

    @cached_property
    def constants(self) -> Constants:
        """The certified constants, (B,) each, by the names of the vocabulary.

        Uniform on the segment between the two weights of ``smooth``, on Ω in ``training``.
        """
        region = about(self.spec).region
        if region is None:
            return Constants(self.cell, self.B_x, self.C)
        return Constants(
            self.cell, self.B_x, self.C, loss=self.loss, trained=self.spec.trained,
            region=region(self),
        )  # fmt: skip

    @cached_property
    def loss(self) -> Loss:
        """The loss on the last state."""
        y = self.C.new_zeros(self.C.shape[:2]) if self.y is None else self.y
        return make_loss(self.spec.loss, self.C, y)

    @cached_property
    def omega(self) -> Omega:
        """The convex set of the weights of ``training``; the cell lies in it."""
        W, U, b = self.cell.W, self.cell.U, self.cell.b
        # What is drawn has norm lam to nine digits; what is written out may have any.
        aimed = torch.full_like(self.B_x, self.spec.lam * (1 + 2.0**-20))
        return Omega(
            W=torch.maximum(aimed, certified_norm(W)),
            U=ROOM * norm_up(U.flatten(1)),
            b=ROOM * norm_up(b),
        )

    @property
    def windows(self) -> Array:
        """k = 0 … K, along the last axis."""
        return np.arange(self.K + 1, dtype=np.float64).reshape(1, 1, -1)

    @cached_property
    def exact_constants(self) -> list[dict[str, float]]:
        """The certified constants of each exact member."""
        return constants_of(self.exact)

    @cached_property
    def step_size(self) -> Array:
        """α = c/β with c = the spec's ``alpha``, a float64; 0 where β is no positive number."""
        beta = self.constant("beta").hi
        with np.errstate(all="ignore"):
            alpha = np.minimum(self.spec.alpha / beta, LARGEST_STEP)
        return np.where((beta > 0) & np.isfinite(beta), alpha, 0.0)

    @property
    @abstractmethod
    def parameters(self) -> Mapping[str, Array]:
        """The spec's numbers by the names of the vocabulary."""

    @abstractmethod
    def constant(self, name: str) -> Interval:
        """A certified constant as a point interval: the bound as the number it is.

        (B, 1, 1), but (B, S, 1) of each pair and (B, 1, K+1) of each window.
        """


def weights(cell: RNN | None) -> tuple[torch.Tensor, ...]:
    """W, U and b of a cell; nothing without one."""
    return () if cell is None else (cell.W, cell.U, cell.b)


def whole(A: torch.Tensor, axes: int | tuple[int, ...]) -> npt.NDArray[np.bool_]:
    """Where no number along the axes is infinite or NaN."""
    return np.asarray(np.isfinite(A.detach().cpu().numpy()).all(axis=axes))
