"""The boxes that cells state, against the runs under attack.

All that is certified of a cell rests on its box, which `impl.arithmetic.invariance` proves or
refuses. Of one that is refused nothing is certified, so that its checks are vacuous; but a run from
zero that has certainly left the box which its cell states, or that is said to be proved of it,
convicts the cell, and ends the attack.
"""

from __future__ import annotations

import torch

from rnnbounds.properties.errors import BoxError
from rnnbounds.properties.measures.runs.readings import states
from rnnbounds.properties.systems.batch import Batch


def confirm(batch: Batch) -> None:
    """Raise BoxError if a run from zero leaves the stated box by more than its rounding."""
    cells = batch.cells
    ran = any(key.startswith("world InFloats") for key in batch.cache)
    if cells is None or not (ran or bool(cells.proved_box.refused.any())):
        return
    # What is used may be smaller than what was stated: no run leaves the one or the other.
    stated = torch.minimum(cells.proved_box.proposed, cells.proved_box.box)[:, :, None]
    for t, s in enumerate(states(batch)):
        outside = s.value.abs() - s.error > stated
        if bool(outside.any()):
            i, j, column = (int(place) for place in torch.nonzero(outside)[0])
            one = batch.spec.alone(batch.spec.members[i], column)
            size, end = float(s.value[i, j, column].abs()), float(stated[i, j, 0])
            raise BoxError(cells.kind, f"|s_{j + 1}| = {size:.6g} > {end:.6g} at t = {t}", one.text)
