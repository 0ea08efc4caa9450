"""The vanilla recurrent cell, in batch; a linear system is one with the identity activation."""

from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.activation import Activation
from rnnbounds.impl.arithmetic.base import Arithmetic, V
from rnnbounds.impl.arithmetic.inputs.sets import InputBound
from rnnbounds.impl.errors import PrecisionError, ShapeError


@dataclass(frozen=True, eq=False)
class RNN:
    """h_t = ρ(W h_{t−1} + U x_t + b), for B systems at once.

    Shapes: W (B, n, n), U (B, n, d), b (B, n); float64 on any one device.
    Raises ShapeError and PrecisionError. Source: Miller & Hardt, Section 2.
    """

    W: Tensor
    U: Tensor
    b: Tensor
    activation: Activation

    def __post_init__(self) -> None:
        if self.W.ndim != 3 or self.W.shape[1] != self.W.shape[2]:
            raise ShapeError("W", "(batch, n, n)", self.W)
        if self.U.ndim != 3 or self.U.shape[:2] != self.W.shape[:2]:
            raise ShapeError("U", f"({self.batch}, {self.n}, d)", self.U)
        if self.b.shape != self.W.shape[:2]:
            raise ShapeError("b", f"({self.batch}, {self.n})", self.b)
        for name, tensor in (("W", self.W), ("U", self.U), ("b", self.b)):
            if tensor.dtype != torch.float64:
                raise PrecisionError(name, tensor.dtype)

    @property
    def batch(self) -> int:
        """B, how many systems."""
        return self.W.shape[0]

    @property
    def n(self) -> int:
        """The size of the state."""
        return self.W.shape[1]

    @property
    def d(self) -> int:
        """The size of the input."""
        return self.U.shape[2]

    def step(self, h: Tensor, x: Tensor) -> Tensor:
        """ρ(W h + U x + b) for M columns a system: h (B, n, M), x (B, d, M) -> (B, n, M)."""
        return self.activation(torch.baddbmm(self.drive(x), self.W, h))

    def program(self, m: Arithmetic[V], s: V, x: V) -> V:
        """One step over any arithmetic."""
        driven = m.affine("weight_ih", "bias_ih", x) + m.affine("weight_hh", "bias_hh", s)
        return m.activate(self.activation.name, driven)

    @property
    def parameters(self) -> dict[str, Tensor]:
        """The weights under torch's names, with the one bias as that of the inputs."""
        return {"weight_ih": self.U, "weight_hh": self.W, "bias_ih": self.b}

    def box(self, B: InputBound | Tensor) -> Tensor:
        """|h_j| ≤ M_ρ, (B, n); infinite where ρ is not bounded."""
        return torch.full_like(self.b.detach(), self.activation.bound)

    def drive(self, x: Tensor) -> Tensor:
        """U x + b for M columns a system: x (B, d, M) -> (B, n, M)."""
        return torch.baddbmm(self.b[:, :, None], self.U, x)

    def member(self, index: int) -> Self:
        """One system of the batch, as a batch of one."""
        return self.part(slice(index, index + 1))

    def part(self, some: slice) -> Self:
        """Some systems of the batch."""
        return type(self)(self.W[some], self.U[some], self.b[some], self.activation)
