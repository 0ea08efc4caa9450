"""Sequences of different lengths: each is what it was, and no padding is an input."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.utils.rnn import pack_padded_sequence, pack_sequence

from rnnbounds.impl.errors import InputError
from rnnbounds.impl.reading.data import arrays
from rnnbounds.impl.reading.data.sequences import read_data

LENGTHS = st.lists(st.integers(1, 6), min_size=1, max_size=5)


def parts(lengths, d=2):
    """A sequence of each length, of numbers that no other has."""
    rows = np.arange(sum(lengths) * d, dtype=np.float32).reshape(-1, d)
    return np.split(rows, np.cumsum(lengths)[:-1])


def padded(lengths, left=False):
    """The sequences in one array, NaN beside them, and its mask."""
    x = np.full((len(lengths), 6, 2), np.nan, dtype=np.float32)
    mask = np.zeros(x.shape[:2], dtype=bool)
    for i, part in enumerate(parts(lengths)):
        place = slice(6 - len(part), 6) if left else slice(len(part))
        x[i, place], mask[i, place] = part, True
    return x, mask


def same(read, lengths):
    """True if the data are those sequences."""
    rows = np.concatenate(parts(lengths))
    return read.lengths.tolist() == lengths and np.array_equal(read.rows, rows)


@given(LENGTHS, st.booleans())
def test_every_way_to_say_lengths_gives_the_same(lengths, left):
    """Lengths, a mask on either side, a list and packed sequences; padding may be NaN."""
    x, mask = padded(lengths)
    tensors = [torch.from_numpy(part) for part in parts(lengths)]
    assert same(read_data(x, lengths=lengths), lengths)
    assert same(read_data(torch.from_numpy(x), lengths=torch.tensor(lengths)), lengths)
    assert same(read_data(padded(lengths, left)[0], mask=padded(lengths, left)[1]), lengths)
    assert same(read_data(parts(lengths)), lengths)
    assert same(read_data(pack_sequence(tensors, enforce_sorted=False)), lengths)
    packed = pack_padded_sequence(
        torch.from_numpy(x).nan_to_num(), torch.tensor(lengths), True, enforce_sorted=False
    )
    assert same(read_data([(packed, 1)]), lengths)
    assert mask.sum() == sum(lengths)


@given(LENGTHS, st.integers(1, 6))
def test_windows_are_cut_from_one_sequence_each(lengths, T):
    """Whole windows from its start on; a sequence that is shorter has none, and is counted."""
    read = read_data(parts(lengths))
    expected = [part[i : i + T] for part in parts(lengths) for i in range(0, len(part) - T + 1, T)]
    if not expected:
        with pytest.raises(InputError, match="fewer than a window"):
            read.windows(T)
        return
    windows = read.windows(T)
    assert np.array_equal(windows[:], expected)
    assert windows.shorter == sum(length < T for length in lengths)
    assert windows.sequences + windows.shorter == len(lengths)


@given(LENGTHS)
def test_places_are_sequences_and_times(lengths):
    """Of each row."""
    read = read_data(parts(lengths))
    told = [read.place(row) for row in range(len(read.rows))]
    assert told == [(i, t) for i, length in enumerate(lengths) for t in range(length)]


def test_archives(tmp_path):
    """Of inputs beside lengths or a mask, compressed, of one array of any name and order."""
    x, mask = padded([3, 1, 6])
    starts = np.zeros((3, 4))
    for beside in ({"lengths": [3, 1, 6]}, {"mask": mask}, {"mask": mask, "starts": starts}):
        np.savez(tmp_path / "x.npz", x=x, **beside)
        assert same(read_data(tmp_path / "x.npz"), [3, 1, 6])
    np.savez_compressed(tmp_path / "x.npz", other=np.nan_to_num(x))
    assert np.array_equal(read_data(str(tmp_path / "x.npz")).x, np.nan_to_num(x))
    np.savez(tmp_path / "x.npz", np.asfortranarray(np.arange(6.0).reshape(2, 3)))
    assert read_data(tmp_path / "x.npz").rows.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_lengths_in_a_file_of_their_own(tmp_path):
    """As one column of text."""
    x, _ = padded([3, 1, 6])
    np.save(tmp_path / "x.npy", x)
    (tmp_path / "n.csv").write_text("length\n3\n1\n6\n")
    assert same(read_data(tmp_path / "x.npy", lengths=tmp_path / "n.csv"), [3, 1, 6])


def test_an_archive_that_unpacks_to_much(tmp_path, monkeypatch):
    """It is refused before it is unpacked."""
    np.savez_compressed(tmp_path / "x.npz", x=np.zeros(10_000))
    monkeypatch.setattr(arrays, "LARGEST", 80_000)
    with pytest.raises(InputError, match="unpacks to more than 80000 bytes"):
        read_data(tmp_path / "x.npz")
