"""The onnx package's own tests of its nodes RNN, LSTM and GRU: each is read, with the outputs that
it expects."""

import numpy as np
import pytest
import torch

onnx = pytest.importorskip("onnx")
from onnx import helper, numpy_helper  # noqa: E402
from onnx.backend.test.case import node  # noqa: E402
from onnx.backend.test.case.node import gru, lstm, rnn  # noqa: E402, F401
from onnx_runs import opened, run_stack  # noqa: E402

OPERATORS = ("RNN", "LSTM", "GRU")  # whose modules list their cases when they are imported
CASES = {
    case.name: case
    for case in node._NodeTestCases
    if case.model.graph.node[0].op_type in OPERATORS and "peepholes" not in case.name
}


def bound(case, path):
    """The file of a case whose weights are stored in it, X, and the outputs by name; starts, which
    are zero, and lengths, which are all, stay inputs."""
    model = onnx.ModelProto.FromString(case.model.SerializeToString())
    (x, *held), outputs = case.data_sets[0]
    names = [one.name for one in model.graph.input]
    for name, array in zip(names[1:], held, strict=True):
        if name in "WRBP":
            model.graph.initializer.append(numpy_helper.from_array(np.asarray(array), name))
    path.write_bytes(model.SerializeToString())
    told = [one.name for one in model.graph.output]
    return x, dict(zip(told, outputs, strict=True))


@pytest.mark.parametrize("name", CASES)
def test_cases(tmp_path, name):
    """Outputs at all times, and the last ones."""
    path = tmp_path / "m.onnx"
    x, expected = bound(CASES[name], path)
    graph = opened(path)
    one = CASES[name].model.graph.node[0]
    told = {part.name: helper.get_attribute_value(part) for part in one.attribute}
    by_batch, ways = told.get("layout", 0), told.get("direction", b"forward")
    y = run_stack(graph.of(None), np.swapaxes(x, 0, 1) if by_batch else x)
    D = 2 if ways == b"bidirectional" else 1
    y = y.reshape(*y.shape[:2], D, -1).transpose(1, 2)  # (T, D, N, n)
    last = torch.stack([y[0 if ways == b"reverse" or i else -1, i] for i in range(D)])
    all_y, last = (y.permute(2, 0, 1, 3), last.transpose(0, 1)) if by_batch else (y, last)
    for output, own in zip(one.output, (all_y, last), strict=False):
        if output:
            np.testing.assert_allclose(expected[output], own.numpy(), atol=1e-5)


def test_there_are_cases():
    """As many as the package has: of each operator at least three."""
    kinds = [case.model.graph.node[0].op_type for case in CASES.values()]
    assert min(map(kinds.count, OPERATORS)) >= 3
