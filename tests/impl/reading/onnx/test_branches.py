"""Branches of an ONNX graph: taken where the condition is a constant, else listed by their path."""

import numpy as np
import pytest
import torch
from refusals import refused

from rnnbounds.impl.errors import InputError
from rnnbounds.impl.reading.adapters import load_model
from rnnbounds.impl.reading.files import ModelFileError
from rnnbounds.impl.reading.layers import layers
from rnnbounds.impl.reading.onnx.nodes import NodeError
from rnnbounds.impl.reading.recognition.misfit import WeightsError

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402
from onnx_graphs import CONSTANTS, FLOAT, graph, node, op  # noqa: E402

torch.manual_seed(0)
CELLS = [torch.nn.GRU(2, 3) for _ in range(2)]
FLAGS = [numpy_helper.from_array(np.array(one), str(one)) for one in (True, False)]
FLAGS += [numpy_helper.from_array(np.array([2]), "2")]


def body(number, *further, name="rnn", fed="x"):
    """A branch that puts out y: a node of that cell, and its constants in the branch."""
    one, parts = node(CELLS[number], "GRU", name, fed, linear_before_reset=1)
    given = helper.make_empty_tensor_value_info(f"{name}.Y")
    return helper.make_graph([*further, one], "branch", [], [given], parts)


def branched(path, *before, inputs=(), name="which", then=None, other=None):
    """A file of an `If` on the flag, in whose branches are the two cells."""
    then, other = then or body(0), other or body(1)
    one = helper.make_node("If", ["flag"], ["y"], name=name, then_branch=then, else_branch=other)
    return graph(path, *before, one, constants=[*CONSTANTS, *FLAGS], inputs=inputs)


RUNTIME = [("flag", (TensorProto.BOOL, []))]
CONDITIONS = {
    "stored": ([op("Identity", "True", "flag")], 0),
    "negated": ([op("Not", "True", "flag")], 1),
    "compared": ([op("Equal", "i1 2", "flag")], 1),
    "cast": ([op("Cast", "i1", "flag", to=TensorProto.BOOL)], 0),
    "both": ([op("And", "True False", "flag")], 1),
}


@pytest.mark.parametrize("made", CONDITIONS)
def test_a_constant_condition(tmp_path, made):
    """The branch that is taken is the graph's own, and the other is not there."""
    before, taken = CONDITIONS[made]
    path = branched(tmp_path / "m.onnx", *before)
    assert [one.name for one in layers(path)] == ["rnn"]
    assert load_model(path).digest == load_model(CELLS[taken]).digest


def test_a_runtime_condition(tmp_path):
    """Layers are named by their branch, and none is meant unless it is named."""
    path = branched(tmp_path / "m.onnx", inputs=RUNTIME)
    names = ["which/then_branch/rnn", "which/else_branch/rnn"]
    assert [one.name for one in layers(path)] == names
    for name, cell in zip(names, CELLS, strict=True):
        assert load_model(path, layer=name).digest == load_model(cell).digest
    refused(path, WeightsError, "2 recurrent nodes or stacks in branches; .* --layer: which/then")
    idle = helper.make_graph([op("Identity", "x", "same")], "b", [], [_of("same")])
    path = branched(tmp_path / "m.onnx", inputs=RUNTIME, other=idle)
    refused(path, WeightsError, "1 recurrent nodes or stacks in branches; choose one with --layer")


def _of(name):
    return helper.make_empty_tensor_value_info(name)


def test_branches_in_branches(tmp_path):
    """The path has each branch whose condition is not fixed."""
    inner = helper.make_node(
        "If", ["flag"], ["z"], then_branch=body(1, name="a"), else_branch=body(0, name="b")
    )
    twice = helper.make_graph([inner], "branch", [], [_of("z")])
    path = branched(tmp_path / "m.onnx", inputs=RUNTIME, other=twice, name="")
    found = [one.name for one in layers(path)]
    assert found == [
        "If_0/then_branch/rnn",
        "If_0/else_branch/If_1/then_branch/a",
        "If_0/else_branch/If_1/else_branch/b",
    ]
    assert load_model(path, layer=found[1]).digest == load_model(CELLS[1]).digest


def test_a_branch_ends_the_stack(tmp_path):
    """What a branch puts out may be another thing, and what it reads is not its own."""
    below, parts = node(CELLS[0], "GRU", "below", linear_before_reset=1)
    flat = op("Squeeze", "below.Y i1", "lower")
    wide = torch.nn.GRU(3, 3)
    one, held = node(wide, "GRU", "rnn", "lower", linear_before_reset=1)
    then = helper.make_graph([one], "branch", [], [_of("rnn.Y")], held)
    choice = helper.make_node(
        "If", ["flag"], ["y"], name="which", then_branch=then, else_branch=body(1)
    )
    further, more = node(wide, "GRU", "further", "up", linear_before_reset=1)
    up = op("Squeeze", "y i1", "up")
    constants = [*parts, *more, *CONSTANTS, *FLAGS]
    nodes = [below, flat, choice, up, further]
    path = graph(tmp_path / "m.onnx", *nodes, constants=constants, inputs=RUNTIME)
    listed = [(one.name, one.cell) for one in layers(path)]
    assert listed == [
        ("below", "gru"),
        ("which/then_branch/rnn", "gru"),
        ("which/else_branch/rnn", "gru"),
        ("further", "gru"),
    ]
    fixed = [op("Identity", "True", "flag"), *nodes]
    path = graph(tmp_path / "m.onnx", *fixed, constants=constants)
    assert [(one.name, one.cell) for one in layers(path)] == [("below", "stacked-gru")]


