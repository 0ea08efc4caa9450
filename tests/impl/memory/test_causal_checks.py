"""Models of which a gap would mean nothing are refused, each in one line that says why."""

import numpy as np
import pytest
import torch
from causal_models import TokenModel, seeded

import rnnbounds
from rnnbounds.impl.errors import InputError

X = np.random.default_rng(0).normal(size=(30, 20, 4)).astype(np.float32)
TOKENS = np.random.default_rng(0).integers(0, 11, size=(30, 20))


def ahead(by):
    """Outputs that see so many inputs ahead, from the fifth on."""
    return lambda x: torch.cat([x[:, :4], x[:, 4 : 20 - by] + x[:, 4 + by :], x[:, 20 - by :]], 1)


def kept(seen):
    """A model that goes on where it stopped."""
    return lambda x: x * (seen.append(x) or len(seen))


OUTPUTS = {
    "shorter": lambda x: x[:, 1:],
    "one number": lambda x: x.sum(),
    "no axis of outputs": lambda x: x[..., 0].sum(1),
    "four axes": lambda x: x[..., None],
    "empty": lambda x: x[..., :0],
    "complex": lambda x: x + 1j,
    "a text": lambda x: "y",
    "nothing": lambda x: None,
    "an empty tuple": lambda x: (),
    "a number for each input": lambda x: x[..., 0],
}
REFUSED = {  # by what is wrong: the model, the reason, and data if they are not X
    "next": (ahead(1), r"not causal: y_5 changed by .* when the inputs after time \d+ did; mask"),
    "far": (ahead(9), "is not causal: y_5 changed"),
    "mean": (lambda x: x - x.mean(1, keepdim=True), "is not causal: y_1 changed"),
    "reversed": (lambda x: x.flip(1).cumsum(1), "is not causal: y_1 changed"),
    "batch": (lambda x: x - x.mean(0), "changes by .* with the other windows of its batch; call "),
    "layout": (lambda x: x.cumsum(0), "with the other windows of its batch"),
    "noise": (lambda x: x + torch.rand(()), "two outputs for the same inputs; call .eval"),
    "a kept state": (kept([]), "keep no state between calls"),
    "infinite": (lambda x: x / 0, "holds NaN or infinity; repair the model"),
    "raises": (lambda x: x @ torch.ones(3, 3), r"RuntimeError: .* on windows of shape \(4, 20"),
    "exits": (lambda x: exit(3), "raises SystemExit: 3 on windows"),
    "unknown tokens": (seeded(TokenModel, 11, 6, 5), "raises IndexError: index out", TOKENS + 11),
    "no tokens": (seeded(TokenModel, 11, 6, 5), "raises RuntimeError: .*float32; let it take"),
    "short windows": (lambda x: x if x.shape[1] > 3 else x[:, :0], "the output of .* has shape"),
    "no values": (torch.nn.Linear(4, 3, device="meta"), "has parameters without values; load them"),
    "lazy": (torch.nn.LazyLinear(3), "has parameters without values; load them"),
    **{
        f"output: {form}": (model, r"return outputs \(N, T, p\) or \(N, p\)")
        for form, model in OUTPUTS.items()
    },
}


@pytest.mark.parametrize("wrong", REFUSED)
def test_what_is_refused(wrong):
    """On the data's own values, in one line, with the model's own words where it has some."""
    model, reason, *data = REFUSED[wrong]
    with pytest.raises(InputError, match=reason) as caught:
        rnnbounds.measure(model, *(data or [X]))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("module", "reason", "options"),
    [
        (torch.nn.LSTM(4, 3), "with the other windows of its batch", {}),
        (torch.nn.GRU(4, 3, batch_first=True, bidirectional=True), "not causal: y_1 changed", {}),
        (torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Dropout()), "two outputs for the", {}),
        (torch.nn.BatchNorm1d(20), "with the other windows of its batch", {}),
        # Each input would be a sequence of its own, and k = 1 of any recurrent module.
        (torch.nn.GRU(4, 3), r"as if its first axis were time; .*\(N, T, …\)", {"batch": 1}),
    ],
    ids=["time first", "both directions", "dropout", "batch norm", "one window at a time"],
)
def test_modules_of_torch(module, reason, options):
    """In training mode, or with axes in another order; the module is left as it was."""
    before = {name: part.clone() for name, part in module.state_dict().items()}
    with pytest.raises(InputError, match=reason):
        rnnbounds.measure(module, X, as_is=True, **options)
    assert all(torch.equal(before[name], part) for name, part in module.state_dict().items())
    assert module.training


@pytest.mark.parametrize("model", [torch.nn.Dropout(), torch.nn.LayerNorm(4)])
def test_what_is_the_same_in_evaluation_is_measured(model):
    """The output is a function of the last input alone."""
    assert rnnbounds.measure(model.eval(), X, eps=0.1).window(0.1) == 1


def test_rounding_is_no_look_ahead():
    """A convolution by FFT mixes rounding of later inputs in, which is not taken for causality
    lost."""
    kernel = torch.fft.rfft(0.5 ** torch.arange(20.0), 40)[:, None]

    def model(x):
        padded = torch.nn.functional.pad(x, (0, 0, 0, 20 - x.shape[1]))
        return torch.fft.irfft(torch.fft.rfft(padded, 40, 1) * kernel, 40, 1)[:, : x.shape[1]]

    assert rnnbounds.measure(model, X, eps=0.1).run["causality"] == "tried"
