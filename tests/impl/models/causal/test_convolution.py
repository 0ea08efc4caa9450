"""Causal convolutions and attention over a window, against torch's own."""

import pytest
import torch
from draws import normal
from torch import Tensor
from torch.nn.functional import conv1d, linear, pad, relu, scaled_dot_product_attention

from rnnbounds.impl.models.causal import (
    TCN,
    Affine,
    Attention,
    Block,
    Convolution,
    GatedConvolution,
    GatedLayer,
    WaveNet,
    WindowedAttention,
)


def oracle(layer: Convolution, x: Tensor) -> Tensor:
    """torch's own convolution with the same weights, padded on the left; channels before times."""
    outputs, inputs, kernel = layer.weight.shape
    theirs = torch.nn.Conv1d(inputs, outputs, kernel, dilation=layer.dilation, dtype=x.dtype)
    theirs.load_state_dict(layer.state_dict())
    found: Tensor = theirs(pad(x, ((kernel - 1) * layer.dilation, 0)))
    return found


def one_by_one(layer: Affine, x: Tensor) -> Tensor:
    """The same map at every time, as torch's convolution of one tap."""
    return conv1d(x, layer.weight[:, :, None], layer.bias)


def gated(layer: GatedLayer, x: Tensor) -> Tensor:
    """tanh(conv) · σ(conv)."""
    return torch.tanh(oracle(layer.filter, x)) * torch.sigmoid(oracle(layer.gate, x))


def inputs(T: int = 12) -> Tensor:
    """Three sequences of two inputs, in float64."""
    return normal(3, T, 2)


@pytest.fixture(autouse=True)
def seeded() -> None:
    """The same weights in every run."""
    torch.manual_seed(1)


@pytest.mark.parametrize(("kernel", "dilation"), [(1, 1), (2, 1), (3, 2), (2, 5)])
def test_a_convolution_is_torchs(kernel: int, dilation: int) -> None:
    """Equal to torch.nn.Conv1d with the padding on the left, whose state dict it has."""
    layer = Convolution(2, 4, kernel, dilation).double()
    torch.testing.assert_close(layer(inputs()), oracle(layer, inputs().mT).mT)
    assert layer.field == 1 + (kernel - 1) * dilation


def test_a_tcn_is_torchs_blocks() -> None:
    """Bai, Kolter and Koltun's residual blocks, of torch's convolutions."""
    model = TCN(2, 3, 2, (1, 2, 4)).double()
    y = inputs(20).mT
    for block in model.blocks:
        assert isinstance(block, Block)
        past = y if block.shortcut is None else one_by_one(block.shortcut, y)
        y = torch.relu(oracle(block.second, torch.relu(oracle(block.first, y)))).add(past).relu()
    torch.testing.assert_close(model(inputs(20)), y.mT)
    assert model.field == 1 + 2 * (1 + 2 + 4)
    assert [block.shortcut is None for block in model.blocks] == [False, True, True]


def test_gated_convolutions_are_torchs() -> None:
    """tanh times σ of two of torch's convolutions, layer after layer."""
    model = GatedConvolution(2, 3, 3, (1, 2)).double()
    y = inputs().mT
    for layer in model.layers:
        assert isinstance(layer, GatedLayer)
        y = gated(layer, y)
    torch.testing.assert_close(model(inputs()), y.mT)
    assert model.field == 1 + 2 * 1 + 2 * 2


def test_a_wavenet_is_torchs() -> None:
    """Residual and skip connections, of torch's convolutions."""
    model = WaveNet(2, 3, 2, (1, 2, 4)).double()
    x = oracle(model.first, inputs().mT)
    total = torch.zeros_like(x)
    for layer, residual, skip in zip(model.layers, model.residuals, model.skips, strict=True):
        assert isinstance(layer, GatedLayer)
        z = gated(layer, x)
        x, total = x + one_by_one(residual, z), total + one_by_one(skip, z)
    y = one_by_one(model.readout, torch.relu(one_by_one(model.mix, torch.relu(total))))
    torch.testing.assert_close(model(inputs()), y.mT)
    assert model.field == 2 + 1 + 2 + 4


def mapped(layer: Affine, x: Tensor) -> Tensor:
    """torch's own linear map."""
    return linear(x, layer.weight, layer.bias)


def attention_oracle(layer: Attention, x: Tensor) -> Tensor:
    """torch's attention with a mask of the last w positions."""
    N, T, n = x.shape
    q, k, v = (
        mapped(part, x).reshape(N, T, layer.heads, -1).transpose(1, 2)
        for part in (layer.query, layer.key, layer.value)
    )
    ages = torch.arange(T)[:, None] - torch.arange(T)
    mask = (ages >= 0) & (ages < layer.window)
    found = scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return mapped(layer.out, found.transpose(1, 2).reshape(N, T, n))


@pytest.mark.parametrize(("window", "heads"), [(1, 1), (3, 1), (4, 2), (20, 4)])
def test_attention_is_torchs(window: int, heads: int) -> None:
    """Equal to torch's, for windows longer than the sequence too."""
    torch.manual_seed(1)
    layer = Attention(4, window, heads).double()
    x = torch.cat([inputs(), inputs().flip(1)], dim=2)
    torch.testing.assert_close(layer(x), attention_oracle(layer, x))


def test_a_stack_is_torchs() -> None:
    """Residual connections, and two maps at every time."""
    torch.manual_seed(1)
    model = WindowedAttention(2, 4, 3, layers=2, heads=2).double()
    x = mapped(model.embed, inputs())
    for layer, wide, narrow in zip(model.layers, model.wider, model.narrower, strict=True):
        assert isinstance(layer, Attention)
        x = x + attention_oracle(layer, x)
        x = x + mapped(narrow, relu(mapped(wide, x)))
    torch.testing.assert_close(model(inputs()), x)
    assert model.field == 1 + 2 * 2
