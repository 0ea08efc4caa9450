"""Recorded inputs: what is read, exactly; what is refused, in one line."""

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from rnnbounds.impl.arithmetic.inputs.sets import input_rows
from rnnbounds.impl.errors import InputError
from rnnbounds.impl.reading.data import recordings, sequences
from rnnbounds.impl.reading.data.sequences import read_data

SERIES = np.arange(12.0).reshape(6, 2) / 8


def text(path, words):
    """A file of these words."""
    path.write_text(words)
    return path


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", ">f4", "i8", "u1", "?"])
def test_npy_of_any_real_numbers_is_mapped_and_exact(tmp_path, dtype):
    """One sequence (T, d), of which nothing is read before it is asked for."""
    held = (SERIES * 8).astype(dtype)
    np.save(tmp_path / "x.npy", held)
    read = read_data(tmp_path / "x.npy")
    assert (read.N, read.T, read.d, read.one) == (1, 6, 2, True)
    assert torch.equal(next(read.inputs()), torch.from_numpy(held.astype(float)))
    assert isinstance(read.x.base, np.memmap)


@pytest.mark.parametrize(
    "words",
    ["a,b\n0,0.125\n0.25,0.375\n", "0;0.125\n0.25;0.375", "\ufeff0\t0.125\n0.25\t0.375\n\n",
     '"a","b"\n"0","0.125"\n0.25,0.375\n'],
)  # fmt: skip
def test_csv(tmp_path, words):
    """With a head or without, by each separator."""
    assert read_data(text(tmp_path / "x.csv", words)).x.tolist() == [[[0, 0.125], [0.25, 0.375]]]


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.int32])
def test_archives_of_one_array(tmp_path, dtype):
    """A safetensors file and an npz, by whatever name; of several arrays none is chosen."""
    save_file({"x": torch.ones(2, 3, 4, dtype=dtype)}, tmp_path / "x.safetensors")
    read = read_data(tmp_path / "x.safetensors")
    assert (read.N, read.T, read.d, read.one) == (2, 3, 4, False)
    np.savez(tmp_path / "x.npz", anything=SERIES)
    assert np.array_equal(read_data(tmp_path / "x.npz").x[0], SERIES)
    np.savez_compressed(tmp_path / "y.npz", x=SERIES, lengths=np.array([2]))
    with pytest.raises(InputError, match="holds the arrays x, lengths; keep the inputs"):
        read_data(tmp_path / "y.npz")


class TestPython:
    def test_a_tensor_and_an_array_give_the_same(self):
        x = torch.randn(5, 4, 3, generator=torch.Generator().manual_seed(0))
        for held in (x, x.numpy(), x.numpy().copy("F"), read_data(x)):
            assert np.array_equal(read_data(held).x, x.numpy())

    @pytest.mark.parametrize(
        "held",
        [[np.zeros((2, 1)), np.zeros((3, 1))], (torch.zeros(2, 1),), iter([torch.zeros(1, 2, 3)]),
         torch.nn.utils.rnn.pack_sequence([torch.zeros(2, 1), torch.zeros(1, 1)]), 3],
    )  # fmt: skip
    def test_sequences_that_are_no_array_are_refused(self, held):
        """Of different lengths or not: none is padded, cut or repeated for anyone."""
        with pytest.raises(InputError, match="no array or tensor; cut its sequences to"):
            read_data(held)


class TestHostileFiles:
    def test_an_archive_that_unpacks_to_more(self, tmp_path, monkeypatch):
        np.savez_compressed(tmp_path / "x.npz", x=np.zeros(10_000))
        monkeypatch.setattr(sequences, "LARGEST", 8000)
        with pytest.raises(InputError, match="unpacks to more than 8000 bytes"):
            read_data(tmp_path / "x.npz")

    def test_a_text_that_is_too_large(self, tmp_path, monkeypatch):
        monkeypatch.setattr(sequences, "LARGEST_TEXT", 4)
        with pytest.raises(InputError, match="larger than 4 bytes; save it as"):
            read_data(text(tmp_path / "x.csv", "1,2,3"))


class TestChecks:
    def test_a_nan_that_signals_is_told_of_and_not_raised(self):
        x = np.array([0.0, 0.0], dtype=np.float32)
        x.view(np.uint32)[1] = 0x7F800001
        with np.errstate(all="raise"), pytest.raises(InputError, match="1 number is NaN"):
            read_data(x)

    def test_nan_beyond_the_first_block(self, monkeypatch):
        monkeypatch.setattr(recordings, "BLOCK", 4)
        x = np.zeros((9, 2))
        x[7, 0] = -np.inf
        with pytest.raises(InputError, match="the first at t = 7, channel 0;"):
            read_data(x)

    def test_inputs_whose_squares_underflow_are_within_no_smaller_bound(self):
        read = read_data(np.full((3, 2), 1e-200))
        read.require_of(1.5e-200)
        with pytest.raises(InputError, match="3 of 3 inputs are beyond"):
            read.require_of(1.4e-200)

    def test_windows_share_no_input(self):
        read = read_data(np.arange(14.0).reshape(2, 7))  # T = 2, d = 7
        assert read.windows(1)[:].shape == (2, 1, 7)
        stacked = read_data(np.arange(14.0).reshape(2, 7, 1))
        assert stacked.windows(3)[:][..., 0].tolist() == [
            [0, 1, 2], [3, 4, 5], [7, 8, 9], [10, 11, 12],
        ]  # fmt: skip
        assert stacked.windows(3).rows.base is stacked.x.base


class TestRows:
    TABLE = np.array([[0.0, 0.5], [0.25, -0.5], [1.0, 1.0]])

    def test_rows_of_a_table_in_any_order_and_number(self):
        x = self.TABLE[np.random.default_rng(0).integers(3, size=(5, 7))]
        read_data(-x * -1.0).require_of(input_rows(torch.from_numpy(self.TABLE)))
