"""A batch of gated cells with pairs of states that lie certifiably in their invariant boxes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch

from impl import gru, lstm
from impl.cells import CELLS
from impl.gated import Comparison
from impl.gru import GRU
from impl.lstm import LSTM

Tensor = torch.Tensor
Cell = LSTM | GRU
# No state is larger, however large a box is: its cells have no bound where a gate may stay open.
REACH = 2.0**20
# How often a box is refined: always the same, so that no member depends on its batch.
ITERATES = 5
# How far cells reach outside of the box.
FAR = 1000.0


@dataclass(frozen=True, eq=False)
class Gated:
    """B cells under inputs ‖x‖₂ ≤ B_x (B,), and S pairs of states ``raw`` and ``raw_other``.

    Shapes: the states (B, N, S), (c, h) with N = 2n for an LSTM and h with N = n for a GRU. The
    pair that is judged is the nearest one in the box, which clamping finds without rounding.
    """

    cell: Cell
    B_x: Tensor
    raw: Tensor
    raw_other: Tensor

    @property
    def is_lstm(self) -> bool:
        """Whether the state has cells c beside the output h."""
        return isinstance(self.cell, LSTM)

    @cached_property
    def open(self) -> lstm.Box | gru.Open:
        """The gates over the invariant box."""
        if isinstance(self.cell, LSTM):
            return lstm.invariant_box(self.cell, self.B_x[:, None], ITERATES)
        return gru.opened(self.cell, self.B_x[:, None], self.box)

    @cached_property
    def box(self) -> Tensor:
        """The invariant box |s_j| ≤ box_j, (B, N)."""
        if isinstance(self.cell, LSTM):
            found = self.open
            assert isinstance(found, lstm.Box)
            return torch.cat([found.c, found.h], dim=1)
        return gru.invariant_box(self.cell, self.B_x[:, None], ITERATES)

    @cached_property
    def comparison(self) -> Comparison:
        """What bounds |φ(s, x) − φ(s', x)| unit by unit on the box."""
        if isinstance(self.cell, LSTM):
            found = self.open
            assert isinstance(found, lstm.Box)
            return lstm.comparison(self.cell, self.B_x[:, None], found)
        return gru.comparison(self.cell, self.B_x[:, None], self.box)

    @cached_property
    def v(self) -> Tensor:
        """The unit weights (B, N) of max |s_j|/v_j, close to Perron's vector."""
        return self.comparison.perron()

    @property
    def states(self) -> tuple[Tensor, Tensor]:
        """The pair in the box."""
        box = self.box.clamp(max=REACH)[:, :, None]
        return self.raw.clamp(-box, box), self.raw_other.clamp(-box, box)

    @property
    def wide(self) -> tuple[Tensor, Tensor]:
        """The pair as it is, but for |c| ≤ 1000 and |h| ≤ 1."""
        ends = torch.ones_like(self.box)
        ends[:, : ends.shape[1] - self.cell.n] = FAR
        far = ends[:, :, None]
        return self.raw.clamp(-far, far), self.raw_other.clamp(-far, far)

    @property
    def tensors(self) -> dict[str, Tensor]:
        """The stacked weights by name, as a spec writes them out."""
        cell = self.cell
        return {"W": cell.W, "U": cell.U, "b": cell.b_ih, "b_hh": cell.b_hh}

    def member(self, index: int) -> Gated:
        """One system of the batch, as a batch of one."""
        one = slice(index, index + 1)
        cell = made(self.name, *(tensor[one] for tensor in self.tensors.values()))
        return Gated(cell, self.B_x[one], self.raw[one], self.raw_other[one])

    @property
    def name(self) -> str:
        """The kind of the cells."""
        if isinstance(self.cell, LSTM):
            return "lstm"
        return "gru-cho" if self.cell.cho else "gru"


def made(kind: str, W: Tensor, U: Tensor, b_ih: Tensor, b_hh: Tensor) -> Any:
    """The cells of a kind with these stacked weights."""
    return CELLS[kind].build(W, U, b_ih, b_hh)
