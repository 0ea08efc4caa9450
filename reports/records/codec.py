"""Run records to bytes and back: canonical JSON out, nothing but a whole valid record in."""

import inspect
import json
from pathlib import Path
from typing import Any

import msgspec

from rnnbounds import disk
from rnnbounds.reports.errors import RecordError
from rnnbounds.reports.records.record import SCHEMA, Run

MOST_BYTES = 64 * 2**20
"""The greatest size of a record in bytes: no run of ours comes near, and decoding costs memory."""


class _Header(msgspec.Struct):
    schema: str


def encode(run: Run) -> bytes:
    """The record as canonical JSON: UTF-8, keys of mappings sorted, one final newline.

    Equal runs give equal bytes. Raises RecordError if the bytes would not read back as the
    same record (a NaN in a spec, an object that JSON does not know).
    """
    try:
        data = msgspec.json.encode(run, order="deterministic")
        reads_back = (
            _decode_any(data) == run
        )  # of a mapping, one of two names that JSON writes alike is lost
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise RecordError(
            f"this run has no JSON form ({_error_line(error)}); use plain values"
        ) from None
    if not reads_back:
        raise RecordError("this run would read back differently; use finite numbers, lists, dicts")
    return msgspec.json.format(data, indent=1) + b"\n"


def decode(data: bytes) -> Run:
    """The record in `data`; raises RecordError, one line, on anything but a whole valid one."""
    if len(data) > MOST_BYTES:
        raise RecordError(f"{len(data)} bytes are too many for a run record (limit {MOST_BYTES})")
    try:
        run = _decode_any(data)
        require_unique(data)
        return run
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise RecordError(f"not a run record ({_error_line(error)}); write the run again") from None


def _decode_any(data: bytes) -> Run:
    header = msgspec.json.decode(data, type=_Header)
    if header.schema != SCHEMA:
        raise RecordError(f"schema {header.schema[:80]!r}, not {SCHEMA!r}; write the run again")
    return msgspec.json.decode(data, type=Run)


def require_unique(data: bytes | str) -> None:
    """Raise RecordError if an object of a JSON text has a name twice: readers differ on which."""

    def unique(pairs: list[tuple[str, Any]]) -> None:
        names = [name for name, _ in pairs]
        if len(set(names)) < len(names):
            name = next(name for name in names if names.count(name) > 1)
            raise RecordError(f"{name[:80]!r} stands twice in one object; keep one of them")

    json.loads(data, object_pairs_hook=unique)


def load(path: Path) -> Run:
    """The record in the file; raises RecordError naming it."""
    try:
        return decode(disk.read(path, MOST_BYTES))
    except OSError as error:
        raise RecordError(
            f"{path}: it {error.strerror}; give the run.json that verify wrote"
        ) from None
    except RecordError as error:
        raise RecordError(f"{path}: {error}") from None


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a run record."""
    schema = msgspec.json.schema(Run)
    for definition in schema["$defs"].values():
        definition["description"] = inspect.cleandoc(definition["description"])
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"{SCHEMA}: everything one run of rnnbounds saw",
        **schema,
    }


def _error_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:300]
