"""Float64 enclosures of batches."""

from __future__ import annotations

import numpy as np
import torch

from rnnbounds.properties.systems.batch import Batch
from rnnbounds.theory.numbers.interval import Interval

Tensor = torch.Tensor


def blank(batch: Batch, windows: int = 1) -> Interval:
    """[nan, nan] of each pair, at so many windows: nothing is read."""
    nothing = np.full((batch.cell.batch, batch.x.shape[3], windows), np.nan)
    return Interval(nothing, nothing)


def around(value: Tensor, error: Tensor) -> Interval:
    """value ± error, rounded outward and cut at 0 (norms are ≥ 0); exact where error is 0."""
    v, e = value.detach().cpu().numpy(), error.detach().cpu().numpy()
    exact = e == 0
    with np.errstate(invalid="ignore"):
        low, high = v - e, v + e
    for end, beyond in ((low, -np.inf), (high, np.inf)):
        np.nextafter(end, beyond, out=end)
        if exact.any():
            np.copyto(end, v, where=exact)
    return Interval(np.maximum(low, 0.0, out=low), high)
