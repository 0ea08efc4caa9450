"""What reaches a layer inside a module is recorded as the layer sees it."""

import numpy as np
import pytest
import torch
from torch.nn.utils.rnn import pack_padded_sequence

import rnnbounds
from rnnbounds.impl.errors import InputError
from rnnbounds.impl.reading.data.capture import CaptureError

X = torch.randn(24, 10, 3, generator=torch.Generator().manual_seed(0))


class Forecaster(torch.nn.Module):
    """A scaler before a recurrent layer, and a head after it."""

    def __init__(self, kind=torch.nn.LSTM, batch_first=True, **how):
        super().__init__()
        self.rnn = kind(4, 5, batch_first=batch_first, **how)
        self.into, self.head = torch.nn.Linear(3, 4), torch.nn.Linear(5, 1)

    def forward(self, x, start=None):
        """(N, T, 3) -> (N, T, 1)."""
        scaled = self.into(x / x.abs().amax())
        if not self.rnn.batch_first:
            scaled = scaled.transpose(0, 1)
        return self.head(self.rnn(scaled, start)[0])


class Looped(torch.nn.Module):
    """A cell in a loop of the user's own; `change` is made to the state between calls."""

    def __init__(self, kind, change=lambda s: s):
        super().__init__()
        self.cell, self.change = kind(3, 5), change

    def forward(self, x):
        """(N, T, 3) -> states after the last."""
        s = None
        for inputs in x.unbind(1):
            s = self.cell(inputs, s if s is None else self.change(s))
        return s


def scaled(model, x):
    """The inputs of the layer."""
    with torch.no_grad():
        return model.into(x / x.abs().amax()).numpy()


@pytest.mark.parametrize("kind", [torch.nn.LSTM, torch.nn.GRU, torch.nn.RNN])
@pytest.mark.parametrize("batch_first", [True, False])
def test_inputs_as_the_layer_sees_them(kind, batch_first):
    """After the scaler, in the layout (N, T, d) whatever the layer's own; the module is as before,
    and the data are what `measure` takes for that layer."""
    model = Forecaster(kind, batch_first)
    before = dict(vars(model.rnn))
    seen = rnnbounds.capture(model, X.split(8), "rnn")
    assert dict(vars(model.rnn)) == before
    assert not model.rnn._forward_hooks
    expected = np.concatenate([scaled(model, batch) for batch in X.split(8)])
    assert np.array_equal(seen.data().x, expected)
    assert (seen.batch_first, seen.largest_start, seen.carried_over) == (batch_first, 0, 0)
    assert f"batch_first is {batch_first}" in seen.notes()
    found = rnnbounds.measure(model, seen.data(), layer="rnn", eps=0.1)
    assert (found.windows, found.length) == (24, 10)


BATCHES = {
    "tensors": (X.split(8), None),
    "tuples": ([(part, None) for part in X.split(8)], None),
    "dicts": ([{"x": part} for part in X.split(8)], None),
}


@pytest.mark.parametrize("form", BATCHES)
def test_batches(form):
    """Positional and named arguments."""
    model = Forecaster()
    seen = rnnbounds.capture(model, BATCHES[form][0], "rnn")
    assert np.array_equal(seen.data().x, rnnbounds.capture(model, X.split(8), "rnn").data().x)


def test_a_batch_run_by_a_function():
    """`run` is given each batch as it is."""
    model = Forecaster()
    seen = rnnbounds.capture(model, [{"x": X, "y": 0}], "rnn", run=lambda b: model(b["x"]))
    assert len(seen.sequences) == 24


def test_lengths_of_packed_sequences():
    """In the order of the batch, each of its own length; they are cut to windows of one."""
    model, lengths = torch.nn.LSTM(3, 5), torch.tensor([4, 10, 7, *[6] * 21])
    packed = pack_padded_sequence(X, lengths, batch_first=True, enforce_sorted=False)
    seen = rnnbounds.capture(model, [packed], ".", run=model)
    assert seen.lengths == tuple(lengths.tolist())
    assert all(
        np.array_equal(one, x[: len(one)].numpy()) for one, x in zip(seen.sequences, X, strict=True)
    )
    data = seen.data()
    assert tuple(data.lengths.tolist()) == seen.lengths
    assert len(data.windows(5)) == 24  # two of the longest, none of the shortest


@pytest.mark.parametrize("kind", [torch.nn.LSTMCell, torch.nn.GRUCell, torch.nn.RNNCell])
def test_a_cell_in_a_loop(kind):
    """The calls of a batch are one sequence each."""
    seen = rnnbounds.capture(Looped(kind), X.split(8), "cell")
    assert np.array_equal(seen.data().x, X.numpy())
    assert seen.batch_first is None


