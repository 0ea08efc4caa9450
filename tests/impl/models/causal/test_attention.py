"""Causal self-attention over a window, against torch's own with a mask."""

import pytest
import torch
from draws import normal
from torch import Tensor
from torch.nn.functional import linear, relu, scaled_dot_product_attention

from rnnbounds.impl.models.causal import Affine, Attention, WindowedAttention


def inputs(T: int = 9) -> Tensor:
    """Three sequences of two inputs, in float64."""
    return normal(3, T, 2)


def mapped(layer: Affine, x: Tensor) -> Tensor:
    """torch's own linear map."""
    return linear(x, layer.weight, layer.bias)


def oracle(layer: Attention, x: Tensor) -> Tensor:
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
    torch.testing.assert_close(layer(x), oracle(layer, x))


def test_a_stack_is_torchs() -> None:
    """Residual connections, and two maps at every time."""
    torch.manual_seed(1)
    model = WindowedAttention(2, 4, 3, layers=2, heads=2).double()
    x = mapped(model.embed, inputs())
    for layer, wide, narrow in zip(model.layers, model.wider, model.narrower, strict=True):
        assert isinstance(layer, Attention)
        x = x + oracle(layer, x)
        x = x + mapped(narrow, relu(mapped(wide, x)))
    torch.testing.assert_close(model(inputs()), x)
    assert model.field == 1 + 2 * 2
