"""Sequences of different lengths: from lengths or a mask beside padded ones, from a list, from
torch's PackedSequence. Padding is left out, whatever it holds."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from torch.nn.utils.rnn import PackedSequence

from rnnbounds.impl.reading.data.recordings import LARGEST, Array, DataError


class Ragged(NamedTuple):
    """N sequences one after another: rows (Σ T_i, d), lengths (N,) with T_i ≥ 1."""

    rows: Array
    lengths: Array


def cut_padding(x: Array, lengths: Array, source: str) -> Ragged:
    """The first lengths[i] inputs of each padded sequence x[i]: x (N, T, d) or (N, T), lengths
    (N,) whole numbers in 1 … T; raises DataError."""
    x = _padded(x, lengths.shape[:1], "lengths", source)
    whole = lengths.ndim == 1 and lengths.dtype.kind in "iuf"
    if not whole or not bool((lengths == np.floor(lengths)).all()):
        reason = f"has lengths of {lengths.dtype} and shape {lengths.shape}, no {len(x)} integers"
        raise DataError(source, reason, "give one whole number for each sequence")
    if len(bad := np.flatnonzero(~((lengths >= 1) & (lengths <= x.shape[1])))):
        reason = (
            f"sequence {bad[0]} has the length {lengths[bad[0]]:g}, not one of 1 … {x.shape[1]}"
        )
        raise DataError(source, reason, "correct the lengths, or leave that sequence out")
    counts = lengths.astype(np.int64)
    return Ragged(x[np.arange(x.shape[1]) < counts[:, None]], counts)


def cut_masked(x: Array, mask: Array, source: str) -> Ragged:
    """The inputs of x (N, T, d) or (N, T) where mask (N, T), of booleans or of 0 and 1, is true:
    one run in each sequence, padded on either side; raises DataError for a mask with holes."""
    x = _padded(x, mask.shape, "a mask", source)
    if mask.dtype.kind not in "biuf" or not bool(((mask == 0) | (mask == 1)).all()):
        raise DataError(source, "has a mask of other values than 0 and 1", "give booleans")
    inside = mask.astype(bool)
    runs = (np.diff(inside, axis=1, prepend=False) & inside).sum(1)
    if len(bad := np.flatnonzero(runs != 1)):
        reason = (
            f"the mask of sequence {bad[0]} {'has holes' if runs[bad[0]] else 'leaves nothing'}"
        )
        raise DataError(source, reason, "cut it into sequences without holes, or leave it out")
    return Ragged(x[inside], inside.sum(1))


def joined(parts: Sequence[Array], source: str) -> Ragged:
    """Arrays (T_i, d), or all (T_i,) of one channel, one after another; raises DataError for one
    that is empty or has another number of axes or channels."""
    shape = parts[0].shape[1:]
    for i, part in enumerate(parts):
        if part.ndim not in (1, 2) or part.shape[1:] != shape or not part.size:
            told = f" after {parts[0].shape}" if i else ""
            reason = f"sequence {i} has shape {part.shape}{told}"
            raise DataError(source, reason, "hand over sequences (T_i, d) of one d, none empty")
    rows = np.concatenate(parts)
    return Ragged(rows.reshape(len(rows), -1), np.array([len(part) for part in parts]))


def unpacked(packed: PackedSequence) -> list[Any]:
    """The sequences of a PackedSequence, tensors (T_i, …) in the order in which they were packed.

    `data` holds input t of the first batch_sizes[t] sequences, the longest first, after those of
    all earlier t; `unsorted_indices` is the caller's order. Raises DataError for other fields.
    """
    sizes, indices = packed.batch_sizes, packed.unsorted_indices
    whole = len(sizes) > 0 and int(sizes.sum()) == len(packed.data) and int(sizes.min()) > 0
    falling = whole and not bool((sizes[1:] > sizes[:-1]).any())
    if not falling or (indices is not None and sorted(indices.tolist()) != [*range(int(sizes[0]))]):
        raise DataError("the data", "is no intact PackedSequence", "pack the sequences again")
    begins = sizes.cumsum(0) - sizes
    found = [packed.data[begins[sizes > i] + i] for i in range(int(sizes[0]))]
    return found if indices is None else [found[i] for i in indices.tolist()]


def _padded(x: Array, first: tuple[int, ...], what: str, source: str) -> Array:
    """x as (N, T, d), if its first axes are those."""
    if x.ndim not in (2, 3) or x.shape[: len(first)] != first or not x.size:
        reason = f"has shape {x.shape} beside {what} of shape {first}"
        raise DataError(source, reason, f"give {what} of the sequences (N, T, d)")
    if x.nbytes > LARGEST:
        raise DataError(
            source, f"is padded to more than {LARGEST} bytes", "hand over fewer of them"
        )
    return x[:, :, None] if x.ndim == 2 else x
