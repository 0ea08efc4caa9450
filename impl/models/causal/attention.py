"""Causal self-attention over a window: a small reference model with its receptive field."""

import math

import torch
from torch import Tensor
from torch.nn.functional import pad

from rnnbounds.impl.errors import RangeError
from rnnbounds.impl.models.causal.base import Affine, require_inputs, require_positive


class Attention(torch.nn.Module):
    """Attention of each time to itself and the w − 1 before it, (N, T, n) -> (N, T, n).

    o_t = Σ_s a_s v_s with a = softmax(q_tᵀk_s/√(n/heads)) over s = t−w+1, …, t and s ≥ 1, for each
    head's share of the units. The window is gathered, not masked: a key outside is never read.
    Source: Vaswani et al., Attention Is All You Need (2017), section 3.2.
    Raises RangeError (w < 1, or heads that do not divide n).
    """

    def __init__(self, units: int, window: int, heads: int = 1) -> None:
        super().__init__()
        require_positive(window=window, heads=heads)
        if units % heads:
            raise RangeError("heads", heads, f"a divisor of {units}")
        self.window, self.heads = window, heads
        self.query, self.key = Affine(units, units), Affine(units, units)
        self.value, self.out = Affine(units, units), Affine(units, units)

    def forward(self, x: Tensor) -> Tensor:
        """Scores, softmax and mean, each summed from the oldest position to the newest."""
        N, T, n = x.shape
        q, keys, values = self.query(x), self.windows(self.key(x)), self.windows(self.value(x))
        scale = 1 / math.sqrt(n // self.heads)
        scores = [self.products(q, k) * scale for k in keys]
        for i in range(self.window - 1):  # before the first input there is nothing to see
            empty = torch.arange(T, device=x.device) < self.window - 1 - i
            scores[i] = scores[i].masked_fill(empty[:, None], -math.inf)
        top = scores[-1]
        for score in scores:
            top = torch.maximum(top, score)
        total, mixed = torch.zeros_like(top), x.new_zeros(N, T, self.heads, n // self.heads)
        for score, v in zip(scores, values, strict=True):
            weight = torch.exp(score - top)
            total = total + weight
            mixed = mixed + weight[..., None] * v.reshape(mixed.shape)
        found: Tensor = self.out((mixed / total[..., None]).reshape(N, T, n))
        return found

    def windows(self, v: Tensor) -> list[Tensor]:
        """v_{t−w+1}, …, v_t for every t, zeros before the first."""
        padded, T = pad(v, (0, 0, self.window - 1, 0)), v.shape[1]
        return [padded[:, i : i + T] for i in range(self.window)]

    def products(self, q: Tensor, k: Tensor) -> Tensor:
        """qᵀk of every head, (N, T, heads)."""
        pairs = (q * k).reshape(*q.shape[:2], self.heads, -1)
        total = torch.zeros_like(pairs[..., 0])
        for c in range(pairs.shape[3]):
            total = total + pairs[..., c]
        return total


class WindowedAttention(torch.nn.Module):
    """L layers of windowed attention between residual connections: R = 1 + L(w − 1).

    x ← x + attention(x), x ← x + W_2 ρ(W_1 x) with ρ = ReLU, after a map of the inputs to n units;
    (N, T, d) -> (N, T, n). Layer normalisation and positions, which act at one time alone, are left
    out. Source: Vaswani et al., Attention Is All You Need (2017), figure 1.
    Raises ShapeError, RangeError.
    """

    def __init__(self, inputs: int, units: int, window: int, layers: int, heads: int = 1) -> None:
        super().__init__()
        require_positive(inputs=inputs, units=units, window=window)
        self.inputs, self.window = inputs, window
        self.embed = Affine(inputs, units)
        self.layers = torch.nn.ModuleList(Attention(units, window, heads) for _ in range(layers))
        self.wider = torch.nn.ModuleList(Affine(units, 2 * units) for _ in range(layers))
        self.narrower = torch.nn.ModuleList(Affine(2 * units, units) for _ in range(layers))

    @property
    def field(self) -> int:
        """1 + L(w − 1)."""
        return 1 + len(self.layers) * (self.window - 1)

    def forward(self, x: Tensor) -> Tensor:
        """Layer after layer."""
        require_inputs(x, self.inputs)
        x = self.embed(x)
        for attention, wide, narrow in zip(self.layers, self.wider, self.narrower, strict=True):
            x = x + attention(x)
            x = x + narrow(torch.relu(wide(x)))
        return x
