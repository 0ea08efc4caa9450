"""No bit of an output hears of an input outside of the receptive field, whatever it is."""

import torch
from torch import Tensor

from rnnbounds.impl.models.causal.attention import WindowedAttention
from rnnbounds.impl.models.causal.convolution import TCN, GatedConvolution, WaveNet


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
