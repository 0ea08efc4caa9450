"""Members whose cell is one that ships, with dyadic weights: floats and rationals at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from flint import fmpq, fmpq_mat

from rnnbounds.impl.arithmetic.entries import Rationals
from rnnbounds.properties.systems.layered.dyadic import exact_floats
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.unitary.exact import ExactMember, Vector


@dataclass(frozen=True, eq=False)
class ShippedMember(ExactMember):
    """A cell, a batch of one, with its inputs x (S, T, d) and pairs of states (S, N)."""

    spec: SystemSpec
    cell: Any
    x: list[list[Vector]]
    h: list[Vector]
    h_other: list[Vector]

    @cached_property
    def weights(self) -> dict[str, torch.Tensor]:
        """The weights of this one system."""
        return {name: part[0] for name, part in self.cell.parameters.items()}

    @cached_property
    def exact_weights(self) -> Rationals:
        """The weights as rationals."""
        return Rationals(self.weights)

    def exact_vector(self, name: str) -> Vector:
        """A weight that is a vector."""
        return tuple(v for (v,) in self.exact_weights.rows(name))


def dyadic_tensor(A: fmpq_mat) -> torch.Tensor:
    """(1, m, n) of a dyadic matrix."""
    return torch.tensor([exact_floats(A)], dtype=torch.float64)


def dyadic_row(v: Sequence[fmpq]) -> torch.Tensor:
    """(1, n) of a dyadic vector."""
    return dyadic_tensor(fmpq_mat(1, len(v), list(v)))[:, 0]
