"""Fast paths of cells in float64: all windows of a batch in one sweep, and ascent."""

from __future__ import annotations

import torch

from rnnbounds.properties.measures.measure import FastPath
from rnnbounds.properties.measures.runs import readings as of
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.properties.systems.certified.batch import Certified

Tensor = torch.Tensor


def cells(batch: Batch) -> bool:
    """True if the systems are cells (`batch.cells`), not vanilla networks."""
    return batch.cells is not None


def boxed(batch: Batch) -> bool:
    """True if the systems are cells without certificates, whose norm is that of their box."""
    return cells(batch) and not isinstance(batch.cells, Certified)


def gated(batch: Batch) -> bool:
    """True if the systems are LSTMs or GRUs."""
    return batch.gated is not None


def climbed(batch: Batch) -> Tensor:
    """‖φ(s, x_1) − φ(s', x_1)‖_∞, differentiable, (B, S, 1)."""
    x, step = batch.x[:, 0], batch.its_cells.cell.step
    gap: Tensor = step(batch.h, x) - step(batch.h_other, x)
    return gap.abs().amax(1)[:, :, None]


def begun(batch: Batch) -> Tensor:
    """‖s − s'‖_∞, differentiable, (B, S, 1)."""
    return (batch.h - batch.h_other).abs().amax(1)[:, :, None]


FAST = (
    FastPath("h_gap", cells, enclosure=of.lengths(of.output_gaps)),
    FastPath("y_gap", cells, enclosure=of.lengths(of.predictions)),
    FastPath("h_gap_box", boxed, enclosure=of.box_norm(lambda batch: of.runs(batch).gaps)),
    FastPath("dh_dx", cells, enclosure=of.input_jacobians),
    FastPath("grad_gap", cells, enclosure=of.lengths(of.gradient_gaps, 3)),
    FastPath("tbptt_gap", cells, enclosure=of.lengths(of.early_gradients, 3)),
    FastPath("gate_gap", gated, climbed),
    FastPath("gate_state_gap", gated, begun),
)
