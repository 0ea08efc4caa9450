"""Windows of a cell or of all layers of a stack, by pieces of the set of states and inputs.

One step maps the stated box into itself, so all states lie in it and, by induction, in what each
further step leaves of it beside 0. Pieces of what is left, and of the inputs, have comparisons
M_p, and two runs of which one was at 0 are at most g_m apart after m more steps, with
g_{m+1} = min(max_p M_p g_m, high − low) row by row. That map grows with g_m, so that from g_m ≤ g_k
on no later bound is above those of k, …, m − 1. Sources: those of `impl.checker.cells.units`.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product, tee

from flint import arb, ctx

from rnnbounds.impl.checker.cells.activations import BALL_ACTIVATIONS
from rnnbounds.impl.checker.cells.layouts import STACKED, layers, layout
from rnnbounds.impl.checker.cells.poles import diagonal
from rnnbounds.impl.checker.cells.steps import step_of
from rnnbounds.impl.checker.cells.units import Row, Units, Weights, joined
from rnnbounds.impl.checker.definite import largest, norm, smaller
from rnnbounds.impl.checker.input_ranges import InputRanges
from rnnbounds.impl.format.fields import RecordError
from rnnbounds.impl.format.record import Cut, Record
from rnnbounds.impl.format.tensors import Array

Ends = tuple[list[arb], list[arb]]
STEPS = 2**13  # twice those of a maker
_PRECISION = 128
_UNITS, _PIECES, _SHRUNK = 32, 2**10, 16  # that are looked at, of whatever is stated
_ENTRIES = 2**16  # of all matrices: twice those of a maker


@dataclass(frozen=True, eq=False)
class Layer:
    """One cell with its weights, of so many numbers of state and output."""

    name: str
    weights: Weights
    states: int
    outputs: int

    def step(self, s: Units, x: Units) -> Units:
        """The next state."""
        m = self.weights
        if self.name in BALL_ACTIVATIONS:
            fed = m.affine("weight_ih", "bias_ih", x) + m.affine("weight_hh", "bias_hh", s)
            return fed.through(BALL_ACTIVATIONS[self.name])
        step = diagonal(m)[0] if self.name == "diagonal" else step_of(self.name)
        return step(m, s, x)


def layers_of(cell: str, weights: Mapping[str, Array]) -> list[Layer]:
    """The layers of a stack, or the one of a cell."""
    parts = layers(weights) if cell.startswith(STACKED) else [dict(weights)]
    found, name = [], cell.removeprefix(STACKED)
    for part in parts:
        states, n, _ = layout(name, part).sizes({role: w.shape for role, w in part.items()})
        found.append(Layer(name, Weights(part), states, n))
    return found


def kept(told: Record, cut: Cut, weights: Mapping[str, Array]) -> Iterator[list[arb]]:
    """g_0, g_1, …, of which the last n numbers are the output; none where the box is not proved.
    Raises RecordError for pieces of other states or too many."""
    stack, B = layers_of(told.cell, weights), arb(told.input_bound)
    N, d = sum(layer.states for layer in stack), told.shape.d
    counts, most = (cut.steps_grid, cut.grid), min(_PIECES, _ENTRIES // max(1, N * (N + d)))
    if (
        N + d > _UNITS or cut.steps > _SHRUNK or len(cut.box) != N
        or any(len(each) != N + d or not 0 < math.prod(each) <= most for each in counts)
    ):  # fmt: skip
        raise RecordError("no pieces of such a cell")
    inputs = [-B] * d, [B] * d
    if (ranges := InputRanges.of(told.inputs)) is not None:
        inputs = ([a.max(b) for a, b in zip(inputs[0], ranges.box[0], strict=True)],
                  [a.min(b) for a, b in zip(inputs[1], ranges.box[1], strict=True)])  # fmt: skip
    high = [arb(r) for r in cut.box]
    ends, still = ([-r for r in high], high), list[Row]([{} for _ in high])
    whole = _step(stack, Units(*ends, still), Units(*inputs, [{}] * d, radius=B, inputs=ranges))
    if not all(bool(size <= r) for size, r in zip(whole.sizes, high, strict=True)):
        return
    with ctx.workprec(_PRECISION):
        for _ in range(cut.steps):
            ends = _left(ends, [_step(stack, Units(*s, still), Units(*x, [{}] * d))
                                for s, x in _pieces(ends, inputs, cut.steps_grid, B)])  # fmt: skip
        moved = list[Row]([{i: arb(1)} for i in range(N)])
        rows = [_step(stack, Units(*s, moved), Units(*x, [{}] * d)).rows
                for s, x in _pieces(ends, inputs, cut.grid, B)]  # fmt: skip
        g = [(-a).max(b) for a, b in zip(*ends, strict=True)]
        widths = [b - a for a, b in zip(*ends, strict=True)]
    for _ in range(STEPS):  # never left open in that precision
        with ctx.workprec(_PRECISION):
            g = [smaller(size, width).upper() for size, width in zip(g, widths, strict=True)]
        yield g
        with ctx.workprec(_PRECISION):
            g = [largest([_sum(piece[i], g) for piece in rows]) for i in range(N)]


class ByPieces:
    """Windows that the pieces of a record prove; g_0, g_1, … are computed once, as far as the
    longest window that is asked about takes."""

    def __init__(self, told: Record, weights: Mapping[str, Array]) -> None:
        self.n = told.shape.n
        self.bounds = iter(() if told.pieces is None else kept(told, told.pieces, weights))

    def holds(self, k: int, most: arb) -> bool:
        """True if ‖Δh‖₂ ≤ most is proved for k steps and any number more. Raises as `kept`."""
        first: list[arb] | None = None
        self.bounds, bounds = tee(self.bounds)
        for m, g in enumerate(bounds):
            if first is not None and all(bool(a <= b) for a, b in zip(g, first, strict=True)):
                return True
            if m >= k:
                first = first or g
                with ctx.workprec(_PRECISION):
                    if not norm(g[-self.n :]) <= most:
                        return False
        return False


def _step(stack: Sequence[Layer], s: Units, x: Units) -> Units:
    """One step of all layers."""
    found, start = [], 0
    for layer in stack:
        found.append(layer.step(s.part(start, start + layer.states), x))
        start += layer.states
        x = found[-1].part(layer.states - layer.outputs, layer.states)
    return joined(*found)


def _pieces(
    states: Ends, inputs: Ends, counts: Sequence[int], B: arb
) -> Iterator[tuple[Ends, Ends]]:
    """States and inputs of all pieces but those that no input of ‖x‖₂ ≤ B is in."""
    N, both = len(states[0]), [a + b for a, b in zip(states, inputs, strict=True)]
    parts = [[(a + (b - a) * j / count, a + (b - a) * (j + 1) / count) for j in range(count)]
             for a, b, count in zip(*both, counts, strict=True)]  # fmt: skip
    for sides in product(*parts):
        low, high = ([side[end] for side in sides] for end in (0, 1))
        nearest = [a.max(-b).max(arb(0)) for a, b in zip(low[N:], high[N:], strict=True)]
        if not norm(nearest) > B:
            yield (low[:N], high[:N]), (low[N:], high[N:])


def _left(ends: Ends, images: Sequence[Units]) -> Ends:
    """Shrink a box to the part that holds 0 and the images of its pieces."""
    low, high = [], []
    for i, (a, b) in enumerate(zip(*ends, strict=True)):
        down = largest([-image.low[i] for image in images] + [arb(0)])
        up = largest([image.high[i] for image in images] + [arb(0)])
        low.append(-smaller(down, -a).upper())
        high.append(smaller(up, b).upper())
    return low, high


def _sum(row: Row, g: Sequence[arb]) -> arb:
    return sum((a * g[j] for j, a in row.items()), arb(0))
