"""Interface of losses of the last state: values, gradients, constants and errors."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import torch
from flint import arb, fmpq
from torch import Tensor

from rnnbounds.impl.errors import PrecisionError, ShapeError
from rnnbounds.impl.norms.readout_norms import EUCLIDEAN, Dual
from rnnbounds.impl.numbers.outward import add_up, mul_up
from rnnbounds.impl.numbers.rationals import rational


@dataclass(frozen=True, eq=False)
class Loss(ABC):
    """p(h) of a state h (B, n, M) through a readout C (B, p, n), for B systems at once.

    Raises ShapeError and PrecisionError.
    """

    C: Tensor
    name: ClassVar[str]

    def __post_init__(self) -> None:
        if self.C.ndim != 3 or not self.C.shape[1]:
            raise ShapeError("C", "(batch, p, n) with p ≥ 1", self.C)
        for part in fields(self):
            tensor = getattr(self, part.name)
            if tensor.dtype != torch.float64:
                raise PrecisionError(part.name, tensor.dtype)

    @abstractmethod
    def value(self, h: Tensor) -> Tensor:
        """p(h), column by column and differentiable: h (B, n, M) -> (B, M)."""

    @abstractmethod
    def gradient(self, h: Tensor) -> Tensor:
        """∇p(h), column by column and differentiable: h (B, n, M) -> (B, n, M)."""

    @abstractmethod
    def slope(self, B_h: Tensor, dual: Dual = EUCLIDEAN) -> Tensor:
        """L_p ≥ ‖∇p(h)‖ for all ‖h‖ ≤ B_h (B,), in the dual norm: (B,)."""

    @abstractmethod
    def curvature_in(self, dual: Dual) -> Tensor:
        """β_p ≥ ‖∇p(h) − ∇p(h′)‖/‖h − h′‖ for all h, h′, in the dual norm: (B,)."""

    @property
    def curvature(self) -> Tensor:
        """β_p in the Euclidean norm, (B,)."""
        return self.curvature_in(EUCLIDEAN)

    def gradient_error(self, h_norm: Tensor, inner: Tensor) -> Tensor:
        """At least ‖fl(∇p)(ĥ) − ∇p(h)‖₂ for ‖h‖ ≤ h_norm and ‖ĥ − h‖ ≤ inner, both (B, …).

        Source: Higham, Accuracy and Stability, Section 3, for any order of summation.
        """
        like = (-1, *[1] * (h_norm.ndim - 1))
        carried = mul_up(self.curvature.reshape(like), inner)
        carried = torch.where(inner == 0, 0.0, carried)
        return add_up(carried, self._rounding(add_up(h_norm, inner), like))

    @abstractmethod
    def _rounding(self, size: Tensor, like: tuple[int, ...]) -> Tensor:
        """At least ‖fl(∇p)(h) − ∇p(h)‖₂ for float64 states with ‖h‖ ≤ size."""

    @abstractmethod
    def ball_gradient(self, h: list[arb]) -> list[arb]:
        """∇p(h) of a batch of one in balls."""

    def rational_gradient(self, h: list[fmpq]) -> list[fmpq] | None:
        """∇p(h) of a batch of one exactly, or None where it leaves the rationals."""
        return None

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """The tensors of the loss: C, and the target y if it has one."""
        return tuple(getattr(self, part.name) for part in fields(self))

    @cached_property
    def in_balls(self) -> tuple[Any, ...]:
        """Tensors of a batch of one as nested lists of balls, exactly."""
        return tuple(nested(arb, part[0].tolist()) for part in self.tensors)

    @cached_property
    def in_rationals(self) -> tuple[Any, ...]:
        """Tensors of a batch of one as nested lists of exact rationals."""
        return tuple(nested(rational, part[0].tolist()) for part in self.tensors)

    def member(self, index: int) -> Self:
        """One loss of the batch, as a batch of one."""
        return self.part(slice(index, index + 1))

    def part(self, some: slice) -> Self:
        """Some losses of the batch."""
        return replace(self, **{part.name: getattr(self, part.name)[some] for part in fields(self)})


def nested(number: Callable[[float], Any], values: Any) -> Any:
    """Nested lists of floats as such numbers."""
    if isinstance(values, list):
        return [nested(number, value) for value in values]
    return number(values)
