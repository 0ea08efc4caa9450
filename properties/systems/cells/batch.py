"""A batch of cells with pairs of states that lie certifiably in their invariant boxes."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Self

import torch

from rnnbounds.impl.arithmetic.invariance import Held
from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.norms.comparison import Comparison, UnitNorms

Tensor = torch.Tensor
# No state is larger, however large a box is: its cells have no bound where a gate may stay open.
REACH = 2.0**20
FIXED = ("leak",)


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

    def within(self, x: Tensor) -> Tensor:
        """Inputs (B, T, d, S) moved to where they may be."""
        return x

    def allows(self, x: Tensor) -> Tensor:
        """Whether all inputs (B, T, d, S) of a sequence are there, (B, S); of ‖x‖₂ ≤ B_x beside."""
        return torch.ones_like(x[:, 0, 0], dtype=torch.bool)

    @cached_property
    def held(self) -> Held:
        """What is proved of the box that the cell states."""
        found: Held = self.cell.held(self.B_x[:, None])
        return found

    @cached_property
    def comparison(self) -> Comparison:
        """What bounds |φ(s, x) − φ(s', x)| unit by unit on the box."""
        found: Comparison = self.cell.compared(self.box, self.B_x[:, None])
        return found

    @cached_property
    def box(self) -> Tensor:
        """The invariant box |s_j| ≤ box_j, (B, N), infinite where none is proved."""
        return self.held.box

    @cached_property
    def v(self) -> Tensor:
        """The unit weights (B, N) of max |s_j|/v_j, close to Perron's vector."""
        return self.comparison.perron()

    @cached_property
    def unit_norms(self) -> UnitNorms:
        """‖·‖_box of each system, as its certificate prints it."""
        known = self.comparison
        told = {one.name: getattr(known, one.name) for one in fields(known)}
        still: dict[str, Any] = {
            name: part.detach() for name, part in told.items() if isinstance(part, Tensor)
        }
        return replace(known, **still).unitwise(self.v.detach())

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
    def states(self) -> tuple[Tensor, Tensor]:
        """The pair in the box."""
        box = self.box.clamp(max=REACH)[:, :, None]
        return self.raw.clamp(-box, box), self.raw_other.clamp(-box, box)

    def near(self, share: float) -> dict[str, Tensor]:
        """Other weights, each within that share of its own; the shares of a mix stand still."""
        found = {}
        for name, part in self.parameters.items():
            places = torch.arange(part[0].numel(), dtype=part.dtype, device=part.device)
            wave = ((5 * places + 3 * part.ndim) % 9 - 4).reshape(part.shape[1:]) / 4
            found[name] = part if name in FIXED else part + part * (share * wave)
        return found

    @property
    def tensors(self) -> dict[str, Tensor]:
        """The weights by name, as a dump has them."""
        return self.parameters

    def member(self, index: int) -> Self:
        """One system of the batch, as a batch of one."""
        one = slice(index, index + 1)
        cell = made(self.kind, {name: part[one] for name, part in self.parameters.items()})
        given = {name: getattr(self, name)[one] for name in ("B_x", "raw", "raw_other")}
        return replace(self, cell=cell, **given)


def made(kind: str, parameters: dict[str, Tensor]) -> Any:
    """The cells of a kind with these weights."""
    return kind_of(kind).build(parameters)
