"""CUDA graphs by shape: to launch a run from Python costs more than the run.

A graph reads the weights where they lie, so a change in place is seen, and a copy of its inputs. It
is found by their addresses, shapes and strides, and by the stream on which it is asked for: replays
of one graph never overlap.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from threading import RLock

import torch
from torch import Tensor

Compute = Callable[[Tensor], Tensor]
MOST_GRAPHS, MOST_BYTES = 16, 2**30  # kept, of all shapes together


@dataclass(frozen=True)
class Captured:
    """A graph with the tensors that it reads and writes, and how many bytes it keeps."""

    graph: torch.cuda.CUDAGraph
    x: Tensor
    out: Tensor
    size: int

    def replay(self, x: Tensor) -> Tensor:
        """The outputs on x, in a tensor of their own."""
        self.x.copy_(x)
        self.graph.replay()
        return self.out.clone()


class GraphCache:
    """The graphs used last, MOST_GRAPHS of MOST_BYTES at most."""

    def __init__(self) -> None:
        self._graphs: OrderedDict[Hashable, Captured] = OrderedDict()
        self._lock = RLock()

    def __len__(self) -> int:
        return len(self._graphs)

    @property
    def size(self) -> int:
        """Bytes that the graphs keep."""
        return sum(captured.size for captured in self._graphs.values())

    def clear(self) -> None:
        """Free all graphs."""
        with self._lock:
            self._graphs.clear()

    def run(self, key: Hashable, compute: Compute, x: Tensor, size: int) -> Tensor:
        """compute(x), from a graph that keeps about so many bytes, captured the first time.

        Larger ones than MOST_BYTES, and what is captured by a graph of the caller's, are launched.
        """
        if size > MOST_BYTES or torch.cuda.is_current_stream_capturing():
            return compute(x)
        with self._lock:
            captured = self._graphs.pop(key, None)
            if captured is None:
                while self._graphs and (len(self) >= MOST_GRAPHS or self.size + size > MOST_BYTES):
                    self._graphs.popitem(last=False)
                captured = capture(compute, x, size)
            self._graphs[key] = captured
            return captured.replay(x)


def capture(compute: Compute, x: Tensor, size: int) -> Captured:
    """The graph of compute on tensors like x; run once before, which compiles what it needs."""
    static = x.clone(memory_format=torch.contiguous_format)
    stream = torch.cuda.Stream(x.device)
    stream.wait_stream(torch.cuda.current_stream(x.device))
    with torch.cuda.stream(stream):
        compute(static)
    torch.cuda.current_stream(x.device).wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream, capture_error_mode="thread_local"):
        out = compute(static)
    return Captured(graph, static, out, size)


GRAPHS = GraphCache()
