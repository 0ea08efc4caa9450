"""Seconds of work on a CUDA device, between two events of its stream, launched and as a graph.

*Launched* is one call from Python on an idle device: what one request waits for. *Captured* is the
replay of a CUDA graph of the call: what the kernels take by themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Protocol

import torch

from rnnbounds.bench.ceilings import Ceilings, measure_ceilings
from rnnbounds.bench.clock import REPEATS, Work

WARM_UPS = 3


class DeviceTimer(Protocol):
    """Reads a device; tests have one that reads numbers off a list."""

    @property
    def device(self) -> str:
        """Its name."""

    def medians(self, works: Sequence[Work]) -> list[float]:
        """Median seconds of each work, one reading of each after the other."""

    def capture(self, work: Work) -> Work | None:
        """The work as a graph; None if it cannot be captured."""

    def ceilings(self) -> Ceilings:
        """The device's peak rates in float32."""


@dataclass(frozen=True)
class EventTimer:
    """`DeviceTimer` of a CUDA device."""

    device: str = "cuda"
    repeats: int = REPEATS

    def medians(self, works: Sequence[Work]) -> list[float]:
        """Median seconds of each work, one reading of each after the other."""
        for work in works:
            for _ in range(WARM_UPS):
                work()
        readings = [[self.read(work) for work in works] for _ in range(self.repeats)]
        return [median(side) for side in zip(*readings, strict=True)]

    def read(self, work: Work) -> float:
        """Seconds of one call on the idle device."""
        make_event: Any = torch.cuda.Event
        start, end = (make_event(enable_timing=True) for _ in range(2))
        torch.cuda.synchronize(self.device)
        start.record()
        work()
        end.record()
        end.synchronize()
        return float(start.elapsed_time(end)) / 1e3

    def capture(self, work: Work) -> Work | None:
        """The work as a graph; None if it cannot be captured."""
        make_stream: Any = torch.cuda.Stream
        stream = make_stream(self.device)
        stream.wait_stream(torch.cuda.current_stream(self.device))
        graph = torch.cuda.CUDAGraph()
        try:
            with torch.cuda.stream(stream):
                for _ in range(WARM_UPS):
                    work()
            torch.cuda.synchronize(self.device)
            with torch.cuda.graph(graph, stream=stream):
                work()
        except RuntimeError:
            torch.cuda.synchronize(self.device)
            return None
        return graph.replay

    def ceilings(self) -> Ceilings:
        """The device's peak rates in float32."""
        return measure_ceilings(self.device, torch.float32)
