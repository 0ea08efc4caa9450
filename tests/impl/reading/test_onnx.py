"""ONNX graphs: what torch exports, node by node, and what is refused of graphs by hand."""

import builtins
import warnings
from itertools import pairwise

import numpy as np
import pytest
import torch
from refusals import refused

from impl.errors import InputError
from impl.reading.adapters import load_model
from impl.reading.files import ModelFileError
from impl.reading.layers import layers
from impl.reading.misfit import WeightsError
from impl.reading.onnx.nodes import NodeError

onnx = pytest.importorskip("onnx")
from onnx import helper, numpy_helper  # noqa: E402

ORDER = {"RNN": "h", "LSTM": "ifco", "GRU": "rzh"}
THEIRS = {"RNN": "h", "LSTM": "iofc", "GRU": "zrh"}


def constant(name, part):
    """A stored tensor."""
    return numpy_helper.from_array(part.detach().numpy(), name)


def turned(op, part):
    """A tensor of torch's in ONNX's order, by the definition of the operator."""
    blocks = dict(zip(ORDER[op], part.chunk(len(ORDER[op])), strict=True))
    return torch.cat([blocks[gate] for gate in THEIRS[op]])


def node(module, op, name, fed="x", **attributes):
    """A node of a module's weights, and its constants."""
    held = {key: turned(op, part) for key, part in module.state_dict().items()}
    both = torch.cat([held["bias_ih_l0"], held["bias_hh_l0"]])
    parts = {"W": held["weight_ih_l0"], "R": held["weight_hh_l0"], "B": both}
    inputs = [fed, *(f"{name}.{part}" for part in parts)]
    given = {"hidden_size": module.hidden_size, **attributes}
    made = helper.make_node(op, inputs, [f"{name}.Y", f"{name}.Y_h"], name=name, **given)
    return made, [constant(f"{name}.{part}", held[None]) for part, held in parts.items()]


def graph(path, *nodes, constants=(), functions=()):
    """The file of a graph."""
    x = helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, None)
    made = helper.make_graph(list(nodes), "g", [x], [], list(constants))
    model = helper.make_model(made, functions=list(functions))
    path.write_bytes(model.SerializeToString())
    return path


def written(path, module, op, **attributes):
    """The file of one node."""
    one, constants = node(module, op, "rnn", **attributes)
    return graph(path, one, constants=constants)


CASES = [
    (torch.nn.GRU(2, 3), "GRU", "gru", {"linear_before_reset": 1}),
    (torch.nn.GRU(2, 3), "GRU", "gru-cho", {}),
    (torch.nn.LSTM(2, 3), "LSTM", "lstm", {"input_forget": 0}),
    (torch.nn.RNN(2, 3), "RNN", "rnn-tanh", {}),
    (torch.nn.RNN(2, 3, nonlinearity="relu"), "RNN", "rnn-relu", {"activations": ["Relu"]}),
]


@pytest.mark.parametrize(("module", "op", "cell", "attributes"), CASES, ids=lambda x: str(x)[:8])
def test_nodes(tmp_path, module, op, cell, attributes):
    """The gates come in torch's order, exactly, and the node says which cell it is."""
    loaded = load_model(written(tmp_path / "m.onnx", module, op, **attributes))
    assert loaded.name == cell
    assert loaded.digest == load_model(module.state_dict(), cell).digest
    assert loaded.tensors["weight_hh"] == "rnn.weight_hh_l0"
    assert layers(tmp_path / "m.onnx")[0].cell == cell
    if cell == "gru-cho":
        refused(tmp_path / "m.onnx", WeightsError, "the node is gru-cho, not gru", cell="gru")


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_dtypes(tmp_path, dtype):
    """As stored."""
    module = torch.nn.GRU(2, 3).to(dtype)
    one, parts = node(module.float(), "GRU", "rnn", linear_before_reset=1)
    kinds = {torch.float16: 10, torch.bfloat16: 16, torch.float64: 11}
    named = zip(parts, (module.weight_ih_l0,), strict=False)
    assert [part.name for part, _ in named] == ["rnn.W"]
    turned_parts = []
    for part in parts:
        held = torch.from_numpy(numpy_helper.to_array(part).copy()).to(dtype)
        raw = held.contiguous().view(torch.uint8).numpy().tobytes()
        turned_parts.append(helper.make_tensor(part.name, kinds[dtype], held.shape, raw, raw=True))
    loaded = load_model(graph(tmp_path / "m.onnx", one, constants=turned_parts))
    assert loaded.dtype == str(dtype).removeprefix("torch.")
    assert torch.equal(loaded.weights["weight_hh"], module.weight_hh_l0.to(dtype))


