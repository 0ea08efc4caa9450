"""No bit of an output hears of an input outside of the receptive field, whatever it is."""

import pytest
import torch
from torch import Tensor

from rnnbounds.impl.models.causal.attention import WindowedAttention
from rnnbounds.impl.models.causal.convolution import TCN, GatedConvolution, WaveNet

LARGEST = torch.finfo(torch.float64).max
CHANGES = (1e300, -1e300, LARGEST, -0.0, 0.0, 5e-324, 1.0)


def models(dtype: torch.dtype = torch.float64) -> list[torch.nn.Module]:
    """One of each kind."""
    torch.manual_seed(2)
    return [
        TCN(2, 3, 3, (1, 2)).to(dtype),
        GatedConvolution(2, 3, 2, (1, 3)).to(dtype),
        WaveNet(2, 3, 2, (1, 2, 4)).to(dtype),
        WindowedAttention(2, 4, 3, layers=3, heads=2).to(dtype),
    ]


def inputs(T: int, dtype: torch.dtype = torch.float64) -> Tensor:
    """Five sequences of two inputs."""
    return torch.randn(5, T, 2, generator=torch.Generator().manual_seed(3)).to(dtype)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_nothing_outside_is_heard(dtype: torch.dtype) -> None:
    """Every earlier and every later input replaced, in turn: y_t is the same, bit by bit."""
    for model in models(dtype):
        R = model.field
        x = inputs(R + 9, dtype)
        y = model(x)
        for t in (R, R + 4, R + 8):
            for value in CHANGES:
                largest = torch.finfo(dtype).max
                changed = torch.full_like(x, max(-largest, min(value, largest)))
                changed[:, t - R + 1 : t + 1] = x[:, t - R + 1 : t + 1]
                assert torch.equal(model(changed)[:, t], y[:, t])


def test_the_oldest_inside_is_heard() -> None:
    """The field is not shorter: y_t changes with x_{t−R+1} alone."""
    for model in models():
        x = inputs(model.field + 3)
        changed = x.clone()
        changed[:, 2] += 1.0
        t = 2 + model.field - 1
        assert not torch.equal(model(changed)[:, t], model(x)[:, t])  # some ReLUs are dead
        assert torch.equal(model(changed)[:, t + 1 :], model(x)[:, t + 1 :])
        assert torch.equal(model(changed)[:, :2], model(x)[:, :2])


def test_outputs_do_not_depend_on_the_length() -> None:
    """The same bits from a longer sequence, a shorter one, one alone, and the window alone."""
    for model in models():
        R = model.field
        x = inputs(R + 20)
        y = model(x)
        for T in range(1, R + 20):
            assert torch.equal(model(x[:, :T]), y[:, :T])
        for start in range(1, 21):
            assert torch.equal(model(x[:, start:])[:, R - 1 :], y[:, start + R - 1 :])
        for i in range(5):
            assert torch.equal(model(x[i : i + 1]), y[i : i + 1])


def test_the_bits_can_differ() -> None:
    """The same comparison hears a kernel that looks one input ahead, and a window one too short."""
    model = GatedConvolution(2, 3, 3, (1,)).double()
    x = inputs(8)
    changed = torch.full_like(x, 1e300)
    changed[:, 2:5] = x[:, 2:5]
    assert torch.equal(model(changed)[:, 4], model(x)[:, 4])
    for t in (3, 5):  # the window of y_4 seen as that of the output before and after
        assert not torch.equal(model(changed)[:, t], model(x)[:, t])
