"""Truncated models against cuDNN's loops on a CUDA device: sizes, targets and measurements.

All outputs of N sequences of length T in float32, as `FeedForward.infer` gives them, against the
module of torch, which runs in cuDNN, with and without TensorFloat-32.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, NamedTuple

import torch
from torch.backends import cudnn

from rnnbounds.bench.ceilings import Load
from rnnbounds.bench.clock import Clock, Work
from rnnbounds.bench.events import DeviceTimer, EventTimer
from rnnbounds.bench.row import RowMeasurement, three_digits
from rnnbounds.impl.cells.stacks.stack import PREFIX
from rnnbounds.impl.convert.feedforward import FeedForward

WINDOW, CHANNELS, LAYERS = 21, 8, 2
GATES = {"rnn-tanh": 1, "rnn-relu": 1, "lstm": 4, "gru": 3}
LONG, SHORT = 4096, 512


class Point(NamedTuple):
    """One size: units, sequences and their length."""

    n: int
    sequences: int
    length: int


GRID = tuple(
    Point(n, *shape)
    for n in (16, 64, 128, 256, 512)
    for shape in ((1, SHORT), (64, SHORT), (1, LONG), (8, LONG), (64, LONG))
)
BY_LENGTH = tuple(Point(64, 1, 2**power) for power in range(8, 16))  # cuDNN refuses 65,536 steps


def asked_ratio(point: Point, layers: int) -> float:
    """How often as fast as cuDNN a truncated model should be: more of one layer where one long
    sequence leaves cuDNN's loop alone with its launches, and where many short ones fit at once."""
    n, shape = point.n, point[1:]
    if layers == 1 and shape == (1, LONG):
        return 30.0 if n <= 64 else 15.0
    if layers == 1 and shape == (64, SHORT) and n <= 128:
        return 3.0 if n <= 64 else 1.5
    return 1.0


def serving_load(cell: str, layers: int, point: Point) -> Load:
    """Work of any algorithm: the products of every step and layer; inputs and weights read once,
    outputs written once, in float32."""
    n, steps, g = point.n, point.sequences * point.length, GATES[cell]
    numbers = sum(g * n * (n + (n if layer else CHANNELS)) for layer in range(layers))
    return Load(2.0 * steps * numbers, 4.0 * (steps * (CHANNELS + n) + numbers))


@dataclass(frozen=True)
class PointResult:
    """Measurement of one point, in microseconds; None where a call cannot be captured.

    ours, other: launched, cuDNN's without TensorFloat-32; product_share, copy_share: of the
    device's rates of products and copies; difference: the largest of any output.
    """

    n: int
    sequences: int
    length: int
    ours: float
    ours_graph: float | None
    other: float
    other_graph: float | None
    other_tf32: float
    ratio: float
    asked: float
    met: bool
    product_share: float
    copy_share: float
    difference: float

    def text_cells(self) -> tuple[str, ...]:
        """The point as text, under `POINT_COLUMNS`."""
        times = (self.ours, self.ours_graph, self.other, self.other_graph, self.other_tf32)
        return (
            str(self.n), f"{self.sequences} × {self.length}",
            *("" if time is None else three_digits(time) for time in times),
            three_digits(self.ratio), f"≥ {three_digits(self.asked)}",
            "met" if self.met else "not met",
            *map(three_digits, (self.product_share, self.copy_share, self.difference)),
        )  # fmt: skip


POINT_COLUMNS = (
    "n", "sequences", "ours µs", "graph µs", "cuDNN µs", "graph µs", "TF32 µs", "ratio", "asked",
    "", "of products", "of copies", "difference",
)  # fmt: skip


@contextmanager
def tensor_float(allowed: bool) -> Iterator[None]:
    """Let cuDNN use TensorFloat-32 in float32, or not, within."""
    before, cudnn.allow_tf32 = cudnn.allow_tf32, allowed
    try:
        yield
    finally:
        cudnn.allow_tf32 = before


def make_module(cell: str, n: int, layers: int) -> torch.nn.RNNBase:
    """Torch's module of a cell, with the weights that it starts with under a fixed seed."""
    torch.manual_seed(n)
    kind, _, activation = cell.partition("-")
    options: dict[str, Any] = {"nonlinearity": activation} if activation else {}
    module: torch.nn.RNNBase = getattr(torch.nn, kind.upper())(
        CHANNELS, n, layers, batch_first=True, **options
    )
    return module


def truncate_module(module: torch.nn.RNNBase, cell: str) -> FeedForward:
    """The module's feed-forward form with `WINDOW` inputs."""
    weights = dict(module.state_dict())
    if module.num_layers == 1:
        weights = {name.removesuffix("_l0"): part for name, part in weights.items()}
    name = cell if module.num_layers == 1 else PREFIX + cell
    return FeedForward(weights, cell=name, k=WINDOW)


def measure_point(cell: str, layers: int, point: Point, timer: DeviceTimer) -> PointResult:
    """Time one size: ours, and the module without and with TensorFloat-32."""
    module = make_module(cell, point.n, layers)
    ours = truncate_module(module, cell).to(timer.device)
    module.to(timer.device)
    x = torch.randn(point.sequences, point.length, CHANNELS).to(timer.device)

    def infer() -> torch.Tensor:
        return ours.infer(x)

    @torch.no_grad()
    def loop(tf32: bool) -> torch.Tensor:
        with tensor_float(tf32):
            outputs: torch.Tensor = module(x)[0]
            return outputs

    plain = partial(loop, False)
    difference = float((infer() - plain()).abs().max())
    graphs = [timer.capture(work) for work in (infer, plain)]
    works: list[Work] = [infer, plain, partial(loop, True), *filter(None, graphs)]
    own, other, tf32, *replays = (1e6 * seconds for seconds in timer.medians(works))
    own_graph, other_graph = (None if graph is None else replays.pop(0) for graph in graphs)
    load, peak = serving_load(cell, layers, point), timer.ceilings()
    ratio, asked = other / own, asked_ratio(point, layers)
    return PointResult(
        *point, own, own_graph, other, other_graph, tf32, ratio, asked, ratio >= asked,
        1e6 * load.flops / own / peak.flops, 1e6 * load.bytes / own / peak.bytes, difference,
    )  # fmt: skip


def measure_sizes(
    cell: str, layers: int, points: Sequence[Point], clock: Clock, timer: DeviceTimer | None = None
) -> RowMeasurement:
    """Time all points; the row is the one that reaches the least share of what is asked of it."""
    reader = EventTimer(clock.device, clock.repeats) if timer is None else timer
    results = [measure_point(cell, layers, point, reader) for point in points]
    shares = [result.ratio / result.asked for result in results]
    share, worst = min(zip(shares, results, strict=True), key=lambda pair: pair[0])
    missed = sum(not result.met for result in results)
    note = (
        f"{len(results) - missed} of {len(results)} sizes met; the least is n = {worst.n}, "
        f"{worst.sequences} × {worst.length}: {three_digits(worst.ratio)} times as fast, asked "
        f"{three_digits(worst.asked)}"
    )
    return RowMeasurement(
        worst.ours, worst.other, share, (share, max(shares)), clock.repeats, note,
        tuple(map(asdict, results)),
    )  # fmt: skip
