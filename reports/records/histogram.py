"""Histograms of lhs/rhs with fixed edges, so that any two parts of a run can be merged.

Decades where a bound is slack, tenths where it is used, and ever finer towards 1, where it is
tight. A ratio of exactly 1 lies in the last bin that holds; one above 1 in the bin beyond.
"""

import math
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from rnnbounds.reports.records.record import Histogram

EDGES: tuple[float, ...] = (
    1e-12, 1e-9, 1e-6, 1e-3, 1e-2,
    0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9,
    0.99, 0.999, 1.0,
)  # fmt: skip

EMPTY = Histogram(edges=EDGES, counts=(0,) * (len(EDGES) + 1))


def count_ratios(ratios: ArrayLike) -> Histogram:
    """Counts of the ratios (any shape); NaN means a check without a ratio.

    Bins are half open, (a, b]: the first is all up to 1e-12, the last all above 1.
    """
    values = np.asarray(ratios, dtype=np.float64)
    with np.errstate(invalid="ignore"):  # NaN is in no bin; counting beats sorting at any size
        ends = [int(np.count_nonzero(values <= edge)) for edge in (*EDGES, math.inf)]
    return Histogram(
        edges=EDGES,
        counts=tuple(b - a for a, b in pairwise((0, *ends))),
        unmeasured=values.size - ends[-1],
    )
