"""Cells of any kind from their numbers, in their invariant boxes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch

from rnnbounds.impl.cells.table import kind_of
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.properties.systems.cells.batch import INWARD, Cells, drawn_input_bound
from rnnbounds.properties.systems.cells.cell_weights import CELL_PREFIX
from rnnbounds.properties.systems.cells.constants import cell_constant
from rnnbounds.properties.systems.drawing.draws import Array
from rnnbounds.properties.systems.gated.cell import GatedCells
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.supply.route import (
    BatchParts,
    Numbers,
    Route,
    batch_numbers,
    to_tensor,
)

Tensor = torch.Tensor
# The weights of gated cells, as specs name them and as torch does.
TORCH_NAMES = {"W": "weight_hh", "U": "weight_ih", "b": "bias_ih", "b_hh": "bias_hh"}


@dataclass(frozen=True, eq=False)
class CellRoute(Route):
    """Cells of the name that a spec says, of these float64 numbers of all members.

    Their constants are those of their boxes."""

    draw: Numbers
    cell: Callable[[SystemSpec], str]
    cells_class: ClassVar[type[Cells]] = Cells

    def build_parts(self, spec: SystemSpec, device: str) -> BatchParts:
        """The cells under inputs a little inside of their bound, and the pairs of states."""
        numbers = batch_numbers(spec, self.draw, lambda known: self.driving_matrices(spec, known))
        x = to_tensor(device, numbers["x"], 2, 3, 1)
        x = x * INWARD if spec.values is None else x
        h, h_other = (to_tensor(device, numbers[name], 2, 1) for name in ("h", "h_other"))
        weights = {
            name: to_tensor(device, part, *range(1, part.ndim))
            for name, part in self.select_weights(numbers).items()
        }
        name = self.cell(spec)
        cells = self.cells_class(
            kind_of(name).build(weights), name, drawn_input_bound(spec, x), h, h_other
        )
        y = to_tensor(device, numbers["y"], 1) if "y" in numbers else None
        return BatchParts(cells, to_tensor(device, numbers["C"], 1, 2), x, y)

    def constant(self, batch: Batch, name: str) -> Array:
        """Return a constant in the norm of the box."""
        return cell_constant(batch, name)

    def forgotten_bound(self, batch: Batch) -> Array:
        """Bound the output's state that a run of any length forgets."""
        size, drive, lam = (batch.constant(name).hi for name in ("C_box", "S_0_box", "lam_box"))
        found: Array = size * drive / (1 - lam)
        return found

    def step_size(self, batch: Batch) -> Array:
        """α of a share c of 1/β, of cells that are trained."""
        return batch.step_size if batch.spec.steps else super().step_size(batch)

    def display_name(self, spec: SystemSpec) -> str:
        """Name a cell in explanations, by its kind."""
        return spec.kind

    @abstractmethod
    def select_weights(self, numbers: Mapping[str, Array]) -> dict[str, Array]:
        """The weights among the numbers, by their own names."""

    @abstractmethod
    def driving_matrices(
        self, spec: SystemSpec, numbers: Mapping[str, Array]
    ) -> tuple[Array, Array]:
        """The W and U that resonant inputs are made for."""


class ProgramRoute(CellRoute):
    """Cells that are written as their step alone."""

    def select_weights(self, numbers: Mapping[str, Array]) -> dict[str, Array]:
        """Weights of the cell, which have a prefix among the numbers."""
        return {
            name.removeprefix(CELL_PREFIX): part
            for name, part in numbers.items()
            if name.startswith(CELL_PREFIX)
        }

    def driving_matrices(
        self, spec: SystemSpec, numbers: Mapping[str, Array]
    ) -> tuple[Array, Array]:
        """The cell's own U, if it has one for the output's units, and W = I/2."""
        count, _, n = numbers["C"].shape
        weights = {
            name: torch.from_numpy(part) for name, part in self.select_weights(numbers).items()
        }
        U = kind_of(self.cell(spec)).build(weights).U.numpy()  # type: ignore[attr-defined]
        W = np.broadcast_to(np.eye(n) / 2, (count, n, n))
        return W, U if U.shape[1] == n else np.ones((count, n, spec.d))


class GatedRoute(CellRoute):
    """LSTMs and GRUs, whose weights torch stacks."""

    cells_class = GatedCells

    def select_weights(self, numbers: Mapping[str, Array]) -> dict[str, Array]:
        """The stacked weights by torch's names."""
        return {name: numbers[part] for part, name in TORCH_NAMES.items()}

    def driving_matrices(
        self, spec: SystemSpec, numbers: Mapping[str, Array]
    ) -> tuple[Array, Array]:
        """W and U of the candidate, g of an LSTM and n of a GRU."""
        rows = slice(2 * spec.n, 3 * spec.n)
        return numbers["W"][:, rows], numbers["U"][:, rows]
