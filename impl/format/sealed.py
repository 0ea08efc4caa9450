"""Sealed files: safetensors whose metadata hold a certificate and a digest of all of it."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rnnbounds import disk
from rnnbounds.impl.errors import FileError
from rnnbounds.impl.format.fields import RecordError
from rnnbounds.impl.format.tensors import MOST, Part, contents, digest
from rnnbounds.impl.format.text import plain

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
    "rnnbounds/truncated/", 4, "a truncated model",
    ("format", "k", "cell", "output", "certificate"), _truncated,
)  # fmt: skip
UNITARY = Sealing(
    "rnnbounds/unitary/", 2, "a unitary network", ("format", "cell", "certificate"), _unitary
)
