"""A batch of cells with pairs of states that lie certifiably in their invariant boxes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
import torch

from rnnbounds.impl.arithmetic.derivatives.second_order import second_order_constants, step_jets
from rnnbounds.impl.arithmetic.interval_arithmetic import step_bound
from rnnbounds.impl.arithmetic.invariance import InvariantBox
from rnnbounds.impl.arithmetic.slopes import compare_runs
from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.norms.comparison import Comparison, UnitNorms
from rnnbounds.impl.numbers.outward import mul_up, norm_up
from rnnbounds.properties.systems.batch import Batch, BatchParts, Systems, to_tensor
from rnnbounds.properties.systems.caching import cached_reading, per_system
from rnnbounds.properties.systems.draws import Array, Numbers, batch_numbers
from rnnbounds.properties.systems.spec import SystemSpec

Tensor = torch.Tensor
# No state is larger, however large a box is: its cells have no bound where a gate may stay open.
LARGEST_STATE = 2.0**20
# The fields of specs of cells.
CELL_FIELDS = "n d T K regime inputs lam scale bias epsilon loss target distance alpha steps"
# Before the name of a weight of a cell, in what is drawn.
CELL_PREFIX = "cell."
# The weights of gated cells by torch's names, as specs write them out.
TORCH_NAMES = {"weight_hh": "W", "weight_ih": "U", "bias_ih": "b", "bias_hh": "b_hh"}
# Brings inputs of cells below the norm that their rounding may take them above.
INWARD = 1 - 2.0**-40
LARGEST_SHARE = 0.25
# How much larger than the cell's own the box is taken, until no weights of Ω leave it.
GROWTH = (1.0, 1.03125, 1.125, 1.5, 3.0, 9.0)


@dataclass(frozen=True, eq=False)
class Cells(Systems):
    """B cells under inputs ‖x‖₂ ≤ B_x (B,), and S pairs of states.

    ``kind``: the name that `impl.cells.table` knows. Shapes: the states ``raw`` and ``raw_other``
    (B, N, S). The pair that is judged is the nearest one in the invariant box, which clamping finds
    without rounding.
    """

    cell: Any
    kind: str
    B_x: Tensor
    raw: Tensor
    raw_other: Tensor
    whole: tuple[Cells, int] | None = field(default=None, kw_only=True, repr=False)
    has_input_bound: ClassVar[bool] = True

    def parameter(self, batch: Batch, name: str) -> Array | None:
        """α of a share c of 1/β, of cells that are trained."""
        return batch.step_size if name == "alpha" and batch.spec.steps else None

    def forgotten_bound(self, batch: Batch) -> Array:
        """Bound the output's state that a run of any length forgets."""
        size, drive, lam = (batch.constant(name).hi for name in ("C_box", "S_0_box", "lam_box"))
        found: Array = size * drive / (1 - lam)
        return found

    @staticmethod
    def driving_matrices(cell: Any) -> tuple[Array, Array]:
        """The W and U that resonant inputs are made for: I/2, and the cell's own U if it has one
        for the output's units."""
        U, n = cell.U.numpy(), cell.n
        W = np.broadcast_to(np.eye(n) / 2, (len(U), n, n))
        return W, U if U.shape[1] == n else np.ones((len(U), n, cell.d))

    def input_bound(self, x: Tensor) -> Tensor:
        """An upper bound on every ‖x_t‖₂ of a system, (B,)."""
        return self.B_x

    def is_allowed(self, x: Tensor) -> Tensor:
        """True where all inputs (B, T, d, S) of a sequence are there, ‖x‖₂ ≤ B_x, (B, S)."""
        found: Tensor = norm_up(x.detach().transpose(2, 3)).amax(1) <= self.B_x[:, None]
        return found

    def furthest_inputs(self, C: Tensor, T: int, S: int) -> Array:
        """The inputs that move a state furthest, (B, S, T, d): the row of the inputs' weights that
        has the largest norm against its unit's weight."""
        inputs = self.comparison.inputs.detach()
        row = (norm_up(inputs) / self.v).argmax(1)
        found = inputs[torch.arange(len(row)), row].cpu().numpy()[:, None, None]
        return np.broadcast_to(found, (len(row), S, T, found.shape[-1]))

    @per_system
    def invariant_box(self) -> InvariantBox:
        """Prove the box that the cell states invariant, for each system."""
        found: InvariantBox = self.cell.proved_box(self.B_x[:, None])
        return found

    @cached_property
    def comparison(self) -> Comparison:
        """Comparison matrices that bound |φ(s, x) − φ(s', x)| entry by entry on the box."""
        found: Comparison = self.cell.compare_on(self.box, self.B_x[:, None])
        return found

    @per_system
    def box(self) -> Tensor:
        """The invariant box |s_j| ≤ box_j, (B, N), infinite where none is proved."""
        return self.invariant_box.box

    @per_system
    def v(self) -> Tensor:
        """The unit weights (B, N) of max |s_j|/v_j, close to Perron's vector."""
        return self.comparison.perron()

    @per_system
    def unit_norms(self) -> UnitNorms:
        """‖·‖_box of each system, as its certificate prints it."""
        comparison = self.comparison
        comparison_fields = {
            entry.name: getattr(comparison, entry.name) for entry in fields(comparison)
        }
        detached: dict[str, Any] = {
            name: part.detach()
            for name, part in comparison_fields.items()
            if isinstance(part, Tensor)
        }
        return replace(comparison, **detached).unit_norms(self.v.detach())

    @per_system
    def smoothness(self) -> dict[str, Tensor]:
        """L_w, β_hh, β_hw = β_wh and β_ww of a step in the state and in all weights."""
        return step_smoothness(self, self.box, self.v)

    @property
    def n(self) -> int:
        """The size of the output, which ends the state."""
        return int(self.cell.n)

    @property
    def units(self) -> int:
        """N, the size of the state."""
        return self.raw.shape[1]

    @property
    def parameters(self) -> dict[str, Tensor]:
        """The weights by name, (B, …) each."""
        return dict(self.cell.parameters)

    @property
    def explicit_states(self) -> tuple[Tensor, Tensor]:
        """The pairs as a spec writes them out."""
        return self.raw, self.raw_other

    @cached_property
    def states(self) -> tuple[Tensor, Tensor]:
        """The pairs in the box."""
        box = self.box.clamp(max=LARGEST_STATE)[:, :, None]
        return self.raw.clamp(-box, box), self.raw_other.clamp(-box, box)

    def nearby_weights(self, share: float) -> dict[str, Tensor]:
        """Other weights, each within that share of its own; the shares of a mix stand still."""
        weights = {}
        for name, part in self.parameters.items():
            indices = torch.arange(part[0].numel(), dtype=part.dtype, device=part.device)
            signs = ((5 * indices + 3 * part.ndim) % 9 - 4).reshape(part.shape[1:]) / 4
            weights[name] = part if name == "leak" else part + part * (share * signs)
        return weights

    @property
    def named_weights(self) -> dict[str, Tensor]:
        """The weights by name, as a dump has them."""
        return self.parameters

    def pair(self, i: int, s: int) -> Self:
        """One system and one of its pairs of states; what is certified is that of the batch."""
        system, at = self.member(i), slice(s, s + 1)
        raw, raw_other = system.raw[:, :, at], system.raw_other[:, :, at]
        return replace(system, raw=raw, raw_other=raw_other, whole=(self, i))

    def member(self, index: int) -> Self:
        """One system of the batch, as a batch of one."""
        rows = slice(index, index + 1)
        cell = kind_of(self.kind).build({name: A[rows] for name, A in self.parameters.items()})
        rows_by_name = {name: getattr(self, name)[rows] for name in ("B_x", "raw", "raw_other")}
        return replace(self, cell=cell, **rows_by_name)


