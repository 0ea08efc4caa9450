"""Certificates of models in both directions, and the file of a truncated one.

A record states for every cell what `impl.format.record` states for a cell alone, and windows
(k₁, k₂) of the whole. In a file stand the weights under torch's names (`weight_ih_l0_reverse`), the
window, and the record.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field

from rnnbounds.impl.format.fields import (
    Bound,
    Count,
    Exactly,
    RecordError,
    Shape,
    Size,
    converted,
)
from rnnbounds.impl.format.input_sets import StatedSet, record_inputs
from rnnbounds.impl.format.record import Record, stated
from rnnbounds.impl.format.sealed import ANOTHER, Refusal, Sealing
from rnnbounds.impl.format.tensors import Part, digest
from rnnbounds.impl.format.text import strict
from rnnbounds.impl.format.truncated import TruncatedFileError

SCHEMA: Literal["rnnbounds/bidirectional-truncated/1"] = "rnnbounds/bidirectional-truncated/1"
WHOLE: Literal["rnnbounds/bidirectional-certificate/1"] = "rnnbounds/bidirectional-certificate/1"
ENDS = ("", "_reverse")  # of the names of the directions' weights
_NAME = re.compile(r"(.+)_l(0|[1-9][0-9]*)(_reverse)?")
_KEPT = ("cell", "dtype", "sha256", "verdict", "input_bound", "gain", "truncation")


class AroundWindow(Exactly, frozen=True):
    """‖y_t − y_t^{t−past … t+future}‖₂ ≤ ε for all t."""

    eps: Size
    past: Count
    future: Count


class Both(Exactly, frozen=True):
    """The records of the two cells of a layer."""

    forward: Record
    reverse: Record


class BidirectionalRecord(Exactly, frozen=True):
    """Statements of a record: those of each cell, windows and the gain of the whole.

    digest: SHA-256 over the digests of all cells in order. information: as in `Record`.
    """

    schema: Literal["rnnbounds/bidirectional-truncated/1"]
    cell: str
    dtype: str
    digest: str = field(name="sha256")
    verdict: Literal["certified"]
    input_bound: Size
    inputs: StatedSet | None
    shape: Shape
    layers: Annotated[tuple[Both, ...], Meta(min_length=1, max_length=256)]
    truncation: Annotated[tuple[AroundWindow, ...], Meta(min_length=1)]
    gain: Bound
    information: dict[Literal["model", "ignored", "unread", "inputs", "rounding"], Any]

    def __post_init__(self) -> None:
        first, last = self.layers[0].forward, self.layers[-1]
        if self.cell != full_name(first.cell, len(self.layers)):
            raise RecordError("another cell than its cells'")
        told = (self.input_bound, self.inputs, self.dtype, self.shape)
        n = last.forward.shape.n + last.reverse.shape.n
        if told != (first.input_bound, first.inputs, first.dtype, Shape(n, first.shape.d)):
            raise RecordError("other inputs, sizes or another dtype than those of its cells")
        if self.digest != joint_digest([one.digest for one in self.cells]):
            raise RecordError("the digest of other cells")

    @property
    def cells(self) -> list[Record]:
        """The records of all cells, the lowest layer first, forward before reverse."""
        return [one for both in self.layers for one in (both.forward, both.reverse)]


class StatedWindow(Struct):
    """The window at an ε, None on both sides where nothing is known."""

    eps: Annotated[float, Meta(gt=0)]
    past: Count | None
    future: Count | None


class BidirectionalDocument(Struct):
    """A certificate of any verdict, but for its cells."""

    model: str
    cell: str
    shape: Shape
    sha256: str
    verdict: Literal["certified", "refuted", "undecided"]
    truncation: Annotated[list[StatedWindow], Meta(min_length=1)]
    gain: Bound
    rounding: dict[str, Any]
    layers: Annotated[list[dict[str, Any]], Meta(min_length=1)]
    ignored: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    readout: dict[str, Any] | None = None


@dataclass(frozen=True, eq=False)
class BidirectionalFile:
    """The tensors of a file by name, its window, what it states, and its certificate as it is."""

    parts: Mapping[str, Part]
    past: int
    future: int
    record: BidirectionalRecord
    certificate: dict[str, Any]


def joint_digest(digests: Iterable[str]) -> str:
    """SHA-256 of the digests of all cells, the lowest layer first, forward before reverse."""
    return hashlib.sha256("|".join(digests).encode()).hexdigest()


def full_name(cell: str, layers: int) -> str:
    """The cell with its directions and layers: "bidirectional lstm, 2 layers"."""
    return f"bidirectional {cell}" + (f", {layers} layers" if layers > 1 else "")


def by_cell(named: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Values by torch's names, split by cell, under a cell's own names; the lowest layer first.

    Raises LookupError for other names, and for layers that lack a direction.
    """
    found: dict[tuple[int, str], dict[str, Any]] = {}
    for name, value in named.items():
        match = _NAME.fullmatch(name)
        if match is None:
            raise LookupError(name)
        found.setdefault((int(match[2]), match[3] or ""), {})[match[1]] = value
    keys = [(l, end) for l in range(len(found) // 2) for end in ENDS]
    if set(keys) != found.keys():
        raise LookupError("a layer without a direction")
    return [found[key] for key in keys]


def bidirectional_record(document: object) -> BidirectionalRecord:
    """Convert parsed JSON to a record; raises RecordError."""
    return converted(document, BidirectionalRecord)


def stated_both(certificate: Mapping[str, Any]) -> dict[str, Any]:
    """The record of a whole certificate; of a record itself, a copy of it.

    Raises LookupError, TypeError and AttributeError for what is neither.
    """
    if certificate.get("schema") != WHOLE:
        return dict(certificate)
    box = certificate["inputs"]
    named = {name: certificate[name] for name in ("model", "ignored", "unread")}
    return {
        "schema": SCHEMA,
        **{key: certificate[key] for key in _KEPT},
        "inputs": record_inputs(box),
        "shape": {key: certificate["shape"][key] for key in ("n", "d")},
        "layers": [{end: stated(one) for end, one in both.items()}
                   for both in certificate["layers"]],
        "information": named | {"rounding": certificate["rounding"]["state"]}
        | ({} if box is None else {"inputs": box["what"]}),
    }  # fmt: skip


def _seal(told: Mapping[str, str], parts: Mapping[str, Part]) -> str:
    kept = [told.get(name, "") for name in BIDIRECTIONAL.metadata]
    return digest(json.dumps(kept), parts, prefix="")


BIDIRECTIONAL = Sealing(
    "rnnbounds/bidirectional/", 1, "a truncated model in both directions",
    ("format", "past", "future", "cell", "certificate"), _seal,
)  # fmt: skip


def read_bidirectional(
    path: Path, refuse: Refusal = TruncatedFileError, data: bytes | None = None
) -> BidirectionalFile:
    """The file, unchanged since it was written, whose window its record states."""
    parts, told, certificate = BIDIRECTIONAL.read(path, refuse, data)
    try:
        said = bidirectional_record(certificate)
    except RecordError:
        raise refuse(path, "holds no readable certificate") from None
    window = (told["past"], told["future"])
    if told["cell"] != said.cell or window not in {
        (str(one.past), str(one.future)) for one in said.truncation
    }:
        raise refuse(path, ANOTHER)
    return BidirectionalFile(parts, int(window[0]), int(window[1]), said, certificate)


def document_of(data: bytes) -> dict[str, Any] | None:
    """The data of a certificate in both directions; None for what is none, whatever is wrong."""
    try:
        told = strict(data.decode())
        json.dumps(told, allow_nan=False)  # 1e999 is a number to JSON, and no float
    except (ValueError, RecursionError):
        return None
    schema = told.get("schema") if isinstance(told, dict) else None
    return told if schema in (WHOLE, SCHEMA) else None
