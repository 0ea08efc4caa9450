"""Sets of weights over which constants are uniform: one cell, a segment, the set Ω of training."""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.activation import Activation
from rnnbounds.impl.errors import InputError, ShapeError
from rnnbounds.impl.models.rnn import RNN
from rnnbounds.impl.numbers.outward import add_up, mul_up, norm_up
from rnnbounds.impl.numbers.spectra.spectral_norm import certified_norm


@dataclass(frozen=True, eq=False)
class Omega:
    """{‖W‖₂ ≤ W} × {‖U‖_F ≤ U} × {‖b‖₂ ≤ b}, one set a system: three radii (B,)."""

    W: Tensor
    U: Tensor
    b: Tensor

    def __post_init__(self) -> None:
        for name in ("W", "U", "b"):
            radius = getattr(self, name)
            if radius.shape != self.W.shape or radius.ndim != 1:
                raise ShapeError(f"the radius of {name}", "(batch,)", radius)


@dataclass(frozen=True, eq=False)
class Region:
    """A convex set of weights (W, U, b) for each of B systems, by bounds on its members.

    W_norm ≥ ‖W‖₂, W_rows ≥ the largest row 2-norm of W, U_norm ≥ ‖U‖₂ and b_norm ≥ ‖b‖₂, each
    (B,); b_low ≤ b ≤ b_high entry by entry, each (B, n). ``single`` says that it is one cell alone.
    """

    activation: Activation
    W_norm: Tensor
    W_rows: Tensor
    U_norm: Tensor
    b_norm: Tensor
    b_low: Tensor
    b_high: Tensor
    single: bool = False

    @classmethod
    def of(cls, cell: RNN) -> Self:
        """The cell's own weights."""
        W, U, b = cell.W.detach(), cell.U.detach(), cell.b.detach()
        rows = norm_up(W).amax(1)
        norms = certified_norm(W), rows, certified_norm(U), norm_up(b)
        return cls(cell.activation, *norms, b, b, single=True)

    @classmethod
    def join(cls, *regions: Self) -> Self:
        """A convex set that holds all of them, so with two cells the segment between them.

        Raises InputError for different activations.
        """
        first = regions[0]
        if len(regions) == 1:
            return first
        if any(region.activation is not first.activation for region in regions):
            raise InputError("regions of different activations have no common constants; keep one")
        return cls(
            first.activation,
            W_norm=_all(regions, "W_norm").amax(0),
            W_rows=_all(regions, "W_rows").amax(0),
            U_norm=_all(regions, "U_norm").amax(0),
            b_norm=_all(regions, "b_norm").amax(0),
            b_low=_all(regions, "b_low").amin(0),
            b_high=_all(regions, "b_high").amax(0),
        )

    @classmethod
    def of_omega(cls, omega: Omega, cell: RNN, trained: str) -> Self:
        """The weights of Ω: each trained block within its radius, the others those of the cell."""
        cell_region = cls.of(cell)
        W, U, b = (radius.detach().nan_to_num(torch.inf) for radius in (omega.W, omega.U, omega.b))
        box = b[:, None].expand_as(cell_region.b_low)
        return cls(
            cell_region.activation,
            W_norm=W if "W" in trained else cell_region.W_norm,
            W_rows=W if "W" in trained else cell_region.W_rows,
            U_norm=U if "U" in trained else cell_region.U_norm,
            b_norm=b if "b" in trained else cell_region.b_norm,
            b_low=-box if "b" in trained else cell_region.b_low,
            b_high=box if "b" in trained else cell_region.b_high,
        )

    @property
    def n(self) -> int:
        """The size of the state."""
        return self.b_low.shape[1]

    @cached_property
    def units(self) -> Tensor:
        """Upper bounds on |ρ(b)|, entry by entry: (B, n)."""
        return peak(self.activation, self.b_low, self.b_high)

    @cached_property
    def offset(self) -> Tensor:
        """At least ‖ρ(b)‖₂, from the entries and from L_ρ‖b‖₂ + ‖ρ(0)‖₂: (B,)."""
        rho, entries = self.activation, norm_up(self.units)
        at_zero = norm_up(torch.full_like(self.b_low, rho.at_zero))
        by_norm = add_up(mul_up(rho.slope, self.b_norm), at_zero)
        is_point = (self.b_low == self.b_high).all(1)
        return torch.where(is_point, entries, torch.minimum(entries, by_norm))


def peak(rho: Activation, low: Tensor, high: Tensor) -> Tensor:
    """Upper bounds on |ρ| over intervals [low, high], entry by entry.

    From ρ's error model at the ends, of which one is within half the length, and from
    |ρ(b)| ≤ L_ρ|b| + |ρ(0)|.
    """
    size = torch.maximum(low.abs(), high.abs())
    ends = torch.stack([low, high])
    at_ends = add_up(rho(ends).abs(), rho.error(1, ends.abs())).amax(0)
    between = add_up(at_ends, mul_up(rho.slope, mul_up(0.5, add_up(high, -low))))
    bound = torch.minimum(between, add_up(mul_up(rho.slope, size), rho.at_zero))
    return torch.where(low == high, bound, bound.clamp(max=rho.bound))


def _all(regions: tuple[Region, ...], name: str) -> Tensor:
    return torch.stack([getattr(region, name) for region in regions])
