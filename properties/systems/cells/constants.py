"""The certified constants of cells in the norm of the box, by the names of the vocabulary.

‖s‖_box = max |s_j|/v_j over the state, for the unit weights v of the comparison: what a certificate
prints of the norm `perron`. All is rounded up.
Gradients of the loss have the dual norm: a row c counts as Σ v_j|c_j|, over the output alone.
Source: Miller & Hardt, Section 3, in this norm.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch

from rnnbounds.impl.arithmetic.derivatives.second_order import constants, jets
from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.norms.comparison import UnitNorms
from rnnbounds.impl.norms.readout_norms import WeightedMaximumDual
from rnnbounds.impl.numbers.spectra.spectral_norm import certified_norm
from rnnbounds.properties.systems.cells.omega import UNIFORM
from rnnbounds.properties.systems.certified.constants import TOLD
from rnnbounds.properties.systems.drawing.regimes import Array
from rnnbounds.properties.systems.supply.members import Members
from rnnbounds.properties.systems.supply.other_inputs import x_gap

Tensor = torch.Tensor


def of_norm(read: Callable[[UnitNorms], Tensor]) -> Callable[[Members], Tensor]:
    """A number that each system's norm has."""
    return lambda batch: read(batch.its_cells.unit_norms)


B_h_box = of_norm(lambda norms: norms.states)  # the box's own size, or S_0/(1 − λ)


def dual(batch: Members) -> WeightedMaximumDual:
    """What the norm does to rows that meet the output."""
    return WeightedMaximumDual(batch.its_cells.v[:, -batch.its_cells.n :])


def smoothness(name: str) -> Callable[[Members], Tensor]:
    """One of L_w, β_hh, β_wh and β_ww, of a step in the state and in all weights."""

    def read(batch: Members) -> Tensor:
        key = "smoothness of cells"
        if key not in batch.cache:
            cells = batch.its_cells
            found = jets(
                cells.cell.program, cells.parameters, cells.box, cells.v, cells.B_x[:, None],
                batch.x.shape[2], gates=kind_of(cells.kind).gates or 1,
            )  # fmt: skip
            batch.cache[key] = constants(found, cells.v)
        known: dict[str, Tensor] = batch.cache[key]
        return known[name]

    return read


BOX: dict[str, Callable[[Members], Tensor]] = {
    "lam_box": of_norm(lambda norms: norms.lam),
    "S_0_box": of_norm(lambda norms: norms.drive),
    "B_h_box": B_h_box,
    "C_box": of_norm(lambda norms: norms.equivalence),
    "L_x_box": of_norm(lambda norms: norms.fed),
    **{f"{name}_box": smoothness(name) for name in ("L_w", "beta_hh", "beta_wh", "beta_ww")},
    "L_f": lambda batch: certified_norm(batch.C),
    "L_p_box": lambda batch: batch.loss.slope(B_h_box(batch), dual(batch)),
    "beta_p_box": lambda batch: batch.loss.curvature_in(dual(batch)),
    **UNIFORM,
    **TOLD,
}


def of_cells(batch: Members, name: str) -> Array:
    """A constant of a batch of cells, (B, 1, 1), but (B, 1, K+1) of each window and (B, S, 1) of
    each pair; infinite where nothing is known."""
    if name in BOX:
        return BOX[name](batch).detach().cpu().numpy().reshape(batch.cell.batch, 1, -1)
    if name == "x_gap":
        return x_gap(batch)
    if batch.gated is not None and name in batch.gate_constants:
        return batch.gate_constants[name]
    return np.full((batch.cell.batch, 1, 1), np.inf)
