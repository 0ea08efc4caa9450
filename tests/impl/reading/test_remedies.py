"""What an error says to do is done, and the answer is right."""

import re
import sys
import types
from pathlib import Path

import numpy as np
import pytest
import torch

import rnnbounds
from rnnbounds.impl.errors import InputError
from rnnbounds.impl.reading.adapters import load_model

with torch.random.fork_rng(devices=[]):
    torch.manual_seed(0)
    MODULE, OTHER = torch.nn.GRU(2, 3), torch.nn.RNN(2, 3)
    BOTH = torch.nn.GRU(2, 3, bidirectional=True).state_dict()
    DEEP, PROJECTED = torch.nn.GRU(2, 3, 2, dropout=0.5), torch.nn.LSTM(2, 4, proj_size=3)
W, PAIR = MODULE.state_dict(), torch.nn.ModuleDict({"a": MODULE, "b": OTHER})
OWN, HOOKED = type("Own", (torch.nn.GRU,), {"forward": lambda self, x: x})(2, 3), torch.nn.GRU(2, 3)
HOOKED.register_forward_hook(lambda *_: None)
FORWARD, BACKWARD = ({name: BOTH[name + end] for name in W} for end in ("", "_reverse"))
BESIDE = W | {f"x.{key}": part for key, part in OTHER.state_dict().items()}
PROJECTION = {"h.weight_hr_l0": W["weight_hh_l0"]} | {f"r.{key}": part for key, part in W.items()}
EXPANDED = torch.zeros(1).expand(9)
QUANTISED = {"weight_hh_l0": torch.quantize_per_tensor(W["weight_hh_l0"], 0.1, 0, torch.qint8)}
PACKED = torch.nn.Sequential(torch.ao.nn.quantized.dynamic.GRU(2, 3))
GATES = dict(zip("rzh", zip(*(one.chunk(3) for one in W.values()), strict=True), strict=True))
SUMMED = {"weight_ih": OTHER.weight_ih_l0, "weight_hh": OTHER.weight_hh_l0}
SUMMED |= {"bias_ih": OTHER.bias_ih_l0 + OTHER.bias_hh_l0}


def keras(kind="GRU", built=True, **told):
    """What stands for a layer of Keras, of the weights W: its gates are z, r, h."""
    W, U, *biases = (torch.cat([GATES[gate][i] for gate in "zrh"]).numpy() for i in range(4))
    config = {"activation": "tanh", "reset_after": True} | told
    made = type(kind, (types.SimpleNamespace,), {"__module__": "keras.src.layers"})
    return made(
        get_config=lambda: config, compute_dtype="float32", variable_dtype="float32", name="layer",
        get_weights=lambda: [W.T, U.T, np.stack(biases)] if built else [],
    )  # fmt: skip


def flax(**more):
    """The parameters of flax for these weights."""
    W, U, b = (part.detach().numpy() for part in SUMMED.values())
    return {"i": {"kernel": W.T, "bias": b}, "h": {"kernel": U.T}} | more


def export(module=MODULE, **options):
    """A file of torch's exporter."""
    pytest.importorskip("onnx")
    torch.onnx.export(module, (torch.zeros(4, 1, 2),), "m.onnx", dynamo=False, **options)
    return "m.onnx"


def spoiled(change):
    """Writes that file with a change of the model, the node of the cell at hand."""

    def write():
        import onnx

        model = onnx.load(export())
        (node,) = (one for one in model.graph.node if one.op_type == "GRU")
        change(onnx, model, node)
        Path("s.onnx").write_bytes(model.SerializeToString())
        return "s.onnx"

    return write


def stored(onnx, model, node, role, part):
    """Give a node a constant as its input of that place."""
    model.graph.initializer.append(onnx.numpy_helper.from_array(part.numpy(), "own"))
    node.input.extend([""] * (6 - len(node.input)))
    node.input[role] = "own"


def twice(onnx, model, node):
    """Two nodes of one name."""
    model.graph.node.append(node)
    model.graph.node[-1].output[:] = ["own", "own_h"]


def beside(onnx, model, node):
    """Weights in a file that is not there."""
    onnx.external_data_helper.convert_model_to_external_data(
        model, location="none", size_threshold=0
    )
    for one in model.graph.initializer:
        one.ClearField("raw_data")


