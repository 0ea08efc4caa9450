"""Fast paths of cells in float64: all windows of a batch in one sweep, and ascent."""

from __future__ import annotations

import torch

from rnnbounds.properties.measures.measure import FastPath
from rnnbounds.properties.measures.runs import readings as of
from rnnbounds.properties.systems.batch import Batch

Tensor = torch.Tensor


def has_cells(batch: Batch) -> bool:
    """True if the systems are cells (`batch.cells`), not vanilla networks."""
    return batch.cells is not None


def has_gates(batch: Batch) -> bool:
    """True if the systems are LSTMs or GRUs."""
    return batch.gated_cells is not None


def step_gap(batch: Batch) -> Tensor:
    """‖φ(s, x_1) − φ(s', x_1)‖_∞, differentiable, (B, S, 1)."""
    x, step = batch.x[:, 0], batch.require_cells.cell.step
    gap: Tensor = step(batch.h, x) - step(batch.h_other, x)
    return gap.abs().amax(1)[:, :, None]


def state_gap(batch: Batch) -> Tensor:
    """‖s − s'‖_∞, differentiable, (B, S, 1)."""
    return (batch.h - batch.h_other).abs().amax(1)[:, :, None]


FAST = (
    FastPath("h_gap", has_cells, enclosure=of.norm_reading(of.output_gaps)),
    FastPath("y_gap", has_cells, enclosure=of.norm_reading(of.prediction_gaps)),
    FastPath(
        "h_gap_box", has_cells, enclosure=of.box_norm_reading(lambda batch: of.runs(batch).gaps)
    ),
    FastPath("dh_dx", has_cells, enclosure=of.enclose_input_jacobians),
    FastPath("grad_gap", has_cells, enclosure=of.norm_reading(of.gradient_gaps, 3)),
    FastPath("tbptt_gap", has_cells, enclosure=of.norm_reading(of.omitted_gradients, 3)),
    FastPath("gate_gap", has_gates, step_gap),
    FastPath("gate_state_gap", has_gates, state_gap),
)
