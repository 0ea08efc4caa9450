"""Recorded inputs: what is read, exactly; what is refused, in one line."""

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from rnnbounds.impl.arithmetic.inputs.sets import input_rows
from rnnbounds.impl.errors import InputError
from rnnbounds.impl.reading.data import arrow_tables, recordings, sequences, text_tables
from rnnbounds.impl.reading.data.sequences import read_data

SERIES = np.arange(12.0).reshape(6, 2) / 8


def text(path, words):
    """A file of these words."""
    path.write_text(words)
    return path


class TestFiles:
    @pytest.mark.parametrize("dtype", ["f2", "f4", "f8", ">f4", "i8", "u1", "?"])
    def test_npy_of_any_real_numbers_is_read_exactly(self, tmp_path, dtype):
        held = (SERIES * 8).astype(dtype)
        np.save(tmp_path / "x.npy", held)
        read = read_data(tmp_path / "x.npy")
        assert (read.N, read.T, read.d, read.one) == (1, 6, 2, True)
        assert torch.equal(next(read.inputs()), torch.from_numpy(held.astype(float)))

    def test_npy_is_mapped_and_not_read(self, tmp_path):
        np.save(tmp_path / "x.npy", SERIES)
        assert isinstance(read_data(tmp_path / "x.npy").x.base, np.memmap)

    @pytest.mark.parametrize(
        "words",
        ["a,b\n0,0.125\n0.25,0.375\n", "0;0.125\n0.25;0.375", "\ufeff0\t0.125\n0.25\t0.375\n\n",
         '"a","b"\n"0","0.125"\n0.25,0.375\n'],
    )  # fmt: skip
    def test_csv(self, tmp_path, words):
        assert read_data(text(tmp_path / "x.csv", words)).x.tolist() == [
            [[0, 0.125], [0.25, 0.375]]
        ]

    def test_csv_of_one_channel(self, tmp_path):
        assert read_data(text(tmp_path / "x.csv", "name\n1\n2\n3\n")).x.tolist() == [
            [[1], [2], [3]]
        ]

    @pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.int32])
    def test_safetensors(self, tmp_path, dtype):
        held = torch.ones(2, 3, 4, dtype=dtype)
        save_file({"x": held}, tmp_path / "x.safetensors")
        read = read_data(tmp_path / "x.safetensors")
        assert (read.N, read.T, read.d, read.one) == (2, 3, 4, False)

    def test_parquet(self, tmp_path):
        arrow = pytest.importorskip("pyarrow")
        from pyarrow import parquet

        table = arrow.table({"a": SERIES[:, 0], "b": SERIES[:, 1]})
        parquet.write_table(table, tmp_path / "x.parquet")
        assert np.array_equal(read_data(tmp_path / "x.parquet").x[0], SERIES)
        parquet.write_table(arrow.table({"a": [1.0, None]}), tmp_path / "y.parquet")
        with pytest.raises(InputError, match="1 number is NaN"):
            read_data(tmp_path / "y.parquet")
        whole = (tmp_path / "x.parquet").read_bytes()
        (tmp_path / "z.parquet").write_bytes(whole[:-40])
        with pytest.raises(InputError, match="no intact table"):
            read_data(tmp_path / "z.parquet")

    @pytest.mark.parametrize("stored", ["text", "bytes", "dictionary", "struct", "date", "decimal"])
    def test_parquet_is_refused_by_its_types_before_anything_is_decoded(
        self, tmp_path, monkeypatch, stored
    ):
        """A dictionary of one long text unpacks to that text in every row."""
        arrow = pytest.importorskip("pyarrow")
        from pyarrow import parquet

        long = arrow.DictionaryArray.from_arrays([0] * 4000, ["x" * 2**20])
        columns = {
            "text": long, "dictionary": long, "bytes": [b"x"], "struct": [{"c": 1.5}],
            "date": arrow.array([1], arrow.date32()),
            "decimal": arrow.array([1], arrow.decimal128(5)),
        }  # fmt: skip
        rows = len(columns[stored])
        table = arrow.table({"a": [0.5] * rows, "b": columns[stored]})
        parquet.write_table(table, tmp_path / "x.parquet", store_schema=stored != "text")
        monkeypatch.setattr(parquet.ParquetFile, "iter_batches", pytest.fail)
        with pytest.raises(
            InputError, match=r"column 'b' is of .*; choose columns of numbers by --columns"
        ):
            read_data(tmp_path / "x.parquet")

    def test_parquet_that_unpacks_to_more_than_its_rows(self, tmp_path, monkeypatch):
        """A page may hold a dictionary of which the rows use little."""
        arrow = pytest.importorskip("pyarrow")
        from pyarrow import parquet

        table = arrow.table({"a": np.arange(1000.0)})
        parquet.write_table(table, tmp_path / "x.parquet", use_dictionary=False)
        monkeypatch.setattr(arrow_tables, "LARGEST", 8000)  # the rows; their page has a header too
        monkeypatch.setattr(parquet.ParquetFile, "iter_batches", pytest.fail)
        with pytest.raises(InputError, match="unpacks to more than 8000 bytes"):
            read_data(tmp_path / "x.parquet")

    def test_parquet_without_its_library_says_what_to_install(self, tmp_path, monkeypatch):
        monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
        with pytest.raises(InputError, match=r"rnnbounds\[parquet\]"):
            read_data(text(tmp_path / "x.parquet", "PAR1"))


