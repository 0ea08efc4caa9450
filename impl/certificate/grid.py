"""A grid over the box of the states of a small cell and its inputs: pieces, images, comparisons.

A box that one step maps into itself may be far larger than what is reached. What a step leaves of
it is one, too: it is made smaller in floats, without roundings, and only the last box is proved,
with outward rounding, a little larger if need be. Source: Moore, Kearfott & Cloud, Introduction to
Interval Analysis; Rump (1999), INTLAB, for the inflation.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.inputs.sets import InputSet
from rnnbounds.impl.arithmetic.interval_arithmetic import IntervalArithmetic, IntervalVector
from rnnbounds.impl.arithmetic.intervals import Interval
from rnnbounds.impl.arithmetic.invariance import complete_boxes, prove_box
from rnnbounds.impl.arithmetic.slopes import LipschitzBounds, SlopeArithmetic
from rnnbounds.impl.certificate.plain_intervals import DifferentiableInterval
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.impl.models.rnn import RNN

LARGEST = 16  # numbers of a state and an input together, unless inputs are the rows of a table
_ENTRIES, _OF_TABLES = 2**15, 2**19  # of the matrices of all pieces, and with a piece a row
_ROWS = 64  # of a table, each of which is a piece
_ITERATES = 40  # steps by which the box shrinks
_STILL, _SLOWEST = 2.0**-12, 0.75  # shares of a side by which it does no more, and of a step
_INFLATION_BITS, _ROUNDS = (32, 16, 8, 4, 2, 0), 3

Ends = tuple[Tensor, Tensor]


def grid_of(model: LoadedModel[Any], B: float) -> "Grid | None":
    """The box that one step maps into itself, and the set of inputs."""
    cell = model.cell
    if not _is_small(model.d, sum(getattr(cell, "widths", [cell.n])), B):
        return None
    if isinstance(cell, RNN):  # whose own bias is rounded
        parameters = {role: part.detach().double()[None] for role, part in model.weights.items()}
        step = cell.program, parameters
        boxes = complete_boxes(*step, prove_box(*step, cell.box(float(B)), B, cell.d), B, cell.d)
    elif hasattr(cell, "proved_box"):
        parameters = {name: part.detach() for name, part in cell.parameters.items()}
        boxes = cell.proved_box(B)
    else:
        return None
    box = boxes.box[0].detach()
    if not _is_small(model.d, len(box), B) or not bool(torch.isfinite(box).all()):
        return None
    return Grid(cell.program, parameters, B, model.d, -box, box)


@dataclass(frozen=True, eq=False)
class Grid:
    """A box [low, high] (N,) of the states of one cell and the set of its inputs (d,)."""

    program: Any
    parameters: Mapping[str, Tensor]
    B: float
    d: int
    low: Tensor
    high: Tensor

    @property
    def inputs(self) -> Ends:
        """The box of all inputs."""
        if isinstance(self.B, InputSet):
            return self.B.low.clamp(min=-float(self.B)), self.B.high.clamp(max=float(self.B))
        side = torch.full((self.d,), self.B, dtype=torch.float64)
        return -side, side

    @property
    def table(self) -> Tensor | None:
        """The rows of a table that all inputs are, if they are few."""
        return _table_of(self.B)

    def most_pieces(self, most: int) -> tuple[int, list[int]]:
        """How many pieces there may be, and which numbers of state and input can be cut."""
        N = len(self.low)
        most = min(most, _ENTRIES // (N * (N + self.d)))
        sides = [high - low for low, high in ((self.low, self.high), self.inputs)]
        if self.table is not None:
            most, sides[1] = most // len(self.table), torch.zeros(self.d, dtype=torch.float64)
        return most, torch.cat(sides).nonzero().flatten().tolist()

    def even_counts(self, most: int) -> tuple[int, ...]:
        """Into how many parts each number is cut: one after another in two."""
        (most, cut), at = self.most_pieces(most), 0
        counts = [1] * (len(self.low) + self.d)
        while cut and 2 * math.prod(counts) <= most:
            counts[cut[at % len(cut)]] *= 2
            at += 1
        return tuple(counts)

    def best_counts(self, most: int) -> tuple[int, ...]:
        """Into how many parts each number is cut: in two again and again the one by which the
        image of the box and the growth of gaps become the least, as floats have them; no more the
        ones that change neither."""
        most, cut = self.most_pieces(most)
        counts = (1,) * (len(self.low) + self.d)
        cost = self._cost(counts)
        while cut and 2 * math.prod(counts) <= most:
            tried = [(*counts[:i], 2 * counts[i], *counts[i + 1 :]) for i in cut]
            costs = [self._cost(each) for each in tried]
            least = min(costs)
            cut = [i for i, each in zip(cut, costs, strict=True) if each < cost] or cut
            counts, cost = tried[costs.index(least)], least
        return counts

    def _cost(self, counts: Sequence[int]) -> float:
        widths = (self.high - self.low).clamp(min=1e-300)
        low, high = self.image(counts, DifferentiableInterval)
        start = torch.maximum(-self.low, self.high)
        moved = (self.compared(counts, DifferentiableInterval) @ start).amax(0)
        return float(((high - low) / widths + moved / start.clamp(min=1e-300)).sum())

    def pieces(self, counts: Sequence[int]) -> tuple[Interval, Interval]:
        """States (P, N) and inputs (P, d) of all pieces that the ball of inputs meets."""
        N = len(self.low)
        s, x = _cut((self.low, self.high), counts[:N]), _cut(self.inputs, counts[N:])
        if self.table is not None:
            x = self.table, self.table
        nearest = torch.maximum(x[0], -x[1]).clamp(min=0.0) / float(self.B)  # whose squares are
        meets = ~(torch.linalg.vector_norm(nearest, dim=1) > 1 + 1e-9)  # numbers, or NaN if B = 0
        P, Q = len(s[0]), int(meets.sum())
        states = (part.repeat_interleave(Q, dim=0) for part in s)
        return Interval(*states), Interval(*(part[meets].repeat(P, 1) for part in x))

    def image(self, counts: Sequence[int], interval: type[Interval] = Interval) -> Ends:
        """The ends of where one step leads from all pieces and from the whole, and 0."""
        s, x = (IntervalVector(interval(v.low, v.high)) for v in self.pieces(counts))
        m = IntervalArithmetic(self._repeated(len(s.range.low)), interval=interval)
        pieces = self.program(m, s, x).range
        m = IntervalArithmetic(self.parameters, interval=interval)
        s = IntervalVector(interval(self.low[None], self.high[None]))
        whole = self.program(m, s, m.inputs(self.B, self.low[None], self.d)).range
        return (
            pieces.low.amin(0).maximum(whole.low[0]).clamp(max=0.0),
            pieces.high.amax(0).minimum(whole.high[0]).clamp(min=0.0),
        )

    def holds(self, ends: Ends) -> bool:
        """True if these ends lie in the box."""
        return bool(((self.low <= ends[0]) & (ends[1] <= self.high)).all())

    def shrunk(self, counts: Sequence[int]) -> "Grid":
        """A smaller box that one step maps into itself, as floats have it.

        What a step leaves of such a box is one; another is tried that is smaller by a multiple,
        which doubles as long as it is one.
        """
        grid, ahead = self, 1.0
        image = self.image(counts, DifferentiableInterval)
        for _ in range(_ITERATES):
            low, high = (image[0] - grid.low).clamp(min=0.0), (grid.high - image[1]).clamp(min=0.0)
            if bool((low + high <= _STILL * (grid.high - grid.low)).all()) and ahead <= 1:
                break
            tried = replace(
                grid,
                low=(grid.low + ahead * low).clamp(max=0.0),
                high=(grid.high - ahead * high).clamp(min=0.0),
            )
            ends = tried.image(counts, DifferentiableInterval)
            if tried.holds(ends):
                grid, image, ahead = tried, ends, 2 * ahead
            else:
                ahead = max(ahead / 4, _SLOWEST)
        return grid

    def proved(self, larger: "Grid", counts: Sequence[int]) -> "Grid | None":
        """A box that one step certainly maps into itself, as near to this one as can be, and not
        beyond the larger one by much; None if none is proved."""
        for bits in _INFLATION_BITS:
            part = 2.0**-bits
            grid = replace(
                self,
                low=self.low + part * (larger.low - self.low),
                high=self.high + part * (larger.high - self.high),
            )
            for _ in range(_ROUNDS):
                low, high = grid.image(counts)
                if grid.holds((low, high)):
                    return grid
                room = part * (grid.high - grid.low)
                grid = replace(
                    grid,
                    low=torch.where(low < grid.low, low - room, grid.low),
                    high=torch.where(high > grid.high, high + room, grid.high),
                )
        return None

    def compared(self, counts: Sequence[int], interval: type[Interval] = Interval) -> Tensor:
        """The matrices (P, N, N) of all pieces; of a table, whose windows no file states, those at
        either end of a gate are kept apart."""
        s, x = (interval(v.low, v.high) for v in self.pieces(counts))
        P, N = s.low.shape
        eye = torch.eye(N + self.d, dtype=torch.float64).expand(P, 1, -1, -1)
        step: LipschitzBounds = self.program(
            SlopeArithmetic(self._repeated(P), N + self.d, interval=interval),
            LipschitzBounds(s, eye[:, :, :N]),
            LipschitzBounds(x, eye[:, :, N:]),
        )
        if self.table is not None:
            return step.slopes[..., :N].flatten(0, 1)
        return step.largest_slopes[..., :N]

    def _repeated(self, count: int) -> dict[str, Tensor]:
        return {name: part.expand(count, *part.shape[1:]) for name, part in self.parameters.items()}


def _table_of(B: float) -> Tensor | None:
    """The rows that all inputs are, if they are few: not those of a hull, which fills more."""
    if not isinstance(B, InputSet) or B.kind != "rows" or B.rows is None:
        return None
    return B.rows if len(B.rows) <= _ROWS else None


def _is_small(d: int, states: int, B: float) -> bool:
    """True if pieces of so many numbers are not too much work."""
    rows = _table_of(B)
    if rows is not None and len(rows) * states * (states + d) <= _OF_TABLES:
        return True
    return d + states <= LARGEST


def _cut(ends: Ends, counts: Sequence[int]) -> Ends:
    """The ends (P, m) of all boxes of a grid."""
    sides = []
    for low, high, count in zip(*ends, counts, strict=True):
        inner = low + (high - low) * (torch.arange(count, dtype=low.dtype) / count)
        sides.append(torch.cat([inner, high[None]]))
    corners = (torch.cartesian_prod(*[side[part] for side in sides]).reshape(-1, len(counts))
               for part in (slice(None, -1), slice(1, None)))  # fmt: skip
    below, above = corners
    return below, above
