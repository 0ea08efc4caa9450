"""The systems that rows about vanilla networks measure: λ·orthogonal, where bounds are tight."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from rnnbounds.impl.arithmetic.activation import activation
from rnnbounds.impl.gradients.loss import Loss
from rnnbounds.impl.gradients.loss import loss as make_loss
from rnnbounds.impl.models.rnn import RNN

Tensor = torch.Tensor
LAM = 0.9


@dataclass(frozen=True, eq=False)
class Systems:
    """B tanh networks with S input sequences each: x (B, T, d, S), the squared loss of C h − y."""

    cell: RNN
    x: Tensor
    C: Tensor
    y: Tensor

    @property
    def pairs(self) -> int:
        """How many (system, sequence) pairs."""
        return self.x.shape[0] * self.x.shape[3]

    @property
    def loss(self) -> Loss:
        """½‖C h − y‖²."""
        return make_loss("squared", self.C, self.y)

    def single_pair(self, i: int = 0, s: int = 0) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """W, U, b and x of one pair on the CPU, as one writes them down."""
        tensors = (self.cell.W[i], self.cell.U[i], self.cell.b[i], self.x[i, :, :, s])
        W, U, b, x = (part.cpu().clone() for part in tensors)
        return W, U, b, x

    def single_target(self, i: int = 0) -> tuple[Tensor, Tensor]:
        """C and y of one system on the CPU."""
        return self.C[i].cpu().clone(), self.y[i].cpu().clone()


def draw_systems(
    B: int, S: int, *, n: int = 16, d: int = 4, T: int = 100, device: str = "cpu"
) -> Systems:
    """Drawn from one seed, whatever the device."""
    draw = torch.Generator().manual_seed(0)

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, dtype=torch.float64, generator=draw)

    W = LAM * torch.linalg.qr(normal(B, n, n))[0].contiguous()
    U, b = normal(B, n, d) / 2, normal(B, n) / 10
    cell = RNN(W.to(device), U.to(device), b.to(device), activation("tanh"))
    x, C, y = normal(B, T, d, S) / 2, normal(B, 2, n), normal(B, 2)
    return Systems(cell, x.to(device), C.to(device), y.to(device))