def test_starts_from_branches(tmp_path):
    """A start is zero or the caller's in both branches of its choice; else it is refused."""
    for then, other, told in (
        ("h", "zeros", None),
        ("zeros", "fives", "is not 0"),
        ("x", "h", "is read off the sequence"),
    ):
        ways = [
            helper.make_graph([op("Identity", one, "s")], "b", [], [_of("s")])
            for one in (then, other)
        ]
        choice = helper.make_node(
            "If", ["flag"], ["begun"], then_branch=ways[0], else_branch=ways[1]
        )
        one, parts = node(CELLS[0], "GRU", "rnn", linear_before_reset=1)
        one.input.extend(["", "begun"])
        inputs = [*RUNTIME, ("h", (FLOAT, [1, "N", 3]))]
        path = graph(
            tmp_path / "m.onnx", choice, one, constants=[*parts, *CONSTANTS], inputs=inputs
        )
        if told is None:
            assert load_model(path).digest == load_model(CELLS[0]).digest
        else:
            refused(path, NodeError, f"rnn starts from initial_h .begun., which {told}")


def test_loops(tmp_path):
    """A node in the body of a loop is listed and refused; one outside of it is read."""
    one, parts = node(CELLS[0], "GRU", "rnn", linear_before_reset=1)
    loop = helper.make_node("Loop", ["", ""], ["y"], name="again", body=body(1))
    path = graph(tmp_path / "m.onnx", one, loop, constants=[*parts, *CONSTANTS])
    inside, reason = layers(path)[1].name, layers(path)[1].reason
    assert (inside, "runs in a loop, the body of again" in reason) == ("again/rnn", True)
    assert load_model(path, layer="rnn").digest == load_model(CELLS[0]).digest
    empty = helper.make_graph([op("Identity", "x", "same")], "b", [], [_of("same")])
    loop = helper.make_node("Scan", ["x"], ["y"], name="again", body=empty, num_scan_inputs=1)
    refused(graph(path, loop), WeightsError, "holds no recurrent node but the loop again; save")


def test_bad_branches(tmp_path):
    """No If of ONNX, values that come twice, branches of other results: one line each."""
    path = tmp_path / "m.onnx"
    given = helper.make_graph([], "b", [helper.make_tensor_value_info("in", 1, [])], [_of("in")])
    for options, told in (
        ({"then": given}, "a node which that is no If of ONNX"),
        ({"then": helper.make_graph([], "b", [], [])}, "a node which that is no If of ONNX"),
        ({"then": helper.make_graph([], "b", [], [_of("t")])}, "which that reads t, which nothing"),
        ({"then": body(0, op("Neg", "x", "flag"))}, "has two values named flag"),
        ({"then": body(0, fed="later")}, "a node rnn that reads later, which nothing before it"),
    ):
        refused(branched(path, inputs=RUNTIME, **options), ModelFileError, told)
    alone = helper.make_node("If", ["flag"], ["y"], then_branch=body(0))
    refused(graph(path, alone, inputs=RUNTIME), ModelFileError, "a node If that is no If of ONNX")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["chain", "layers", "branches", "deep"])
def test_large_graphs_are_read_fast(tmp_path, kind):
    """Many nodes, layers, branches: one line or a list, within the work of one pass."""
    path, many = tmp_path / "m.onnx", 100_000
    one, parts = node(CELLS[0], "GRU", "rnn", f"v{many}", linear_before_reset=1)
    if kind == "chain":
        chain = [op("Neg", f"v{i}" if i else "x", f"v{i + 1}") for i in range(many)]
        graph(path, *chain, one, constants=parts)
        assert load_model(path).name == "gru"
    if kind == "layers":
        bare = [helper.make_node("GRU", ["x"], [f"y{i}"], hidden_size=3) for i in range(many // 5)]
        refused(graph(path, *bare), InputError, "20000 recurrent nodes or stacks; choose one")
    if kind == "branches":
        idle = helper.make_graph([op("Identity", "x", "same")], "b", [], [_of("same")])
        ways = {"then_branch": idle, "else_branch": idle}
        chain = [helper.make_node("If", ["flag"], [f"y{i}"], **ways) for i in range(many // 10)]
        refused(graph(path, *chain, inputs=RUNTIME), WeightsError, "holds no recurrent node")
    if kind == "deep":
        inner = body(0)
        for _ in range(20):
            ways = {"then_branch": inner, "else_branch": body(1)}
            choice = helper.make_node("If", ["flag"], ["y"], name="if", **ways)
            inner = helper.make_graph([choice], "b", [], [_of("y")])
        graph(path, *inner.node, inputs=RUNTIME)
        refused(path, InputError, "21 recurrent nodes or stacks in branches; choose")