def test_a_layer_called_on_chunks_is_one_sequence():
    """Each call starts where the one before ended."""
    model = torch.nn.GRU(3, 5, batch_first=True)

    def run(batch):
        state = None
        for chunk in batch.split(4, 1):
            state = model(chunk, state)[1]

    seen = rnnbounds.capture(model, [X], ".", run=run)
    assert np.array_equal(seen.data().x, X.numpy())


def test_starts_other_than_zero_and_a_state_carried_over():
    """The largest entry, and in how many batches the state is the last one's."""
    torch.manual_seed(0)
    model, state = torch.nn.LSTM(3, 5, batch_first=True), None

    def run(batch):
        nonlocal state
        state = model(batch, state)[1]

    seen = rnnbounds.capture(model, X.split(8), ".", run=run)
    assert seen.carried_over == 2
    assert seen.starts.shape == (24, 10)
    assert not seen.starts[:8].any()
    assert seen.largest_start == np.abs(seen.starts).max() > 0
    notes = " ".join(seen.notes())
    assert "runs start from states other than zero, up to |s_i| = " in notes
    assert "in 2 of 3 batches the layer starts where it had ended" in notes


def test_dilations_and_training_mode_are_reported():
    """Of the layer and of modules around it."""
    model = torch.nn.ModuleDict({"rnn": torch.nn.GRU(3, 5, batch_first=True)})
    model.dilations = [1, 2]
    seen = rnnbounds.capture(model, [X], "rnn", run=model["rnn"])
    assert seen.dilations == {"dilations": [1, 2]}
    assert any(line.startswith("dilations = [1, 2]: if the layer is") for line in seen.notes())
    assert seen.notes()[-1].startswith("the model is in training mode")


def test_saved(tmp_path):
    """As one array that the command reads, or with lengths and starts."""
    model = Forecaster()
    seen = rnnbounds.capture(model.eval(), [(X, None)], "rnn")
    seen.save(tmp_path / "x.npy")
    assert np.array_equal(np.load(tmp_path / "x.npy"), seen.data().x)
    seen.save(tmp_path / "x.npz")
    held = np.load(tmp_path / "x.npz")
    assert held["x"].shape == (24, 10, 4)
    assert held["lengths"].tolist() == [10] * 24
    assert held["starts"].shape == (24, 10)
    with pytest.raises(InputError, match=r"is no name for data; end it in \.npy or \.npz"):
        seen.save(tmp_path / "x.txt")
    with pytest.raises(InputError, match="cannot be written"):
        seen.save(tmp_path / "no" / "x.npy")


@pytest.mark.parametrize(
    ("model", "layer", "reason"),
    [
        (Forecaster(), "lstm", "is no layer of the module; choose among: rnn"),
        (torch.nn.Linear(3, 3), "rnn", "choose among: none is torch's"),
        (Forecaster().rnn.state_dict(), "rnn", "OrderedDict is no module; pass a torch.nn.Module"),
        (Forecaster(), "head.", "is no layer"),
        (torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(30, 2)), "1", "no sequence of"),
        (Looped(torch.nn.GRUCell, lambda s: s / 2), "cell", "never starts where it ended"),
    ],
)
def test_layers_that_give_nothing(model, layer, reason):
    """One line."""
    with pytest.raises(CaptureError, match=reason):
        rnnbounds.capture(model, [X], layer)


def test_a_layer_that_is_not_called():
    """No batch, or none that reaches it; the hook is gone after an error of the module, too."""
    model = Forecaster()
    with pytest.raises(CaptureError, match="is not called in 0 batches"):
        rnnbounds.capture(model, [], "rnn")
    with pytest.raises(RuntimeError):
        rnnbounds.capture(model, [X[:, :, :2]], "rnn")
    assert not model.rnn._forward_hooks


class Smoothing(torch.nn.Module):
    """A recurrent layer of somebody's own."""

    def forward(self, x):
        """(N, T, d) -> (N, T, d)."""
        return x.cumsum(1) / 2


def test_a_layer_that_is_not_torchs():
    """Its inputs are taken as (N, T, d); its states are not known."""
    model = torch.nn.Sequential(torch.nn.Linear(3, 2), Smoothing())
    seen = rnnbounds.capture(model, X.split(8), "1")
    assert seen.data().x.shape == (24, 10, 2)
    assert (seen.batch_first, seen.starts.shape, seen.largest_start) == (None, (24, 0), 0)


def test_vectors_of_several_widths_and_too_many(monkeypatch):
    """One line each."""
    with pytest.raises(CaptureError, match="sees vectors of several widths"):
        rnnbounds.capture(Smoothing(), [X, X[:, :, :2]], ".")
    monkeypatch.setattr("rnnbounds.impl.reading.data.capture.LARGEST", 2000)
    with pytest.raises(CaptureError, match="sees more than 2000 bytes; pass fewer batches"):
        rnnbounds.capture(Smoothing(), X.split(8), ".")
    with pytest.raises(CaptureError, match="no sequence of vectors"):
        rnnbounds.capture(Smoothing(), [X[0]], ".")