@pytest.mark.parametrize(("base", "layered"), [("GRU", 1), ("LSTM", 2), ("RNN", 3)])
def test_what_torch_exports(tmp_path, base, layered):
    """A model of torch's comes back bit for bit, as one stack."""
    torch.manual_seed(0)
    module, path = getattr(torch.nn, base)(2, 3, num_layers=layered).eval(), tmp_path / "m.onnx"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the exporter warns of itself
        torch.onnx.export(module, (torch.zeros(4, 1, 2),), str(path), dynamo=False)
    assert load_model(path).digest == load_model(module).digest


def test_nodes_that_branch(tmp_path):
    """Of two that one feeds, the second is a layer of its own."""
    torch.manual_seed(0)
    first, second, third = (torch.nn.GRU(size, 3) for size in (2, 3, 3))
    usual = {"linear_before_reset": 1}
    one, a = node(first, "GRU", "a", **usual)
    flat = helper.make_node("Squeeze", ["a.Y"], ["flat"])
    two, b = node(second, "GRU", "b", "flat", **usual)
    three, c = node(third, "GRU", "c", "flat", **usual)
    path = graph(tmp_path / "m.onnx", one, flat, two, three, constants=[*a, *b, *c])
    assert [(one.name, one.cell) for one in layers(path)] == [("a", "stacked-gru"), ("c", "gru")]
    assert load_model(path, layer="c").digest == load_model(third).digest
    refused(
        path, WeightsError, "2 recurrent nodes or stacks of them; choose one with --layer: a, c"
    )
    refused(path, WeightsError, "choose one", layer="b")
    three.input[0], three.name = "a.Y_h", "a"
    refused(graph(path, one, three, constants=[*a, *c]), InputError, "two nodes are named a")


@pytest.mark.parametrize(
    ("attributes", "told"),
    [
        ({"direction": "reverse"}, "runs reverse; turn its inputs round in time"),
        ({"direction": "bidirectional"}, "runs bidirectional; .* one of its directions"),
        ({"clip": 3.0}, "has clip, which no cell here has"),
        ({"input_forget": 1}, "has input_forget, which"),
        ({"activations": ["Sigmoid", "Tanh", "HardSigmoid"]}, "HardSigmoid, not Sigmoid, Tanh"),
        ({"activation_alpha": [0.5]}, "has activation_alpha, which"),
    ],
)
def test_other_nodes_are_refused(tmp_path, attributes, told):
    """What the node computes beyond the cell."""
    path = written(tmp_path / "m.onnx", torch.nn.LSTM(2, 3), "LSTM", **attributes)
    refused(path, NodeError, f"the ONNX node rnn .*{told}")


LENGTHS = numpy_helper.from_array(np.array([2, 1], dtype="int32"), "lengths")


def first(value):
    """A state of three units."""
    return numpy_helper.from_array(np.full((1, 1, 3), value, dtype="float32"), "first")


COPIES = {
    "itself": ("first", []),
    "expanded": ("wide", [helper.make_node("Expand", ["first", "size"], ["wide"])]),
    "tiled": (
        "wide",
        [
            helper.make_node("Identity", ["first"], ["same"]),
            helper.make_node("Concat", ["x", "same"], ["both"]),
            helper.make_node("Tile", ["both", "size"], ["wide"]),
        ],
    ),
}


