"""The file of a truncated model, read without torch, so that its checker needs none.

Nothing is believed before its names, dtypes, shapes, values and digests were looked at. The file is
written by `impl.convert.truncate`, whose digests are computed here anew from the bytes.
"""

import hashlib
import itertools
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rnnbounds.impl import disk
from rnnbounds.impl.checker.cells.layouts import STACKED, LayoutError, known, layers, layout
from rnnbounds.impl.checker.origin import described
from rnnbounds.impl.checker.stored import (
    MOST,
    Array,
    Part,
    contents,
    decoded,
    digest,
    dtype_of,
    plain,
)
from rnnbounds.impl.checker.truncated_record import Record, RecordError, record
from rnnbounds.impl.errors import InputError, shown

FAMILY = "rnnbounds/truncated/"
FORMAT = f"{FAMILY}4"
METADATA = ("format", "k", "cell", "output", "certificate")  # and their seal, sha256
ALL, LATEST = "all", "latest"  # outputs that the model gives
_BEGINNING = re.compile(rb'"schema": "rnnbounds/(truncated-)?certificate/')
EXPORTS = (".pt2", ".onnx")  # the endings of what other runtimes read, which is not checked
LARGEST = 2048  # states beyond which nobody waits for a check


class TruncatedFileError(InputError):
    """A file that holds no truncated model with its certificate."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{shown(path)}: {reason}; write it again with 'rnnbounds truncate'")


class CertificateFileError(InputError):
    """A file of 'rnnbounds certify' of which nothing can be proved for the model."""

    def __init__(
        self, path: Path, reason: str, remedy: str = "write it again with 'rnnbounds certify --out'"
    ) -> None:
        super().__init__(f"{shown(path)}: {reason}; {remedy}")


class UncheckedCellError(InputError):
    """A truncated model, as it was written, of a cell that is registered elsewhere."""

    def __init__(self, path: Path, cell: str) -> None:
        super().__init__(
            f"{shown(path)}: holds {shown(cell)}, a cell of which the checker knows nothing; "
            f"certify the model again with 'rnnbounds certify'"
        )


@dataclass(frozen=True, eq=False)
class TruncatedFile:
    """The float64 arrays of a file by role, what it states, and its certificate as it is."""

    weights: Mapping[str, Array]
    record: Record
    k: int
    certificate: dict[str, Any]


def is_certificate(path: Path) -> bool:
    """True for a file that begins as the JSON of 'certify' or 'truncate' does, of any version."""
    try:
        return _BEGINNING.search(disk.read(path, MOST)[:64]) is not None
    except OSError:
        return False


def read(path: Path) -> TruncatedFile:
    """The file, whole and unchanged since it was written; raises TruncatedFileError, and
    UncheckedCellError for one that is both, but of a cell of which nothing is known here."""
    try:
        parts, told = contents(disk.read(path, MOST))
    except Exception as cause:  # a damaged file makes the parsers raise anything
        reason = f"is no intact file of a truncated model ({type(cause).__name__})"
        raise TruncatedFileError(path, reason) from None
    if told.get("format") != FORMAT:
        raise TruncatedFileError(path, f"is not of the format {FORMAT}")
    if told.keys() != {*METADATA, "sha256"} or told["sha256"] != seal(told, parts):
        raise TruncatedFileError(path, "was changed after it was written")
    try:
        certificate = plain(told["certificate"])
        stated = record(certificate)
    except (RecordError, ValueError, TypeError, OverflowError, RecursionError):
        raise TruncatedFileError(path, "holds no readable certificate") from None
    if told["output"] not in (ALL, LATEST):
        raise TruncatedFileError(path, "has an unknown kind of output")
    if told["cell"] != stated.cell or told["k"] not in map(str, stated.longest):
        raise TruncatedFileError(path, "holds the certificate of another model")
    if not known(stated.cell):
        raise UncheckedCellError(path, stated.cell)
    roles, weights, sizes = _weights(path, stated.cell, parts)
    if (
        (stated.n, stated.d) != sizes
        or {stated.dtype} != {dtype_of(part) for part in roles.values()}
        or stated.digest != digest(stated.cell, roles)
        or not described(certificate["information"], roles)
    ):
        raise TruncatedFileError(path, "holds the certificate of another model")
    return TruncatedFile(weights, stated, int(told["k"]), certificate)


def seal(told: Mapping[str, str], parts: Mapping[str, Part]) -> str:
    """SHA-256 of the metadata and the weights; it guards against accidents, not against intent."""
    kept = {name: told.get(name, "") for name in METADATA}
    return digest(hashlib.sha256(json.dumps(kept).encode()).hexdigest(), parts)


def _weights(
    path: Path, cell: str, parts: Mapping[str, Part]
) -> tuple[dict[str, Part], dict[str, Array], tuple[int, int]]:
    """The tensors of a cell by role, as they are and in float64, and the sizes of output and
    input."""
    suffix = "" if cell.startswith(STACKED) else layout(cell, parts).suffix
    if not all(name.endswith(suffix) for name in parts):
        raise TruncatedFileError(path, "does not hold exactly the weights of its cell")
    roles = {name.removesuffix(suffix): part for name, part in parts.items()}
    if any(dtype_of(part) is None for part in roles.values()):
        raise TruncatedFileError(path, "has weights of a dtype that is not read")
    try:
        states, n, d = sizes(cell, {role: tuple(part["shape"]) for role, part in roles.items()})
    except LayoutError:
        reason = "does not hold exactly the weights of its cell, or some of wrong shapes"
        raise TruncatedFileError(path, reason) from None
    if states > LARGEST:
        raise TruncatedFileError(path, f"has over {LARGEST} states")
    arrays = {role: decoded(part) for role, part in roles.items()}
    if not all(np.isfinite(part).all() for part in arrays.values()):
        raise TruncatedFileError(path, "holds NaN or infinity")
    return roles, arrays, (n, d)


def sizes(cell: str, shapes: Mapping[str, tuple[int, ...]]) -> tuple[int, int, int]:
    """State, output and input of a cell, or of all layers of a stack; raises LayoutError."""
    if not cell.startswith(STACKED):
        return layout(cell, shapes).sizes(shapes)
    inner = cell.removeprefix(STACKED)
    each = [layout(inner, part).sizes(part) for part in layers(shapes)]
    if not each or any(top[2] != below[1] for below, top in itertools.pairwise(each)):
        raise LayoutError("layers that do not fit")
    return sum(states for states, _, _ in each), each[-1][1], each[0][2]
