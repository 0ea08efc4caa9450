"""Columns of tables as series: alike from text, Parquet and Arrow."""

from contextlib import suppress
from datetime import datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnnbounds.impl.errors import InputError
from rnnbounds.impl.reading.data import arrow_tables
from rnnbounds.impl.reading.data.sequences import read_data

ROWS = [("a", 1, 0.5, 7.0), ("b", 1, 1.5, 8.0), ("a", 2, 2.5, 9.0), ("a", 4, -1.0, 0.0),
        ("b", 3, 0.25, 1.0)]  # fmt: skip
NAMES = ("id", "t", "x", "y")


def written(folder, kind, rows=ROWS):
    """A table in a file of that kind."""
    path = folder / f"x.{kind}"
    if kind == "csv":
        text = "\n".join(",".join(map(str, row)) for row in [NAMES, *rows])
        path.write_text(text)
        return path
    arrow = pytest.importorskip("pyarrow")
    table = arrow.table(dict(zip(NAMES, zip(*rows, strict=True), strict=True)))
    write_table(path, table)
    return path


def write_table(path, table, **options):
    """A table as Parquet, in the stream format or, as .file.arrow, in the file format."""
    from pyarrow import ipc, parquet

    if path.suffix == ".parquet":
        parquet.write_table(table, path)
        return
    new = ipc.new_file if ".file." in path.name else ipc.new_stream
    with new(path, table.schema, **options) as writer:
        writer.write_table(table, max_chunksize=2)


KINDS = pytest.mark.parametrize("kind", ["csv", "parquet", "arrow", "file.arrow"])


@KINDS
def test_columns_and_groups(tmp_path, kind):
    """Chosen in any order, or all but group and time."""
    path = written(tmp_path, kind)
    assert read_data(path, columns="y,x").rows.tolist() == [[row[3], row[2]] for row in ROWS]
    for columns in (None, ["x", "y"]):
        read = read_data(path, columns=columns, group="id", time="t")
        assert (read.lengths.tolist(), read.one) == ([3, 2], False)
        assert read.rows[:, 0].tolist() == [0.5, 2.5, -1.0, 1.5, 0.25]
    read = read_data(path, columns="x", group="t")  # of numbers, in the order of rows
    assert read.lengths.tolist() == [2, 1, 1, 1]
    assert read.rows[:, 0].tolist() == [0.5, 1.5, 2.5, -1.0, 0.25]


@KINDS
def test_time_has_to_increase_within_a_series(tmp_path, kind):
    """The first row that does not is named."""
    path = written(tmp_path, kind)
    with pytest.raises(InputError, match="column 't' does not increase at row 2; sort"):
        read_data(path, columns="x", time="t")
    path = written(tmp_path, kind, [*ROWS, ("a", 4, 0.0, 0.0)])
    with pytest.raises(InputError, match="column 't' does not increase within its 'id' at row 6"):
        read_data(path, columns="x", group="id", time="t")


def test_times_are_compared_exactly(tmp_path):
    """Whole numbers beyond 2⁵³, and dates."""
    path, start = tmp_path / "x.csv", datetime(2024, 1, 31, 12)
    for times in ((2**60, 2**60 + 1), (start, start + timedelta(microseconds=1)), (0.5, 1)):
        path.write_text("\n".join(["t;x", *(f"{t};1" for t in times)]))
        assert read_data(path, time="t").T == 2
        path.write_text("\n".join(["t;x", *(f"{t};1" for t in reversed(times))]))
        with pytest.raises(InputError, match="does not increase"):
            read_data(path, time="t")
    path.write_text("t;x\n1;1\n2024-01-31;1\n")
    with pytest.raises(InputError, match="mixes times"):
        read_data(path, time="t")
    path.write_text("t;x\nnan;1\n")
    with pytest.raises(InputError, match="does not increase"):
        read_data(path, time="t")