@pytest.mark.parametrize("copied", COPIES)
@pytest.mark.parametrize("place", [5, 6])
def test_states_that_are_stored(tmp_path, copied, place):
    """A run from another state than 0 is not the one that is certified."""
    one, parts = node(torch.nn.LSTM(2, 3), "LSTM", "rnn")
    name, before = COPIES[copied]
    one.input.extend([""] * (place - len(one.input)) + [name])
    path = tmp_path / "m.onnx"
    moving = graph(path, *before, one, constants=[*parts, first(2.0)])
    refused(moving, NodeError, "starts from a state that is stored .* and not 0; .* state dict")
    assert load_model(graph(path, *before, one, constants=[*parts, first(0.0)])).name == "lstm"
    assert load_model(graph(path, *before, one, constants=parts)).name == "lstm"  # the caller's
    damaged = first(0.0)
    damaged.dims[2] = 2**40
    refused(graph(path, *before, one, constants=[*parts, damaged]), NodeError, "and not 0")


def test_states_that_are_filled(tmp_path):
    """What is made for a batch of any size: 0 unless it says otherwise."""
    one, parts = node(torch.nn.GRU(2, 3), "GRU", "rnn")
    one.input.extend(["", "filled"])
    path = tmp_path / "m.onnx"
    for value, good in ((None, True), (0.0, True), (1.0, False)):
        told = {} if value is None else {"value": numpy_helper.from_array(np.float32([value]))}
        made = helper.make_node("ConstantOfShape", ["size"], ["filled"], **told)
        graph(path, made, one, constants=parts)
        if good:
            assert load_model(path).name == "gru-cho"
        else:
            refused(path, NodeError, "starts from a state that is stored")


def test_lengths_that_are_stored(tmp_path):
    """After so many inputs a node puts out 0; lengths beside the inputs are the caller's."""
    one, parts = node(torch.nn.GRU(2, 3), "GRU", "rnn")
    one.input.append("lengths")
    path = graph(tmp_path / "m.onnx", one, constants=[*parts, LENGTHS])
    refused(path, NodeError, "reads as many inputs as the graph says .*; leave the lengths out")
    assert load_model(graph(path, one, constants=parts)).name == "gru-cho"


def value(name, told, dtype="float32"):
    """A stored array."""
    return numpy_helper.from_array(np.asarray(told, dtype=dtype), name)


FIVES = [helper.make_node("Add", ["five", "five"], ["start"])]
ROOTS = [helper.make_node("Sqrt", ["five"], ["start"])]
OF_INPUTS = [helper.make_node("ReduceMean", ["x"], ["start"])]


@pytest.mark.parametrize("before", [FIVES, ROOTS, OF_INPUTS], ids=["sum", "root", "inputs"])
@pytest.mark.parametrize("relayed", [False, True])
def test_states_that_are_computed(tmp_path, before, relayed):
    """A start that is computed is a start: of constants or of the inputs."""
    one, parts = node(torch.nn.GRU(2, 3), "GRU", "rnn")
    more = [helper.make_node("Identity", ["start"], ["same"])] if relayed else []
    one.input.extend(["", "same" if relayed else "start"])
    five = value("five", np.full((1, 1, 3), 5.0))
    path = graph(tmp_path / "m.onnx", *before, *more, one, constants=[*parts, five])
    refused(path, NodeError, "state that is stored or computed .* and not 0; .* state dict")


def test_a_state_that_comes_to_zero(tmp_path):
    """A difference of equal constants is 0 in every runtime."""
    one, parts = node(torch.nn.GRU(2, 3), "GRU", "rnn")
    one.input.extend(["", "start"])
    zero = helper.make_node("Sub", ["five", "five"], ["start"])
    five = value("five", np.full((1, 1, 3), 5.0))
    path = graph(tmp_path / "m.onnx", zero, one, constants=[*parts, five])
    assert load_model(path).name == "gru-cho"


@pytest.mark.parametrize("shape", [(1, 1, 4), (2, 1, 3), (1, 3), (3,), (1, 1, 1)])
def test_zero_of_another_shape(tmp_path, shape):
    """No runtime runs it: the weights that are read are not those of the model."""
    one, parts = node(torch.nn.LSTM(2, 3), "LSTM", "rnn")
    one.input.extend(["", "first"])
    path = graph(tmp_path / "m.onnx", one, constants=[*parts, value("first", np.zeros(shape))])
    refused(path, NodeError, r"a state first of shape \(.*\), not of 3 units; .* state dict")


