"""Cells of any kind against the truncated modules that ship for them."""

from __future__ import annotations

import torch

from rnnbounds.properties.measures.readings.receptive_field import own_outputs
from rnnbounds.properties.measures.runs.readings import longest, output, runs
from rnnbounds.properties.measures.runs.rounded import Rounded
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.theory.numbers.interval import Interval


def forward_gap(batch: Batch) -> Interval:
    """‖H_T^{(k)} − h_T^k‖: the module that `truncate` ships against the cell's own step."""
    with torch.no_grad():
        short = output(runs(batch).truncated, batch)
        network = own_outputs(batch).permute(0, 3, 2, 1)
        # The module's rounding is bounded as that of the step is: in any order of its sums.
        return longest(Rounded(network, short.error) - short)
