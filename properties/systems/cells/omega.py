"""All weights near those of a cell.

Ω has, parameter by parameter, the weights no further from the cell's than its other weights are:
w′_ij = w_ij(1 + σ_ij) for fixed shares σ_ij, so that w − w′ is exact (Sterbenz). The shares of a
mix stand still.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch

from rnnbounds.impl.arithmetic.interval_arithmetic import step_bound
from rnnbounds.impl.arithmetic.slopes import compare_runs
from rnnbounds.impl.norms.comparison import Comparison
from rnnbounds.impl.numbers.outward import mul_up, norm_up
from rnnbounds.properties.systems.caching import per_system
from rnnbounds.properties.systems.cells.batch import Cells, step_smoothness

Tensor = torch.Tensor
LARGEST_SHARE = 0.25
# How much larger than the cell's own the box is taken, until no weights of Ω leave it.
GROWTH = (1.0, 1.03125, 1.125, 1.5, 3.0, 9.0)


@dataclass(frozen=True, eq=False)
class CellsOmega:
    """The weights within a share of those of B cells."""

    cells: Cells
    share: float
    whole: tuple[CellsOmega, int] | None = None

    @per_system
    def other_weights(self) -> dict[str, Tensor]:
        """The other weights, (B, …) by name."""
        return self.cells.nearby_weights(min(self.share, LARGEST_SHARE))

    @per_system
    def weight_gap(self) -> dict[str, Tensor]:
        """w − w′, exactly."""
        return {
            name: part - self.other_weights[name] for name, part in self.cells.parameters.items()
        }

    @per_system
    def radii(self) -> dict[str, Tensor]:
        """At least the distance of either's parameters from the other's, (B,) by name."""
        return {name: norm_up(part.flatten(1)) for name, part in self.weight_gap.items()}

    @per_system
    def box(self) -> Tensor:
        """A box (B, N) that no weights of Ω leave, infinite where none is found."""
        start = self.cells.box
        largest_box = torch.full_like(start, torch.inf)
        for growth in GROWTH:
            candidate, is_open = mul_up(growth, start), torch.isinf(largest_box).all(1)
            if not bool(is_open.any()):
                break
            reached_box = self._reached_box(candidate)
            is_kept = (reached_box <= candidate).all(1) & is_open
            largest_box = torch.where(is_kept[:, None], reached_box, largest_box)
        return largest_box

    def _reached_box(self, box: Tensor) -> Tensor:
        cells, B = self.cells, self.cells.B_x[:, None]
        return step_bound(
            cells.cell.program, cells.parameters, box, B, cells.cell.d, radii=self.radii
        )

    @cached_property
    def comparison(self) -> Comparison:
        """Comparison matrices that bound |φ(s, x) − φ(s', x)| on the box for all weights of Ω."""
        cells, B = self.cells, self.cells.B_x[:, None]
        return compare_runs(
            cells.cell.program, cells.parameters, self.box, B, cells.cell.d, radii=self.radii
        )

    @per_system
    def v(self) -> Tensor:
        """The unit weights (B, N) of max |s_j|/v_j."""
        return self.comparison.perron()

    @per_system
    def smoothness(self) -> dict[str, Tensor]:
        """L_w, β_hh, β_hw = β_wh and β_ww of a step."""
        return step_smoothness(self.cells, self.box, self.v, self.radii)
