"""Tables of Apache Arrow: Parquet files, and the .arrow files of Hugging Face datasets (extra
`parquet`).

A column of numbers is a channel, of which each row is a step; one of fixed-size lists of d numbers
is d channels. A column of lists has a sequence in each row: of numbers, or of lists of d numbers.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from rnnbounds.impl.errors import shown
from rnnbounds.impl.reading.data.arrow_messages import is_compressed
from rnnbounds.impl.reading.data.contents import AGAIN, in_a_line, whole
from rnnbounds.impl.reading.data.ragged import Ragged
from rnnbounds.impl.reading.data.recordings import LARGEST, Array
from rnnbounds.impl.reading.data.tables import REMEDY, TableColumns, series
from rnnbounds.impl.reading.files import ModelFileError

_FILE = b"ARROW1\0\0"  # the stream follows it


def parquet_table(path: Path, named: TableColumns) -> Array | Ragged:
    """The numbers of a Parquet file; raises ModelFileError."""
    return _read(path, lambda data: _parquet(path, data, named))


def arrow_table(path: Path, named: TableColumns) -> Array | Ragged:
    """The numbers of a file of Arrow's stream or file format, which is not compressed; raises
    ModelFileError."""
    return _read(path, lambda data: _arrow(path, data, named))


def _read(path: Path, read: Callable[[bytes], Array | Ragged]) -> Array | Ragged:
    data = whole(path)
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        remedy = "install rnnbounds[parquet], or save it as .npy"
        raise ModelFileError(path, "needs pyarrow to be read", remedy) from None
    try:
        return read(data)
    except ModelFileError:
        raise
    except Exception as cause:  # a damaged file makes the parser raise anything
        raise ModelFileError(
            path, f"is no intact table of numbers ({in_a_line(cause)})", REMEDY
        ) from None


def _parquet(path: Path, data: bytes, named: TableColumns) -> Array | Ragged:
    import pyarrow as arrow
    from pyarrow import parquet

    kept = [named.group] if named.group is not None else None  # a text is decoded once
    file = parquet.ParquetFile(arrow.BufferReader(data), read_dictionary=kept)
    chosen = _require_types(file.schema_arrow, named, path)
    if _unpacked(file.metadata, chosen) > LARGEST:
        raise ModelFileError(path, f"unpacks to more than {LARGEST} bytes", AGAIN)
    return _table(path, named, chosen, file.schema_arrow, file.iter_batches(columns=chosen))


def _arrow(path: Path, data: bytes, named: TableColumns) -> Array | Ragged:
    import pyarrow as arrow
    from pyarrow import ipc

    buffer = arrow.py_buffer(data[len(_FILE) :] if data.startswith(_FILE) else data)
    if any(
        is_compressed(message.metadata.to_pybytes())
        for message in ipc.MessageReader.open_stream(buffer)
    ):
        reason = "is compressed, so that its size is not known"
        raise ModelFileError(path, reason, "write it uncompressed, or as .parquet")
    reader = ipc.open_stream(buffer)
    chosen = _require_types(reader.schema, named, path)
    return _table(path, named, chosen, reader.schema, (batch.select(chosen) for batch in reader))


def _require_types(schema: Any, named: TableColumns, path: Path) -> list[str]:
    """The columns that are asked for; raises ModelFileError for one of another type, before a value
    of it is decoded: a text of a few bytes in the file may stand in every row."""
    from pyarrow import types

    chosen = named.chosen(schema.names, path)
    steps = set()
    for name in chosen:
        kind = _stored(schema.field(name).type)
        if name == named.group:
            base = kind.value_type if types.is_dictionary(kind) else kind
            needed, fits = "numbers or texts", _is_text(base) or types.is_integer(base)
        elif name == named.time:
            needed = "numbers or times"
            fits = _is_number(kind) or types.is_timestamp(kind) or types.is_date(kind)
        else:
            depth, number = _nesting(kind)
            needed, fits = "numbers", depth <= 2 and _is_number(number)
            steps.add(_is_sequence(kind))
        if not fits:
            reason = f"column {shown(name)!r} is of {shown(kind)}, not of {needed}"
            raise ModelFileError(path, reason, REMEDY)
    if len(steps) > 1:
        reason = "has sequences in the rows of one column, and single steps in another's"
        raise ModelFileError(path, reason, "choose columns of one kind by --columns")
    if True in steps and (named.group, named.time) != (None, None):
        reason = "has a whole sequence in each row"
        raise ModelFileError(path, reason, "leave group and time out")
    return chosen


def _stored(kind: Any) -> Any:
    """The type that a registered extension, as an Array2D, is stored as; any other type itself."""
    from pyarrow import BaseExtensionType

    return kind.storage_type if isinstance(kind, BaseExtensionType) else kind


def _is_number(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind))


def _is_text(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_string(kind) or types.is_large_string(kind))


def _is_list(kind: Any) -> bool:
    from pyarrow import types

    fixed = types.is_fixed_size_list(kind)
    return bool(fixed or types.is_list(kind) or types.is_large_list(kind))


def _nesting(kind: Any) -> tuple[int, Any]:
    """How many lists stand around what type."""
    return (1 + (found := _nesting(kind.value_type))[0], found[1]) if _is_list(kind) else (0, kind)


def _is_sequence(kind: Any) -> bool:
    """True if a row of that type is a sequence, not a step."""
    from pyarrow import types

    return _is_list(kind) and (not types.is_fixed_size_list(kind) or _is_list(kind.value_type))


def _unpacked(metadata: Any, chosen: Iterable[str]) -> int:
    """Bytes that columns of a Parquet file take in memory: of their pages, or as float64."""
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    columns = [group.column(i) for group in groups for i in range(group.num_columns)]
    some = [c for c in columns if any(f"{c.path_in_schema}.".startswith(f"{n}.") for n in chosen)]
    pages = sum(int(column.total_uncompressed_size) for column in some)
    return max(pages, 8 * sum(int(column.num_values) for column in some))


@np.errstate(all="ignore")  # a NaN may signal
def _table(
    path: Path, named: TableColumns, chosen: list[str], schema: Any, batches: Iterable[Any]
) -> Array | Ragged:
    """The chosen columns of all batches, each of which is validated first."""
    import pyarrow as arrow

    held = []
    for batch in batches:
        batch.validate(full=True)
        held.append(batch)
    if not any(len(batch) for batch in held):
        raise ModelFileError(path, "has no row of numbers", AGAIN)
    table = arrow.Table.from_batches(held)
    columns = {name: table.column(name).cast(_stored(table.column(name).type)) for name in chosen}
    channels = [name for name in chosen if name not in (named.group, named.time)]
    if _is_sequence(columns[channels[0]].type):
        return _sequences(path, {name: columns[name] for name in channels})
    values = np.concatenate([_steps(columns[name], path, name) for name in channels], axis=1)
    groups = None if named.group is None else _groups(columns[named.group], path, named.group)
    times = None if named.time is None else _times(columns[named.time], path, named.time)
    return series(path, named, values, groups, times)


def _numbers(column: Any, path: Path) -> Array:
    """A column of numbers in float64, NaN where one is missing."""
    if len(column) * 8 > LARGEST:
        raise ModelFileError(path, f"unpacks to more than {LARGEST} bytes", AGAIN)
    return np.asarray(column.to_numpy(), dtype=np.float64)


def _steps(column: Any, path: Path, name: str) -> Array:
    """(R, 1) of numbers, (R, d) of lists of d numbers."""
    if not _is_list(column.type):
        return _numbers(column, path)[:, None]
    _require_rows(column, path, name)
    return _numbers(_inner(column), path).reshape(len(column), -1)


def _sequences(path: Path, columns: dict[str, Any]) -> Ragged:
    """Each row a sequence, of the channels of all columns."""
    lengths, found = None, []
    for name, column in columns.items():
        own, inner = _lengths(column, path, name), _inner(column)
        if lengths is not None and not np.array_equal(own, lengths):
            reason = f"column {shown(name)!r} has sequences of other lengths than the one before it"
            raise ModelFileError(path, reason, "choose columns of one length")
        lengths, rows = own, int(own.sum())
        if _is_list(inner.type):
            sizes = _lengths(inner, path, name)
            if (sizes != sizes[0]).any():
                reason = f"column {shown(name)!r} has inputs of different numbers of channels"
                raise ModelFileError(path, reason, "give all inputs one size")
            inner = _inner(inner)
        found.append(_numbers(inner, path).reshape(rows, -1))
    assert lengths is not None
    return Ragged(np.concatenate(found, axis=1), lengths)


def _lengths(column: Any, path: Path, name: str) -> Array:
    """The lengths of a column of lists, none of which is missing or empty."""
    from pyarrow import compute

    _require_rows(column, path, name)
    found = np.asarray(compute.list_value_length(column).to_numpy(), dtype=np.int64)
    if len(empty := np.flatnonzero(found == 0)):
        reason = f"column {shown(name)!r} has an empty list in row {empty[0] + 1}"
        raise ModelFileError(path, reason, "leave such rows out")
    return found


def _inner(column: Any) -> Any:
    """The values of a column of lists, one after another."""
    from pyarrow import compute

    return compute.list_flatten(column)


def _groups(column: Any, path: Path, name: str) -> Array:
    """The indices of the values of a column, in the order in which they come first."""
    import pyarrow as arrow
    from pyarrow import types

    _require_rows(column, path, name)
    if not types.is_dictionary(column.type):
        column = column.dictionary_encode()
    whole_column = column.unify_dictionaries().combine_chunks()
    parts = whole_column.chunks if isinstance(whole_column, arrow.ChunkedArray) else [whole_column]
    codes = np.concatenate([part.indices.to_numpy() for part in parts])
    own = parts[0].dictionary.dictionary_encode().indices.to_numpy()  # which values are one
    _, first, found = np.unique(own[codes], return_index=True, return_inverse=True)
    ranks: Array = np.argsort(np.argsort(first))
    return ranks[found]


def _times(column: Any, path: Path, name: str) -> Array:
    """Times as numbers that are compared exactly."""
    from pyarrow import int64, types

    _require_rows(column, path, name)
    if types.is_date32(column.type):
        return np.asarray(column.cast("int32").to_numpy())
    temporal = types.is_timestamp(column.type) or types.is_date(column.type)
    return np.asarray((column.cast(int64()) if temporal else column).to_numpy())


def _require_rows(column: Any, path: Path, name: str) -> None:
    if column.null_count:
        raise ModelFileError(
            path, f"column {shown(name)!r} lacks {column.null_count} values", "fill them in"
        )