@given(st.lists(st.integers(0, 3), min_size=1, max_size=20))
def test_groups_keep_the_order_of_rows(tmp_path_factory, ids):
    """A series for each id, in the order in which they come first."""
    path = tmp_path_factory.mktemp("ids") / "x.csv"
    path.write_text("\n".join(["id,x", *(f"n{i},{j}" for j, i in enumerate(ids))]))
    read = read_data(path, group="id")
    order = list(dict.fromkeys(ids))
    assert read.lengths.tolist() == [ids.count(i) for i in order]
    assert read.rows[:, 0].tolist() == [j for one in order for j, i in enumerate(ids) if i == one]


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_lists_are_sequences_and_fixed_lists_channels(tmp_path, kind):
    """Lists in lists have channels; what does not fit together is refused by its column."""
    arrow = pytest.importorskip("pyarrow")
    path = tmp_path / f"x.{kind}"
    pairs = arrow.list_(arrow.float32(), 2)
    table = arrow.table({
        "one": arrow.array([[1, 2], [3], [4, 5, 6]], arrow.list_(arrow.int16())),
        "two": arrow.array([[[1, 2], [3, 4]], [[5, 6]], [[7, 8], [9, 0], [1, 2]]]),
        "pair": arrow.array([[1, 2], [3, 4], [5, 6]], pairs),
        "pairs": arrow.array([[[1, 2], [3, 4]], [[5, 6]], [[7, 8], [9, 0], [1, 2]]],
                             arrow.large_list(pairs)),
        "scalar": [1.0, 2.0, 3.0], "id": ["a", "a", "b"],
        "uneven": [[[1.0], [2.0, 3.0]], [[1.0]], [[1.0]]],
        "empty": [[1.0], [], [2.0]],
        "other": [[1.0], [2.0], [3.0]],
        "missing": [[1.0], None, [3.0]],
    })  # fmt: skip
    write_table(path, table)
    one = read_data(path, columns="one")
    assert (one.lengths.tolist(), one.rows[:, 0].tolist()) == ([2, 1, 3], [1, 2, 3, 4, 5, 6])
    for name in ("two", "pairs"):
        two = read_data(path, columns=name)
        assert two.lengths.tolist() == [2, 1, 3]
        assert two.rows.tolist() == [[1, 2], [3, 4], [5, 6], [7, 8], [9, 0], [1, 2]]
    assert read_data(path, columns="one,two").rows[:2].tolist() == [[1, 1, 2], [2, 3, 4]]
    both = read_data(path, columns="scalar,pair")
    assert (both.N, both.rows.tolist()) == (1, [[1, 1, 2], [2, 3, 4], [3, 5, 6]])
    for names, reason in {
        "one,scalar": "single steps in", "uneven": "numbers of channels",
        "empty": "empty list in row 2", "one,other": "of other lengths",
        "missing": "lacks 1 values",
    }.items():  # fmt: skip
        with pytest.raises(InputError, match=reason):
            read_data(path, columns=names)
    with pytest.raises(InputError, match="whole sequence in each row"):
        read_data(path, columns="one", group="id")


def test_arrow_that_is_compressed_or_too_large(tmp_path, monkeypatch):
    """Its size in memory is known before it is made."""
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import ipc

    path, table = tmp_path / "x.arrow", arrow.table({"x": np.zeros(1000), "b": [True] * 1000})
    for codec in ("lz4", "zstd"):
        write_table(path, table, options=ipc.IpcWriteOptions(compression=codec))
        with pytest.raises(InputError, match="is compressed"):
            read_data(path, columns="x")
    write_table(path, table)
    monkeypatch.setattr(arrow_tables, "LARGEST", 4000)
    with pytest.raises(InputError, match="unpacks to more than 4000 bytes"):
        read_data(path, columns="b")


@pytest.mark.parametrize("text", ["plain", "dictionary"])
def test_groups_by_text_however_it_is_stored(tmp_path, text):
    """Dictionaries differ from batch to batch, and may hold a value twice."""
    arrow = pytest.importorskip("pyarrow")
    ids = ["b", "a", "b", "c", "a"]
    column = arrow.array(ids)
    if text == "dictionary":
        column = arrow.DictionaryArray.from_arrays([1, 0, 3, 2, 0], ["a", "b", "c", "b"])
    for name in ("x.arrow", "x.parquet"):
        write_table(tmp_path / name, arrow.table({"id": column, "x": np.arange(5.0)}))
        read = read_data(tmp_path / name, group="id")
        assert read.lengths.tolist() == [2, 2, 1]
        assert read.rows[:, 0].tolist() == [0, 2, 1, 4, 3]


@given(st.binary(max_size=40), st.integers(0, 900))
def test_damaged_arrow_is_refused_in_a_line(tmp_path_factory, noise, at):
    """Or read, if what is damaged says nothing of the column."""
    arrow = pytest.importorskip("pyarrow")
    path = tmp_path_factory.mktemp("damaged") / "x.arrow"
    write_table(path, arrow.table({"x": [[1.0, 2.0], [3.0]], "id": ["a", "b"]}))
    data = bytearray(path.read_bytes())
    data[at : at + len(noise)] = noise
    path.write_bytes(data)
    with suppress(InputError):
        assert read_data(path, columns="x").d == 1
