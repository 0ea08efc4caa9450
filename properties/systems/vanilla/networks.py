"""A batch of vanilla networks with pairs of states."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import torch

from rnnbounds.impl.models.rnn import RNN

Tensor = torch.Tensor


@dataclass(frozen=True, eq=False)
class Networks:
    """h_t = ρ(W h_{t−1} + U x_t + b), and pairs of states h, h_other (B, n, S).

    other: a second network of each system, for what compares two weights.
    """

    cell: RNN
    h: Tensor
    h_other: Tensor
    other: RNN | None = None

    @property
    def states(self) -> tuple[Tensor, Tensor]:
        """The pairs of states."""
        return self.h, self.h_other

    @property
    def written(self) -> tuple[Tensor, Tensor]:
        """The pairs as a spec writes them out."""
        return self.states

    @property
    def tensors(self) -> dict[str, Tensor]:
        """The weights by name."""
        return {"W": self.cell.W, "U": self.cell.U, "b": self.cell.b}

    def pair(self, i: int, s: int) -> Self:
        """One system and one of its pairs of states."""
        one = self.member(i)
        at = slice(s, s + 1)
        return replace(one, h=one.h[:, :, at], h_other=one.h_other[:, :, at])

    def member(self, i: int) -> Self:
        """One system of the batch, as a batch of one."""
        at, other = slice(i, i + 1), self.other and self.other.member(i)
        return replace(
            self, cell=self.cell.member(i), h=self.h[at], h_other=self.h_other[at], other=other
        )
