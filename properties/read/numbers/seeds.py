"""Directions of a derivative: the units of the state and of the input, or parameters that move.

A parameter matrix W (r, c) has the directions W_11, W_12, …, and moves W v by e_i v_j. These are
the velocities along which `impl.arithmetic.derivatives.dual_numbers.Duals` differentiates, over
float64 tensors and over balls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import torch

from rnnbounds.impl.arithmetic.base import ALL
from rnnbounds.impl.arithmetic.derivatives.dual_numbers import Dual
from rnnbounds.properties.read.numbers.rounded import Rounded

Tensor = torch.Tensor
Parameters = Mapping[str, Tensor]
Names = tuple[str, ...]
Value = Any  # a vector or an operator of a carrier, or a number or a size


@dataclass(frozen=True, eq=False)
class Directions:
    """Of cells with parameters (B, m, N) and (B, m), N units and d inputs."""

    parameters: Parameters
    units: int
    inputs: int
    trained: tuple[str, ...]

    @cached_property
    def offsets(self) -> dict[str, int]:
        """The first direction of each parameter that moves."""
        offsets, position = {}, self.units + self.inputs
        for name in self.trained:
            offsets[name] = position
            position += prod(self.parameters[name].shape[1:])
        return offsets

    @property
    def state_slice(self) -> slice:
        """The directions of the state's units."""
        return slice(self.units)

    @property
    def input_slice(self) -> slice:
        """The directions of the input's units."""
        return slice(self.units, self.units + self.inputs)

    @cached_property
    def count(self) -> int:
        """Number of directions."""
        sizes = (prod(self.parameters[name].shape[1:]) for name in self.trained)
        return self.units + self.inputs + sum(sizes)


@dataclass(frozen=True, eq=False)
class RoundedDirections(Directions):
    """Velocities of tensors: (B, N, M, directions). Only what Duals ask of them is there."""

    def affine(self, weight: str, bias: str | None, v: Rounded, rows: slice = ALL) -> Rounded:
        """Ẇ v + ḃ in every direction."""
        velocity = Rounded(
            self.outer_product(weight, v.value, rows), self.outer_product(weight, v.error, rows)
        )
        if bias is None or bias not in self.offsets:
            return velocity
        return Rounded(velocity.value + self.vector(bias, rows).value, velocity.error)

    def vector(self, name: str, rows: slice = ALL) -> Rounded:
        """A parameter vector's velocity, one column."""
        like = self.parameters[name]
        eye = torch.eye(like.shape[1], dtype=like.dtype, device=like.device)[rows]
        found = like.new_zeros(len(like), len(eye), 1, self.count)
        if name in self.offsets:
            found[..., self.offsets[name] : self.offsets[name] + eye.shape[1]] = eye[None, :, None]
        return Rounded.exact(found)

    def still(self, value: Tensor) -> Dual[Rounded]:
        """Exact numbers that no direction moves."""
        flat = Rounded.exact(value.new_zeros(*value.shape, self.count))
        return Dual(Rounded.exact(value), flat)

    def outer_product(self, weight: str, v: Tensor, rows: slice) -> Tensor:
        """e_i v_j at the direction of W_ij."""
        r, c = self.parameters[weight].shape[1:]
        eye = torch.eye(r, dtype=v.dtype, device=v.device)[rows]
        block = eye[None, :, None, :, None] * v.mT[:, None, :, None, :]
        found = v.new_zeros(len(v), len(eye), v.shape[2], self.count)
        if weight in self.offsets:
            found[..., self.offsets[weight] : self.offsets[weight] + r * c] = block.flatten(3)
        return found

    def unit(self, v: Rounded, first: int) -> Rounded:
        """The velocities of units that are directions themselves, from ``first`` on; of none 0."""
        found = v.value.new_zeros(*v.value.shape, self.count)
        for i in range(v.size if self.units else 0):
            found[:, i, :, first + i] = 1
        return Rounded.exact(found)


@dataclass(frozen=True, eq=False)
class EntryDirections(Directions):
    """Velocities of one system's one column, in balls or rationals: rows of one number for each
    direction."""

    entries: Any
    number: Callable[[Any], Any]

    def affine(self, weight: str, bias: str | None, v: Any, rows: slice = ALL) -> Any:
        """Ẇ v + ḃ in every direction."""
        places = range(self.parameters[weight].shape[1])[rows]
        velocity = self.zeros(len(places))
        if weight in self.offsets:
            width = self.parameters[weight].shape[2]
            for i, row in zip(places, velocity, strict=True):
                at = self.offsets[weight] + i * width
                row[at : at + width] = [unit[0] for unit in v.units]
        product = self.entries(velocity)
        if bias is None or bias not in self.offsets:
            return product
        return product + self.vector(bias, rows)

    def vector(self, name: str, rows: slice = ALL) -> Any:
        """A parameter vector's velocity."""
        places = range(self.parameters[name].shape[1])[rows]
        first = self.offsets.get(name)
        return self.unit_rows([None if first is None else first + i for i in places])

    def unit(self, v: Any, first: int) -> Any:
        """The velocities of units that are directions themselves, from ``first`` on; of none 0."""
        return self.unit_rows([first + i if self.units else None for i in range(v.size)])

    def unit_rows(self, places: Sequence[int | None]) -> Any:
        """Rows that are 1 at these places, and else 0."""
        rows = self.zeros(len(places))
        for row, at in zip(rows, places, strict=True):
            if at is not None:
                row[at] = self.number(1.0)
        return self.entries(rows)

    def zeros(self, rows: int) -> list[list[Any]]:
        """Rows of zeros, one entry for each direction."""
        return [[self.number(0.0)] * self.count for _ in range(rows)]
