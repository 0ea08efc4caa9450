"""Windows that hold the same inputs, whole or for a while: they are no independent draws.

All windows are looked at, in any order, at any offset, by 64-bit hashes of runs of r inputs. With
c = Σ_v p_v² over the values v of an input, two independent runs that change m − 1 times agree with
probability about c^m: only runs are compared of which fewer than 1/100 would agree by chance. So of
data of few values, and of inputs that stay as they are, nothing is found. Many runs are thinned to
those whose hash says so, which keeps equal ones. Source: Karp & Rabin (1987); Manber (1994).
"""

import math
from typing import Any

import numpy as np

from rnnbounds.impl.errors import InputError
from rnnbounds.impl.reading.data.recordings import Data, Windows

RUNS, BLOCK, SAMPLE = 2**21, 2**20, 2**18  # hashes that are kept; numbers, inputs looked at at once
MANY = 0.25  # of the windows: phrases of a language come again as well
_LOOKED_AT, _NUMBERS = 4096, 2**24  # sequences that are compared with one another
_CHANCE = 100  # times less often than this runs agree by chance
CLEAR, OVERLAPPING = 0.9, 0.5  # of sequences: begin as no other does; end as another begins
ODD = 0x9E3779B97F4A7C15  # 2⁶⁴ over the golden ratio

Array = np.ndarray[Any, Any]


def reason_unstated(data: Data, held: Windows) -> InputError | None:
    """Why nothing is stated of other windows, if it is not."""
    M = len(held)
    if M < 2:
        return InputError(
            "one window leaves none to choose k on; record more, or cut shorter windows"
        )
    shared, T = 0, data.T
    if held.sequences > 1:
        most = max(2, min(_LOOKED_AT, _NUMBERS // (T * data.d)))
        shared = overlap(data.x[:most])
    told = f"windows overlap by {shared} of {T} inputs" if shared else repeats(held, M // 2)
    if told is None:
        return None
    return InputError(
        f"{told}, so they are not independent draws and nothing is stated of others; cut them "
        f"without overlap, each once"
    )


def repeats(windows: Windows, first: int) -> str | None:
    """Describe how windows repeat, or None: one of those from `first` on equals one
    before it, or a share MANY has a quarter of its inputs in common with others."""
    M, L, c = len(windows), windows.T, _agreeing(windows)
    if c == 1:
        return None
    whole, at = _runs(windows, L, _needed(c, M * M))
    again = np.unique(at[np.isin(whole, whole[at < first]) & (at >= first)])
    if len(again):
        return f"{len(again)} of the {M - first} windows held out are among those k is chosen on"
    need = _needed(c, (M * L) ** 2)
    r = max(L // 4, need)
    if r >= L:
        return None
    found, at = _runs(windows, r, need)
    if not len(found):
        return None
    order = np.lexsort((at, found))
    found, at = found[order], at[order]
    same = found[1:] == found[:-1]
    other = same & (at[1:] != at[:-1])
    group = np.concatenate([[0], np.cumsum(~same)])
    shared = np.isin(group, group[1:][other])
    part, looked = len(np.unique(at[shared])), len(np.unique(at))
    if part and part >= MANY * looked:
        return f"{part} of {looked} windows share runs of {r} inputs with others"
    return None


def _needed(c: float, pairs: int) -> int:
    """How many different inputs a run holds before it is no chance that two agree."""
    return max(2, math.ceil(math.log(_CHANCE * pairs) / -math.log(c)))


def _agreeing(windows: Windows) -> float:
    """c, of inputs all over the data."""
    M, L = len(windows), windows.T
    i = np.arange(0, M * L, max(1, M * L // SAMPLE))
    x = windows.rows[windows.first[i // L] + i % L]
    _, counts = np.unique(hashes(x[None])[0], return_counts=True)
    return float(np.square(counts / len(i)).sum())


def _runs(windows: Windows, r: int, need: int) -> tuple[Array, Array]:
    """Hashes of runs of r inputs that take at least so many values in turn, and whose they are."""
    M, L = len(windows), windows.T
    keep = np.uint64(max(1, M * (L - r + 1) // RUNS))
    powers = np.cumprod(np.full(L + 1, ODD, dtype=np.uint64))
    back = np.cumprod(np.full(L + 1, pow(ODD, -1, 2**64), dtype=np.uint64))
    found, whose = [], []
    size = max(1, BLOCK // (L * windows.d))
    for start in range(0, M, size):
        rows = hashes(windows[start : start + size])
        sums = np.cumsum(rows * powers[:L], axis=1, dtype=np.uint64)
        sums = np.pad(sums, ((0, 0), (1, 0)))
        told = (sums[:, r:] - sums[:, :-r]) * back[: L - r + 1]
        told ^= told >> np.uint64(32)
        turns = np.pad(np.cumsum(rows[:, 1:] != rows[:, :-1], axis=1), ((0, 0), (1, 0)))
        rich = turns[:, r - 1 :] - turns[:, : L - r + 1] + 1 >= need
        i, j = np.nonzero(rich & (told % keep == 0))
        found.append(told[i, j])
        whose.append(i + start)
    return np.concatenate(found), np.concatenate(whose)


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
            if len(known) >= CLEAR * M and np.isin(tail, known).mean() >= OVERLAPPING:
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
