"""Temporal, gated and WaveNet's convolutions: small reference models with their receptive fields.

Each maps x (N, T, d) -> (N, T, n), in any float dtype; y_t depends on exactly the last ``field``
inputs. ``dilations`` has one number for each layer (of a TCN: for each block).
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.activation import activation as named
from rnnbounds.impl.models.causal.base import (
    Affine,
    Convolution,
    fields_add,
    gate,
    require_inputs,
    require_positive,
)


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
