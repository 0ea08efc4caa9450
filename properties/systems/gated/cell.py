"""A batch of gated cells with pairs of states that lie certifiably in their invariant boxes.

The certified constants, by the names of the vocabulary, are the largest over the units of what
`impl.cells.gated` and `impl.cells.gated` certify. What is chosen (θ and the unit weights)
is a number that stands for itself: statements hold for any choice.
Source: Miller & Hardt, Proposition 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from rnnbounds.impl.cells.gated import GRU, LSTM, magnitude
from rnnbounds.impl.numbers.ball_functions import tanh_up
from rnnbounds.impl.numbers.outward import div_up, subtract_down
from rnnbounds.impl.training.stable_gates import StableGates, StableGRU, StableLSTM
from rnnbounds.properties.systems.cells.batch import Cells
from rnnbounds.properties.systems.supply.rows import per_system

Tensor = torch.Tensor
# Above the least θ, so that the conditions hold beyond rounding.
THETA_ROOM = 1 + 2.0**-40


@dataclass(frozen=True, eq=False)
class GatedCells(Cells):
    """LSTMs, whose states are (c, h) with N = 2n, or GRUs, whose states are h with N = n."""

    cell: LSTM | GRU

    @per_system
    def constants(self) -> dict[str, Tensor]:
        """Every certified constant of the cells' kind, (B,) each."""
        cell = self.cell
        own = lstm_constants(self, cell) if isinstance(cell, LSTM) else gru_constants(self, cell)
        return own | {"B_x": self.B_x}

    @property
    def named_weights(self) -> dict[str, Tensor]:
        """The stacked weights by name, as a spec writes them out."""
        cell = self.cell
        return {"W": cell.W, "U": cell.U, "b": cell.b_ih, "b_hh": cell.b_hh}


def gate_norms(gated: GatedCells, gates: str) -> dict[str, Tensor]:
    """‖W‖_∞ of each gate."""
    return {f"W_{gate}_inf": size for gate, size in gated.cell.row_sums(gates).items()}


def lstm_constants(gated: GatedCells, cell: LSTM) -> dict[str, Tensor]:
    """ī, f̄, ḡ, ō, B_c, τ, the norms and θ."""
    B_c = gated.box[:, : gated.n].amax(1)
    gate_bounds = cell.gates(gated.box, gated.B_x[:, None])
    constants = {
        f"{name}_bar": gate_bounds[gate].amax(1) for name, gate in zip("ifgo", "ifzo", strict=True)
    }
    constants |= {"B_c": B_c, "tau": tanh_up(B_c)} | gate_norms(gated, "ifgo")
    return constants | {"theta": lstm_theta(constants)}


def gru_constants(gated: GatedCells, cell: GRU) -> dict[str, Tensor]:
    """r̄, z̄ and the least z, the norms, ‖b_hn‖_∞ and θ."""
    r, z, _ = cell.gates(*cell.intervals(gated.box, gated.B_x[:, None]))
    constants = {
        "r_bar": magnitude(r).amax(1), "z_bar": z.range.high.amax(1), "z_low": z.range.low.amin(1),
        "c_n_inf": gated.cell.b_hh.detach()[:, 2 * gated.cell.n :].abs().amax(1),
    }  # fmt: skip
    constants |= gate_norms(gated, "rzn")
    return constants | {"theta_gru": gru_theta(constants)}


def gru_theta(constants: dict[str, Tensor]) -> Tensor:
    """The least θ < 1 with 2‖W_n‖, (3/2)‖W_r‖ ≤ θ and 2‖W_z‖ ≤ θ(1 − z̄); infinite where there is
    none, or ‖c_n‖ > 1."""
    theta = least_theta(StableGRU, constants, constants["z_bar"])
    return torch.where(constants["c_n_inf"] <= 1, theta, torch.inf)


def lstm_theta(constants: dict[str, Tensor]) -> Tensor:
    """The least θ < 1 with ‖W_i‖, ‖W_o‖, 4‖W_g‖ ≤ θ(1 − f̄) and ‖W_f‖ ≤ θ(1 − f̄)²; infinite where
    there is none."""
    by_gate = constants | {"W_z_inf": constants["W_g_inf"]}
    return least_theta(StableLSTM, by_gate, constants["f_bar"])


def least_theta(
    stable: type[StableGates], constants: dict[str, Tensor], gate_bound: Tensor
) -> Tensor:
    """The least θ < 1 for which the rows of all gates are in the set that ships, or infinity."""
    radii = stable.sizes(torch.ones_like(gate_bound), subtract_down(1.0, gate_bound))
    sizes = [div_up(constants[f"W_{gate}_inf"], radius) for gate, radius in radii.items()]
    least = torch.stack(sizes).amax(0) * THETA_ROOM
    return torch.where(least < 1, least, torch.inf)
