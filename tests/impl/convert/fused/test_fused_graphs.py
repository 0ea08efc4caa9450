"""The cache of graphs: bounded, by shape and stream, with stand-ins for graphs."""

import pytest
import torch
from torch import Tensor

from rnnbounds.impl.convert.fused import graphs
from rnnbounds.impl.convert.fused.graphs import MOST_BYTES, MOST_GRAPHS, Captured, GraphCache


class Graph:
    """A stand-in for a CUDA graph: writes what was captured into the tensor of outputs."""

    def __init__(self, compute, x: Tensor, out: Tensor) -> None:
        self.compute, self.x, self.out = compute, x, out

    def replay(self) -> None:
        """Compute again."""
        self.out.copy_(self.compute(self.x))


@pytest.fixture
def captures(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes that were captured."""
    seen: list[int] = []

    def capture(compute, x: Tensor, size: int) -> Captured:
        seen.append(size)
        static, out = x.clone(), compute(x)
        return Captured(Graph(compute, static, out), static, out, size)

    monkeypatch.setattr(graphs, "capture", capture)
    monkeypatch.setattr("torch.cuda.is_current_stream_capturing", lambda: False)
    return seen


def double(x: Tensor) -> Tensor:
    """2 x."""
    return 2 * x


def test_a_shape_is_captured_once(captures: list[int]) -> None:
    """Later inputs are copied in; outputs that were handed out stay as they are."""
    cache, x = GraphCache(), torch.ones(3)
    first = cache.run("a", double, x, 7)
    second = cache.run("a", double, 5 * x, 7)
    assert (first == 2).all()
    assert (second == 10).all()
    assert captures == [7]


def test_the_cache_is_bounded(captures: list[int]) -> None:
    """By graphs and by bytes; those used last stay."""
    cache, x = GraphCache(), torch.ones(3)
    for i in range(2 * MOST_GRAPHS):
        cache.run(0, double, x, 1)
        cache.run(i, double, x, 1)
        assert len(cache) <= MOST_GRAPHS
    assert captures == [1] * 2 * MOST_GRAPHS
    cache.run("large", double, x, MOST_BYTES - 1)
    assert len(cache) == 2
    assert cache.size <= MOST_BYTES
    cache.run("half", double, x, MOST_BYTES // 2)
    assert len(cache) == 1
    cache.clear()
    assert (len(cache), cache.size) == (0, 0)


def test_what_is_not_captured(captures: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs too large to keep, and those that a graph of the caller's captures."""
    cache, x = GraphCache(), torch.ones(3)
    assert (cache.run("a", double, x, MOST_BYTES + 1) == 2).all()
    monkeypatch.setattr("torch.cuda.is_current_stream_capturing", lambda: True)
    assert (cache.run("a", double, x, 1) == 2).all()
    assert (len(cache), captures) == (0, [])