@pytest.mark.slow
def test_a_projected_lstm(tmp_path):
    """torch exports cut weights of it, beside a state of the whole size."""
    module, path = torch.nn.LSTM(3, 8, proj_size=4).eval(), tmp_path / "m.onnx"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(module, (torch.zeros(4, 2, 3),), str(path), dynamo=True, verbose=False)
    refused(path, NodeError, "not")


TO_LENGTHS = {
    "itself": [],
    "cast": [helper.make_node("Cast", ["two"], ["lengths"], to=onnx.TensorProto.INT32)],
    "identity": [helper.make_node("Identity", ["two"], ["lengths"])],
    "expanded": [helper.make_node("Expand", ["two", "size"], ["lengths"])],
    "squeezed": [helper.make_node("Squeeze", ["two"], ["lengths"])],
    "sum": [helper.make_node("Add", ["two", "two"], ["lengths"])],
    "root": [helper.make_node("Sqrt", ["two"], ["lengths"])],
    "shape": [helper.make_node("Shape", ["x"], ["lengths"])],
}


@pytest.mark.parametrize("way", TO_LENGTHS)
def test_lengths_that_the_graph_says(tmp_path, way):
    """However they come about."""
    one, parts = node(torch.nn.GRU(2, 3), "GRU", "rnn")
    before = TO_LENGTHS[way]
    one.input.append("lengths" if before else "two")
    path = graph(tmp_path / "m.onnx", *before, one, constants=[*parts, value("two", [2], "int32")])
    refused(path, NodeError, "reads as many inputs as the graph says .*; leave the lengths out")


def test_weights_that_are_moved(tmp_path):
    """Stored in another order of axes, and put right by the graph."""
    module = torch.nn.GRU(2, 3)
    one, parts = node(module, "GRU", "rnn", linear_before_reset=1)
    turned = numpy_helper.from_array(numpy_helper.to_array(parts[1])[0].T.copy(), "turned")
    moves = [
        helper.make_node("Transpose", ["turned"], ["straight"]),
        helper.make_node("Constant", [], ["axes"], value_ints=[0]),
        helper.make_node("Unsqueeze", ["straight", "axes"], ["rnn.R"]),
    ]
    path = graph(tmp_path / "m.onnx", *moves, one, constants=[parts[0], turned, parts[2]])
    assert load_model(path).digest == load_model(module).digest


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"hidden_size": 4}, "has 3 units, and says 4"),
        ({"W": (1, 6, 2)}, r"has W of shape \(1, 6, 2\), not \(1, 9, 2\)"),
        ({"R": (1, 12, 3)}, r"has R of shape \(1, 12, 3\), not \(1, 9, 3\)"),
        ({"B": (1, 9)}, r"has B of shape \(1, 9\), not \(1, 18\)"),
    ],
)
def test_weights_that_do_not_fit_one_another(tmp_path, changed, told):
    """No runtime runs them."""
    sizes = {key: size for key, size in changed.items() if key == "hidden_size"}
    one, parts = node(torch.nn.GRU(2, 3), "GRU", "rnn", **sizes)
    other = {f"rnn.{key}": shape for key, shape in changed.items() if key not in sizes}
    parts = [value(p.name, np.zeros(other[p.name])) if p.name in other else p for p in parts]
    refused(graph(tmp_path / "m.onnx", one, constants=parts), NodeError, told)


def test_what_would_take_too_much_is_not_folded(tmp_path):
    """A state of 2⁶² zeros, and one behind a long chain."""
    one, parts = node(torch.nn.GRU(2, 3), "GRU", "rnn")
    one.input.extend(["", "start"])
    size = value("size", [2**31, 2**31, 3], "int64")
    wide = helper.make_node("Expand", ["five", "size"], ["start"])
    path = graph(tmp_path / "m.onnx", wide, one, constants=[*parts, size, value("five", [5.0])])
    refused(path, NodeError, "and not 0")
    names = ["five", *(f"n{i}" for i in range(20_000)), "start"]
    chain = [helper.make_node("Neg", [a], [b]) for a, b in pairwise(names)]
    path = graph(tmp_path / "m.onnx", *chain, one, constants=[*parts, value("five", [5.0])])
    refused(path, NodeError, "and not 0")


