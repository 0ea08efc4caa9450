"""Windows of a cell or of all layers of a stack, by pieces of the set of states and inputs.

0 lies in the stated box, and one step maps its pieces into it: by induction all states lie there.
The pieces of the box, and of the inputs, have comparisons M_p, and two runs of which one was at 0
are at most g_m apart after m more steps, with g_{m+1} = min(max_p M_p g_m, high − low) row by row.
That map grows with g_m, so that from g_m ≤ g_k on no later bound is above those of k, …, m − 1.
Sources: those of `impl.checker.cells.units`.
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
_UNITS, _PIECES = 32, 2**10  # that are looked at, of whatever is stated
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
    most = min(_PIECES, _ENTRIES // max(1, N * (N + d)))
    if (
        N + d > _UNITS or not len(cut.low) == len(cut.high) == N
        or len(cut.grid) != N + d or not 0 < math.prod(cut.grid) <= most
        or not all(a <= 0 <= b for a, b in zip(cut.low, cut.high, strict=True))
    ):  # fmt: skip
        raise RecordError("no pieces of such a cell")
    inputs = [-B] * d, [B] * d
    if (ranges := InputRanges.of(told.inputs)) is not None:
        inputs = ([a.max(b) for a, b in zip(inputs[0], ranges.box[0], strict=True)],
                  [a.min(b) for a, b in zip(inputs[1], ranges.box[1], strict=True)])  # fmt: skip
    ends = [arb(a) for a in cut.low], [arb(b) for b in cut.high]
    with ctx.workprec(_PRECISION):
        still, moved = list[Row]([{}] * N), list[Row]([{i: arb(1)} for i in range(N)])
        whole = _step(stack, Units(*ends, still), Units(*inputs, [{}] * d, radius=B, inputs=ranges))
        steps = [_step(stack, Units(*s, moved), Units(*x, [{}] * d))
                 for s, x in _pieces(ends, inputs, cut.grid, B)]  # fmt: skip
        if not _holds(ends, whole, steps):
            return
        g = [(-a).max(b) for a, b in zip(*ends, strict=True)]
        widths = [b - a for a, b in zip(*ends, strict=True)]
    for _ in range(STEPS):  # never left open in that precision
        with ctx.workprec(_PRECISION):
            g = [smaller(size, width).upper() for size, width in zip(g, widths, strict=True)]
        yield g
        with ctx.workprec(_PRECISION):
            g = [largest([_sum(step.rows[i], g) for step in steps]) for i in range(N)]


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


def _holds(ends: Ends, whole: Units, pieces: Sequence[Units]) -> bool:
    """True if one step leads from the box into the box: each number by its pieces or by the whole,
    of which an input within a ball is known to be one."""
    for i, (a, b) in enumerate(zip(*ends, strict=True)):
        down = smaller(largest([-image.low[i] for image in pieces]), -whole.low[i])
        up = smaller(largest([image.high[i] for image in pieces]), whole.high[i])
        if not (down <= -a and up <= b):
            return False
    return True


def _sum(row: Row, g: Sequence[arb]) -> arb:
    return sum((a * g[j] for j, a in row.items()), arb(0))
