"""The file of a truncated model, read without torch, so that its checker needs none.

Nothing is believed before its names, dtypes, shapes, values and digests were looked at. The file is
written by `impl.truncate`, whose digests are computed here anew from the bytes.
"""

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import safetensors

from impl import disk
from impl.ball_activations import BALL_ACTIVATIONS
from impl.errors import InputError, shown

FORMAT = "rnnbounds/truncated/1"
SCHEMA = "rnnbounds/certificate/1"
LARGEST = 2048  # states beyond which nobody waits for a check
MOST = 2**30  # bytes of a file, more than the states allow
ROLES = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")

Array = npt.NDArray[np.float64]

_DTYPES: dict[str, tuple[str, str]] = {
    "F16": ("torch.float16", "<f2"),
    "BF16": ("torch.bfloat16", "<u2"),
    "F32": ("torch.float32", "<f4"),
    "F64": ("torch.float64", "<f8"),
}


class TruncatedFileError(InputError):
    """A file that holds no truncated vanilla model with its certificate."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{shown(path)}: {reason}; write it again with 'rnnbounds truncate'")


@dataclass(frozen=True, eq=False)
class TruncatedFile:
    """The float64 arrays of a file by role, its cell, its window k and its certificate."""

    weights: Mapping[str, Array]
    cell: str
    k: int
    certificate: dict[str, Any]

    @property
    def n(self) -> int:
        """The size of the state."""
        return len(self.weights["weight_hh"])


def is_truncated(path: Path) -> bool:
    """Whether a file says of itself that it holds a truncated model."""
    try:
        data = disk.read(path, MOST)
        told = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])["__metadata__"]
        return bool(told.get("format") == FORMAT)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return False


def read(path: Path) -> TruncatedFile:
    """The file, whole and unchanged since it was written; raises TruncatedFileError.

    It is refused as well if its cell is not vanilla, since nothing checks what it claims.
    """
    try:
        data = disk.read(path, MOST)
        parsed = safetensors.deserialize(data)  # type: ignore[no-untyped-call]
        stored = dict(parsed)  # lengths, offsets and shapes were checked
        told = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])["__metadata__"]
        certificate = json.loads(told["certificate"])
        windows = [entry["k"] for entry in certificate["truncation"]]
        k, cell = int(told["k"]), str(told["cell"])
    except Exception as cause:  # a damaged file makes the parsers raise anything
        reason = f"is no intact file of a truncated model ({type(cause).__name__})"
        raise TruncatedFileError(path, reason) from None
    kept = {name: told.get(name, "") for name in ("format", "k", "cell", "certificate")}
    seal = digest(hashlib.sha256(json.dumps(kept).encode()).hexdigest(), stored)
    if told.get("format") != FORMAT or told.get("sha256") != seal:
        raise TruncatedFileError(path, "was changed after it was written")
    parts = {name.removesuffix("_l0"): part for name, part in stored.items()}
    speaks = (certificate.get("schema"), certificate.get("verdict"), certificate.get("cell"))
    meant = speaks == (SCHEMA, "certified", cell) and k in windows
    if not meant or certificate.get("sha256") != digest(cell, parts):
        raise TruncatedFileError(path, "holds a certificate of something else")
    if cell not in BALL_ACTIVATIONS:
        reason = f"holds {cell}, but only vanilla RNNs and linear systems are checked anew"
        raise TruncatedFileError(path, reason)
    return TruncatedFile(_arrays(path, parts), cell, k, certificate)


def digest(name: str, parts: Mapping[str, Mapping[str, Any]]) -> str:
    """SHA-256 over a name and, in a fixed order, all roles, dtypes, shapes and bytes."""
    sha = hashlib.sha256(name.encode())
    for role in sorted(parts):
        part = parts[role]
        kind = _DTYPES.get(part["dtype"], (part["dtype"], ""))[0]
        sha.update(f"|{role}|{kind}|{tuple(part['shape'])}|".encode())
        sha.update(bytes(part["data"]))
    return sha.hexdigest()


def _arrays(path: Path, parts: Mapping[str, Mapping[str, Any]]) -> dict[str, Array]:
    """The weights of a cell without gates, in float64."""
    if not {"weight_ih", "weight_hh"} <= parts.keys() <= set(ROLES):
        raise TruncatedFileError(path, "does not hold exactly a torch.nn.RNN's weights")
    if len({part["dtype"] for part in parts.values()} | _DTYPES.keys()) > len(_DTYPES):
        raise TruncatedFileError(path, "has weights of a dtype that is not read")
    arrays = {role: _array(part) for role, part in parts.items()}
    U, W = arrays["weight_ih"], arrays["weight_hh"]
    n = len(W)
    if not 0 < n <= LARGEST or W.shape != (n, n) or U.ndim != 2 or len(U) != n or not U.size:
        raise TruncatedFileError(path, f"has weights of wrong shapes, or over {LARGEST} states")
    if any(part.shape != (n,) for role, part in arrays.items() if role.startswith("bias")):
        raise TruncatedFileError(path, "has biases of wrong shapes")
    if not all(np.isfinite(part).all() for part in arrays.values()):
        raise TruncatedFileError(path, "holds NaN or infinity")
    return arrays


def _array(part: Mapping[str, Any]) -> Array:
    """One tensor; bfloat16 is the upper half of a float32."""
    numbers = np.frombuffer(bytes(part["data"]), np.dtype(_DTYPES[part["dtype"]][1]))
    if part["dtype"] == "BF16":
        numbers = (numbers.astype(np.uint32) << 16).view(np.float32)
    exact: Array = numbers.astype(np.float64).reshape(part["shape"])
    return exact


def number(value: object) -> float:
    """A finite number ≥ 0 of a certificate; raises ValueError for anything else."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise ValueError(f"{type(value).__name__} is no number")
    if not 0 <= value < math.inf:
        raise ValueError(f"{value} is no finite number ≥ 0")
    return float(value)
