"""Detection of windows that share inputs, such as sliding windows: their results are dependent, so
that they are no independent draws."""

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

CLEAR, MANY = 0.9, 0.5
ODD = 0x9E3779B97F4A7C15  # 2⁶⁴ over the golden ratio


def overlap(sequences: Array) -> int:
    """By how many inputs sequences (M, L, d) overlap, in any order: the largest r < L such that the
    last r inputs of half of them are the first r of others; 0 if there is none.

    Lengths at which many begin alike anyway, as of data with few values, say nothing.
    """
    M, L = sequences.shape[:2]
    rows = hashes(sequences)
    heads = np.zeros((L, M), dtype=np.uint64)
    power, total = np.uint64(1), np.zeros(M, dtype=np.uint64)
    with np.errstate(over="ignore"):
        for r in range(L):  # Σ_{i ≤ r} a_i pⁱ of the first inputs
            total = total + rows[:, r] * power
            heads[r], power = total, power * np.uint64(ODD)
        tail, found = np.zeros(M, dtype=np.uint64), 0
        for r in range(L - 1):
            tail = tail * np.uint64(ODD) + rows[:, L - 1 - r]
            known = np.unique(heads[r])
            if len(known) >= CLEAR * M and np.isin(tail, known).mean() >= MANY:
                found = r + 1
    return found


def hashes(windows: Array) -> Array:
    """A number for each input (M, L, d) -> (M, L)."""
    bits = (np.ascontiguousarray(windows, dtype=np.float64) + 0.0).view(np.uint64)
    found = np.zeros(bits.shape[:2], dtype=np.uint64)
    with np.errstate(over="ignore"):
        for channel in range(bits.shape[2]):
            found = (found ^ bits[:, :, channel]) * np.uint64(ODD)
            found ^= found >> np.uint64(29)
    return found
