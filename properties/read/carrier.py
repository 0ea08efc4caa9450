"""Carriers: vectors, operators, numbers and sizes in one arithmetic.

A carrier makes vectors and operators of tensors, multiplies them and measures them. A vector of
balls or rationals is one column, an operator has a column for each direction.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import torch

from rnnbounds.impl.gradients.loss import Loss
from rnnbounds.properties.read.numbers.seeds import Directions

Tensor = torch.Tensor
Parameters = Mapping[str, Tensor]
Names = tuple[str, ...]
Value = Any  # a vector or an operator of a carrier, or a number or a size


class Carrier(ABC):
    """Vectors, operators, numbers and sizes in one arithmetic."""

    @abstractmethod
    def arithmetic(self, parameters: Parameters) -> Any:
        """The arithmetic that runs the step of a cell with parameters (B, …)."""

    @abstractmethod
    def directions(
        self, parameters: Parameters, units: int, inputs: int, trained: Names
    ) -> Directions:
        """Directions of derivatives by the state, the input and the trained parameters."""

    @abstractmethod
    def column(self, tensor: Tensor) -> Value:
        """The vectors (B, N, S) of a tensor, exactly."""

    @abstractmethod
    def matrix(self, tensor: Tensor) -> Value:
        """The operators (B, m, N) of a tensor, exactly."""

    @abstractmethod
    def times(self, A: Value, v: Value) -> Value:
        """A v of an operator and a vector or an operator, of numbers and sizes."""

    @abstractmethod
    def divide_units(self, v: Value, weights: Tensor) -> Value:
        """v_j/w_j for weights (B, N)."""

    @abstractmethod
    def cut(self, tangent: Value, columns: slice) -> Value:
        """Some columns of an operator."""

    @abstractmethod
    def row(self, v: Value, before: int) -> Value:
        """The operator from states to numbers whose row is so many zeros and then v."""

    @abstractmethod
    def gradient(self, loss: Loss, h: Value) -> Value:
        """∇p(h)."""

    @abstractmethod
    def gradient_gap(self, loss: Loss, h: Value, gap: Value) -> Value:
        """∇p(h) − ∇p(h − gap), exactly 0 where the gap is."""

    @abstractmethod
    def euclidean(self, v: Value) -> Value:
        """‖v‖₂."""

    @abstractmethod
    def spectral(self, A: Value) -> Value:
        """‖A‖₂."""

    @abstractmethod
    def largest(self, v: Value, weights: Tensor | None) -> Value:
        """max |v_j|/w_j for weights (B, N), all 1 unless they are given."""

    @abstractmethod
    def row_norm(self, A: Value, weights: Tensor) -> Value:
        """max ‖A_j‖₂/w_j, the norm of A from ‖·‖₂ to max |·|_j/w_j."""

    @abstractmethod
    def row_sum_norm(self, A: Value, weights: Tensor) -> Value:
        """max Σ_l |A_jl| w_l/w_j, the norm of A from max |·|_j/w_j to itself."""
