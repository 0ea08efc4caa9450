"""Exports by both of torch's exporters: stacks come back bit for bit, with torch's outputs."""

import contextlib
import io
import logging
import warnings
from itertools import product

import pytest
import torch
from refusals import refused

from rnnbounds.impl.errors import InputError
from rnnbounds.impl.reading.adapters import layers, load_model

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxscript")
from onnx_runs import opened, run_stack  # noqa: E402

T, N = 4, 3


def exported(module, path, *, dynamo, dynamic=False):
    """The file of a module that reads (T, N, 2), or (N, T, 2)."""
    given = {}
    if dynamo and dynamic:
        names = {i: torch.export.Dim(name, min=2) for i, name in enumerate("ab")}
        given["dynamic_shapes"] = (names,)
    elif dynamic:
        given = {"dynamic_axes": {"x": {0: "a", 1: "b"}}, "input_names": ["x"]}
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")  # the exporters warn of themselves
            x = (torch.zeros(T, N, 2),)
            torch.onnx.export(module.eval(), x, str(path), dynamo=dynamo, verbose=False, **given)
    finally:
        logging.disable(logging.NOTSET)
    return path


def recurrent(base, **options):
    """A stack of two layers."""
    torch.manual_seed(0)
    return getattr(torch.nn, base)(2, 3, num_layers=2, **options)


def agrees(module, told):
    """The tensors are the module's, and our cells put out what it does."""
    own = module.state_dict()
    assert {f"{told.own}.{name}" for name in own} == set(told.tensors)
    assert all(torch.equal(told.tensors[f"{told.own}.{name}"], own[name]) for name in own)
    d = module.input_size
    x = torch.linspace(-1, 1, T * N * d).double().reshape(T, N, d)
    with torch.no_grad():
        y = module.double()(x)[0]
    if module.batch_first:
        x, y = x.transpose(0, 1), y.transpose(0, 1)
    assert torch.allclose(run_stack(told, x), y, atol=1e-12)


# By (dynamo, base, batch_first, bidirectional, dynamic): the new exporter takes seconds for each.
OLD = [(False, *one) for one in product(("RNN", "LSTM", "GRU"), *[(False, True)] * 3)]
NEW = [(True, "LSTM", True, True, False), (True, "GRU", True, False, False)]


@pytest.mark.slow
@pytest.mark.parametrize(("dynamo", "base", "batch_first", "both", "dynamic"), OLD + NEW)
def test_stacks(tmp_path, dynamo, base, batch_first, both, dynamic):
    """One stack, whichever comes first of time and batch, in one direction or both."""
    module = recurrent(base, batch_first=batch_first, bidirectional=both)
    path = exported(module, tmp_path / "m.onnx", dynamo=dynamo, dynamic=dynamic)
    graph = opened(path)
    assert len(graph.parts) == 1
    agrees(module, graph.of(None))
    if not both:
        assert load_model(path).digest == load_model(recurrent(base)).digest


@pytest.mark.slow
def test_an_rnn_that_is_written_out(tmp_path):
    """As the new exporter has it: no recurrent node, and what to do instead."""
    path = exported(recurrent("RNN"), tmp_path / "m.onnx", dynamo=True)
    refused(path, InputError, r"no recurrent node .*state dict.*, or export .*dynamo=False")


class Tagger(torch.nn.Module):
    """Both directions below one, with a dropout and a readout."""

    def __init__(self):
        super().__init__()
        self.below = torch.nn.LSTM(2, 300, batch_first=True, bidirectional=True)
        self.above = torch.nn.GRU(600, 4, batch_first=True)
        self.head = torch.nn.Linear(4, 2)

    def forward(self, x):
        """Labels (N, T, 2)."""
        y = torch.nn.functional.dropout(self.below(x)[0], 0.5, self.training)
        return self.head(self.above(y)[0])


@pytest.mark.slow
def test_a_model_with_its_weights_beside_it(tmp_path):
    """Each layer of a bigger model by its name; the weights lie in the file that torch writes."""
    torch.manual_seed(0)
    module = Tagger()
    path = exported(module, tmp_path / "m.onnx", dynamo=True)
    assert (tmp_path / "m.onnx.data").stat().st_size > 10**6
    below, above = opened(path).parts
    agrees(module.below, opened(path).of(below))
    agrees(module.above, opened(path).of(above))
    assert load_model(path, layer=above).digest == load_model(module.above.float()).digest
    (tmp_path / "m.onnx.data").unlink()
    assert "m.onnx.data, which is not read beside the model" in layers(path)[0].reason