class TestPython:
    def test_a_tensor_an_array_and_a_loader_give_the_same(self):
        x = torch.randn(5, 4, 3, generator=torch.Generator().manual_seed(0))
        pairs = torch.utils.data.TensorDataset(x, torch.zeros(5))
        loader = torch.utils.data.DataLoader(pairs, batch_size=2)
        for held in (x, x.numpy(), loader, iter([x[:2], x[2:]]), read_data(x)):
            assert np.array_equal(read_data(held).x, x.numpy())

    def test_a_loader_without_end_is_left(self, monkeypatch):
        monkeypatch.setattr(sequences, "LARGEST", 1000)
        endless = iter(lambda: torch.zeros(1, 2, 3), None)
        with pytest.raises(InputError, match="fewer of them"):
            read_data(endless)


class TestHostileFiles:
    def test_masked_numbers_are_no_inputs(self):
        assert read_data(np.ma.masked_greater(SERIES, 9)).N == 1

    def test_a_text_that_is_too_large(self, tmp_path, monkeypatch):
        monkeypatch.setattr(text_tables, "LARGEST_TEXT", 4)
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

    def test_beyond_the_bound_is_counted_exactly(self):
        x = np.array([[3.0, 4.0], [3.0, np.nextafter(4, 5)], [0.0, 7.0]])
        with pytest.raises(InputError, match="2 of 3 inputs"):
            read_data(x).require_within(5.0)
        read = read_data(x)
        assert read.require_within(read.largest) is read
        assert read.largest == 7.0

    def test_ends_of_channels(self):
        low, high = read_data(SERIES).ends
        assert (low.tolist(), high.tolist()) == ([0, 0.125], [1.25, 1.375])

    def test_windows_share_no_input(self):
        read = read_data(np.arange(14.0).reshape(2, 7))  # T = 2, d = 7
        assert read.windows(1)[:].shape == (2, 1, 7)
        stacked = read_data(np.arange(14.0).reshape(2, 7, 1))
        assert stacked.windows(3)[:][..., 0].tolist() == [
            [0, 1, 2], [3, 4, 5], [7, 8, 9], [10, 11, 12],
        ]  # fmt: skip
        assert stacked.windows(3).rows is stacked.rows


class TestRows:
    TABLE = np.array([[0.0, 0.5], [0.25, -0.5], [1.0, 1.0]])

    def test_rows_of_a_table_in_any_order_and_number(self):
        x = self.TABLE[np.random.default_rng(0).integers(3, size=(5, 7))]
        assert read_data(-x * -1.0).require_of(input_rows(torch.from_numpy(self.TABLE))).N == 5
