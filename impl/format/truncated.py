"""The file of a truncated model: its weights under torch's names, its window and its record."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rnnbounds import disk
from rnnbounds.impl.format.fields import RecordError
from rnnbounds.impl.format.origin import described
from rnnbounds.impl.format.record import GoneError, Record, record
from rnnbounds.impl.format.sealed import ANOTHER, TRUNCATED, Refusal, no_truncated
from rnnbounds.impl.format.tensors import MOST, Part, digest, dtype_of

ALL, LATEST = "all", "latest"  # outputs that the model gives
EXPORTS = (".pt2", ".onnx")  # the endings of what other runtimes read, which is not checked
_BEGINNING = re.compile(rb'"schema": "rnnbounds/([a-z]+-)?(certificate|truncated)/')


@dataclass(frozen=True, eq=False)
class TruncatedFile:
    """The tensors of a file by name, its window, which outputs it gives, what it states, and its
    certificate as it is."""

    parts: Mapping[str, Part]
    k: int
    output: str
    record: Record
    certificate: dict[str, Any]


def is_certificate(path: Path) -> bool:
    """True for a file that begins as the JSON of 'certify' or 'truncate' does, of any version."""
    try:
        return _BEGINNING.search(disk.read(path, MOST)[:64]) is not None
    except OSError:
        return False


def read_truncated(
    path: Path, refuse: Refusal = no_truncated, data: bytes | None = None
) -> TruncatedFile:
    """The file, unchanged since it was written, whose parts speak of one model."""
    parts, told, certificate = TRUNCATED.read(path, refuse, data)
    try:
        stated = record(certificate)
    except GoneError as gone:
        raise refuse(path, str(gone)) from None
    except RecordError:
        raise refuse(path, "holds no readable certificate") from None
    if told["output"] not in (ALL, LATEST):
        raise refuse(path, "has an unknown kind of output")
    if told["cell"] != stated.cell or told["k"] not in map(str, stated.longest):
        raise refuse(path, ANOTHER)
    return TruncatedFile(parts, int(told["k"]), told["output"], stated, certificate)


def is_about(stated: Record, roles: Mapping[str, Part], n: int, d: int) -> bool:
    """True if a record is about the model of these weights by role, and of these sizes."""
    return (
        (stated.shape.n, stated.shape.d) == (n, d)
        and {stated.dtype} == {dtype_of(part) for part in roles.values()}
        and stated.digest == digest(stated.cell, roles)
        and described(stated.information, roles)
    )
