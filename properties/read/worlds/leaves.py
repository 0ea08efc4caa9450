"""Vectors and operators that a batch of recurrent systems gives by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch

from rnnbounds.impl.training.projection import Ball
from rnnbounds.properties.read.ground_terms import Term
from rnnbounds.properties.read.reader import AbsentError
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.properties.systems.cells.batch import Cells, cells_of, omega_of_cells
from rnnbounds.properties.systems.cells.gated import gated_cells_of
from rnnbounds.properties.systems.other_inputs import other_inputs

Tensor = torch.Tensor


class UnitRange(NamedTuple):
    """The operator that takes the units from start on, before stop."""

    start: int
    stop: int


class UnitScaling(NamedTuple):
    """The operator that divides each unit by its weight (B, N)."""

    weights: Tensor


def input_at(batch: Batch, sequence: Term, time: int) -> Tensor:
    """x_t of a sequence; some differ from x before a window."""
    name, *window = sequence
    x = batch.x[:, time - 1]
    if name == "x":
        return x
    if name == "x_other":
        return other_inputs(batch)[:, time - 1]
    return -x if time <= batch.spec.T - window[0] else x


def pair_state(name: str) -> Callable[[Batch], Tensor]:
    """A state of the pair; of cells half of it, which lies in the invariant set of any."""

    def of(batch: Batch) -> Tensor:
        state: Tensor = getattr(batch, name)
        return state if cells_of(batch) is None else state / 2

    return of


def boxed_state(batch: Batch, state: Term) -> Tensor:
    """A state of the pair, which of cells lies in the box."""
    if cells_of(batch) is None:
        raise AbsentError
    return batch.h if state == ("a",) else batch.h_other


def trained_vector(batch: Batch, other: bool) -> Tensor:
    """The trained weights, as one vector a system, (B, P, S)."""
    cells = cells_of(batch)
    if cells is not None:
        parts = omega_of_cells(batch).other_weights if other else cells.parameters
    else:
        cell = batch.other if other and batch.other is not None else batch.cell
        parts = {name: getattr(cell, name) for name in batch.spec.trained}
    flat = torch.cat([part.flatten(1) for part in parts.values()], dim=1)
    return flat[:, :, None].expand(-1, -1, batch.x.shape[3])


def projection_ball(batch: Batch) -> Ball:
    """The ball of matrices that a spec names."""
    return Ball(batch.spec.ball, batch.spec.scale)  # type: ignore[arg-type]


def pair_matrix(batch: Batch, which: str) -> Tensor:
    """A or B, (B, n, n)."""
    return batch.cell.W if which == "A" or batch.other is None else batch.other.W


VECTORS: dict[str, Callable[..., Tensor]] = {
    "entry": input_at,
    "x_t": lambda batch: batch.x[:, 0],
    "a": pair_state("h"),
    "b": pair_state("h_other"),
    "boxed": boxed_state,
    "w": lambda batch: trained_vector(batch, False),
    "w_other": lambda batch: trained_vector(batch, True),
}


def count_gate_cells(batch: Batch) -> int:
    """How many units of a gated state are cells; none of a GRU's."""
    gated = gated_cells_of(batch)
    if gated is None or gated.units == gated.n:
        raise AbsentError
    return gated.units - gated.n


def present_cells(batch: Batch) -> Cells:
    """The cells of a batch; AbsentError if it has none."""
    cells = cells_of(batch)
    if cells is None:
        raise AbsentError
    return cells


def output_units(batch: Batch) -> UnitRange:
    """The units of the output, which end the state of cells."""
    cells = present_cells(batch)
    return UnitRange(cells.units - cells.n, cells.units)


OPERATORS: dict[str, Callable[[Batch], Any]] = {
    "W": lambda batch: batch.cell.W,
    "P_root": lambda batch: batch.constants.P_root,
    "D": lambda batch: batch.constants.D,
    "V": lambda batch: UnitScaling(batch.constants.v),
    "V_unit": lambda batch: UnitScaling(present_cells(batch).v),
    "P_c": lambda batch: UnitRange(0, count_gate_cells(batch)),
    "P_h": output_units,
}
