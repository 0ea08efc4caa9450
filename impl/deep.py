"""Deep transitions: several layers between one state and the next.

Source: Pascanu et al., How to construct deep recurrent neural networks (2014).
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from impl.activation import Activation
from impl.errors import PrecisionError, ShapeError


@dataclass(frozen=True, eq=False)
class DeepTransition:
    """h_t = g_L ∘ … ∘ g_1 (h_{t−1}) with g_l(u) = ρ(W_l u + [l = 1] U x_t + b_l), B at once.

    Shapes: W_l (B, n_l, n_{l−1}) and b_l (B, n_l) with n_L = n_0 = n, U (B, n_1, d); float64.
    Raises ShapeError and PrecisionError.
    """

    W: tuple[Tensor, ...]
    U: Tensor
    b: tuple[Tensor, ...]
    activation: Activation

    def __post_init__(self) -> None:
        if not self.W or len(self.W) != len(self.b):
            raise ShapeError("b", f"one bias for each of {len(self.W)} layers", len(self.b))
        if any(W.ndim != 3 for W in self.W):
            raise ShapeError("W", "(batch, n_l, n_{l−1}) in each layer", self.W[0])
        batch, size = self.W[0].shape[0], self.W[-1].shape[1]
        for W, b in zip(self.W, self.b, strict=True):
            if W.shape[::2] != (batch, size):
                raise ShapeError("W", f"({batch}, n_l, {size}) in this layer", W)
            size = W.shape[1]
            if b.shape != (batch, size):
                raise ShapeError("b", f"({batch}, {size}) in this layer", b)
        if self.U.ndim != 3 or self.U.shape[:2] != self.W[0].shape[:2]:
            raise ShapeError("U", f"({batch}, {self.W[0].shape[1]}, d)", self.U)
        for part in (*self.W, *self.b, self.U):
            if part.dtype != torch.float64:
                raise PrecisionError("a weight", part.dtype)

    @property
    def batch(self) -> int:
        """B, how many systems."""
        return self.U.shape[0]

    @property
    def depth(self) -> int:
        """L, how many layers a step has."""
        return len(self.W)

    @property
    def n(self) -> int:
        """The size of the state."""
        return self.W[0].shape[2]

    @property
    def d(self) -> int:
        """The size of the input."""
        return self.U.shape[2]

    def step(self, h: Tensor, x: Tensor) -> Tensor:
        """The next states of M columns a system: h (B, n, M), x (B, d, M) -> (B, n, M)."""
        for layer, (W, b) in enumerate(zip(self.W, self.b, strict=True)):
            z = torch.baddbmm(b[:, :, None], W, h)
            h = self.activation(z if layer else z + torch.bmm(self.U, x))
        return h
