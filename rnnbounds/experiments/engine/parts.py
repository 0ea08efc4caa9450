"""Finished parts of a long run, kept in its folder so that an interrupted run can go on.

A part is a safetensors file with a seal over its tensors and over everything that they depend on.
A part of another run, or one that is not as it was written, is refused: nothing is mixed, and
nothing that may have taken hours is thrown away.
"""

import contextlib
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from rnnbounds.impl.reading.files import as_safetensors
from rnnbounds.properties.errors import InputError
from rnnbounds.properties.runs.versions import installed_version
from rnnbounds.reports.files import write_atomic

FORMAT = "rnnbounds/part/2"
SUFFIX = ".part"


class PartError(InputError):
    """A stored part that this run cannot go on from."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(
            f"{path} {reason}; remove {path.parent} to start afresh, or write to another --out"
        )


class PartStore:
    """The parts of one run in OUT/parts; `settings` is all that they depend on."""

    def __init__(self, out: Path, settings: Any) -> None:
        self.folder = out / "parts"
        self.run = hashlib.sha256(msgspec.json.encode(settings)).hexdigest()

    @property
    def has_parts(self) -> bool:
        """True if the folder has parts of an earlier run, whatever its settings."""
        return any(self.folder.glob(f"*{SUFFIX}"))

    def load(self, name: str) -> dict[str, Tensor] | None:
        """The tensors of a part; None if it is not there.

        Raises PartError for a part of other settings and for a damaged one.
        """
        path = self._path(name)
        if not path.exists():
            return None
        if not path.is_file():
            raise PartError(path, "is no part of this run")
        try:
            with safe_open(path, "pt") as file:
                metadata = file.metadata() or {}
                if metadata.get("format") != FORMAT:
                    raise PartError(path, "is no part of a run")
                if metadata.get("run") != self.run:
                    raise PartError(path, "belongs to a run with other settings")
                tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
        except (SafetensorError, OSError, UnicodeError) as error:
            raise PartError(path, "is damaged") from error
        if metadata.get("sha256") != self._seal(name, tensors):
            raise PartError(path, "is damaged")
        return tensors

    def save(self, name: str, tensors: Mapping[str, Tensor]) -> None:
        """Write a part whole or not at all, in place of an earlier one; raises WriteError."""
        stored = {key: part.detach().cpu().contiguous() for key, part in tensors.items()}
        metadata = {"format": FORMAT, "run": self.run, "sha256": self._seal(name, stored)}
        write_atomic(self._path(name), as_safetensors(stored, metadata))

    def drop_prefixed(self, head: str) -> None:
        """Remove the parts whose names begin so: they are no longer needed."""
        for path in self.folder.glob(f"{head}*{SUFFIX}"):
            path.unlink(missing_ok=True)

    def clear(self) -> None:
        """Remove the parts, once the record is written; what is none of them stays."""
        with contextlib.suppress(OSError):
            for path in self.folder.glob(f"*{SUFFIX}"):
                path.unlink(missing_ok=True)
            self.folder.rmdir()

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}{SUFFIX}"

    def _seal(self, name: str, tensors: Mapping[str, Tensor]) -> str:
        sha = hashlib.sha256(f"{FORMAT}|{self.run}|{name}".encode())
        for key, part in sorted(tensors.items()):
            sha.update(f"|{key}|{part.dtype}|{tuple(part.shape)}|".encode())
            sha.update(part.numpy().tobytes())
        return sha.hexdigest()


@dataclass(frozen=True)
class TrainingSlot:
    """Storage of one training's state; a new state replaces the previous one."""

    parts: PartStore
    name: str

    def load(self) -> dict[str, Tensor] | None:
        """Load the state that was saved last, None if there is none; raises PartError."""
        return self.parts.load(self.name)

    def save(self, state: dict[str, Tensor]) -> None:
        """Store it."""
        self.parts.save(self.name, state)


def result_inputs(experiment: str, setting: Any, device: str, sources: Any) -> dict[str, Any]:
    """Inputs that determine the bits of a result, by name: settings, data, device, versions."""
    name = torch.cuda.get_device_name() if device.startswith("cuda") else device
    versions = {package: installed_version(package) for package in ("rnnbounds", "torch", "numpy")}
    inputs = {"experiment": experiment, "setting": setting, "device": name, "sources": sources}
    return inputs | versions


def bytes_to_tensor(data: bytes) -> Tensor:
    """Bytes as a tensor, to be kept in a part."""
    return torch.frombuffer(bytearray(data), dtype=torch.uint8)


def tensor_to_bytes(tensor: Tensor) -> bytes:
    """The bytes again."""
    return tensor.numpy().tobytes()
