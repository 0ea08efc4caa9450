"""Cells defined by their step alone: all else comes from running it over other arithmetics.

A cell says its step, its sizes and a box in which its states stay, from the zero state on; the
comparison, the Jacobians and what is certified follow.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.activation import Activation
from rnnbounds.impl.arithmetic.base import ALL, Arithmetic, Floats, Rows, V
from rnnbounds.impl.arithmetic.derivatives.dual_numbers import float_step
from rnnbounds.impl.arithmetic.inputs.sets import InputBound
from rnnbounds.impl.arithmetic.interval_arithmetic import IntervalArithmetic, step_bounds
from rnnbounds.impl.arithmetic.invariance import InvariantBox, complete_boxes, prove_box
from rnnbounds.impl.arithmetic.lengths import of_equal_lengths
from rnnbounds.impl.arithmetic.slopes import compare_runs
from rnnbounds.impl.cells.analysis import ProgramAnalysis
from rnnbounds.impl.cells.kind import Kind, Layout, Weights, identity_drive
from rnnbounds.impl.errors import InputError, PrecisionError
from rnnbounds.impl.norms.comparison import Comparison

_ITERATES = 8


@dataclass(frozen=True, eq=False)
class ProgramCell(ABC):
    """B cells of one kind: the parameters by the names of their layout, (B, …) in float64.

    Only the step makes sense of parameters in another dtype, or without their leading axis.

    >>> class Own(rnnbounds.cells.ProgramCell):
    ...     reads = "U"
    ...     def program(self, m, s, x):
    ...         return (m.affine("W", None, s) + m.affine("U", None, x)).tanh()
    """

    reads: ClassVar[str]  # the weight that the inputs go through, (B, ·, d)

    parameters: Mapping[str, Tensor]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name in ("program", "kept"):
            if name in vars(cls):
                setattr(cls, name, of_equal_lengths(vars(cls)[name]))

    @abstractmethod
    def program(self, m: Arithmetic[V], s: V, x: V, /) -> V:
        """One step over any arithmetic."""

    def box(self, B: InputBound | Tensor) -> Tensor:
        """|s_t| ≤ box (B, N) for every t if ‖x_t‖₂ ≤ B and s_0 = 0; infinite where none is known.

        B is a number, or (B, 1). It is a proposal: what is used is what `proved_box` proves of it.
        """
        return self.U.new_full((self.batch, self.n), math.inf)

    @property
    def has_own_box(self) -> bool:
        """True if the cell defines a box of its own."""
        return type(self).box is not ProgramCell.box

    @property
    def blocks(self) -> int:
        """The number of vectors of one size that a state consists of, for Euclidean norms."""
        return 1

    def proved_box(self, B: InputBound | Tensor) -> InvariantBox:
        """The box of states with its proof; if it is infinite, the box that contraction implies."""
        boxes = prove_box(self.program, self.parameters, self.box(B), B, self.d)
        return complete_boxes(self.program, self.parameters, boxes, B, self.d)

    def explain_unproved_box(self, boxes: InvariantBox, B: InputBound | Tensor) -> str | None:
        """Why nothing is known of the states of the one cell of a batch of one, and what to do
        about it, where the box that it states is not proved; None where it is."""
        return None if boxes.reason is None else f"{boxes.reason}; correct its box()"

    def euclidean(self, box: Tensor) -> Tensor | None:
        """Factors in Euclidean norms on that box, (B, 1, 1); None for those of the comparison."""
        return None

    @property
    def n(self) -> int:
        """The size of the state, which is the output."""
        return self.U.shape[-2]

    @property
    def U(self) -> Tensor:
        """The weight of the inputs, (B, ·, d)."""
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

    def comparison(self, B: InputBound | Tensor) -> Comparison:
        """The comparison on the box that is proved."""
        return self.compare_on(self.proved_box(B).box, B)

    def compare_on(
        self, box: Tensor, B: InputBound | Tensor, drive: Tensor | None = None
    ) -> Comparison:
        """The comparison on a box, of another drive (B, N) if one is given."""
        euclidean_factors, step = self.euclidean(box), (self.program, self.parameters)
        comparison = compare_runs(
            *step, box, B, self.d, blocks=self.blocks, euclidean=euclidean_factors, drive=drive
        )
        return replace(comparison, output=self.n)

    def constants(self, box: Tensor, B: InputBound) -> dict[str, float]:
        """Further constants of the one cell of a batch of one on its box (1, N), by name."""
        return {}

    def kept(self, m: Arithmetic[V], s: V, x: V) -> tuple[V, bool] | None:
        """The gate by which a unit keeps a part of itself as it is, and whether the part is 1 − g,
        not g; None for cells that keep none."""
        return None


@dataclass(frozen=True, eq=False)
class Activated(ProgramCell):
    """Cells whose states are what one activation returns, or between such."""

    activation: Activation

    def box(self, B: InputBound | Tensor) -> Tensor:
        """|h_j| ≤ M, then what a few steps from there leave of it; infinite without M."""
        if math.isinf(self.activation.bound):
            return super().box(B)
        return self.box_over(IntervalArithmetic(self.parameters), B)

    def box_over(self, m: IntervalArithmetic, B: InputBound | Tensor) -> Tensor:
        """The box of a bounded activation in an arithmetic of intervals, rounded outwards or with
        gradients."""
        box = self.U.new_full((self.batch, self.n), self.activation.bound)
        step_bound = step_bounds(self.program, m, box, B, self.d)
        for _ in range(_ITERATES):  # each of which is invariant
            box = torch.minimum(box, step_bound(box))
        return box


class DrivenFloats(Floats):
    """Floats for a cell of torch's whose inputs come as U x + b_ih, computed for all times."""

    def affine(self, weight: str, bias: str | None, v: Rows, rows: slice = ALL) -> Rows:
        """W v + b; what U makes of the inputs is there."""
        return v if weight == "weight_ih" else super().affine(weight, bias, v, rows)


