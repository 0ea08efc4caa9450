"""Cells that are their step alone: all else comes from running it over other arithmetics.

A cell says its step, its sizes and a box in which its states stay, from the zero state on; the
comparison, the Jacobians and what is certified follow.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from flint import arb_mat
from torch import Tensor

from impl.arithmetic.base import Arithmetic, Floats, Rows, V
from impl.arithmetic.slopes import compare
from impl.boxes.coarse import at_one, rounds_to_one
from impl.boxes.invariance import Held, held, implied
from impl.cells.kind import Kind
from impl.cells.layout import Layout
from impl.cells.programs import ball_step, float_step
from impl.certificate.gated_refute import refute_gated
from impl.certificate.refute import ALL, BOXLESS, IMPLIED, Witness
from impl.errors import PrecisionError
from impl.norms.comparison import Comparison, GatedAnalysis
from impl.reading.model import LoadedModel


@dataclass(frozen=True, eq=False)
class ProgramCell(ABC):
    """B cells of one kind: the parameters by the names of their layout, (B, …) in float64.

    Only the step makes sense of parameters in another dtype, or without their leading axis.
    """

    reads: ClassVar[str]  # the weight that the inputs go through, (B, ·, d)

    parameters: Mapping[str, Tensor]

    @abstractmethod
    def program(self, m: Arithmetic[V], s: V, x: V, /) -> V:
        """One step over any arithmetic."""

    def box(self, B: float | Tensor) -> Tensor:
        """|s_t| ≤ box (B, N) for every t if ‖x_t‖₂ ≤ B and s_0 = 0; infinite where none is known.

        B is a number, or (B, 1). It is a proposal: what is used is what `held` proves of it.
        """
        return self.U.new_full((self.batch, self.n), math.inf)

    @property
    def states_box(self) -> bool:
        """Whether the cell states a box of its own."""
        return type(self).box is not ProgramCell.box

    @property
    def paired(self) -> bool:
        """Whether states are pairs (s_i, s_{n+i}) that stay in discs: `impl.boxes.invariance`."""
        return False

    def held(self, B: float | Tensor) -> Held:
        """What is proved of the box; where that is infinite, of the one that it then implies."""
        told = held(self.program, self.parameters, self.box(B), B, self.d, self.paired)
        return implied(self.program, self.parameters, told, B, self.d)

    def euclidean(self, box: Tensor) -> Tensor | None:
        """Factors in Euclidean norms on that box, (B, 1, 1); None for those of the comparison."""
        return None

    @property
    def n(self) -> int:
        """The size of the state, which is the output."""
        return self.U.shape[-2]

    @property
    def U(self) -> Tensor:
        """What the inputs go through, (B, ·, d)."""
        return self.parameters[self.reads]

    @property
    def batch(self) -> int:
        """B, how many systems."""
        return self.U.shape[0]

    @property
    def d(self) -> int:
        """The size of the input."""
        return self.U.shape[-1]

    def step(self, s: Tensor, x: Tensor) -> Tensor:
        """One step of M columns a system: s (B, N, M), x (B, d, M) -> (B, N, M)."""
        return float_step(self.program, self.parameters, s, x)

    def ball_step(self, s: arb_mat, x: arb_mat) -> tuple[arb_mat, arb_mat]:
        """One step in balls of the one system of a batch of one, and its Jacobian in the state."""
        return ball_step(self.program, self.parameters, s, x)

    def comparison(self, B: float | Tensor) -> Comparison:
        """The comparison on the box that is proved."""
        return self.compared(self.held(B).box, B)

    def compared(self, box: Tensor, B: float | Tensor) -> Comparison:
        """The comparison on a box."""
        told = self.euclidean(box)
        return compare(self.program, self.parameters, box, B, self.d, euclidean=told)

    def constants(self, B: float) -> dict[str, float]:
        """What else is worth telling about the one cell of a batch of one."""
        return {}

    def refute(self, box: Tensor, B: float) -> Witness | None:
        """A witness that the one cell of a batch of one is no contraction of a box (N,), or None,
        which says nothing."""
        return refute_gated(self, box, B)

    def kept(self, m: Arithmetic[V], s: V, x: V) -> tuple[V, bool] | None:
        """The gate by which a unit keeps a part of itself as it is, and whether the part is 1 − g,
        not g; None for cells that keep none."""
        return None

    def at_one(self, dtype: torch.dtype, box: Tensor, B: float) -> Tensor | None:
        """Which decays may round to 1, or are no number, as the dtype computes them, (B, n)."""
        return at_one(self, dtype, box, B)


@dataclass(frozen=True, eq=False)
class ProgramAnalysis(GatedAnalysis):
    """What is certified about one cell; the methods are those of `impl.cells.kind.Analysis`."""

    cell: ProgramCell

    def refute(self) -> Witness | None:
        """What the cell knows of itself."""
        return self.cell.refute(self.comparison.box[0], self.B)

    @property
    def unsought(self) -> str | None:
        """Why no witness is sought, if it is not."""
        return super().unsought if type(self.cell).refute is ProgramCell.refute else None

    @property
    def region(self) -> str:
        """The states that are spoken of."""
        if self.cell.states_box:
            return super().region
        return (ALL if super().region == ALL else IMPLIED) + BOXLESS


def program_kind(
    name: str,
    make: Callable[[Mapping[str, Tensor]], ProgramCell],
    layout: Callable[[Collection[str]], Layout],
    norms: tuple[str, ...] = ("spectral", "infinity", "perron"),
    **more: Any,
) -> Kind:
    """The kind of cells that `make` makes of parameters; the rest is as in `Kind`."""

    def build(weights: Mapping[str, Tensor]) -> ProgramCell:
        for key, part in weights.items():
            if part.dtype != torch.float64:
                raise PrecisionError(key, part.dtype)
        return make(weights)

    def step(weights: Mapping[str, Tensor], x: Tensor, s: Tensor) -> Tensor:
        return make(weights).program(Floats(weights), Rows(s), Rows(x)).value

    def analyse(model: LoadedModel[ProgramCell], B: float) -> ProgramAnalysis:
        cell = model.cell
        told = cell.held(B)
        found, named = cell.compared(told.box, B), cell.constants(B)
        at_one = rounds_to_one(cell, told.box, B)
        return ProgramAnalysis(cell, found, named, B, told.reason, at_one)

    return Kind(
        name=name, layout=layout, norms=norms, build=build, step=step, analyse=analyse, **more
    )