def quantised(onnx, model, node):
    """The operator of onnxruntime."""
    node.op_type, node.domain = "DynamicQuantizeLSTM", "com.microsoft"
    model.opset_import.add(domain="com.microsoft", version=1)


# A model and options; the words of the error; the model and options that they say, where \1 is the
# first name in them; and the weights of the answer, if they are not W.
READ = [
    (PAIR, {}, r"choose one with --layer: (\w), ", PAIR, {"layer": r"\1"}),
    (PAIR, {"layer": "aa"}, r"--layer: (\w)$", PAIR, {"layer": r"\1"}),
    (PAIR.state_dict(), {}, r"cells \((\w), \w\); choose one with --layer", PAIR, {"layer": r"\1"}),
    (PAIR.state_dict(), {"layer": "aa"}, r"it has (\w): choose one", PAIR, {"layer": r"\1"}),
    (BESIDE, {}, r"cells \((.), x\); choose one with --layer", BESIDE, {"layer": r"\1"}),
    (torch.nn.Linear(2, 2), {}, "pass one with a torch.nn.RNN, LSTM or GRU", MODULE, {}),
    (OTHER.state_dict(), {}, r"say --cell (\S+) or", OTHER.state_dict(), {"cell": r"\1"}, OTHER),
    (W, {"cell": "lstm"}, r"read it as (\w+)$", W, {"cell": r"\1"}),
    (W, {"cell": "grv"}, r"did you mean (\w+)", W, {"cell": r"\1"}),
    (MODULE, {"cell": "lstm"}, "leave the cell out", MODULE, {}),
    (PROJECTED.state_dict(), {"cell": "gru"}, "leave out the cell", PROJECTED, {}, PROJECTED),
    (load_model(W), {"layer": "a"}, "name layer, readout and direction", PAIR, {"layer": "a"}),
    (BOTH, {}, r'say direction="\w+" or "(\w+)"', BOTH, {"direction": r"\1"}, BACKWARD),
    (BOTH, {"direction": "reverse"}, r"say (\w+)$", BOTH, {"direction": r"\1"}, BACKWARD),
    (W, {"direction": "forward"}, "leave out the direction", W, {}),
    ({f"{key}_reverse": W[key] for key in W}, {}, "as a forward cell", W, {}),
    (torch.nn.GRU(2, 3, 2, bidirectional=True), {"direction": "forward"},
     "keep its first layer alone", BOTH, {"direction": "forward"}, FORWARD),
    (W | {"weight_hh": W["weight_hh_l0"]}, {}, "keep one of them", W, {}),
    ({"weight_hh_l0": W["weight_hh_l0"]}, {"cell": "gru"}, "save the whole state dict", W, {}),
    (W | {"bias_ih_l0": W["bias_ih_l0"].double()}, {}, r"with \.float\(\)",
     {key: part.float() for key, part in W.items()}, {}),
    (W | {"bias_ih_l0": EXPANDED}, {}, "save a contiguous copy",
     W | {"bias_ih_l0": EXPANDED.contiguous()}, {}, W | {"bias_ih_l0": torch.zeros(9)}),
    (W | {"weight_hh_l0": W["weight_hh_l0"][:, :2]}, {}, "each of its own shape", W, {}),
    (W | {"bias_ih_l0": W["bias_ih_l0"] / 0}, {}, "repair or retrain the model", W, {}),
    (W | {"peep": MODULE.bias_ih_l0}, {}, r"say --ignore (\S+) to", W | {"peep": MODULE.bias_ih_l0},
     {"ignore": r"\1"}),
    (W, {"ignore": ["peep"]}, "leave it out of what is ignored", W, {}),
    (W, {"ignore": ["weight_hh_l0"], "cell": "gru"}, "leave it out of what is", W, {}),
    (PROJECTION, {}, "choose the cell by --layer", PROJECTION, {"layer": "r"}),
    (HOOKED, {}, "pass its state dict with the cell that it is", HOOKED.state_dict(),
     {"cell": "gru"}, HOOKED.state_dict()),
    (OWN, {}, "pass its state dict with the cell that it is", OWN.state_dict(), {"cell": "gru"},
     OWN.state_dict()),
    (DEEP, {}, r"call \.eval\(\) first", DEEP.eval, {}, DEEP.state_dict()),
    (torch.nn.Sequential(torch.jit.script(MODULE)), {}, "pass its state dict, with --layer",
     torch.nn.Sequential(MODULE).state_dict(), {"layer": "0"}),
    (torch.nn.GRU(2, 3, device="meta"), {}, r"load_state_dict\(…, assign=True\)", MODULE, {}),
    ("made:none", {}, "name a function of that module", "made:make_model", {}),
    ("made:three", {}, "let it return a torch.nn.Module or a state dict", "made:make_model", {}),
    ("net:make_model", {}, "name another module", "made:make_model", {}),
    ("whole.pt", {}, r"name a factory, as package\.module:make_model", "made:make_model", {}),
    ("whole.pt", {}, r"save model\.state_dict\(\) alone", "w.pt", {}),
    ("lfs.pt", {}, "pointer of Git LFS, not the file; fetch it with git lfs pull", "w.pt", {}),
    (W | QUANTISED, {}, "take the model before it was quantised", W, {}),
    (PACKED, {}, "pass the model before it was quantised", MODULE, {}),
    (PACKED.state_dict(), {}, "pass the model before it was quantised", W, {}),
    ("x.keras", {}, "pass its layer to rnnbounds.(from_keras)", keras, {"by": r"\1"}, W),
    (lambda: keras(stateful=True), {"by": "from_keras"}, "by torch's names, .* with the cell", W,
     {"cell": "gru"}),
    (lambda: keras(built=False), {"by": "from_keras"}, "call it once", keras,
     {"by": "from_keras"}),
    (lambda: keras("Dense"), {"by": "from_keras"}, "no SimpleRNN, LSTM or (GRU)", keras,
     {"by": "from_keras"}),
    ("x.msgpack", {}, "pass its parameters to rnnbounds.(from_flax)", flax,
     {"by": r"\1", "cell": "rnn-tanh"}, SUMMED),
    (flax, {"by": "from_flax"}, "name the cell", flax, {"by": "from_flax", "cell": "rnn-tanh"},
     SUMMED),
    (lambda: flax(x={"kernel": EXPANDED}), {"by": "from_flax"}, "by torch's names, .* with the",
     SUMMED, {"cell": "rnn-tanh"}, SUMMED),
    ("s.onnx", {}, "no intact ONNX model; export it again", export, {}),
    (spoiled(lambda _, model, node: model.graph.node.append(node)), {},
     "that onnx allows .*; export it again", export, {}),
    (spoiled(twice), {}, "two nodes are named .*; export the model again", export, {}),
    (spoiled(lambda _, model, node: setattr(model.opset_import[0], "version", 6)), {},
     "version before 7; export it again with a newer opset", export, {}),
    (spoiled(lambda _, model, node: node.attribute.add(name="direction", s=b"up", type=3)), {},
     "the direction up; export it again", export, {}),
    (spoiled(lambda *at: stored(*at, 4, torch.ones(1).int())), {}, "leave the lengths out", export,
     {}),
    (spoiled(lambda *at: stored(*at, 5, torch.ones(1, 1, 3))), {},
     "from 0, hand over the state dict", W, {}),
    (spoiled(quantised), {}, "is quantised, .*; hand over the state dict", W, {}),
    (spoiled(beside), {}, r"save the model with them in it", export, {}),
    (lambda: export(export_params=False), {}, "export it with its weights in the file", export, {}),
    (lambda: export(torch.nn.Linear(2, 2)), {}, r"export a torch.nn.RNN by .*\(…, dynamo=False\)",
     export, {}),
    (lambda: export(torch.nn.Linear(2, 2)), {}, "save the state dict of the model", W, {}),
]  # fmt: skip


