"""A batch of vanilla networks with pairs of states."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
import torch

from rnnbounds.impl.models.rnn import RNN
from rnnbounds.impl.numbers.outward import norm_up
from rnnbounds.properties.systems.drawing.draws import Array, resonant_inputs

Tensor = torch.Tensor


@dataclass(frozen=True, eq=False)
class Networks:
    """h_t = ρ(W h_{t−1} + U x_t + b), and pairs of states h, h_other (B, n, S).

    other: a second network of each system, for what compares two weights. has_input_bound: True if
    what is certified holds for inputs up to a bound.
    """

    cell: RNN
    h: Tensor
    h_other: Tensor
    other: RNN | None = None

    has_input_bound: ClassVar[bool] = False

    @property
    def n(self) -> int:
        """The size of the output."""
        return self.cell.n

    @property
    def parameters(self) -> dict[str, Tensor]:
        """The weights by the names that a step has for them, (B, …) each."""
        return self.cell.parameters

    def input_bound(self, x: Tensor) -> Tensor:
        """An upper bound on every ‖x_t‖₂ of a system, (B,), for inputs x (B, T, d, S)."""
        found: Tensor = norm_up(x.transpose(2, 3)).amax(dim=(1, 2))
        return found

    def is_allowed(self, x: Tensor) -> Tensor:
        """True for each sequence of inputs, (B, S)."""
        return torch.ones_like(x[:, 0, 0], dtype=torch.bool)

    def furthest_inputs(self, C: Tensor, T: int, S: int) -> Array:
        """The inputs that move the last state furthest, (B, S, T, d): along Uᵀ(Wᵀ)^{T−t}c."""
        W, U, read = (A.detach().cpu().numpy() for A in (self.cell.W, self.cell.U, C))
        return resonant_inputs(np.ones((len(W), read.shape[1], S)), W, U, read, T)

    @property
    def states(self) -> tuple[Tensor, Tensor]:
        """The pairs of states."""
        return self.h, self.h_other

    @property
    def explicit_states(self) -> tuple[Tensor, Tensor]:
        """The pairs as a spec writes them out."""
        return self.states

    @property
    def named_weights(self) -> dict[str, Tensor]:
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
