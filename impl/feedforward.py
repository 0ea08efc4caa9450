"""The feed-forward form of a truncated recurrent model: k layers that share their weights.

Source: Miller & Hardt, section 3.
"""

from typing import cast

import torch
from torch import Tensor
from torch.nn.functional import linear

from impl.activation import activation as named
from impl.errors import RangeError, ShapeError


class FeedForward(torch.nn.Module):
    """All truncated states h_1^k, …, h_T^k of an input sequence, in k layers instead of T steps.

    Layer j computes H_t^j = ρ(W H_{t−1}^{j−1} + U x_t + b) for all t at once, where H^0 = 0 and
    H_t^j = 0 for t ≤ 0; then H_t^k = h_t^k, the state that the cell reaches from *the zero state*
    on the last min(k, t) inputs. (Padding the inputs with zeros instead would be a different
    model as soon as ρ(b) ≠ 0.) A state depends on exactly its last k inputs.

    Shapes: weight_ih (n, d), weight_hh (n, n), bias_ih and bias_hh (n,) or None; the module maps
    x (N, T, d) -> (N, T, n), or (N, T, p) through the readout, a `torch.nn.Linear(n, p)`.
    The parameters carry torch's names, so that the state dict loads into a `torch.nn.RNN`.
    Work: k·T − k(k−1)/2 cells a sequence, in k sequential steps.
    Raises ShapeError, RangeError (k < 0), UnknownActivationError.
    """

    weight_ih_l0: Tensor
    weight_hh_l0: Tensor
    bias_ih_l0: Tensor | None
    bias_hh_l0: Tensor | None

    def __init__(
        self,
        weight_ih: Tensor,
        weight_hh: Tensor,
        bias_ih: Tensor | None = None,
        bias_hh: Tensor | None = None,
        *,
        activation: str,
        k: int,
        readout: torch.nn.Linear | None = None,
    ) -> None:
        super().__init__()
        if weight_hh.ndim != 2 or weight_hh.shape[0] != weight_hh.shape[1]:
            raise ShapeError("weight_hh", "(n, n)", weight_hh)
        n = weight_hh.shape[0]
        if weight_ih.ndim != 2 or weight_ih.shape[0] != n:
            raise ShapeError("weight_ih", f"({n}, d)", weight_ih)
        biases = {"bias_ih": bias_ih, "bias_hh": bias_hh}
        for name, bias in biases.items():
            if bias is not None and bias.shape != (n,):
                raise ShapeError(name, f"({n},)", bias)
        if readout is not None and readout.in_features != n:
            raise ShapeError("the readout's weight", f"(p, {n})", readout.weight)
        if k < 0:
            raise RangeError("k", k, "at least 0")
        named(activation)
        self.k = k
        self.activation = activation
        self.readout = readout
        self.weight_ih_l0 = torch.nn.Parameter(weight_ih.detach().clone())
        self.weight_hh_l0 = torch.nn.Parameter(weight_hh.detach().clone())
        for name, bias in biases.items():
            parameter = None if bias is None else torch.nn.Parameter(bias.detach().clone())
            self.register_parameter(f"{name}_l0", parameter)

    def forward(self, x: Tensor) -> Tensor:
        """The states h_t^k, or what the readout makes of them: (N, T, d) -> (N, T, n or p)."""
        if x.ndim != 3 or x.shape[2] != self.weight_ih_l0.shape[1]:
            raise ShapeError("x", f"(N, T, {self.weight_ih_l0.shape[1]})", x)
        rho = named(self.activation)
        drive = linear(x, self.weight_ih_l0, self.bias_ih_l0)
        if self.bias_hh_l0 is not None:
            drive = drive + self.bias_hh_l0
        h = rho(drive) if self.k else torch.zeros_like(drive)
        for j in range(1, min(self.k, x.shape[1])):  # h_1, …, h_j have seen all their inputs
            fed = linear(h[:, j - 1 : -1], self.weight_hh_l0)
            h = torch.cat([h[:, :j], rho(drive[:, j:] + fed)], dim=1)
        return h if self.readout is None else cast(Tensor, self.readout(h))

    def extra_repr(self) -> str:
        """The sizes, the window and the activation, for `print(module)`."""
        n, d = self.weight_ih_l0.shape
        return f"{d}, {n}, k={self.k}, activation={self.activation!r}"
