"""Intervals in plain float64, rounded outwards by relative margins: where numbers of a tube lie."""

from typing import NamedTuple, Self

import numpy as np
import torch
from torch import Tensor

from rnnbounds.impl.numbers.outward import TINY, UNIT, gamma

_UP = 1 + 64 * UNIT


class Ends(NamedTuple):
    """[low, high] of each unit (M, m); infinite where an end is no number."""

    low: Tensor
    high: Tensor

    @classmethod
    def outward(cls, low: Tensor, high: Tensor) -> Self:
        """An interval whose ends are off by four roundings at most."""
        low, high = low - low.abs() * 4 * UNIT - TINY, high + high.abs() * 4 * UNIT + TINY
        low, high = (
            end.nan_to_num(none, torch.inf, -torch.inf)
            for end, none in ((low, -torch.inf), (high, torch.inf))
        )
        return cls(low, high)

    def within(self, other: "Ends") -> "Ends":
        """The intersection with another interval, of whose ends NaN says nothing."""
        return Ends(torch.fmax(self.low, other.low), torch.fmin(self.high, other.high))

    def __add__(self, other: "Ends") -> "Ends":  # type: ignore[override]
        return Ends.outward(self.low + other.low, self.high + other.high)

    def __neg__(self) -> "Ends":
        return Ends(-self.high, -self.low)

    def product(self, other: "Ends") -> "Ends":
        """All products of two numbers of the intervals."""
        found = torch.stack([a * b for a in self for b in other])
        return Ends.outward(found.amin(0), found.amax(0))

    def hull(self, other: "Ends", gate: "Ends") -> "Ends":
        """Interval that holds g a + (1 − g) b for all of the gate, infinite unless 0 ≤ g ≤ 1."""
        unit = (gate.low >= 0) & (gate.high <= 1)
        low, high = torch.minimum(self.low, other.low), torch.maximum(self.high, other.high)
        return Ends(torch.where(unit, low, -torch.inf), torch.where(unit, high, torch.inf))

    def mapped(self, W: Tensor, b: Tensor | None) -> "Ends":
        """W u + b."""
        off, size = 2 * gamma(W.shape[-1] + 4), W.abs()
        added = torch.zeros_like(W[:, 0]) if b is None else b
        middle = self.middle
        radius = self.radius(middle) + middle.abs() * off
        around = (radius @ size.mT + added.abs() * off) * (1 + 2 * off) * _UP + TINY
        between = middle @ W.mT + added
        return Ends.outward(between - around, between + around)

    def part(self, start: int, stop: int) -> "Ends":
        """The units from start on, before stop."""
        return Ends(self.low[..., start:stop], self.high[..., start:stop])

    @classmethod
    def joined(cls, *parts: "Ends") -> Self:
        """All units of the parts, one after another."""
        lead = np.broadcast_shapes(*(part.low.shape[:-1] for part in parts))
        return cls(*(
            torch.cat([end.expand(*lead, -1) for end in ends], -1)
            for ends in zip(*parts, strict=True)
        ))  # fmt: skip

    @property
    def middle(self) -> Tensor:
        """A float in the interval; NaN if it is infinite."""
        return torch.minimum(torch.maximum((self.low + self.high) / 2, self.low), self.high)

    @property
    def apart(self) -> Tensor:
        """At least |u − u′| of the two numbers whose intervals are side by side, (M, m)."""
        (low, other_low), (high, other_high) = self
        return torch.maximum(high - other_low, other_high - low).clamp(min=0.0) * _UP + TINY

    def radius(self, centre: Tensor) -> Tensor:
        """At least |u − centre|."""
        return torch.maximum(self.high - centre, centre - self.low).clamp(min=0.0) * _UP
