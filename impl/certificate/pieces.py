"""Windows of small cells, by pieces of the set of their states and inputs.

All states lie in a box that one step maps into itself, and so in what each further step leaves of
it beside 0: low ≤ s ≤ high. Cut this box and the set of inputs into pieces p, on each of which
|φ(s, x) − φ(s′, x)| ≤ M_p |s − s′|. The segment from s to s′ at one input x runs through pieces, so
that for all s, s′ of the box

    |φ(s, x) − φ(s′, x)| ≤ max_p M_p |s − s′|    row by row.

Two runs under the same inputs, one of which begins at 0, are hence apart by |Δs_m| ≤ g_m for

    g_0 = max(−low, high),    g_{m+1} = min(max_p M_p g_m, high − low),

which grows with g_m. So if g_m ≤ g_j for a j < m, no later bound is above those of j, …, m − 1, and
if their outputs are at most ε, j is a window, whatever λ is. Pieces see that a gate and what it
multiplies depend on one state and one input. `impl.checker.pieces` proves all of it again. Source:
Moore, Kearfott & Cloud, Introduction to Interval Analysis, for the subdivision.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.inputs.sets import InputSet
from rnnbounds.impl.arithmetic.interval_arithmetic import (
    IntervalArithmetic,
    IntervalVector,
    step_bound,
)
from rnnbounds.impl.arithmetic.intervals import Interval, PoleError
from rnnbounds.impl.arithmetic.invariance import complete_boxes, prove_box
from rnnbounds.impl.arithmetic.slopes import LipschitzBounds, SlopeArithmetic
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.impl.models.rnn import RNN
from rnnbounds.impl.norms.remaining import STEPS, LayerMatrices
from rnnbounds.impl.numbers.outward import add_up, norm_up

LARGEST = 16  # numbers of a state and an input together
_ENTRIES, _PIECES = 2**15, 2**9  # of all matrices, and how many of these
_ROWS = 32  # of a table, each of which is a piece
_ON_THE_WAY, _ITERATES = 2**6, 8  # pieces and steps by which the box shrinks
_ROOM = 1 + 2.0**-40  # so that other roundings find the same window
_SHORT = 2  # windows that are left as they are

Ends = tuple[Tensor, Tensor]


@dataclass(frozen=True, eq=False)
class Pieces:
    """The matrices (R, N, N) of pieces, what is needed of them row by row; g_0 and the widths
    high − low (N,), rounded up; the last n numbers of a state are the output.

    The `box` (N,) shrinks by so many `steps` over pieces, `steps_grid` (N + d) being how many parts
    each number of state and input is cut into, and is then cut into `final_grid` (N + d).
    """

    matrices: Tensor
    start: Tensor
    widths: Tensor
    n: int
    box: Tensor
    steps_grid: tuple[int, ...]
    final_grid: tuple[int, ...]
    steps: int = _ITERATES

    def window(self, epsilon: float, k: int) -> int:
        """The least window from which on ‖Δh_m‖₂ ≤ ε is proved for all m; k if there is none below
        it."""
        compared, g = LayerMatrices(self.matrices, self.start), self.start.numpy()
        least, at_least, widths = None, g, self.widths.numpy()
        for m in range(STEPS):
            if m >= k and least is None:
                break
            if not float(norm_up(torch.from_numpy(g[-self.n :]))) * _ROOM <= epsilon:
                least = None
            elif least is None:
                least, at_least = m, g
            elif bool((g <= at_least).all()):
                return least
            g = np.minimum(compared.next_difference(g, g), widths)
        return k

    def to_json(self) -> dict[str, Any]:
        """Return the box and the grids that the matrices are computed from, as JSON data."""
        numbers = {
            "steps_grid": list(self.steps_grid),
            "grid": list(self.final_grid),
            "steps": self.steps,
        }
        return {"box": self.box.tolist(), **numbers}


def pieces_of(model: LoadedModel[Any], B: float, k: int) -> Pieces | None:
    """The pieces of a cell under inputs ‖x‖₂ ≤ B or of an `InputSet`, of which the window k is
    known; None for large cells, for those without a box, and for a short k."""
    grid = None if k <= _SHORT else _grid_of(model, B)
    if grid is None:
        return None
    box, steps_grid = grid.high, grid.counts(_ON_THE_WAY)
    try:
        if not bool((step_bound(grid.program, grid.parameters, box[None], B, grid.d) <= box).all()):
            return None
        for _ in range(_ITERATES):
            grid = grid.stepped(steps_grid)
        final_grid = grid.counts(_PIECES)
        matrices = _undominated(grid.compared(final_grid))
    except PoleError:
        return None
    start, widths = torch.maximum(-grid.low, grid.high), add_up(grid.high, -grid.low)
    return Pieces(matrices, start, widths, model.n, box, steps_grid, final_grid)


def _grid_of(model: LoadedModel[Any], B: float) -> "_Grid | None":
    """The box that one step maps into itself, and the set of inputs."""
    cell = model.cell
    if model.d + sum(getattr(cell, "widths", [cell.n])) > LARGEST:
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
    if len(box) + model.d > LARGEST or not bool(torch.isfinite(box).all()):
        return None
    return _Grid(cell.program, parameters, B, model.d, -box, box)


@dataclass(frozen=True, eq=False)
class _Grid:
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
        """The rows of a table that all inputs are, if they are few: not those of a hull, which
        fills more."""
        if not isinstance(self.B, InputSet) or self.B.kind != "rows":
            return None
        return self.B.rows if self.B.rows is not None and len(self.B.rows) <= _ROWS else None

    def counts(self, most: int) -> tuple[int, ...]:
        """Into how many parts each number is cut: the widest in two, again and again, where widths
        are in proportion to the widest of the state or of the input."""
        N = len(self.low)
        most = min(most, _ENTRIES // (N * (N + self.d)))
        sides = [high - low for low, high in ((self.low, self.high), self.inputs)]
        if self.table is not None:
            most, sides[1] = most // len(self.table), torch.zeros(self.d, dtype=torch.float64)
        widths = torch.cat([side / side.max().clamp(min=1e-300) for side in sides]).tolist()
        counts = [1] * len(widths)
        while 2 * math.prod(counts) <= most and max(widths) > 0:
            at = widths.index(max(widths))
            counts[at], widths[at] = 2 * counts[at], widths[at] / 2
        return tuple(counts)

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

    def image(self, counts: Sequence[int]) -> Ends:
        """The ends of where one step leads from all pieces."""
        s, x = self.pieces(counts)
        m = IntervalArithmetic(self._repeated(len(s.low)))
        image = self.program(m, IntervalVector(s), IntervalVector(x)).range
        return image.low.amin(0), image.high.amax(0)

    def stepped(self, counts: Sequence[int]) -> "_Grid":
        """The part of the box in which 0 lies and whatever one step leads to."""
        low, high = self.image(counts)
        low, high = low.clamp(max=0.0), high.clamp(min=0.0)
        return replace(self, low=low.maximum(self.low), high=high.minimum(self.high))

    def compared(self, counts: Sequence[int]) -> Tensor:
        """The matrices (P, N, N) of all pieces."""
        s, x = self.pieces(counts)
        P, N = s.low.shape
        eye = torch.eye(N + self.d, dtype=torch.float64).expand(P, 1, -1, -1)
        step: LipschitzBounds = self.program(
            SlopeArithmetic(self._repeated(P), N + self.d),
            LipschitzBounds(s, eye[:, :, :N]),
            LipschitzBounds(x, eye[:, :, N:]),
        )
        return step.largest_slopes[..., :N]

    def _repeated(self, count: int) -> dict[str, Tensor]:
        return {name: part.expand(count, *part.shape[1:]) for name, part in self.parameters.items()}


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


def _undominated(matrices: Tensor) -> Tensor:
    """Matrices (R, N, N) with the same largest products with vectors ≥ 0, row by row: without rows
    that are nowhere above another one."""
    kept = []
    for rows in matrices.transpose(0, 1):
        rows = torch.unique(rows, dim=0)
        below = (rows[:, None] <= rows[None]).all(2)
        kept.append(rows[below.sum(1) == 1])
    most = max(map(len, kept))
    padded = [torch.cat([rows, rows[:1].expand(most - len(rows), -1)]) for rows in kept]
    return torch.stack(padded, dim=1)
