"""ONNX files of torch's exporters and of onnxruntime's quantisation, as `make_onnx` wrote them; and
the models of silero-vad as the package ships them, whose LSTM lies behind convolutions, in some of
them in the branches of several nodes `If`."""

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import torch

from rnnbounds.impl.errors import InputError
from rnnbounds.impl.reading.adapters import load_model
from rnnbounds.impl.reading.layers import layers
from rnnbounds.impl.reading.onnx.file import graph_of

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

HERE = Path(__file__).with_name("files")
SILERO = find_spec("silero_vad")
needs_silero = pytest.mark.skipif(SILERO is None, reason="silero-vad is not installed")
MODULES = {"LSTM": torch.nn.LSTM, "GRU": torch.nn.GRU}
LSTMS = {  # how many LSTMs each has
    "silero_vad.onnx": 4,
    "silero_vad_16k_op15.onnx": 2,
    "silero_vad_16k_sequence.onnx": 1,
    "silero_vad_half.onnx": 2,
    "silero_vad_openvino_16k.onnx": 1,
}


def torchs(told, kind, x):
    """The outputs of torch's module with the tensors of a stack, for inputs (T, N, d)."""
    own = {name.removeprefix(f"{told.own}."): one.double() for name, one in told.tensors.items()}
    n, d = own["weight_hh_l0"].shape[1], own["weight_ih_l0"].shape[1]
    both, layers = "weight_ih_l0_reverse" in own, 1 + ("weight_hh_l1" in own)
    module = MODULES[kind](d, n, num_layers=layers, bidirectional=both).double()
    module.load_state_dict(own)
    with torch.no_grad():
        return module(torch.tensor(x).double())[0].numpy()


def test_exports():
    """Both exporters' stacks put out what the models did, with weights beside the file too."""
    held = np.load(HERE / "onnx.npz")
    new, old = (graph_of((p := HERE / f"onnx_{k}.onnx").read_bytes(), p) for k in ("new", "old"))
    below, above = new.layers()
    for graph, layer, kind, fed, out in (
        (new, below, "LSTM", "x", "below"),
        (new, above, "GRU", "below", "above"),
        (old, None, "GRU", "x", "old"),
    ):
        assert np.allclose(torchs(graph.told(layer), kind, held[fed]), held[out], atol=1e-6)


def test_quantised():
    """Dequantised weights are near onnxruntime's outputs, which also rounds x and h to 8 bits."""
    held, path = np.load(HERE / "onnx.npz"), HERE / "onnx_quantised.onnx"
    graph = graph_of(path.read_bytes(), path)
    own = torchs(graph.told(None), "LSTM", held["x"])
    assert 0 < np.abs(own - held["quantised"]).max() < 0.01
    assert "without the quantisation of x and h" in load_model(path).source


def shipped(name):
    """The path of a file of the package, which is not imported."""
    return Path(SILERO.submodule_search_locations[0]) / "data" / name


@needs_silero
@pytest.mark.parametrize("name", LSTMS)
def test_layers(name):
    """Every LSTM is listed and read, those of branches by their path."""
    found = layers(shipped(name))
    assert [(one.cell, one.n, one.d) for one in found] == [("lstm", 128, 128)] * LSTMS[name]
    assert all(("branch/" in one.name) == (len(found) > 1) for one in found)
    if len(found) > 1:
        with pytest.raises(InputError, match="in branches; choose one with --layer"):
            load_model(shipped(name))


@needs_silero
def test_branches_share_their_weights():
    """Whether a state is given or not, the LSTM is the same, and that of the other file too."""
    half, both = shipped("silero_vad_half.onnx"), shipped("silero_vad.onnx")
    digests = {load_model(half, layer=one.name).digest for one in layers(half)}
    assert len(digests) == 1
    rates = [load_model(both, layer=one.name).digest for one in layers(both)]
    assert len(set(rates)) == 2  # one at 16 kHz, one at 8 kHz
    assert load_model(shipped("silero_vad_openvino_16k.onnx")).digest in rates


@needs_silero
def test_outputs():
    """torch's LSTM with the weights that are read puts out what onnxruntime does."""
    path, T = shipped("silero_vad_16k_sequence.onnx"), 50
    model = onnx.load(path)
    node = next(one for one in model.graph.node if one.op_type == "LSTM")
    for name in (node.input[0], node.output[0]):
        model.graph.output.append(onnx.helper.make_empty_tensor_value_info(name))
    data = model.SerializeToString()
    session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    sound = np.random.default_rng(0).normal(0, 0.1, (T, 576)).astype("float32")
    start = np.zeros((1, 1, 128), "float32")
    fed = {"input": sound, "h": start, "c": start}
    x, y = session.run([node.input[0], node.output[0]], fed)
    module = torch.nn.LSTM(128, 128)
    module.load_state_dict({f"{k}_l0": one for k, one in load_model(path).weights.items()})
    with torch.no_grad():
        own = module(torch.tensor(x))[0]
    assert np.abs(y[:, 0]).max() > 0.5
    assert np.allclose(own, y[:, 0], atol=1e-5)


@needs_silero
def test_an_lstm_that_is_written_out():
    """A file without a recurrent node says so."""
    with pytest.raises(InputError, match="holds no recurrent node"):
        graph_of(shipped("silero_vad_op18_ifless.onnx").read_bytes(), Path("m.onnx")).told(None)
