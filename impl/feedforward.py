"""The feed-forward form of a truncated recurrent model: k layers that share their weights.

Source: Miller & Hardt, section 3.
"""

from typing import cast

import torch
from torch import Tensor
from torch.nn.functional import linear

from impl.activation import activation as named
from impl.cells import CELLS, kind_of
from impl.errors import InputError, RangeError, ShapeError
from impl.kind import Kind
from impl.vanilla import vanilla


class FeedForward(torch.nn.Module):
    """All truncated states h_1^k, …, h_T^k of an input sequence, in k layers instead of T steps.

    Layer j computes S_t^j = φ(S_{t−1}^{j−1}, x_t) for all t at once, where S^0 = 0 and S_t^j = 0
    for t ≤ 0; then S_t^k = s_t^k, the state that the cell reaches from *the zero state* on the last
    min(k, t) inputs, and its last n entries are the output h_t^k. (Padding the inputs with zeros
    instead would be a different model as soon as φ(0, 0) ≠ 0.) It depends on exactly the last k
    inputs.

    Shapes: weight_ih (g n, d), weight_hh (g n, n), bias_ih and bias_hh (g n,) or None, for the g
    gates of the `cell`, one of `impl.cells.CELLS` (or the `activation` of a vanilla one). The
    module maps x (N, T, d) -> (N, T, n), or (N, T, p) through the readout, a
    `torch.nn.Linear(n, p)`.
    The parameters carry torch's names, so that the state dict loads into torch's own module.
    Work: k·T − k(k−1)/2 cells a sequence, in k sequential steps.
    Raises ShapeError, RangeError (k < 0), UnknownActivationError, UnknownNameError.
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
        activation: str | None = None,
        cell: str | None = None,
        k: int,
        readout: torch.nn.Linear | None = None,
    ) -> None:
        super().__init__()
        kind = _chosen(activation, cell)
        n = weight_hh.shape[-1]
        rows = kind.gates * n
        blocks = "n" if kind.gates == 1 else f"{kind.gates}n"
        if weight_hh.ndim != 2 or weight_hh.shape[0] != rows:
            raise ShapeError("weight_hh", f"({blocks}, n)", weight_hh)
        if weight_ih.ndim != 2 or weight_ih.shape[0] != rows:
            raise ShapeError("weight_ih", f"({rows}, d)", weight_ih)
        biases = {"bias_ih": bias_ih, "bias_hh": bias_hh}
        for name, bias in biases.items():
            if bias is not None and bias.shape != (rows,):
                raise ShapeError(name, f"({rows},)", bias)
        if readout is not None and readout.in_features != n:
            raise ShapeError("the readout's weight", f"(p, {n})", readout.weight)
        if k < 0:
            raise RangeError("k", k, "at least 0")
        self.k = k
        self.cell = kind.name
        self.readout = readout
        self.weight_ih_l0 = torch.nn.Parameter(weight_ih.detach().clone())
        self.weight_hh_l0 = torch.nn.Parameter(weight_hh.detach().clone())
        for name, bias in biases.items():
            parameter = None if bias is None else torch.nn.Parameter(bias.detach().clone())
            self.register_parameter(f"{name}_l0", parameter)

    @property
    def activation(self) -> str:
        """The activation of a vanilla cell."""
        return "identity" if self.cell == "linear" else self.cell.removeprefix("rnn-")

    def forward(self, x: Tensor) -> Tensor:
        """The outputs h_t^k, or what the readout makes of them: (N, T, d) -> (N, T, n or p)."""
        if x.ndim != 3 or x.shape[2] != self.weight_ih_l0.shape[1]:
            raise ShapeError("x", f"(N, T, {self.weight_ih_l0.shape[1]})", x)
        kind, W = _kind(self.cell), self.weight_hh_l0
        n, bias = W.shape[1], 0.0 if self.bias_hh_l0 is None else self.bias_hh_l0
        drive = linear(x, self.weight_ih_l0, self.bias_ih_l0)
        s = drive.new_zeros(*x.shape[:2], kind.width * n)
        if self.k:
            s = kind.step(W, bias, drive, s)
        for j in range(1, min(self.k, x.shape[1])):  # s_1, …, s_j have seen all their inputs
            s = torch.cat([s[:, :j], kind.step(W, bias, drive[:, j:], s[:, j - 1 : -1])], dim=1)
        h = s[..., -n:]
        return h if self.readout is None else cast(Tensor, self.readout(h))

    def extra_repr(self) -> str:
        """The sizes, the window and the cell, for `print(module)`."""
        d, n = self.weight_ih_l0.shape[1], self.weight_hh_l0.shape[1]
        gated = _kind(self.cell).gates > 1
        what = f"cell={self.cell!r}" if gated else f"activation={self.activation!r}"
        return f"{d}, {n}, k={self.k}, {what}"


def _chosen(activation: str | None, cell: str | None) -> Kind:
    if (activation is None) == (cell is None):
        raise InputError("a feed-forward form has a cell or an activation; give one of them")
    if activation is None:
        return kind_of(str(cell))
    rho = named(activation).name
    return _kind("linear" if rho == "identity" else f"rnn-{rho}")


def _kind(cell: str) -> Kind:
    """The kind of a cell, that of a vanilla one with an activation that is not listed too."""
    return CELLS[cell] if cell in CELLS else vanilla(cell, named(cell.removeprefix("rnn-")))