FUNCTIONS = types.FunctionType | types.MethodType


def read_by(source, by="load_model", **options):
    """The model as a function of ours reads it."""
    source = source() if isinstance(source, FUNCTIONS) else source
    return getattr(rnnbounds, by, load_model)(source, **options)


@pytest.mark.parametrize("row", READ, ids=[row[2] for row in READ])
def test_what_is_read_then(row, tmp_path, monkeypatch):
    """Every weight of the answer is the one that is meant."""
    given, options, words, then, said, *answer = row
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "made", raising=False)
    torch.save(MODULE, "whole.pt")
    torch.save(W, "w.pt")
    Path("lfs.pt").write_bytes(b"version https://git-lfs.github.com/spec/v1\n")
    for name in ("x.keras", "x.msgpack", "s.onnx"):
        Path(name).write_bytes(b"\x89x")
    (tmp_path / "made.py").write_text(
        "import torch\ndef make_model(): return torch.load('w.pt')\ndef three(): return 3\n"
    )
    with pytest.raises(InputError, match=words) as told:
        read_by(given, **options)
    found = re.search(words, str(told.value))
    said = {key: found.expand(word) for key, word in said.items()}
    said |= {"ignore": [said["ignore"]]} if "ignore" in said else {}
    read = read_by(then, **said)
    (right,) = answer or (W,)
    cell = None if isinstance(right, torch.nn.Module) else read.name
    assert read.digest == load_model(right, cell).digest


