"""A batch of cells with pairs of states that lie certifiably in their invariant boxes."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
import torch

from rnnbounds.impl.arithmetic.derivatives.second_order import second_order_constants, step_jets
from rnnbounds.impl.arithmetic.invariance import InvariantBox
from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.norms.comparison import Comparison, UnitNorms
from rnnbounds.impl.numbers.outward import norm_up
from rnnbounds.properties.systems.drawing.draws import Array
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.supply.rows import per_system

Tensor = torch.Tensor
# No state is larger, however large a box is: its cells have no bound where a gate may stay open.
LARGEST_STATE = 2.0**20
# Brings inputs of cells below the norm that their rounding may take them above.
INWARD = 1 - 2.0**-40


@dataclass(frozen=True, eq=False)
class Cells:
    """B cells under inputs ‖x‖₂ ≤ B_x (B,), and S pairs of states.

    ``kind``: the name that `impl.cells.table` knows. Shapes: the states ``raw`` and ``raw_other``
    (B, N, S). The pair that is judged is the nearest one in the invariant box, which clamping finds
    without rounding.
    """

    cell: Any
    kind: str
    B_x: Tensor
    raw: Tensor
    raw_other: Tensor
    whole: tuple[Cells, int] | None = field(default=None, kw_only=True, repr=False)
    other: ClassVar[None] = None
    has_input_bound: ClassVar[bool] = True

    @property
    def constants(self) -> dict[str, Tensor]:
        """Certified constants that cells of this kind alone have, (B,) each."""
        return {}

    def input_bound(self, x: Tensor) -> Tensor:
        """An upper bound on every ‖x_t‖₂ of a system, (B,)."""
        return self.B_x

    def is_allowed(self, x: Tensor) -> Tensor:
        """True where all inputs (B, T, d, S) of a sequence are there, ‖x‖₂ ≤ B_x, (B, S)."""
        found: Tensor = norm_up(x.detach().transpose(2, 3)).amax(1) <= self.B_x[:, None]
        return found

    def furthest_inputs(self, C: Tensor, T: int, S: int) -> Array:
        """The inputs that move a state furthest, (B, S, T, d): the row of the inputs' weights that
        has the largest norm against its unit's weight."""
        inputs = self.comparison.inputs.detach()
        row = (norm_up(inputs) / self.v).argmax(1)
        found = inputs[torch.arange(len(row)), row].cpu().numpy()[:, None, None]
        return np.broadcast_to(found, (len(row), S, T, found.shape[-1]))

    @per_system
    def invariant_box(self) -> InvariantBox:
        """Prove the box that the cell states invariant, for each system."""
        found: InvariantBox = self.cell.proved_box(self.B_x[:, None])
        return found

    @cached_property
    def comparison(self) -> Comparison:
        """Comparison matrices that bound |φ(s, x) − φ(s', x)| entry by entry on the box."""
        found: Comparison = self.cell.compare_on(self.box, self.B_x[:, None])
        return found

    @per_system
    def box(self) -> Tensor:
        """The invariant box |s_j| ≤ box_j, (B, N), infinite where none is proved."""
        return self.invariant_box.box

    @per_system
    def v(self) -> Tensor:
        """The unit weights (B, N) of max |s_j|/v_j, close to Perron's vector."""
        return self.comparison.perron()

    @per_system
    def unit_norms(self) -> UnitNorms:
        """‖·‖_box of each system, as its certificate prints it."""
        comparison = self.comparison
        comparison_fields = {
            entry.name: getattr(comparison, entry.name) for entry in fields(comparison)
        }
        detached: dict[str, Any] = {
            name: part.detach()
            for name, part in comparison_fields.items()
            if isinstance(part, Tensor)
        }
        return replace(comparison, **detached).unit_norms(self.v.detach())

    @per_system
    def smoothness(self) -> dict[str, Tensor]:
        """L_w, β_hh, β_hw = β_wh and β_ww of a step in the state and in all weights."""
        return step_smoothness(self, self.box, self.v)

    @property
    def n(self) -> int:
        """The size of the output, which ends the state."""
        return int(self.cell.n)

    @property
    def units(self) -> int:
        """N, the size of the state."""
        return self.raw.shape[1]

    @property
    def parameters(self) -> dict[str, Tensor]:
        """The weights by name, (B, …) each."""
        return dict(self.cell.parameters)

    @property
    def explicit_states(self) -> tuple[Tensor, Tensor]:
        """The pairs as a spec writes them out."""
        return self.raw, self.raw_other

    @cached_property
    def states(self) -> tuple[Tensor, Tensor]:
        """The pairs in the box."""
        box = self.box.clamp(max=LARGEST_STATE)[:, :, None]
        return self.raw.clamp(-box, box), self.raw_other.clamp(-box, box)

    def nearby_weights(self, share: float) -> dict[str, Tensor]:
        """Other weights, each within that share of its own; the shares of a mix stand still."""
        weights = {}
        for name, part in self.parameters.items():
            indices = torch.arange(part[0].numel(), dtype=part.dtype, device=part.device)
            signs = ((5 * indices + 3 * part.ndim) % 9 - 4).reshape(part.shape[1:]) / 4
            weights[name] = part if name == "leak" else part + part * (share * signs)
        return weights

    @property
    def named_weights(self) -> dict[str, Tensor]:
        """The weights by name, as a dump has them."""
        return self.parameters

    def pair(self, i: int, s: int) -> Self:
        """One system and one of its pairs of states; what is certified is that of the batch."""
        system, at = self.member(i), slice(s, s + 1)
        raw, raw_other = system.raw[:, :, at], system.raw_other[:, :, at]
        return replace(system, raw=raw, raw_other=raw_other, whole=(self, i))

    def member(self, index: int) -> Self:
        """One system of the batch, as a batch of one."""
        rows = slice(index, index + 1)
        cell = build_cells(self.kind, {name: part[rows] for name, part in self.parameters.items()})
        rows_by_name = {name: getattr(self, name)[rows] for name in ("B_x", "raw", "raw_other")}
        return replace(self, cell=cell, **rows_by_name)


def step_smoothness(
    cells: Cells, box: Tensor, v: Tensor, radii: dict[str, Tensor] | None = None
) -> dict[str, Tensor]:
    """The constants of a step on a box in the norm of v, for all weights within the radii of the
    cells' own."""
    jet_values = step_jets(
        cells.cell.program, cells.parameters, box, v, cells.B_x[:, None], cells.cell.d,
        gates=kind_of(cells.kind).gates or 1, radii=radii or {},
    )  # fmt: skip
    return second_order_constants(jet_values, v)


def build_cells(kind: str, parameters: dict[str, Tensor]) -> Any:
    """The cells of a kind with these weights."""
    return kind_of(kind).build(parameters)


def drawn_input_bound(spec: SystemSpec, x: Tensor) -> Tensor:
    """B_x: inputs may have norms up to the spec's ``scale`` at least."""
    least_bound = spec.scale * (
        64.0 if spec.inputs == "saturating" and spec.values is None else 1.0
    )
    return norm_up(x.transpose(2, 3)).amax(dim=(1, 2)).clamp(min=least_bound)
