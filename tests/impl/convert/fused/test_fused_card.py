"""Fused inference on a card: accuracy, streams, devices and compilers."""

import math

import pytest
import torch
from torch import Tensor

import rnnbounds
from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.convert.feedforward import FeedForward
from rnnbounds.impl.convert.fused.outputs import fused_form, fused_outputs

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device"),
]
D, EPS = 8, 1e-3
MODULES = {"rnn-tanh": torch.nn.RNN, "lstm": torch.nn.LSTM, "gru": torch.nn.GRU}


def stable(cell: str, n: int, draw: str, layers: int = 1) -> torch.nn.RNNBase:
    """A stable module in float32: random recurrent weights, or the signs of a Hadamard-like matrix,
    whose sums cancel, or one direction, along which all errors add up."""
    torch.manual_seed(n)
    module = MODULES[cell](D, n, layers, batch_first=True)
    gain = (0.8 if cell == "rnn-tanh" else 0.1) / layers
    for name, part in module.named_parameters():
        with torch.no_grad():
            if "weight_hh" in name:
                drawn = torch.randn(part.shape)
                drawn = drawn if draw == "random" else drawn.sign()
                drawn = drawn[:, :1].expand_as(part) if draw == "rank one" else drawn
                part.copy_(drawn * gain / torch.linalg.matrix_norm(drawn, 2))
            elif cell != "rnn-tanh":
                part.mul_(0.25)
    return module


SIZES = [(1, 16), (1, 50), (1, 128), (1, 512), (2, 50), (2, 130)]


@pytest.mark.parametrize("draw", ["random", "signs", "rank one"])
@pytest.mark.parametrize(("layers", "n"), SIZES)
@pytest.mark.parametrize("cell", sorted(MODULES))
def test_within_the_certificate(cell: str, layers: int, n: int, draw: str) -> None:
    """Every output is within ε + rounding of the float64 run of all inputs: random ones, and
    corners, with which units saturate; in both forms where both fit."""
    module = stable(cell, n, draw, layers)
    short, _ = rnnbounds.truncate(module, eps=EPS, inputs=1.0)
    assert math.isfinite(rounding := rnnbounds.certify(module, inputs=1.0).rounding.state)
    x = torch.cat([torch.randn(3, 300, D), torch.randn(3, 300, D).sign()])
    x = torch.nn.functional.normalize(x, dim=2) * (1 - 2.0**-20)
    with torch.no_grad():
        exact = module.double()(x.double())[0]
    there, x = short.cuda(), x.cuda()
    weights = {name: part.detach() for name, part in there.weights.items()}
    chosen = fused_form(kind_of(there.cell), weights, x, there.k)
    assert chosen is not None
    for form in ("steps", chosen):
        found = fused_outputs(kind_of(there.cell), weights, x, there.k, form)
        off = (found.cpu().double() - exact).norm(dim=2).max()
        assert float(off) <= EPS + rounding
    assert (there.infer(x) - found).norm(dim=2).max() <= 2 * rounding


@pytest.fixture
def module() -> FeedForward:
    """A truncated GRU on the card."""
    weights = {
        name.removesuffix("_l0"): w for name, w in stable("gru", 32, "random").state_dict().items()
    }
    return FeedForward(weights, cell="gru", k=40).cuda()


def inputs(N: int = 2, T: int = 100, seed: int = 0) -> Tensor:
    """Inputs on the card."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(N, T, D, generator=generator).cuda()


def near(found: Tensor, expected: Tensor) -> None:
    """The same to within float32's rounding and what the window leaves out."""
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-5)


def full(module: FeedForward, x: Tensor) -> Tensor:
    """The outputs with the whole past."""
    return FeedForward(module.weights, cell=module.cell, k=x.shape[1]).cuda()(x).detach()


def test_streams(module: FeedForward) -> None:
    """Runs on streams that overlap do not meet."""
    expected = [full(module, inputs(8, 3000, seed)) for seed in range(4)]
    given = [inputs(8, 3000, seed) for seed in range(4)]
    streams = [torch.cuda.Stream() for _ in given]
    torch.cuda.synchronize()
    for _ in range(5):
        found = []
        for stream, x in zip(streams, given, strict=True):
            with torch.cuda.stream(stream):
                found.append(module.infer(x))
        torch.cuda.synchronize()
        for one, other in zip(found, expected, strict=True):
            near(one, other)


def test_inside_a_graph_of_the_callers(module: FeedForward) -> None:
    """Its launches are captured, and replayed."""
    x = inputs()
    expected = module.infer(x)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        found = module.infer(x)
    graph.replay()
    near(found, expected)


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="one CUDA device")
def test_a_second_device(module: FeedForward) -> None:
    """Kernels run where the tensors are, not on the current device."""
    there = module.to("cuda:1")
    found = there.infer(inputs().to("cuda:1"))
    near(found, full(there, inputs().to("cuda:1")))


def test_edges(module: FeedForward) -> None:
    """torch.compile traces the plain path; no sequence, a single input, no window, inputs that are
    not contiguous and the latest output alone are computed."""
    near(torch.compile(module.infer, backend="eager")(inputs()), module.infer(inputs()))
    assert module.infer(inputs(0)).shape == (0, 100, 32)
    near(module.infer(inputs(1, 1)), module(inputs(1, 1)).detach())
    weights = {name: part.detach() for name, part in module.weights.items()}
    assert not FeedForward(weights, cell="gru", k=0).cuda().infer(inputs()).any()
    x = inputs(100, 4).transpose(0, 1).flip(2)
    near(module.infer(x), full(module, x))
    latest = FeedForward(weights, cell="gru", k=40, latest=True).cuda()
    near(latest.infer(inputs()), latest(inputs()).detach())
