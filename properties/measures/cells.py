"""Fast paths of cells in float64: all windows of a batch in one sweep."""

from __future__ import annotations

from rnnbounds.properties.measures.measure import FastPath
from rnnbounds.properties.measures.runs import readings as of
from rnnbounds.properties.systems.batch import Batch


def has_cells(batch: Batch) -> bool:
    """True if the systems are cells (`batch.cells`), not vanilla networks."""
    return batch.cells is not None


FAST = (
    FastPath("h_gap", has_cells, enclosure=of.norm_reading(of.output_gaps)),
    FastPath("y_gap", has_cells, enclosure=of.norm_reading(of.prediction_gaps)),
    FastPath(
        "h_gap_box", has_cells, enclosure=of.box_norm_reading(lambda batch: of.runs(batch).gaps)
    ),
    FastPath("dh_dx", has_cells, enclosure=of.enclose_input_jacobians),
    FastPath("grad_gap", has_cells, enclosure=of.norm_reading(of.gradient_gaps, 3)),
    FastPath("tbptt_gap", has_cells, enclosure=of.norm_reading(of.omitted_gradients, 3)),
)
