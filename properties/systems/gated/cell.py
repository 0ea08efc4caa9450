"""A batch of gated cells with pairs of states that lie certifiably in their invariant boxes."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from rnnbounds.impl.cells.gated.gru import GRU
from rnnbounds.impl.cells.gated.lstm import LSTM
from rnnbounds.properties.systems.cells.batch import REACH, Cells
from rnnbounds.properties.systems.cells.batch import made as made_of

__all__ = ["REACH", "Gated", "made"]

Tensor = torch.Tensor
# How far cells reach outside of the box.
FAR = 1000.0


@dataclass(frozen=True, eq=False)
class Gated(Cells):
    """LSTMs, whose states are (c, h) with N = 2n, or GRUs, whose states are h with N = n."""

    cell: LSTM | GRU

    @property
    def is_lstm(self) -> bool:
        """Whether the state has cells c beside the output h."""
        return isinstance(self.cell, LSTM)

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


def made(kind: str, W: Tensor, U: Tensor, b_ih: Tensor, b_hh: Tensor) -> LSTM | GRU:
    """The cells of a kind with these stacked weights."""
    named = {"weight_hh": W, "weight_ih": U, "bias_ih": b_ih, "bias_hh": b_hh}
    found: LSTM | GRU = made_of(kind, named)
    return found
