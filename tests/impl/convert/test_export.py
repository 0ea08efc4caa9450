"""Exports of truncated models, run by their own runtimes, against torch's recurrent modules."""

import io
import json

import pytest
import torch
from cell_systems import weights_of

from rnnbounds.impl.convert.export import (
    CERTIFICATE,
    LAYERS,
    Stateless,
    check_export,
    traced_program,
)
from rnnbounds.impl.convert.feedforward import FeedForward
from rnnbounds.impl.convert.files import save_truncated
from rnnbounds.impl.convert.truncate import truncate
from rnnbounds.impl.errors import InputError, RangeError

EPS = 0.5  # so that there are few layers, each of which is traced
SIZES = ((1, 1), (2, 3), (3, 40))
EMPTY = ((0, 1), (0, 9))  # no sequence at all


def recurrent(make):
    """A module of torch's that forgets fast."""
    torch.manual_seed(0)
    made = make(2, 4, batch_first=True).eval()
    with torch.no_grad():
        for name, part in made.named_parameters():
            part *= 0.1 if "hh" in name else 0.6
    return made


def inputs(N, T, d=2):
    """Inputs on the unit sphere."""
    x = torch.randn(N, T, d, generator=torch.Generator().manual_seed(N))
    return x / x.norm(dim=2, keepdim=True)


def agrees(run, module, full, latest):
    """True if what is exported gives the module's outputs, within ε of the recurrent ones."""
    for N, T in SIZES:
        x = inputs(N, T)
        found, whole = run(x), full(x)[0]
        whole = whole[:, -1] if latest else whole
        torch.testing.assert_close(found, module(x), rtol=0, atol=1e-5)
        assert (found - whole).norm(dim=-1).max() <= EPS + 1e-5
    for N, T in EMPTY:
        assert run(inputs(N, T)).shape == module(inputs(N, T)).shape


@pytest.mark.slow
@pytest.mark.parametrize("latest", [False, True])
def test_pt2(tmp_path, latest):
    """torch.export's program, loaded anew, for every batch and length."""
    full = recurrent(torch.nn.GRU)
    module, certificate = truncate(full, eps=EPS, inputs=1.0, latest=latest)
    save_truncated(module, certificate, tmp_path / "m.pt2")
    extra = {CERTIFICATE: ""}
    program = torch.export.load(io.BytesIO((tmp_path / "m.pt2").read_bytes()), extra_files=extra)
    assert json.loads(extra[CERTIFICATE]) == json.loads(json.dumps(certificate))
    agrees(program.module(), module, full, latest)


@pytest.mark.slow
def test_onnx(tmp_path):
    """ONNX in onnxruntime, for every batch and length."""
    onnx, runtime = pytest.importorskip("onnx"), pytest.importorskip("onnxruntime")
    pytest.importorskip("onnxscript")
    full = recurrent(torch.nn.LSTM)
    module, certificate = truncate(full, eps=EPS, inputs=1.0)
    save_truncated(module, certificate, tmp_path / "m.onnx")
    session = runtime.InferenceSession(str(tmp_path / "m.onnx"))

    def run(x):
        return torch.from_numpy(session.run(["h"], {"x": x.numpy()})[0])

    agrees(run, module, full, latest=False)
    told = {one.key: one.value for one in onnx.load(tmp_path / "m.onnx").metadata_props}
    assert json.loads(told[CERTIFICATE]) == json.loads(json.dumps(certificate))


CELLS = {
    "rnn-softplus": (),
    "lstm-projected": (),
    "gru-cho": (),
    "leaky-tanh": (),
    "deep-relu": ("transition_2_weight",),
    "stacked-leaky-tanh": (),
}


def drawn(cell, k, latest):
    """The feed-forward form of a drawn cell."""
    stack = cell.startswith("stacked-")
    held = weights_of(cell, CELLS[cell], n=3, d=2, layers=2 if stack else 1, scale=0.8)
    own = {name if stack else name.removesuffix("_l0"): part for name, part in held.items()}
    return FeedForward(own, cell=cell, k=k, latest=latest)


@pytest.mark.parametrize("latest", [False, True])
@pytest.mark.parametrize("cell", CELLS)
def test_every_cell_without_a_state(cell, latest):
    """What is exported gives the outputs of the feed-forward form, at lengths below k and above."""
    module = drawn(cell, 4, latest)
    for N, T in (*EMPTY, (1, 1), (2, 3), (2, 9)):
        x = inputs(N, T)
        assert Stateless(module)(x).shape == module(x).shape
        torch.testing.assert_close(Stateless(module)(x), module(x), rtol=0, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("cell", CELLS)
def test_every_cell_is_traced(cell):
    """torch.export meets no branch on a weight, and its program gives the same for any sizes."""
    module = drawn(cell, 1, False)
    program = traced_program(Stateless(module), module.sizes.d, module.k).module()
    torch.testing.assert_close(program(inputs(2, 9)), module(inputs(2, 9)), rtol=0, atol=1e-6)


def test_latest():
    """The last output of the feed-forward form, whatever comes before the last k inputs: two runs
    of one window are apart by what the certificate says of rounding, twice."""
    module, _ = truncate(recurrent(torch.nn.LSTM), eps=EPS, inputs=1.0)
    last, certificate = truncate(recurrent(torch.nn.LSTM), eps=EPS, inputs=1.0, latest=True)
    assert certificate == truncate(recurrent(torch.nn.LSTM), eps=EPS, inputs=1.0).certificate
    x = inputs(3, 40)
    apart = 2 * certificate["rounding"]["state"]
    assert 0 < apart < 1e-5
    torch.testing.assert_close(last(x), module(x)[:, -1], rtol=0, atol=1e-6)
    other = torch.cat([x[:, : 40 - last.k] * 0 + 9.0, x[:, 40 - last.k :]], dim=1)
    for found in (last(other), last.infer(x)):
        assert (found - last(x)).norm(dim=1).max() <= apart
    assert last(x[:, :0]).tolist() == [[0.0] * 4] * 3
    assert "latest=True" in repr(last)


def test_what_is_refused(tmp_path, monkeypatch):
    """Other suffixes, a library that is missing, too many layers; nothing is written."""
    module, certificate = truncate(recurrent(torch.nn.RNN), eps=EPS, inputs=1.0)
    with pytest.raises(InputError, match=r"exports end in \.pt2 or \.onnx"):
        check_export(tmp_path / "m.tflite")
    with pytest.raises(InputError, match=r"no name of a \.safetensors file"):
        save_truncated(module, certificate, tmp_path / "m.tflite")
    long = FeedForward(module.weights, cell="rnn-tanh", k=LAYERS + 1)
    needed = f"at most {LAYERS} to export, as for a larger ε; choose another value"
    with pytest.raises(RangeError, match=f"the window k = {LAYERS + 1}, but it must be {needed}"):
        save_truncated(long, certificate, tmp_path / "m.pt2")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(InputError, match="needs onnx and onnxscript; pip install"):
        check_export(tmp_path / "m.onnx")
    assert not list(tmp_path.iterdir())
