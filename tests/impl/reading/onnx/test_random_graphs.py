"""Random graphs: each stack that is read computes what onnxruntime computes from its first input to
its last output, so that no graph is read as another network."""

import numpy as np
import pytest
import torch

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")
from onnx import helper  # noqa: E402
from onnx_random import drawn_graph  # noqa: E402
from onnx_runs import opened, run_stack  # noqa: E402


def by_time(model):
    """The model with nodes of layout 0 alone, between Transposes, by the definition of the layout:
    onnxruntime has no other."""
    other = onnx.ModelProto.FromString(model.SerializeToString())
    del other.graph.node[:]
    for node in model.graph.node:
        layout = next((one for one in node.attribute if one.name == "layout"), None)
        if layout is None or layout.i == 0:
            other.graph.node.append(node)
            continue
        x, y = node.input[0], node.output[0]
        turned = onnx.NodeProto.FromString(node.SerializeToString())
        turned.input[0], turned.output[0] = f"{x}.{y}", f"{y}.turned"
        next(one for one in turned.attribute if one.name == "layout").i = 0
        to = helper.make_node("Transpose", [x], [f"{x}.{y}"], perm=[1, 0, 2])
        back = helper.make_node("Transpose", [f"{y}.turned"], [y], perm=[2, 0, 1, 3])
        other.graph.node.extend([to, turned, back])
    return other


def values(model, x):
    """All outputs of onnxruntime by name, and the input."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    data = by_time(model).SerializeToString()
    session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    names = [one.name for one in session.get_outputs()]
    return dict(zip(names, session.run(names, {"x": x}), strict=True)) | {"x": x}


def agree(seed, path):
    """Compare all stacks of a graph; returns how many layers are joined, and how many must be."""
    model, shape, made = drawn_graph(seed)
    path.write_bytes(model.SerializeToString())
    graph, layers = opened(path), {name: rest for name, *rest in made.layers}
    stacks, longer = graph.stacks.found, (shape[0] + 1, shape[1] + 2, shape[2])
    assert [node.name for one in stacks.values() for node in one.nodes] == list(layers)
    for sizes in (shape, longer) if made.varies else (shape,):
        x = np.random.default_rng(seed).uniform(-1, 1, sizes).astype("float32")
        try:
            known = values(model, x)
        except Exception:  # a Reshape to sizes that are not these
            assert sizes != shape, f"seed {seed}"
            continue
        compare(graph, layers, known, seed)
    return len(layers) - len(stacks), sum(made.joined)


def compare(graph, layers, known, seed):
    """Each stack puts out what onnxruntime does."""
    for name, stack in graph.stacks.found.items():
        (fed, _, by_batch), (_, out, over) = (layers[stack.nodes[i].name] for i in (0, -1))
        x, y = torch.tensor(known[fed]), torch.tensor(known[out])
        x = x.transpose(0, 1) if by_batch else x
        y = y.transpose(0, 1) if over else y.transpose(1, 2)  # (T, N, D, n)
        found = run_stack(graph.told(name), x)
        assert torch.allclose(y.flatten(2).double(), found, atol=1e-5), f"seed {seed}"


MORE = [pytest.param(i, marks=pytest.mark.slow) for i in range(1, 20)]


@pytest.mark.parametrize("part", [0, *MORE])
def test_random_graphs(tmp_path, part):
    """None is read as another network; layers with exporters' nodes between them are joined."""
    found = [agree(25 * part + i, tmp_path / "m.onnx") for i in range(25)]
    assert all(joined >= needed for joined, needed in found)
    assert sum(needed for _, needed in found) > 2
