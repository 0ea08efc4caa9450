"""Sealed files: safetensors whose metadata hold a certificate and a digest of all of it.

The file of a truncated model: its weights under torch's names, its window and its record; with a
readout that matrix too.

Which tensors of the source the weights are from, a file cannot prove, so that it is information; it
must be consistent all the same. Read without torch.
"""

import hashlib
import json
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from rnnbounds import disk
from rnnbounds.impl.errors import FileError
from rnnbounds.impl.format.fields import RecordError, converted
from rnnbounds.impl.format.on_data import AnyRecord, record_type
from rnnbounds.impl.format.record import Record
from rnnbounds.impl.format.tensors import MOST, Part, contents, decoded, digest, dtype_of, plain


class Provenance(Protocol):
    """Names of the tensors that weights were read from, and of others beside them."""

    @property
    def tensors(self) -> Mapping[str, str]:
        """Full names in the source, by role."""

    @property
    def ignored(self) -> tuple[str, ...]:
        """Names that the caller said to leave out."""

    @property
    def unread(self) -> tuple[str, ...]:
        """Names of tensors elsewhere."""


def described(origin: Provenance, roles: Collection[str]) -> bool:
    """True if each of these roles has a name, and all names are distinct."""
    names = [*origin.tensors.values(), *origin.ignored, *origin.unread]
    return origin.tensors.keys() == set(roles) and len(set(names)) == len(names)


ANOTHER = "holds the certificate of another model"
Refusal = Callable[[Path, str], FileError]  # what is raised of a file, for that reason


def _refusing(command: str) -> Refusal:
    return lambda path, reason: FileError(
        path, reason, f"write it again with 'rnnbounds {command}'"
    )


no_truncated, no_unitary, no_certificate = map(_refusing, ("truncate", "unitary", "certify --out"))
"""That a file does not hold what that command writes."""


@dataclass(frozen=True)
class Sealing:
    """A format: what its files hold, its metadata beside their seal `sha256`, and the seal of
    metadata and tensors, which guards against accidents, not against intent."""

    family: str
    version: int
    what: str
    metadata: tuple[str, ...]
    seal: Callable[[Mapping[str, str], Mapping[str, Part]], str]

    @property
    def format(self) -> str:
        """The name of the format, with its version."""
        return f"{self.family}{self.version}"

    def read(
        self, path: Path, refuse: Refusal, data: bytes | None = None
    ) -> tuple[dict[str, Part], dict[str, str], Any]:
        """The tensors, the metadata and the parsed certificate of a file, as they were sealed."""
        try:
            parts, told = contents(disk.read(path, MOST) if data is None else data)
        except OSError as cause:
            raise refuse(path, str(cause.strerror)) from None
        except Exception as cause:  # a damaged file makes the parsers raise anything
            reason = f"is no intact file of {self.what} ({type(cause).__name__})"
            raise refuse(path, reason) from None
        if told.get("format") != self.format:
            raise refuse(path, f"is not of the format {self.format}")
        if told.keys() != {*self.metadata, "sha256"} or told["sha256"] != self.seal(told, parts):
            raise refuse(path, "was changed after it was written")
        try:
            return parts, told, plain(told["certificate"])
        except (RecordError, ValueError, RecursionError):
            raise refuse(path, "holds no readable certificate") from None


def _truncated(told: Mapping[str, str], parts: Mapping[str, Part]) -> str:
    kept = {name: told.get(name, "") for name in TRUNCATED.metadata}
    return digest(hashlib.sha256(json.dumps(kept).encode()).hexdigest(), parts)


def _unitary(told: Mapping[str, str], parts: Mapping[str, Part]) -> str:
    return digest(json.dumps([told.get(name, "") for name in UNITARY.metadata]), parts, prefix="")


TRUNCATED = Sealing(
    "rnnbounds/truncated/", 5, "a truncated model",
    ("format", "k", "cell", "output", "certificate"), _truncated,
)  # fmt: skip
UNITARY = Sealing(
    "rnnbounds/unitary/", 2, "a unitary network", ("format", "cell", "certificate"), _unitary
)


ALL, LATEST = "all", "latest"  # outputs that the model gives
READOUT = "readout.weight"  # the tensor of C, whatever its name in the source
EXPORTS = (".pt2", ".onnx")  # the endings of what other runtimes read, which is not checked
_BEGINNING = re.compile(rb'"schema": "rnnbounds/([a-z]+-)?(certificate|truncated)/')


@dataclass(frozen=True, eq=False)
class TruncatedFile:
    """The weights of a file by name and its readout, its window, which outputs it gives, what it
    states, and its certificate as it is."""

    parts: Mapping[str, Part]
    readout: Part | None
    k: int
    output: str
    record: AnyRecord
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
        stated: AnyRecord = converted(certificate, record_type(certificate))
    except RecordError:
        raise refuse(path, "holds no readable certificate") from None
    if told["output"] not in (ALL, LATEST):
        raise refuse(path, "has an unknown kind of output")
    if isinstance(stated, Record):
        known = stated.constants.keys() == set(stated.proved_constants)
        if not known or stated.verdict != "certified":
            raise refuse(path, "holds no readable certificate")
    readout = parts.pop(READOUT, None)
    if not is_readout(stated, readout):
        raise refuse(path, ANOTHER)
    if told["cell"] != stated.cell or told["k"] not in {str(one.k) for one in stated.truncation}:
        raise refuse(path, ANOTHER)
    return TruncatedFile(parts, readout, int(told["k"]), told["output"], stated, certificate)


def is_readout(stated: AnyRecord, part: Part | None) -> bool:
    """True if that is the matrix (p, n) of the readout that a record is about, of finite numbers,
    and None if it is about none."""
    if part is None or stated.readout is None:
        return part is None and stated.readout is None
    shape = (stated.readout.outputs, stated.shape.n)
    if tuple(part["shape"]) != shape or dtype_of(part) is None:
        return False
    same = digest("readout", {stated.readout.tensor: part}) == stated.readout.sha256
    return same and bool(np.isfinite(decoded(part)).all())


def is_about(stated: AnyRecord, roles: Mapping[str, Part], n: int, d: int) -> bool:
    """True if a record is about the model of these weights by role, and of these sizes."""
    return (
        (stated.shape.n, stated.shape.d) == (n, d)
        and {stated.dtype} == {dtype_of(part) for part in roles.values()}
        and stated.digest == digest(stated.cell, roles)
        and described(stated, roles)
    )
