"""A stopped run goes on from its file, and batches are halved where memory runs out."""

import numpy as np
import pytest
import torch
from causal_models import LocalAttention, seeded

import rnnbounds
from rnnbounds.impl.errors import InputError
from rnnbounds.impl.memory.blackbox.saved_rows import ResumeError, SavedRows

X = np.random.default_rng(0).normal(size=(40, 12, 4))


class Limited(torch.nn.Module):
    """A model that runs out of memory above a number of windows, and stops after some calls."""

    def __init__(self, most: int, error: type[BaseException] = MemoryError) -> None:
        super().__init__()
        self.body, self.most, self.error = seeded(LocalAttention, 4, 5), most, error
        self.calls, self.last = 0, 10**9

    def forward(self, x):
        """(N, T, d) -> (N, T, d)."""
        counter[0] += 1
        if counter[0] > self.last:
            raise KeyboardInterrupt
        if len(x) > self.most:
            raise self.error("CUDA out of memory")
        return self.body(x)


counter = [0]


@pytest.fixture(autouse=True)
def _fresh():
    counter[0] = 0


@pytest.mark.parametrize("error", [MemoryError, torch.OutOfMemoryError])
@pytest.mark.parametrize("most", [2, 3, 11, 16])
def test_batches_are_halved(error, most):
    """The answer is that of small batches, and the record says how many windows sufficed."""
    found = rnnbounds.measure(Limited(most, error), X, eps=0.1, batch=16)
    plain = rnnbounds.measure(Limited(64), X, eps=0.1, batch=1)
    assert found.run.batch == {2: 2, 3: 2, 11: 8, 16: 16}[most]
    assert torch.allclose(found.gaps, plain.gaps, atol=1e-6)
    assert found.window(0.1) == plain.window(0.1) == 5


@pytest.mark.parametrize("most", [0, 1])
def test_a_window_that_does_not_fit(most):
    """One line."""
    with pytest.raises(InputError, match="memory runs out on a single window; ask for a shorter"):
        rnnbounds.measure(Limited(most), X)


@pytest.mark.parametrize("last", [1, 30, 60, 100, 200])
def test_a_stopped_run_goes_on(last, tmp_path):
    """Wherever it was stopped it ends with the same record, and fewer calls."""
    options = {"eps": (0.1, 0.3), "batch": 8, "resume": tmp_path / "rows"}
    whole = rnnbounds.measure(Limited(64), X, **options | {"resume": None})
    all_calls, counter[0] = counter[0], 0
    stopped = Limited(64)
    stopped.last = last
    if last < all_calls:
        with pytest.raises(KeyboardInterrupt):
            rnnbounds.measure(stopped, X, **options)
    counter[0], calls = 0, []
    again = rnnbounds.measure(Limited(64), X, **options, progress=lambda *call: calls.append(call))
    assert again.to_json() == whole.to_json()
    assert torch.equal(again.gaps, whole.gaps)
    assert counter[0] <= all_calls
    assert calls[-1][0] == calls[-1][1]
    counter[0] = 0
    assert rnnbounds.measure(Limited(64), X, **options).to_json() == whole.to_json()
    assert counter[0] < 25  # the conditions are tried anew, no window is run again


def test_a_halved_batch_is_kept(tmp_path):
    """A run that goes on does not try a batch again for which memory ran out."""
    options = {"eps": 0.1, "batch": 16, "resume": tmp_path / "rows"}
    first = rnnbounds.measure(Limited(5), X, **options)
    again = rnnbounds.measure(Limited(5), X, **options)
    assert first.to_json() == again.to_json()
    assert again.run.batch == 4


@pytest.mark.parametrize(
    "change",
    [{"eps": 0.2}, {"gap": "tv"}, {"window": 6}, {"batch": 4}, {"confidence": 0.9}, {"x": X[1:]}],
)
def test_another_measurement_is_refused(change, tmp_path):
    """Data and options are part of the key."""
    options = {"eps": 0.1, "batch": 8, "resume": tmp_path / "rows"}
    rnnbounds.measure(Limited(64), X, **options)
    with pytest.raises(ResumeError, match="is of another measurement: data, options or param"):
        rnnbounds.measure(Limited(64), change.pop("x", X), **options | change)


def test_another_model_is_refused(tmp_path):
    """So are parameters and buffers."""
    rnnbounds.measure(Limited(64), X, resume=tmp_path / "rows")
    model = Limited(64)
    with torch.no_grad():
        model.body.parts[0].bias[0] += 2.0**-20
    with pytest.raises(ResumeError, match="is of another measurement"):
        rnnbounds.measure(model, X, resume=tmp_path / "rows")


def test_files_that_are_none(tmp_path):
    """Damaged, of another kind, in a folder that is missing."""
    (tmp_path / "text").write_text("rows")
    rows = SavedRows.open(tmp_path / "rows", "key", 8)
    rows.add("curve", torch.full((2, 3), torch.nan).double())
    with pytest.raises(InputError, match="is no intact safetensors file"):
        SavedRows.open(tmp_path / "text", "key", 8)
    with pytest.raises(ResumeError, match="cannot be written"):
        SavedRows.open(tmp_path / "no" / "rows", "key", 8)
    with pytest.raises(ResumeError, match="is of another measurement"):
        SavedRows.open(tmp_path / "rows", "other", 8)
    for columns, most in ((3, 2), (2, 2), (3, 1)):
        with pytest.raises(ResumeError, match="table curve is damaged; remove the file"):
            SavedRows.open(tmp_path / "rows", "key", 8).table("curve", columns, most)


def test_large_outputs_make_small_batches(monkeypatch):
    """By default as many windows are run at once as have so many outputs."""
    monkeypatch.setattr("rnnbounds.impl.memory.blackbox.measuring.NUMBERS", 5 * 12 * 4)
    assert rnnbounds.measure(Limited(5), X, eps=0.1).run.batch == 5
    monkeypatch.setattr("rnnbounds.impl.memory.blackbox.measuring.NUMBERS", 1)
    assert rnnbounds.measure(Limited(5), X, eps=0.1).run.batch == 1
