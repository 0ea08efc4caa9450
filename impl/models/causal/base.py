"""Causal models: what they share, and arithmetic whose last bits no other input can reach.

Every product and sum is made entry by entry in a fixed order, never by a library's matrix product,
convolution or FFT, and nothing outside of a window is multiplied by zero or masked by adding −∞: an
input that y_t does not depend on changes no bit of it, be it 10³⁰⁰.
"""

import math
from collections.abc import Iterable

import torch
from torch import Tensor
from torch.nn.functional import pad

from rnnbounds.impl.errors import RangeError, ShapeError


class Affine(torch.nn.Module):
    """W x_t + b at every time: (N, T, d) -> (N, T, m), weight (m, d), bias (m,), torch's names."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.weight, self.bias = drawn(inputs, outputs, inputs), drawn(inputs, outputs)

    def forward(self, x: Tensor) -> Tensor:
        """The products one after the other, then the bias."""
        return affine(x, self.weight) + self.bias


class Convolution(torch.nn.Module):
    """A causal convolution: y_t = Σ_i W_i x_{t−(K−1−i)d} + b, with zeros before the first input.

    (N, T, n) -> (N, T, m); weight (m, n, K) and bias (m,) as torch.nn.Conv1d has them. Dilation d;
    field 1 + (K − 1)d. Source: van den Oord et al., WaveNet (2016), section 2.1.
    Raises RangeError (K < 1, d < 1).
    """

    def __init__(self, inputs: int, outputs: int, kernel: int, dilation: int = 1) -> None:
        super().__init__()
        require_positive(kernel=kernel, dilation=dilation)
        self.dilation = dilation
        self.weight = drawn(inputs * kernel, outputs, inputs, kernel)
        self.bias = drawn(inputs * kernel, outputs)

    @property
    def field(self) -> int:
        """1 + (K − 1)d."""
        return 1 + (self.weight.shape[2] - 1) * self.dilation

    def forward(self, x: Tensor) -> Tensor:
        """The taps from the oldest to the newest, then the bias."""
        T = x.shape[1]
        padded = pad(x, (0, 0, self.field - 1, 0))
        total = x.new_zeros(*x.shape[:2], self.weight.shape[0])
        for i in range(self.weight.shape[2]):
            start = i * self.dilation
            total = total + affine(padded[:, start : start + T], self.weight[:, :, i])
        return total + self.bias


def affine(x: Tensor, weight: Tensor) -> Tensor:
    """W x_t for x (N, T, d) and W (m, d), summed over the entries of x_t in their order."""
    total = x.new_zeros(*x.shape[:2], weight.shape[0])
    for c in range(weight.shape[1]):
        total = total + x[..., c, None] * weight[:, c]
    return total


def gate(z: Tensor) -> Tensor:
    """σ(z) = (1 + tanh(z/2))/2: the last bits of torch.sigmoid depend on where z stands."""
    return (1 + torch.tanh(z / 2)) / 2


def drawn(reads: int, *shape: int) -> torch.nn.Parameter:
    """Uniform weights in ±1/√reads, torch's own default."""
    bound = 1 / math.sqrt(max(reads, 1))
    return torch.nn.Parameter(torch.empty(*shape).uniform_(-bound, bound))


def require_positive(**sizes: int) -> None:
    """Raise RangeError for the first size below 1."""
    for name, size in sizes.items():
        if size < 1:
            raise RangeError(name, size, "at least 1")


def require_inputs(x: Tensor, d: int) -> None:
    """Raise ShapeError unless x is (N, T, d)."""
    if x.ndim != 3 or x.shape[2] != d:
        raise ShapeError("x", f"(N, T, {d})", x)


def fields_add(fields: Iterable[int]) -> int:
    """Add the receptive fields of layers in sequence: 1 + Σ (R_l − 1)."""
    return 1 + sum(field - 1 for field in fields)
