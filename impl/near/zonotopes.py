"""Zonotopes: sets that linear maps keep exactly, up to rounding, so that a tube does not wrap.

Z = {G a + b : |a_j| ≤ 1, |b_i| ≤ box_i}. W Z has the generators W G, so that products of Jacobians
are kept as such; what is not linear, and every rounding, goes to the box. A box becomes generators
of its own before the next step turns it. Bounds are float64 sums and products of what is not
negative, enlarged by more than these lose. What is NaN is of no known size.
Sources: Kühn (1998), Rigorously computed orbits; Lohner (1987); Girard (2005) for the reduction.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
import torch
from torch import Tensor

from rnnbounds.impl.numbers.outward import TINY, UNIT, gamma

_UP = 1 + 64 * UNIT  # what a few operations on bounds lose


@dataclass(frozen=True, eq=False)
class Zonotope:
    """Generators (…, m, p) and box (…, m); p = 0 of what depends on nothing."""

    generators: Tensor
    box: Tensor

    @classmethod
    def point(cls, like: Tensor) -> Self:
        """{0}, of the shape (…, m)."""
        return cls(like.new_zeros(*like.shape, 0), torch.zeros_like(like))

    @cached_property
    def spread(self) -> Tensor:
        """At least Σ_j |G_ij|."""
        p = self.generators.shape[-1]
        found: Tensor = torch.linalg.vector_norm(self.generators, 1, -1)
        return found * (1 + 2 * gamma(p + 4))

    @cached_property
    def reach(self) -> Tensor:
        """At least |z_i| over the set, (…, m)."""
        return (self.spread + self.box) * _UP

    def __add__(self, other: Self) -> Self:
        if other.generators.shape[-1] == 0 or self.generators.shape[-1] == 0:
            told = other if self.generators.shape[-1] == 0 else self
            shape = np.broadcast_shapes(self.box.shape, other.box.shape)
            return type(self)(told.generators.expand(*shape, -1), (self.box + other.box) * _UP)
        found = self.generators + other.generators
        lost = UNIT * (self.spread + other.spread)
        return type(self)(found, (self.box + other.box + lost) * _UP)

    def __neg__(self) -> Self:
        return type(self)(-self.generators, self.box)

    def mapped(self, W: Tensor) -> Self:
        """W Z."""
        off, size = 2 * gamma(W.shape[-1] + 4), W.abs()
        carried = self.box * (1 + off) + self.spread * off
        box = (size @ carried[..., None])[..., 0]
        return type(self)(W @ self.generators, box * (1 + off) + TINY)

    def scaled(self, centre: Tensor, radius: Tensor) -> Self:
        """{c∘z : |c_i − centre_i| ≤ radius_i, z ∈ Z}."""
        size, spread = centre.abs(), self.spread
        box = (size + radius) * self.box + (radius + 2 * UNIT * size) * spread
        return type(self)(centre[..., None] * self.generators, box * _UP + TINY)

    def __getitem__(self, line: int) -> Self:
        """One of the sets that are side by side."""
        return type(self)(self.generators[line], self.box[line])

    @classmethod
    def beside(cls, *sets: Self) -> Self:
        """Sets of one shape side by side."""
        generators = torch.stack([z.generators for z in sets])
        return cls(generators, torch.stack([z.box for z in sets]))

    def part(self, start: int, stop: int) -> Self:
        """The units from start on, before stop."""
        return type(self)(self.generators[..., start:stop, :], self.box[..., start:stop])

    @classmethod
    def joined(cls, *parts: Self) -> Self:
        """All units of the parts, one after another."""
        p = max(z.generators.shape[-1] for z in parts)
        lead = np.broadcast_shapes(*(z.box.shape[:-1] for z in parts))
        rows = [
            (z.generators if z.generators.shape[-1] == p else z.padded(0, p).generators).expand(
                *lead, -1, -1
            )
            for z in parts
        ]
        boxes = [z.box.expand(*lead, -1) for z in parts]
        return cls(torch.cat(rows, dim=-2), torch.cat(boxes, dim=-1))

    def padded(self, before: int, after: int) -> Self:
        """Pad the generators with zero columns, for those of other sets."""
        return type(self)(torch.nn.functional.pad(self.generators, (before, after)), self.box)

    def widened(self, by: Tensor) -> Self:
        """The set and all that is so near, entry by entry."""
        return type(self)(self.generators, (self.box + by) * _UP)

    def within(self, radius: Tensor) -> Self:
        """The set, of which |z_i| ≤ radius_i is known as well: a box for each unit of which that
        says twice as much as the generators do, which know how units move together."""
        bounded = ~(self.reach <= 2 * radius) & radius.isfinite()
        generators = torch.where(bounded[..., None], 0.0, self.generators)
        return type(self)(generators, torch.where(bounded, radius, self.box))

    def unboxed(self, most: int) -> Self:
        """The box as generators, of which `most` at most are kept: what the rest spans beyond one
        unit each is small beside the set, and goes to the box."""
        m, p = self.generators.shape[-2:]
        G, box = self.generators, self.box
        if p + m > most:
            size = G.abs() / (self.spread[..., None] + TINY)
            spanned = size.sum(-2) - size.amax(-2)
            order = spanned.argsort(-1, descending=True)
            G = G.gather(-1, order[..., None, :].expand(G.shape))
            kept = max(0, most - m)
            G, rest = G[..., :kept], G[..., kept:]
            box = (box + rest.abs().sum(-1) * (1 + 2 * gamma(p + 4))) * _UP
        return type(self)(torch.cat([G, torch.diag_embed(box)], -1), torch.zeros_like(box))