def step_smoothness(
    cells: Cells, box: Tensor, v: Tensor, radii: dict[str, Tensor] | None = None
) -> dict[str, Tensor]:
    """The constants of a step on a box in the norm of v, for all weights within the radii of the
    cells' own."""
    jet_values = step_jets(
        cells.cell.program, cells.parameters, box, v, cells.B_x[:, None], cells.cell.d,
        gates=kind_of(cells.kind).gates or 1, radii=radii or {},
    )  # fmt: skip
    return second_order_constants(jet_values, v)


@dataclass(frozen=True, eq=False)
class CellsOmega:
    """Ω: all weights near those of B cells.

    Ω has, parameter by parameter, the weights no further from the cell's than its other weights
    are: w′_ij = w_ij(1 + σ_ij) for fixed shares σ_ij, so that w − w′ is exact (Sterbenz). The
    shares of a mix stand still.
    """

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


def cells_of(batch: Batch) -> Cells | None:
    """The systems of a batch if they are cells other than vanilla ones."""
    return batch.systems if isinstance(batch.systems, Cells) else None


def require_cells(batch: Batch) -> Cells:
    """The cells of a batch that has some."""
    assert isinstance(batch.systems, Cells)
    return batch.systems


@cached_reading
def omega_of_cells(batch: Batch) -> CellsOmega:
    """All weights of cells within the spec's ``distance``, as a share of theirs."""
    parent = batch.whole and (omega_of_cells(batch.whole[0]), batch.whole[1])
    return CellsOmega(require_cells(batch), batch.spec.distance, parent)


def make_cells(
    draw: Numbers, cell_name: Callable[[SystemSpec], str], make: type[Cells],
    spec: SystemSpec, device: str = "cpu",
) -> BatchParts:  # fmt: skip
    """Cells of the name that a spec says and of the numbers that `draw` draws of all members, under
    inputs a little inside of their bound, and pairs of states."""
    kind = kind_of(cell_name(spec))

    def cell_of(numbers: Mapping[str, Array], device: str) -> Any:
        prefixed = [name for name in numbers if name.startswith(CELL_PREFIX)]
        names = {name.removeprefix(CELL_PREFIX): name for name in prefixed} or TORCH_NAMES
        parts = [(name, numbers[own]) for name, own in names.items()]
        return kind.build({name: to_tensor(device, A, *range(1, A.ndim)) for name, A in parts})

    def driving_matrices(numbers: Mapping[str, Array]) -> tuple[Array, Array]:
        return make.driving_matrices(cell_of(numbers, "cpu"))

    numbers = batch_numbers(spec, draw, driving_matrices)
    x = to_tensor(device, numbers["x"], 2, 3, 1)
    x = x * INWARD if spec.values is None else x
    # Inputs may have norms up to the spec's scale at least.
    factor = 64 if spec.inputs == "saturating" and spec.values is None else 1
    B_x = norm_up(x.transpose(2, 3)).amax(dim=(1, 2)).clamp(min=factor * spec.scale)
    h, h_other = (to_tensor(device, numbers[name], 2, 1) for name in ("h", "h_other"))
    cells = make(cell_of(numbers, device), kind.name, B_x, h, h_other)
    y = to_tensor(device, numbers["y"], 1) if "y" in numbers else None
    return BatchParts(cells, to_tensor(device, numbers["C"], 1, 2), x, y)
