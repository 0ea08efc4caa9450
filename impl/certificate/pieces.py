"""Windows of small cells, by pieces of the set of their states and inputs.

All states lie in a box low ≤ s ≤ high that has 0 in it and that one step maps into itself, piece by
piece (`impl.certificate.grid`). Cut this box and the set of inputs into pieces p, on each of which
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

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.intervals import PoleError
from rnnbounds.impl.certificate.grid import grid_of
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.impl.norms.remaining import STEPS, LayerMatrices
from rnnbounds.impl.numbers.outward import add_up, norm_up

_ON_THE_WAY, _PIECES = 2**6, 2**9  # pieces while the box shrinks, and then
_ROOM = 1 + 2.0**-40  # so that other roundings find the same window
_SHORT = 2  # windows that are left as they are


@dataclass(frozen=True, eq=False)
class Pieces:
    """The matrices (R, N, N) of pieces, what is needed of them row by row; g_0 and the widths
    high − low (N,), rounded up; the last n numbers of a state are the output.

    One step maps the pieces of the box [low, high] (N,) and of the inputs into that box; `grid`
    (N + d) is how many parts each number of state and input is cut into.
    """

    matrices: Tensor
    start: Tensor
    widths: Tensor
    n: int
    low: Tensor
    high: Tensor
    grid: tuple[int, ...]

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
        """Return the box and the grid that the matrices are computed from, as JSON data."""
        return {"low": self.low.tolist(), "high": self.high.tolist(), "grid": list(self.grid)}


def pieces_of(model: LoadedModel[Any], B: float, k: int) -> Pieces | None:
    """The pieces of a cell under inputs ‖x‖₂ ≤ B or of an `InputSet`, of which the window k is
    known; None for large cells, for those without a box, and for a short k."""
    grid = None if k <= _SHORT else grid_of(model, B)
    if grid is None:
        return None
    try:
        small = grid.shrunk(grid.even_counts(_ON_THE_WAY))
        counts = small.best_counts(_PIECES)
        if (grid := small.shrunk(counts).proved(grid, counts)) is None:
            return None
        matrices = _undominated(grid.compared(counts))
    except PoleError:
        return None
    start, widths = torch.maximum(-grid.low, grid.high), add_up(grid.high, -grid.low)
    return Pieces(matrices, start, widths, model.n, grid.low, grid.high, counts)


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
