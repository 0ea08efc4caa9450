"""Causal models: what they share, and arithmetic whose last bits no other input can reach.

Every product and sum is made entry by entry in a fixed order, never by a library's matrix product,
convolution or FFT, and nothing outside of a window is multiplied by zero or masked by adding −∞: an
input that y_t does not depend on changes no bit of it, be it 10³⁰⁰.

Causal self-attention over a window: a small reference model with its receptive field.

Temporal, gated and WaveNet's convolutions: small reference models with their receptive fields.

Each maps x (N, T, d) -> (N, T, n), in any float dtype; y_t depends on exactly the last ``field``
inputs. ``dilations`` has one number for each layer (of a TCN: for each block).
"""

import math
from collections.abc import Iterable, Sequence

import torch
from torch import Tensor
from torch.nn.functional import pad

from rnnbounds.impl.arithmetic.activation import activation as named
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


class Block(torch.nn.Module):
    """ρ(x + ρ(conv(ρ(conv(x))))), two causal convolutions with the same kernel and dilation.

    The x that is added goes through a 1×1 map if n and m differ: (N, T, n) -> (N, T, m).
    """

    def __init__(
        self, inputs: int, outputs: int, kernel: int, dilation: int, activation: str
    ) -> None:
        super().__init__()
        self.activation = named(activation)
        self.first = Convolution(inputs, outputs, kernel, dilation)
        self.second = Convolution(outputs, outputs, kernel, dilation)
        self.shortcut = None if inputs == outputs else Affine(inputs, outputs)

    def forward(self, x: Tensor) -> Tensor:
        """Both convolutions, and what goes past them."""
        rho = self.activation
        past = x if self.shortcut is None else self.shortcut(x)
        return rho(past + rho(self.second(rho(self.first(x)))))


class TCN(torch.nn.Module):
    """A temporal convolutional network of residual blocks: R = 1 + Σ 2(K − 1)d.

    Source: Bai, Kolter & Koltun, An Empirical Evaluation of Generic Convolutional and Recurrent
    Networks (2018), section 3, without dropout and weight norm, which act in training alone.
    Raises ShapeError, RangeError, UnknownNameError.
    """

    def __init__(
        self, inputs: int, units: int, kernel: int, dilations: Sequence[int],
        activation: str = "relu",
    ) -> None:  # fmt: skip
        super().__init__()
        require_positive(inputs=inputs, units=units)
        self.inputs = inputs
        widths = [inputs, *[units] * len(dilations)]
        self.blocks = torch.nn.ModuleList(
            Block(width, units, kernel, dilation, activation)
            for width, dilation in zip(widths, dilations, strict=False)
        )

    @property
    def field(self) -> int:
        """1 + Σ (K − 1)d over all convolutions, two a block."""
        return fields_add(c.field for c in self.modules() if isinstance(c, Convolution))

    def forward(self, x: Tensor) -> Tensor:
        """Block after block."""
        require_inputs(x, self.inputs)
        for block in self.blocks:
            x = block(x)
        return x


class GatedLayer(torch.nn.Module):
    """z = tanh(conv_f(x)) · σ(conv_g(x)). Source: van den Oord et al., PixelCNN (2016)."""

    def __init__(self, inputs: int, outputs: int, kernel: int, dilation: int) -> None:
        super().__init__()
        self.filter = Convolution(inputs, outputs, kernel, dilation)
        self.gate = Convolution(inputs, outputs, kernel, dilation)

    @property
    def field(self) -> int:
        """1 + (K − 1)d: filter and gate look back equally far."""
        return self.filter.field

    def forward(self, x: Tensor) -> Tensor:
        """(N, T, n) -> (N, T, m)."""
        return torch.tanh(self.filter(x)) * gate(self.gate(x))


class GatedConvolution(torch.nn.Module):
    """Gated convolutions one after the other: R = 1 + Σ (K − 1)d.

    Sources: van den Oord et al., Conditional Image Generation with PixelCNN Decoders (2016);
    Dauphin et al., Language Modeling with Gated Convolutional Networks (2017), whose filter has no
    tanh. Raises ShapeError, RangeError.
    """

    def __init__(self, inputs: int, units: int, kernel: int, dilations: Sequence[int]) -> None:
        super().__init__()
        require_positive(inputs=inputs, units=units)
        self.inputs = inputs
        widths = [inputs, *[units] * len(dilations)]
        self.layers = torch.nn.ModuleList(
            GatedLayer(width, units, kernel, dilation)
            for width, dilation in zip(widths, dilations, strict=False)
        )

    @property
    def field(self) -> int:
        """1 + Σ (K − 1)d."""
        return fields_add(z.field for z in self.modules() if isinstance(z, GatedLayer))

    def forward(self, x: Tensor) -> Tensor:
        """Layer after layer."""
        require_inputs(x, self.inputs)
        for layer in self.layers:
            x = layer(x)
        return x


class WaveNet(torch.nn.Module):
    """WaveNet's stack: a causal convolution, then gated layers z_l with x ← x + W_r z_l.

    The output is W_2 ρ(W_1 ρ(Σ_l W_s z_l)) with ρ = ReLU, over the skip connections of all layers;
    R = K + Σ (K − 1)d. Source: van den Oord et al., WaveNet (2016), figure 4.
    Raises ShapeError, RangeError.
    """

    def __init__(self, inputs: int, units: int, kernel: int, dilations: Sequence[int]) -> None:
        super().__init__()
        require_positive(inputs=inputs, units=units)
        self.inputs, self.units = inputs, units
        self.first = Convolution(inputs, units, kernel)
        self.layers = torch.nn.ModuleList(
            GatedLayer(units, units, kernel, dilation) for dilation in dilations
        )
        self.residuals = torch.nn.ModuleList(Affine(units, units) for _ in dilations)
        self.skips = torch.nn.ModuleList(Affine(units, units) for _ in dilations)
        self.mix, self.readout = Affine(units, units), Affine(units, units)

    @property
    def field(self) -> int:
        """K + Σ (K − 1)d."""
        gated = (z.field for z in self.modules() if isinstance(z, GatedLayer))
        return fields_add([self.first.field, *gated])

    def forward(self, x: Tensor) -> Tensor:
        """The residual path, the sum of the skips, and two maps of it."""
        require_inputs(x, self.inputs)
        x = self.first(x)
        total = x.new_zeros(*x.shape[:2], self.units)
        for layer, residual, skip in zip(self.layers, self.residuals, self.skips, strict=True):
            z = layer(x)
            x, total = x + residual(z), total + skip(z)
        found: Tensor = self.readout(torch.relu(self.mix(torch.relu(total))))
        return found