def test_layers_that_read_other_axes(tmp_path):
    """The batch of one is not the time of another."""
    first, second = torch.nn.GRU(2, 3), torch.nn.GRU(3, 3)
    one, a = node(first, "GRU", "a")
    flat = helper.make_node("Squeeze", ["a.Y"], ["flat"])
    two, b = node(second, "GRU", "b", "flat", layout=1)
    path = graph(tmp_path / "m.onnx", one, flat, two, constants=[*a, *b])
    refused(path, NodeError, "a feeds one of another layout")


def test_weights_that_are_not_there(tmp_path):
    """Computed, in another file, of two directions, no floats, damaged; and peepholes."""
    path = tmp_path / "m.onnx"
    one, parts = node(torch.nn.LSTM(2, 3), "LSTM", "rnn")
    refused(graph(path, one, constants=parts[1:]), NodeError, r"inputs of the graph \(rnn.W\)")
    sigmoid = helper.make_node("Sigmoid", ["before"], ["rnn.W"])
    before = numpy_helper.from_array(numpy_helper.to_array(parts[0]), "before")
    computed = graph(path, sigmoid, one, constants=[before, *parts[1:]])
    refused(computed, NodeError, r"weights that are computed \(rnn.W\)")
    wide = numpy_helper.from_array(numpy_helper.to_array(parts[0]).repeat(2, 0), "rnn.W")
    refused(graph(path, one, constants=[wide, *parts[1:]]), NodeError, "not of one direction")
    whole = numpy_helper.from_array(numpy_helper.to_array(parts[0]).astype("int32"), "rnn.W")
    refused(graph(path, one, constants=[whole, *parts[1:]]), NodeError, "that are no floats")
    parts[0].dims[1] = 2**40
    refused(graph(path, one, constants=parts), NodeError, "has damaged weights rnn.W")
    parts[0].data_location = onnx.TensorProto.EXTERNAL
    refused(graph(path, one, constants=parts), NodeError, "in another file .* with them in it")
    one.input.extend(["", "", "", "peep"])
    refused(graph(path, one, constants=parts), NodeError, "has peepholes")


def test_graphs_that_are_refused(tmp_path):
    """Loops, functions, no recurrent node, other operators of the name, no ONNX, too much of it."""
    path = tmp_path / "m.onnx"
    one, parts = node(torch.nn.GRU(2, 3), "GRU", "rnn")
    body = helper.make_graph([one], "body", [], [])
    loop = helper.make_node("Loop", ["", ""], ["y"], body=body)
    refused(graph(path, loop, constants=parts), ModelFileError, "loops or branches, .* Loop; which")
    function = helper.make_function("own", "F", ["x"], ["rnn.Y"], [one], [])
    refused(graph(path, functions=[function]), ModelFileError, "in functions of its own")
    one.domain = "own"
    refused(
        graph(path, one, constants=parts),
        WeightsError,
        "holds no node RNN, LSTM or GRU; save the state",
    )
    path.write_bytes(b"\x08\xff\xff\xff")
    refused(path, ModelFileError, "is no intact ONNX model; export it again")
    with path.open("r+b") as stream:
        stream.truncate(2**28 + 1)
    refused(path, ModelFileError, "is larger than 268435456 bytes; save the state dict")


def test_without_the_package(tmp_path, monkeypatch):
    """The extra is named, also for a file of another name."""
    path = written(tmp_path / "m.bin", torch.nn.GRU(2, 3), "GRU", linear_before_reset=1)
    assert load_model(path).name == "gru"
    usual = builtins.__import__

    def without(name, *more):
        if name.startswith("onnx"):
            raise ImportError(name)
        return usual(name, *more)

    monkeypatch.setattr(builtins, "__import__", without)
    refused(path, ModelFileError, r"is an ONNX model, .*; pip install 'rnnbounds\[onnx\]', or save")
