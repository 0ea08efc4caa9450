"""Ascent through gated cells: free weights, states and inputs, and what the constants then are.

Boxes and constants are estimated here in differentiable floats; what is found is written out, and
the judge decides about it with certified ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import torch

from rnnbounds.properties.systems.batch import Batch, build_batch
from rnnbounds.properties.systems.cells.batch import INWARD, LARGEST_STATE, build_cells
from rnnbounds.properties.systems.cells.route import TORCH_NAMES
from rnnbounds.properties.systems.gated.cell import GatedCells
from rnnbounds.properties.systems.spec import SpecType, SystemSpec

Tensor = torch.Tensor
ITERATES = 2


@dataclass(frozen=True, eq=False)
class EstimatedCells(GatedCells):
    """Cells whose box is estimated."""

    @cached_property
    def estimates(self) -> dict[str, Tensor]:
        """The constants by name, (B,) each, and the bounds c and h on the states, (B, n) each."""
        h = torch.ones_like(self.cell.b_ih[:, : self.cell.n])
        estimates = lstm_estimates if self.is_lstm else gru_estimates
        values = estimates(self, h)
        for _ in range(ITERATES):
            values = estimates(self, values["h"])
        return values

    @cached_property
    def box(self) -> Tensor:
        """About the invariant box."""
        found = self.estimates
        parts = [found["c"], found["h"]] if self.is_lstm else [found["h"]]
        return torch.cat(parts, dim=1).clamp(max=LARGEST_STATE)

    @cached_property
    def input_effect(self) -> Tensor:
        """How far the inputs move the pre-activations, (B, g n)."""
        reach: Tensor = torch.linalg.vector_norm(self.cell.U + 1e-30, dim=2) * self.B_x[:, None]
        return reach

    def recurrent_effect(self, h: Tensor) -> Tensor:
        """|W| h, (B, g n)."""
        found: Tensor = (self.cell.W.abs() @ h[:, :, None])[:, :, 0]
        return found

    def gate_norms(self, gates: str) -> dict[str, Tensor]:
        """‖W‖_∞ of each gate."""
        rows = self.cell.W.abs().sum(dim=2).chunk(len(gates), dim=1)
        return {f"W_{gate}_inf": part.amax(1) for gate, part in zip(gates, rows, strict=True)}


def lstm_estimates(gated: EstimatedCells, h: Tensor) -> dict[str, Tensor]:
    """The constants of an LSTM with |h_j| ≤ ``h``, and what h is then bounded by."""
    middle, reach = (
        gated.cell.b_ih + gated.cell.b_hh,
        gated.input_effect + gated.recurrent_effect(h),
    )
    i, f, _, o = (middle + reach).sigmoid().chunk(4, dim=1)
    g = (middle.abs() + reach).tanh().chunk(4, dim=1)[2]
    c = i * g / (1 - f).clamp(min=1e-12)
    gates = {"i_bar": i, "f_bar": f, "g_bar": g, "o_bar": o, "B_c": c, "tau": c.tanh()}
    found = {name: gate.amax(1) for name, gate in gates.items()} | gated.gate_norms("ifgo")
    return found | {"c": c, "h": torch.minimum(h, o * c.tanh())}


def gru_estimates(gated: EstimatedCells, h: Tensor) -> dict[str, Tensor]:
    """The constants of a GRU with |h_j| ≤ ``h``, and what h is then bounded by."""
    cell, n = gated.cell, gated.cell.n
    middle, reach = cell.b_ih + cell.b_hh, gated.input_effect + gated.recurrent_effect(h)
    (r, z), (_, low) = (
        (middle + sign * reach)[:, : 2 * n].sigmoid().chunk(2, dim=1) for sign in (1, -1)
    )
    c_n, driven = cell.b_hh[:, 2 * n :], gated.input_effect[:, 2 * n :]
    if gated.kind == "gru":
        inner = r * (gated.recurrent_effect(h)[:, 2 * n :] + c_n.abs())
        size = cell.b_ih[:, 2 * n :].abs() + driven + inner
    else:
        size = middle[:, 2 * n :].abs() + driven + gated.recurrent_effect(r * h)[:, 2 * n :]
    found = {"r_bar": r.amax(1), "z_low": low.amin(1), "z_bar": z.amax(1)} | gated.gate_norms("rzn")
    return found | {"c_n_inf": c_n.abs().amax(1), "h": torch.minimum(h, size.tanh())}


@dataclass
class GatedAscent:
    """Free weights, inputs and states of a batch."""

    spec: SystemSpec
    parameters: dict[str, Tensor]

    @classmethod
    def start(cls, spec: SystemSpec) -> GatedAscent:
        """The drawn batch, its states well inside of the box."""
        batch = build_batch(spec)
        assert batch.gated_cells is not None
        state_room = batch.gated_cells.box.clamp(max=1)[:, :, None]
        pair = batch.gated_cells.raw, batch.gated_cells.raw_other
        h, other_state = (0.5 * state_room * raw.clamp(-1, 1) for raw in pair)
        tensors = batch.gated_cells.named_weights | {
            "x": batch.x, "h": h, "h_other": other_state, "C": batch.C,
        }  # fmt: skip
        leaves = {name: tensor.clone().requires_grad_() for name, tensor in tensors.items()}
        return cls(spec, leaves)

    def batch(self) -> Batch:
        """The cells at the current parameters, ‖x_t‖₂ ≤ B_x."""
        p, B = self.parameters, self.spec.scale
        size = torch.linalg.vector_norm(p["x"], dim=2, keepdim=True)
        x = p["x"] * (B * INWARD / size.clamp(min=B))
        cell = build_cells(self.spec.kind, {name: p[part] for part, name in TORCH_NAMES.items()})
        B_x = torch.full_like(p["C"][:, 0, 0], B).detach()
        cells = EstimatedCells(cell, self.spec.kind, B_x, p["h"], p["h_other"])
        return Batch(self.spec, cells, p["C"], x)


def gated_start_specs(make: SpecType, count: int, seed: int) -> Iterator[SystemSpec]:
    """Small cells, most of them scalar."""
    for i in range(count):
        yield make(
            regime=("signs", "gaussian", "stable")[i % 3],
            inputs=("constant", "gaussian")[i % 2],
            n=(1, 1, 2)[i % 3],
            lam=(0.5, 1.0)[(i // 2) % 2],
            bias=(0.5, 2.0)[(i // 3) % 2],
            seed=seed + i,
            batch=4,
        )
