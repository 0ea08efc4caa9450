"""Truncated models in both directions: their outputs, their files, their exports."""

import json

import pytest
import torch
from both_models import MODULES, both, by_windows, inputs

import rnnbounds
from rnnbounds.impl.bidirectional import feedforward
from rnnbounds.impl.bidirectional.feedforward import BidirectionalWindows
from rnnbounds.impl.bidirectional.files import BothNotCertifiedError
from rnnbounds.impl.errors import InputError, RangeError, ShapeError
from rnnbounds.impl.reading.files import ModelFileError


@torch.no_grad()
@pytest.mark.parametrize("layers", [1, 3])
@pytest.mark.parametrize("cell", MODULES)
def test_windows_are_torchs(monkeypatch, cell, layers):
    """Every output is that of torch's module on its window, clipped where the sequence ends; by
    blocks too."""
    module = both(cell, layers, scale=0.8, dtype=torch.float64)
    x = inputs(dtype=torch.float64)
    monkeypatch.setattr(feedforward, "_NUMBERS", 500)
    for past, future in ((0, 0), (3, 1), (0, 4), (20, 20)):
        short = BidirectionalWindows(module.state_dict(), cell=cell, past=past, future=future)
        expected = by_windows(module, x, past, future)
        assert torch.allclose(short(x), expected, atol=1e-14, rtol=0)
        assert torch.allclose(short.infer(x), expected, atol=1e-14, rtol=0)
    assert torch.allclose(short(x), module(x)[0], atol=1e-14, rtol=0)
    module.load_state_dict(short.state_dict())


def test_files(tmp_path):
    """A truncated model comes back with its certificate; a file that was changed does not."""
    module, certificate = truncated = rnnbounds.truncate(both("gru", 2), 0.5, 1.0)
    path = tmp_path / "short.safetensors"
    rnnbounds.save_truncated(module, certificate, path)
    again, x = rnnbounds.load_truncated(path), inputs()
    assert torch.equal(again(x), module(x))
    assert (again.window, truncated.eps) == (truncated.window, 0.5)
    read = rnnbounds.load_certificate(path)
    assert read.window(0.5) == truncated.window
    assert read.to_json() == certificate
    assert "inputs t − " in str(truncated)
    whole = rnnbounds.certify(both("gru", 2), 1.0, 0.5)
    (tmp_path / "c.json").write_text(json.dumps(whole.to_json()))
    assert rnnbounds.load_certificate(tmp_path / "c.json").to_json() == whole.to_json()
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(bytes(data))
    for call in (rnnbounds.load_truncated, rnnbounds.load_certificate):
        with pytest.raises(ModelFileError, match="was changed after it was written"):
            call(path)


def test_documents_that_contradict_themselves(tmp_path):
    """A verdict that the cells do not have, no windows, no cells: refused in one line."""
    whole, path = rnnbounds.certify(both(), 1.0, 0.5).to_json(), tmp_path / "c.json"
    for change in ({"verdict": "refuted"}, {"truncation": []}, {"layers": []}, {"gain": "1"}):
        path.write_text(json.dumps(whole | change))
        with pytest.raises(InputError, match="no certificate"):
            rnnbounds.load_certificate(path)


def test_refusals(tmp_path):
    """Other certificates, windows, weights and options: one line each."""
    module, certificate = rnnbounds.truncate(both(), 0.5, 1.0)
    other = rnnbounds.truncate(both(seed=9), 0.5, 1.0)
    longer = BidirectionalWindows(module.weights, cell="gru", past=99, future=1)
    past, future = module.window
    another = BidirectionalWindows(other[0].weights, cell="gru", past=past, future=future)
    path, state = tmp_path / "a.safetensors", both().state_dict()

    def windows(**changes):
        sizes = {"cell": "gru", "past": 1, "future": 1}
        return BidirectionalWindows(state, **sizes | changes)

    with torch.no_grad():
        wild = both(scale=9.0)
    one_way = rnnbounds.truncate(torch.nn.RNN(1, 1).requires_grad_(False), 0.9, 0.1)
    for call, error, told in (
        (
            lambda: rnnbounds.save_truncated(another, certificate, path),
            ModelFileError,
            "another model",
        ),
        (lambda: rnnbounds.save_truncated(longer, certificate, path), ModelFileError, "a window"),
        (lambda: rnnbounds.save_truncated(module, {}, path), InputError, "no certificate"),
        (lambda: rnnbounds.save_truncated(module, one_way[1], path), InputError, "no certificate"),
        (lambda: rnnbounds.truncate(both(), 0.5, 1.0, latest=True), InputError, "leave out latest"),
        (lambda: rnnbounds.truncate(wild, 0.5, 1.0), BothNotCertifiedError, "no window is"),
        (lambda: windows(past=-1), RangeError, "past = -1"),
        (lambda: windows(cell="lstm"), ShapeError, "weight_hh"),
        (lambda: windows()(torch.zeros(1, 2, 5)), ShapeError, "x has shape"),
        (
            lambda: BidirectionalWindows(
                torch.nn.GRU(1, 2).state_dict(), cell="gru", past=1, future=1
            ),
            InputError,
            "no weights of layers in both directions",
        ),
        (
            lambda: rnnbounds.export_truncated(longer, certificate, tmp_path / "a.pt2"),
            ModelFileError,
            "a window",
        ),
    ):
        with pytest.raises(error, match=told):
            call()


@pytest.mark.slow
@torch.no_grad()
@pytest.mark.parametrize(("cell", "layers"), [("rnn-tanh", 1), ("gru", 2)])
def test_exports(tmp_path, cell, layers):
    """Batches and lengths of any size, in torch.export and in onnxruntime."""
    runtime = pytest.importorskip("onnxruntime")
    module, certificate = rnnbounds.truncate(both(cell, layers, scale=0.2), 0.5, 1.0)
    for name in ("a.pt2", "a.onnx"):
        rnnbounds.export_truncated(module, certificate, tmp_path / name)
    stored = torch.export.load(tmp_path / "a.pt2").module()
    session = runtime.InferenceSession(tmp_path / "a.onnx")
    for N, T in ((1, 1), (2, 7), (3, 30)):
        x = inputs(N, T)
        assert torch.allclose(stored(x), module(x), atol=1e-6)
        (y,) = session.run(None, {"x": x.numpy()})
        assert torch.allclose(torch.from_numpy(y), module(x), atol=1e-6)