GRU = {name: one / 4 for name, one in torch.nn.GRU(2, 3).state_dict().items()}


@pytest.mark.parametrize(
    "name", ["rnn.ln_hh.weight", "rnn.layer_norm.bias", "rnn.gamma", "rnn.clip"]
)
def test_another_network_is_not_to_be_ignored(name):
    """A cell with a normalisation or a clip is none of torch's, whatever is left out."""
    weights = {f"rnn.{key}": one for key, one in GRU.items()} | {name: torch.ones(3)}
    with pytest.raises(InputError, match="state it as a cell of your own") as told:
        load_model(weights)
    assert "--ignore" not in str(told.value)


@pytest.mark.parametrize(
    ("name", "words", "read"),
    [
        ("readout", r"columns are (\S+)$", "head.weight"),  # and no weight of the cell
        ("wide", r"columns that read its output, as (\S+)$", "wide.weight[0:3]"),
        ("thin", "name the linear layer right after the cell$", "head.weight"),
        ("odd", "name a linear layer$", "head.weight"),
    ],
)
def test_what_is_read_out_then(name, words, read):
    """The matrix after the cell, or its columns."""
    weights = {f"{n}.weight": torch.ones(1, d) for n, d in (("head", 3), ("wide", 5), ("thin", 2))}
    weights |= {f"rnn.{key}": one for key, one in GRU.items()}
    weights |= {"odd.weight": torch.ones(1, 3, 3), "odd.bias": torch.ones(2)}
    if name == "odd":
        weights["odd.weight"] = torch.ones(1, 3)
    with pytest.raises(InputError, match=words) as told:
        load_model(weights, readout=name)
    name = (*re.search(words, str(told.value)).groups(), "head")[0]
    assert load_model(weights, readout=name).readout.name == read


def test_one_window_at_a_time():
    """A model that mixes the windows of a batch is measured as the error says."""

    def centred(x):
        return x.cumsum(1) - x.mean(0, keepdim=True)

    x = torch.randn(20, 12, 2, generator=torch.Generator().manual_seed(0))
    with pytest.raises(InputError, match="run one window at a time") as told:
        rnnbounds.measure(centred, x, eps=1.0)
    (batch,) = re.findall(r"--batch (\d+)", str(told.value))
    assert rnnbounds.measure(centred, x, eps=1.0, batch=int(batch)).run["batch"] == 1


@pytest.mark.parametrize("shape", [(2, 200), (20, 2, 50), (2, 20, 50)])
def test_swapped_axes_are_told(shape):
    """Channels are the last axis: where another one fits, the error says to move it there."""
    x = torch.randn(shape, generator=torch.Generator().manual_seed(0))
    with pytest.raises(InputError, match=r"but the model reads 2 .*move that axis to the end"):
        rnnbounds.measure(GRU, x, eps=1.0)
    moved = x.movedim(shape.index(2), -1)
    assert rnnbounds.measure(GRU, moved, eps=1.0).recorded == moved.shape[-2]


@pytest.mark.parametrize("shape", [(2, 2), (20, 2, 2)])
def test_channels_that_fit_two_axes(shape):
    """Time may be either axis: the error asks, and a stated window says that it is the first."""
    x = torch.randn(shape, generator=torch.Generator().manual_seed(0))
    with pytest.raises(InputError, match="channels before its times; swap the two if so") as told:
        rnnbounds.measure(GRU, x, eps=1.0)
    (window,) = re.findall(r"--window (\d+)", str(told.value))
    a, b = (rnnbounds.measure(GRU, part, eps=1.0, window=int(window)) for part in (x, x.mT))
    assert f"read as (N, T, d) = ({len(x) // 2 if x.ndim == 2 else 20}, 2, 2)" in repr(a)
    assert a.recorded == b.recorded == 2
    assert not torch.equal(a.seen.gaps, b.seen.gaps)
