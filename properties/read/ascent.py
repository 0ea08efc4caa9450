"""The carrier of ascent: float64 tensors of a batch, differentiable, without bounds on rounding."""

from __future__ import annotations

from collections.abc import Callable

import torch
from sympy import Expr, Function

from rnnbounds.impl.arithmetic.base import Floats, Rows
from rnnbounds.impl.gradients.loss import Loss
from rnnbounds.properties.read.numbers.gaps import zero_where_equal
from rnnbounds.properties.read.numbers.seeds import Parameters, Tensor
from rnnbounds.properties.read.plan import OPERATORS
from rnnbounds.properties.read.quantity import ground_definition
from rnnbounds.properties.read.reader import Value, read_all
from rnnbounds.properties.read.worlds.recurrent import RecurrentWorld
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.theory.language.vocabulary import VOCABULARY


@zero_where_equal.register
def _(difference: Rows, gap: Rows) -> Rows:
    return difference


class AscentCarrier:
    """Vectors as rows (B, S, N)."""

    def arithmetic(self, parameters: Parameters) -> Floats:
        """Float arithmetic over the parameters of all systems."""
        return Floats(parameters)

    def column(self, tensor: Tensor) -> Rows:
        """Rows (B, S, N) of a tensor (B, N, S)."""
        return Rows(tensor.mT)

    def matrix(self, tensor: Tensor) -> Tensor:
        """The tensor (B, m, N) itself."""
        return tensor

    def number(self, value: float) -> float:
        """Convert a number to a float."""
        return float(value)

    def times(self, A: Value, v: Value) -> Value:
        """A v, and multiples of vectors and sizes."""
        if isinstance(A, Tensor) and isinstance(v, Rows):
            return Rows(v.value @ A.mT)
        return Rows(A * v.value) if isinstance(v, Rows) else A * v

    def divide_units(self, v: Rows, weights: Tensor) -> Rows:
        """Rows with each unit divided by its weight."""
        return Rows(v.value / weights[:, None])

    def gradient(self, loss: Loss, h: Rows) -> Rows:
        """∇p(h)."""
        return Rows(loss.gradient(h.value.mT).mT)

    def gradient_gap(self, loss: Loss, h: Rows, gap: Rows) -> Rows:
        """∇p(h) − ∇p(h − gap)."""
        return self.gradient(loss, h) - self.gradient(loss, h - gap)

    def euclidean(self, v: Rows) -> Tensor:
        """‖v‖₂, (B, S, 1); 0 for the zero vector alone."""
        size: Tensor = torch.linalg.vector_norm(v.value, dim=2)
        return torch.where(size == 0, v.value.abs().amax(dim=2), size)[:, :, None]

    def largest(self, v: Rows, weights: Tensor | None) -> Tensor:
        """max |v_j|/w_j, (B, S, 1)."""
        value = v.value if weights is None else v.value / weights[:, None]
        return value.abs().amax(dim=2)[:, :, None]


def is_differentiable(formula: Expr) -> bool:
    """True if a definition can be evaluated differentiably: it has no derivatives of its own."""
    heads = {part.func.__name__ for part in formula.atoms(Function)}
    return heads.isdisjoint(OPERATORS)


def ascent_reading(name: str) -> Callable[[Batch], Tensor]:
    """A quantity of a batch, (B, S, K+1) with windows, else (B, S, 1)."""

    def of(batch: Batch) -> Tensor:
        world = RecurrentWorld(batch, AscentCarrier())  # type: ignore[arg-type]
        windows = batch.K + 1 if VOCABULARY[name].windowed else 1
        terms = [ground_definition(name, batch, k) for k in range(windows)]
        sizes = read_all(terms, world)
        return torch.cat([size.expand(-1, batch.x.shape[3], -1) for size in sizes], dim=2)

    return of