def program_kind(
    name: str,
    make: Callable[[Mapping[str, Tensor]], ProgramCell],
    layout: Callable[[Collection[str]], Layout],
    norms: tuple[str, ...] = ("spectral", "infinity", "perron"),
    *,
    prepare: Callable[[Weights], Weights] = lambda weights: weights,
    drive: Callable[[Weights, Tensor], Tensor] = identity_drive,
    **more: Any,
) -> Kind:
    """The kind of cells that `make` makes of parameters, once they are `prepare`.

    A `drive` is U x + b_ih by torch's names. The rest is as in `Kind`.

    >>> rnnbounds.cells.program_kind("own", Own, rnnbounds.cells.fixed({"W": "n n", "U": "n d"}))
    """
    arithmetic = Floats if drive is identity_drive else DrivenFloats

    def build(weights: Weights) -> ProgramCell:
        for key, tensor in weights.items():
            if tensor.dtype != torch.float64:
                raise PrecisionError(key, tensor.dtype)
        cell = make(prepare(weights))
        sizes = layout(weights).sizes({key: tensor[0] for key, tensor in weights.items()})
        if (cell.n, cell.d) != (sizes.n, sizes.d):
            actual, expected = f"n = {cell.n} and d = {cell.d}", f"{sizes.n} and {sizes.d}"
            raise InputError(
                f"the cell {name} has {actual}, but its layout has {expected}; let `reads` name a "
                "weight of n rows and d columns, or define n and d"
            )
        return cell

    def step(weights: Weights, x: Tensor, s: Tensor) -> Tensor:
        return make(weights).program(arithmetic(weights), Rows(s), Rows(x)).value

    return Kind(
        name=name, layout=layout, norms=norms, build=build, step=step, drive=drive,
        **{"analyse": ProgramAnalysis.of, **more},
    )  # fmt: skip
