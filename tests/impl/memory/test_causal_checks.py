"""Models of which a gap would mean nothing are refused, each in one line that says why."""

import numpy as np
import pytest
import torch
from causal_models import TokenModel, seeded

import rnnbounds
from rnnbounds.impl.errors import InputError

X = np.random.default_rng(0).normal(size=(30, 20, 4)).astype(np.float32)
META = torch.nn.Linear(4, 3, device="meta")
TOKENS = np.random.default_rng(0).integers(0, 11, size=(30, 20))


def ahead(by):
    """Outputs that see so many inputs ahead, from the fifth on."""
    return lambda x: torch.cat([x[:, :4], x[:, 4 : 20 - by] + x[:, 4 + by :], x[:, 20 - by :]], 1)


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (ahead(1), r"is not causal: y_5 changed by .* when the inputs after time \d+ did; mask"),
        (ahead(9), r"is not causal: y_5 changed"),
        (lambda x: x - x.mean(1, keepdim=True), "is not causal: y_1 changed"),
        (lambda x: x.flip(1).cumsum(1), "is not causal: y_1 changed"),
        (lambda x: x - x.mean(0), "changes by .* with the other windows of its batch; call .eval"),
        (lambda x: x.cumsum(0), "with the other windows of its batch"),
        (lambda x: x + torch.rand(()), "two outputs for the same inputs; call .eval"),
    ],
    ids=["next", "far", "mean", "reversed", "batch", "layout", "noise"],
)
def test_conditions(model, reason):
    """What fails is found on the data's own values."""
    with pytest.raises(InputError, match=reason):
        rnnbounds.measure(model, X)


@pytest.mark.parametrize(
    ("module", "reason"),
    [
        (torch.nn.LSTM(4, 3), "with the other windows of its batch"),
        (torch.nn.GRU(4, 3, batch_first=True, bidirectional=True), "is not causal: y_1 changed"),
        (torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Dropout()), "two outputs for the"),
        (torch.nn.BatchNorm1d(20), "with the other windows of its batch"),
    ],
    ids=["time first", "both directions", "dropout", "batch norm"],
)
def test_modules_of_torch(module, reason):
    """In training mode, or with axes in another order; the module is left as it was."""
    before = {name: part.clone() for name, part in module.state_dict().items()}
    with pytest.raises(InputError, match=reason):
        rnnbounds.measure(module, X, as_is=True)
    assert all(torch.equal(before[name], part) for name, part in module.state_dict().items())
    assert module.training


@pytest.mark.parametrize("model", [torch.nn.Dropout(), torch.nn.LayerNorm(4)])
def test_what_is_the_same_in_evaluation_is_measured(model):
    """The output is a function of the last input alone."""
    assert rnnbounds.measure(model.eval(), X, eps=0.1).window(0.1) == 1


def test_a_kept_state_is_found():
    """A model that goes on where it stopped has two outputs for the same inputs."""
    seen = []

    def model(x):
        seen.append(x)
        return x * len(seen)

    with pytest.raises(InputError, match="keep no state between calls"):
        rnnbounds.measure(model, X)


def test_rounding_is_no_look_ahead():
    """A convolution by FFT mixes rounding of later inputs in, which is not taken for causality
    lost."""
    kernel = 0.5 ** torch.arange(20.0)

    def model(x):
        spectrum = torch.fft.rfft(x, 40, 1) * torch.fft.rfft(kernel, 40)[:, None]
        return torch.fft.irfft(spectrum, 40, 1)[:, :20]

    def of_every_length(x):
        padded = torch.nn.functional.pad(x, (0, 0, 0, 20 - x.shape[1]))
        return model(padded)[:, : x.shape[1]]

    assert rnnbounds.measure(of_every_length, X, eps=0.1).run["causality"] == "tried"


SHAPES = {
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


@pytest.mark.parametrize("shape", SHAPES)
def test_outputs_of_other_shapes(shape):
    """What is no output (N, T, p) or (N, p) is refused."""
    with pytest.raises(InputError, match=r"return outputs \(N, T, p\) or \(N, p\)"):
        rnnbounds.measure(SHAPES[shape], X)


@pytest.mark.parametrize(
    ("model", "x", "reason"),
    [
        (lambda x: x / 0, X, "holds NaN or infinity; repair the model"),
        (lambda x: x @ torch.ones(3, 3), X, r"raises RuntimeError: .* on windows of shape \(4, 20"),
        (lambda x: exit(3), X, "raises SystemExit: 3 on windows"),
        (seeded(TokenModel, 11, 6, 5), TOKENS + 11, "raises IndexError: index out of range"),
        (seeded(TokenModel, 11, 6, 5), X, "raises RuntimeError: .* torch.float32; let it take"),
        (lambda x: x if x.shape[1] > 3 else x[:, :0], X, "the output of .* has shape"),
    ],
    ids=["infinite", "raises", "exits", "unknown tokens", "no tokens", "short windows"],
)
def test_models_that_fail(model, x, reason):
    """One line, with the model's own words where it has some."""
    with pytest.raises(InputError, match=reason) as caught:
        rnnbounds.measure(model, x)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("made", [lambda: torch.nn.LazyLinear(3), lambda: META])
def test_parameters_without_values(made):
    """Refused before anything is run."""
    with pytest.raises(InputError, match="has parameters without values; load them"):
        rnnbounds.measure(made(), X)


def test_one_window_at_a_time_does_not_hide_time_on_the_first_axis():
    """Each input would be a sequence of its own, and k = 1 of any recurrent module."""
    with pytest.raises(InputError, match=r"as if its first axis were time; .*\(N, T, …\)"):
        rnnbounds.measure(torch.nn.GRU(4, 3), X, as_is=True, batch=1)
