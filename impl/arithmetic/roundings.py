"""What a dtype rounds: of one run, or of a run in several dtypes side by side.

Rounding to nearest is monotone, so that the ends of what an operation gives are rounded as the run
rounds them. Sums may be in any order, γ_m of the dtype off (Higham, section 3.1); functions are off
by 16 units at most of what they are computed with, see `impl.arithmetic.activation.working`,
relative to their value, before they are rounded.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.activation import Activation, working
from rnnbounds.impl.numbers.interval import Interval
from rnnbounds.impl.numbers.outward import add_up, mul_up


class Roundings(ABC):
    """The roundings of a run; what is a number of one dtype is a column (B, 1) of several.

    fused: whether a kernel may leave out any of them.
    """

    fused: bool

    @property
    @abstractmethod
    def unit(self) -> float | Tensor:
        """u."""

    @property
    @abstractmethod
    def tiny(self) -> float | Tensor:
        """The least normal number."""

    @property
    @abstractmethod
    def library(self) -> float | Tensor:
        """How far functions are off, relative to their values."""

    @abstractmethod
    def stored(self, a: Tensor) -> Tensor:
        """Numbers (B, …) as they are stored."""

    @abstractmethod
    def lost(self, rho: Activation, size: Tensor) -> Tensor:
        """At least what ρ is off by for |z| ≤ size (B, m)."""

    def rounded(self, a: Interval) -> Interval:
        """What an operation returns whose exact result lies in a; nothing known beyond overflow."""
        low, high = self.stored(torch.stack([a.low, a.high], dim=1)).unbind(1)
        if self.fused:
            low, high = torch.minimum(low, a.low), torch.maximum(high, a.high)
        return Interval(
            low.nan_to_num(-torch.inf, torch.inf, -torch.inf),
            high.nan_to_num(torch.inf, torch.inf, -torch.inf),
        )

    def off(self, a: Interval, by: Tensor | float) -> Interval:
        """The same of an operation that is off by so much first, and by what underflows."""
        lost = add_up(by, self.tiny)
        return self.rounded(a.widened(lost.expand_as(a.low)))

    def sums(self, terms: int, size: Tensor) -> Tensor:
        """At least what a sum of so many products is off by, their absolute values adding up to
        `size`; infinite where γ is not known."""
        share = terms * torch.as_tensor(self.unit, dtype=torch.float64)
        gamma = torch.where(share < 0.5, share / (1 - share) * (1 + 2.0**-50), torch.inf)
        return torch.where(size == 0, 0.0, mul_up(gamma, size))


@dataclass(frozen=True)
class Run(Roundings):
    """The roundings of a dtype."""

    dtype: torch.dtype
    fused: bool = False

    @property
    def unit(self) -> float:
        """u."""
        return float(torch.finfo(self.dtype).eps) / 2

    @property
    def tiny(self) -> float:
        """The least normal number."""
        return float(torch.finfo(self.dtype).tiny)

    @property
    def library(self) -> float:
        """How far functions are off, relative to their values."""
        return 16 * working(self.unit)

    def stored(self, a: Tensor) -> Tensor:
        """Numbers as the dtype has them."""
        return a.to(self.dtype).to(torch.float64)

    def lost(self, rho: Activation, size: Tensor) -> Tensor:
        """By its error model."""
        return rho.error_in(self.unit, 1, size)


@dataclass(frozen=True)
class Runs(Roundings):
    """The roundings of a run in several dtypes, each system of a batch in one of them."""

    dtypes: tuple[torch.dtype, ...]
    fused: bool = False

    @cached_property
    def each(self) -> tuple[Run, ...]:
        """Those of each dtype."""
        return tuple(Run(dtype, self.fused) for dtype in self.dtypes)

    @cached_property
    def unit(self) -> Tensor:
        """u."""
        return _column([run.unit for run in self.each])

    @cached_property
    def tiny(self) -> Tensor:
        """The least normal numbers."""
        return _column([run.tiny for run in self.each])

    @cached_property
    def library(self) -> Tensor:
        """How far functions are off."""
        return _column([run.library for run in self.each])

    def stored(self, a: Tensor) -> Tensor:
        """Numbers as the dtypes have them, system by system."""
        return torch.stack([run.stored(one) for run, one in zip(self.each, a, strict=True)])

    def lost(self, rho: Activation, size: Tensor) -> Tensor:
        """By the error models."""
        return torch.stack([run.lost(rho, one) for run, one in zip(self.each, size, strict=True)])


def _column(numbers: list[float]) -> Tensor:
    return torch.tensor(numbers, dtype=torch.float64)[:, None]
