"""The boxes that cells state, against the runs under attack.

All that is certified of a cell rests on its box, which `impl.arithmetic.invariance` proves or
refuses. Of one that is refused nothing is certified, so that its checks are vacuous; but a run from
zero that has certainly left the box which its cell states, or that is said to be proved of it,
convicts the cell, and ends the attack.
"""

from __future__ import annotations

import torch

from rnnbounds.properties.errors import BoxError
from rnnbounds.properties.read.float_carrier import FLOATS
from rnnbounds.properties.read.quantity import cached_world
from rnnbounds.properties.read.reader import read
from rnnbounds.properties.systems.batch import Batch


def require_boxes(batch: Batch) -> None:
    """Raise BoxError if a run from zero leaves the stated box by more than its rounding."""
    cells = batch.cells
    has_float_reading = any(key.startswith("world FloatCarrier") for key in batch.cache)
    if cells is None or not (has_float_reading or bool(cells.invariant_box.refused.any())):
        return
    # What is used may be smaller than what was stated: no run leaves the one or the other.
    stated_box = torch.minimum(cells.invariant_box.proposed, cells.invariant_box.box)[:, :, None]
    world = cached_world(batch, FLOATS)
    for t in range(batch.spec.T + 1):
        s = world.state(read(("state", ("x",), 0, t), world))
        is_outside = s.value.abs() - s.error > stated_box
        if bool(is_outside.any()):
            i, j, column = (int(place) for place in torch.nonzero(is_outside)[0])
            pair_spec = batch.spec.select_pair(batch.spec.members[i], column)
            magnitude, bound = float(s.value[i, j, column].abs()), float(stated_box[i, j, 0])
            raise BoxError(
                cells.kind,
                f"|s_{j + 1}| = {magnitude:.6g} > {bound:.6g} at t = {t}",
                pair_spec.text,
            )
