"""Certificates as the gate reads them, whichever command wrote them."""

import re
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from rnnbounds import disk
from rnnbounds.reports.errors import RecordError
from rnnbounds.reports.records.codec import require_unique

LIMIT = 64 * 2**20
VERSIONS = {"certificate": (1,), "truncated-certificate": (2, 1), "unitary-certificate": (3, 2, 1)}
Positive = Annotated[float, msgspec.Meta(ge=0)]
Length = Annotated[int, msgspec.Meta(ge=0, le=2**53)]


class Header(msgspec.Struct):
    """The name that every record bears; `check` prints a certificate inside of what it found."""

    schema: str = ""
    certificate: msgspec.Raw = msgspec.Raw()
    holds: bool = False


class Inputs(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A set of inputs beside the ball: low ≤ x ≤ high (d,), or of these the rows of a table."""

    set: Literal["box", "rows"]
    low: tuple[float, ...]
    high: tuple[float, ...]
    what: str = ""
    rows: Length | None = None


class Readout(msgspec.Struct, frozen=True):
    """The linear layer after the cell that ε is about, and a bound on its norm."""

    outputs: Length
    tensor: str
    norm: Positive | None = None


class Window(msgspec.Struct, frozen=True):
    """The memory k for one ε, None where none is certified."""

    eps: Positive
    k: Length | None = None


class Rounding(msgspec.Struct, frozen=True):
    """Bound on the rounding error of a state, None if unknown."""

    state: Positive | None = None


class Information(msgspec.Struct, frozen=True):
    """Fields of a file's certificate on how its model was read and what `check` does not prove."""

    ignored: tuple[str, ...] = ()
    tensors: dict[str, str] = {}
    unread: tuple[str, ...] = ()
    inputs: str = ""
    rounding: Positive | None = None


class Difference(msgspec.Struct, frozen=True):
    """How far a unitary equivalent's states are from the model's."""

    own_dtype: Positive | None = None


class Certificate(msgspec.Struct, frozen=True):
    """Compared fields of a certificate. Raises ValueError for an ε with two different k."""

    schema: str
    cell: str
    verdict: str
    input_bound: Positive
    dtype: str = ""
    sha256: str = ""
    shape: dict[str, Length] = {}
    inputs: Inputs | None = None
    readout: Readout | None = None
    lam: Positive | None = msgspec.field(name="lambda", default=None)
    norm: str = ""
    constants: dict[str, float | None] = {}
    truncation: tuple[Window, ...] = ()
    rounding: Rounding = Rounding()
    rounds_to_one: dict[str, Length] = {}
    states: Length | str = ""
    initial_state: tuple[float, ...] = ()
    orthogonality_defect: Positive | None = None
    difference: Difference = Difference()
    tensors: dict[str, str] = {}
    unread: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    information: Information = Information()

    def __post_init__(self) -> None:
        lengths = lengths_by_eps(self.truncation)
        if any(lengths[window.eps] != window.k for window in self.truncation):
            raise ValueError("one ε has two different k")

    @property
    def family(self) -> str:
        """Family of the certificate's schema `rnnbounds/FAMILY/VERSION`."""
        return self.schema.partition("/")[2].partition("/")[0]

    @property
    def rounding_bound(self) -> float | None:
        """How far rounding moves a state, None where nothing is known."""
        state_difference = self.difference.own_dtype
        bounds = (self.rounding.state, self.information.rounding, state_difference)
        return next((bound for bound in bounds if bound is not None), None)


def lengths_by_eps(windows: tuple[Window, ...]) -> dict[float, int | None]:
    """The k of each ε, smallest ε first: two floats are one key if they are equal."""
    return {window.eps: window.k for window in sorted(windows, key=lambda window: window.eps)}


def split_record(data: bytes) -> tuple[str, bytes]:
    """The schema of a record and the record itself, which may be in what `check` printed.

    Raises RecordError for a certificate that `check` found to fail, and what msgspec raises."""
    header = msgspec.json.decode(data, type=Header)
    inner = bytes(header.certificate)
    if header.schema or not inner:
        return header.schema, data
    schema = msgspec.json.decode(inner, type=Header).schema
    if not header.holds:
        raise RecordError("the certificate in it fails, as 'check' found")
    return schema, inner


def load_certificate(path: Path) -> Certificate:
    """The certificate in a JSON file, as any command prints or writes it; raises RecordError."""
    try:
        data = disk.read(path, LIMIT)
        schema, record = split_record(data)
        reason = _refusal_reason(schema)
        if reason:
            raise RecordError(reason)
        certificate = msgspec.json.decode(record, type=Certificate)
        require_unique(data)
        return certificate
    except OSError as error:
        raise RecordError(f"{path}: it {error.strerror}; give a certificate in JSON") from None
    except RecordError as error:
        raise RecordError(f"{path}: {error}; write the certificate again") from None
    except (ValueError, RecursionError, msgspec.MsgspecError) as error:
        reason = " ".join(str(error).split())[:300]
        again = "write it again with 'rnnbounds certify --out' or 'guard --update'"
        raise RecordError(f"{path}: no certificate ({reason}); {again}") from None


def parse_certificate(record: bytes) -> Certificate:
    """The certificate of a record that was just made."""
    return msgspec.json.decode(record, type=Certificate)


def _refusal_reason(schema: str) -> str:
    """Why a certificate of that schema is not read; empty if it is."""
    match = re.fullmatch(r"rnnbounds/([a-z-]+)/([0-9]{1,9})", schema)
    if match is not None and int(match[2]) in VERSIONS.get(match[1], ()):
        return ""
    readable = [f"rnnbounds/{name}/{version}" for name, all in VERSIONS.items() for version in all]
    return f"schema {schema[:80]!r}, not among {', '.join(readable)}"
