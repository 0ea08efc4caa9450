"""Directions of a derivative: the units of the state, of the input, then every parameter.

A parameter matrix W (r, c) has the directions W_11, W_12, …, and moves W v by e_i v_j. These are
the velocities along which `impl.arithmetic.derivatives.dual_numbers.Duals` differentiates, over
float64 tensors and over balls.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import torch
from flint import arb

from rnnbounds.impl.arithmetic.base import ALL
from rnnbounds.impl.arithmetic.derivatives.dual_numbers import Dual
from rnnbounds.impl.arithmetic.entries.balls import Columns
from rnnbounds.properties.measures.runs.rounded import Rounded

Tensor = torch.Tensor


@dataclass(frozen=True, eq=False)
class Directions:
    """Of cells with parameters (B, m, N) and (B, m), N units and d inputs."""

    parameters: Mapping[str, Tensor]
    units: int
    inputs: int

    @cached_property
    def starts(self) -> dict[str, int]:
        """The first direction of each parameter."""
        found, at = {}, self.units + self.inputs
        for name, tensor in self.parameters.items():
            found[name] = at
            at += prod(tensor.shape[1:])
        return found

    @property
    def of_parameters(self) -> slice:
        """The directions of all parameters."""
        return slice(self.units + self.inputs, self.count)

    @property
    def of_state(self) -> slice:
        """The directions of the state's units."""
        return slice(self.units)

    @property
    def of_input(self) -> slice:
        """The directions of the input's units."""
        return slice(self.units, self.units + self.inputs)

    @cached_property
    def count(self) -> int:
        """How many there are."""
        sizes = (prod(tensor.shape[1:]) for tensor in self.parameters.values())
        return self.units + self.inputs + sum(sizes)


@dataclass(frozen=True, eq=False)
class RoundedSeeds(Directions):
    """Velocities of tensors: (B, N, M, directions). Only what Duals ask of them is there."""

    def affine(self, weight: str, bias: str | None, v: Rounded, rows: slice = ALL) -> Rounded:
        """Ẇ v + ḃ in every direction."""
        moved = Rounded(self.outer(weight, v.value, rows), self.outer(weight, v.error, rows))
        if bias is None or bias not in self.parameters:
            return moved
        return Rounded(moved.value + self.vector(bias, rows).value, moved.error)

    def vector(self, name: str, rows: slice = ALL) -> Rounded:
        """A parameter vector's velocity, one column."""
        like = self.parameters[name]
        eye = torch.eye(like.shape[1], dtype=like.dtype, device=like.device)[rows]
        found = like.new_zeros(len(like), len(eye), 1, self.count)
        found[..., self.starts[name] : self.starts[name] + eye.shape[1]] = eye[None, :, None]
        return Rounded.exact(found)

    def still(self, value: Tensor) -> Dual[Rounded]:
        """Exact numbers that no direction moves."""
        flat = Rounded.exact(value.new_zeros(*value.shape, self.count))
        return Dual(Rounded.exact(value), flat)

    def outer(self, weight: str, v: Tensor, rows: slice) -> Tensor:
        """e_i v_j at the direction of W_ij."""
        r, c = self.parameters[weight].shape[1:]
        eye = torch.eye(r, dtype=v.dtype, device=v.device)[rows]
        block = eye[None, :, None, :, None] * v.mT[:, None, :, None, :]
        found = v.new_zeros(len(v), len(eye), v.shape[2], self.count)
        found[..., self.starts[weight] : self.starts[weight] + r * c] = block.flatten(3)
        return found

    def unit(self, v: Rounded, first: int) -> Rounded:
        """The velocities of units that are directions themselves, from ``first`` on."""
        found = v.value.new_zeros(*v.value.shape, self.count)
        for i in range(v.size):
            found[:, i, :, first + i] = 1
        return Rounded.exact(found)


@dataclass(frozen=True, eq=False)
class BallSeeds(Directions):
    """Velocities of one system's one column, in balls: N rows of one ball for each direction."""

    def affine(self, weight: str, bias: str | None, v: Columns, rows: slice = ALL) -> Columns:
        """Ẇ v + ḃ in every direction."""
        r, c = self.parameters[weight].shape[1:]
        found = []
        for i in range(r)[rows]:
            row = [arb(0)] * self.count
            at = self.starts[weight] + i * c
            row[at : at + c] = [unit[0] for unit in v.units]
            found.append(row)
        moved = Columns(found)
        if bias is None or bias not in self.parameters:
            return moved
        return moved + self.vector(bias, rows)

    def vector(self, name: str, rows: slice = ALL) -> Columns:
        """A parameter vector's velocity."""
        found = []
        for i in range(self.parameters[name].shape[1])[rows]:
            row = [arb(0)] * self.count
            row[self.starts[name] + i] = arb(1)
            found.append(row)
        return Columns(found)

    def still(self, values: Sequence[float]) -> Dual[Columns]:
        """Exact numbers that no direction moves, one column."""
        flat = Columns([[arb(0)] * self.count for _ in values])
        return Dual(Columns([[arb(v)] for v in values]), flat)

    def unit(self, v: Columns, first: int) -> Columns:
        """The velocities of units that are directions themselves, from ``first`` on."""
        rows = range(v.size)
        return Columns([[arb(first + i == j) for j in range(self.count)] for i in rows])
