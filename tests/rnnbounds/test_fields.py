"""The receptive field of a user's own module, probed bit by bit."""

import pytest
import torch
from torch.nn.functional import pad, scaled_dot_product_attention

from rnnbounds import assert_receptive_field
from rnnbounds.impl.errors import InputError
from rnnbounds.impl.models.causal import TCN, GatedConvolution, WaveNet, WindowedAttention

Tensor = torch.Tensor


class Stack(torch.nn.Module):
    """torch's own convolutions with kernel 3, padded by what a test says: left, right."""

    def __init__(self, *paddings: tuple[int, int], dilation: int = 1) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.paddings = paddings
        convolutions = (torch.nn.Conv1d(2, 2, 3, dilation=dilation) for _ in paddings)
        self.convolutions = torch.nn.ModuleList(convolutions)

    def forward(self, x: Tensor) -> Tensor:
        y = x.transpose(1, 2)
        for convolution, padding in zip(self.convolutions, self.paddings, strict=True):
            y = torch.tanh(convolution(pad(y, padding)))
        return y.transpose(1, 2)


class Masked(torch.nn.Module):
    """torch's own attention over three positions, by a mask; a linear map of the inputs first."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(1)
        self.maps = torch.nn.Linear(2, 6)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.maps(x).chunk(3, dim=2)
        ages = torch.arange(x.shape[1])[:, None] - torch.arange(x.shape[1])
        return scaled_dot_product_attention(q, k, v, attn_mask=(ages >= 0) & (ages < 3))


def inputs(T: int = 20, dtype: torch.dtype = torch.float32) -> Tensor:
    """Two sequences of two inputs."""
    return torch.randn(2, T, 2, generator=torch.Generator().manual_seed(2)).to(dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_reference_models_pass(dtype):
    """Each of the house's own models has exactly the field that it states, in both dtypes."""
    torch.manual_seed(3)
    for model in (
        TCN(2, 4, 2, (1, 2)),
        GatedConvolution(2, 2, 2, (1, 3)),
        WaveNet(2, 2, 2, (1, 2, 4)),
        WindowedAttention(2, 4, 3, layers=3, heads=2),
    ):
        assert_receptive_field(model.to(dtype), inputs(model.field + 6, dtype), model.field)


def test_models_of_torch_pass():
    """A stack of torch's convolutions, and its masked attention where nothing overflows; a field
    no more than claimed; outputs without units, of long sequences 32 times."""
    assert_receptive_field(Stack((2, 0), (2, 0)), inputs(), 5)
    assert_receptive_field(Stack((4, 0), (4, 0), dilation=2), inputs(), 9)
    assert_receptive_field(Masked(), inputs(), 3, largest=1e9)
    assert_receptive_field(Stack((2, 0), (2, 0)), inputs(), 6, exact=False)
    assert_receptive_field(lambda x: x[..., 0] * 2, inputs(100), 1)


def recurrent(x: Tensor) -> Tensor:
    """An LSTM sees all its inputs, if its gates let them through."""
    torch.manual_seed(4)
    return torch.nn.LSTM(2, 4, batch_first=True)(x)[0]


def by_fft(x: Tensor) -> Tensor:
    """A convolution: in exact arithmetic its field is 2; in floats each output hears of every
    input."""
    size = 2 * x.shape[1]
    kernel = torch.tensor([1.0, 0.5])[:, None]
    product = torch.fft.rfft(x, size, dim=1) * torch.fft.rfft(kernel, size, dim=0)
    return torch.fft.irfft(product, size, dim=1)[:, : x.shape[1]]


def added(x: Tensor) -> Tensor:
    """Minus infinity added to a NaN masks nothing; with inputs that cannot overflow it does."""
    ages = torch.arange(x.shape[1])[:, None] - torch.arange(x.shape[1])
    mask = torch.where((ages >= 0) & (ages < 2), 0.0, -torch.inf)
    scores = (x @ x.transpose(1, 2)) * torch.tensor(0.5) + mask
    return torch.softmax(scores, dim=2) @ x.clamp(-1, 1)


WRONG = [  # a module, the field that is claimed, and what is said
    (Stack((2, 0), (1, 1)), 5, r"not causal: .* after time 1 were .*; pad its inputs"),
    (Stack((2, 0), (2, 0)), 4, "the field is at least 5, not 4: y_"),
    (Stack((4, 0), (4, 0), dilation=2), 5, "the field is at least 9, not 5"),
    (Stack((2, 0), (2, 0)), 6, r"the oldest of 6 inputs was seen; .* exact=False"),
    (recurrent, 5, "the field is at least"),
    (lambda x: x - x.mean(dim=1, keepdim=True), 1, "not causal"),
    (lambda x: x.cumsum(dim=1), 1, "the field is at least"),
    (by_fft, 2, "changed from"),
    (added, 2, "to nan"),
]


@pytest.mark.parametrize(("model", "field", "told"), WRONG)
def test_a_wrong_field_is_convicted(model, field, told):
    """Looking ahead, further back than claimed, less far, and rounding or overflows that leak."""
    with pytest.raises(AssertionError, match=told):
        assert_receptive_field(model, inputs(), field)


def test_bad_calls_are_no_failed_assertions():
    """Wrong shapes, numbers and modules are named."""
    model = Stack((2, 0))
    for wrong in (inputs()[0], inputs()[:0], inputs().long()):
        with pytest.raises(InputError, match=r"\(N, T, d\)"):
            assert_receptive_field(model, wrong, 3)
    with pytest.raises(InputError, match="NaN or infinity"):
        assert_receptive_field(model, inputs() * torch.nan, 3)
    with pytest.raises(InputError, match=r"output.* NaN or infinity"):
        assert_receptive_field(lambda x: x / 0, inputs(), 3)
    for field in (0, 20):
        with pytest.raises(InputError, match="below the inputs' length T = 20"):
            assert_receptive_field(model, inputs(), field)
    for largest in (0.0, 1e300, float("nan")):
        with pytest.raises(InputError, match="largest"):
            assert_receptive_field(model, inputs(), 3, largest=largest)
    with pytest.raises(InputError, match="the module's output"):
        assert_receptive_field(lambda x: x[:, -1], inputs(), 3)
    dropout = torch.nn.Dropout(0.5)
    with pytest.raises(InputError, match=r"two outputs .* \.eval\(\)"):
        assert_receptive_field(dropout, inputs(), 1)
    assert_receptive_field(dropout.eval(), inputs(), 1)
