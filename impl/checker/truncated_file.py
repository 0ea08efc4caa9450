"""The file of a truncated model, read without torch, so that its checker needs none.

Nothing is believed before its names, dtypes, shapes, values and digests were looked at. The file is
written by `impl.convert.truncate`, whose digests are computed here anew from the bytes.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from impl import disk
from impl.checker.ball_activations import BALL_ACTIVATIONS
from impl.checker.origin import described
from impl.checker.stored import Array, Part, contents, decoded, digest, dtype_of, plain
from impl.checker.truncated_record import Record, RecordError, record
from impl.errors import InputError, shown

FORMAT = "rnnbounds/truncated/3"
METADATA = ("format", "k", "cell", "certificate")  # and their seal, sha256
LARGEST = 2048  # states beyond which nobody waits for a check
MOST = 2**30  # bytes of a file, more than the states allow
SUFFIX = "_l0"
REQUIRED, OPTIONAL = ("weight_ih", "weight_hh"), ("bias_ih", "bias_hh")


class TruncatedFileError(InputError):
    """A file that holds no truncated vanilla model with its certificate."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{shown(path)}: {reason}; write it again with 'rnnbounds truncate'")


class UncheckedCellError(InputError):
    """A truncated model, as it was written, of a cell about which the checker proves nothing."""

    def __init__(self, path: Path, cell: str) -> None:
        super().__init__(
            f"{shown(path)}: holds {shown(cell)}, but the checker proves vanilla RNNs and linear "
            f"systems only; certify the model again with 'rnnbounds certify'"
        )


@dataclass(frozen=True, eq=False)
class TruncatedFile:
    """The float64 arrays of a file by role, what it states, and its certificate as it is."""

    weights: Mapping[str, Array]
    record: Record
    k: int
    certificate: dict[str, Any]

    @property
    def n(self) -> int:
        """The size of the state."""
        return len(self.weights["weight_hh"])


def is_truncated(path: Path) -> bool:
    """Whether a file says of itself that it holds a truncated model, of this format or another."""
    try:
        data = disk.read(path, MOST)
        told = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])["__metadata__"]
        return str(told.get("format")).startswith("rnnbounds/truncated/")
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return False


def read(path: Path) -> TruncatedFile:
    """The file, whole and unchanged since it was written; raises TruncatedFileError, and
    UncheckedCellError for one that is both, but of a cell that is not vanilla."""
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
    if told["cell"] != stated.cell or told["k"] not in map(str, stated.longest):
        raise TruncatedFileError(path, "holds a certificate of something else")
    if stated.cell not in BALL_ACTIVATIONS:
        raise UncheckedCellError(path, stated.cell)
    roles, weights = _weights(path, parts)
    shape, dtypes = weights["weight_ih"].shape, {dtype_of(part) for part in roles.values()}
    if (
        (stated.n, stated.d) != shape
        or {stated.dtype} != dtypes
        or stated.digest != digest(stated.cell, roles)
        or not described(certificate["information"], roles)
    ):
        raise TruncatedFileError(path, "holds a certificate of something else")
    return TruncatedFile(weights, stated, int(told["k"]), certificate)


def seal(told: Mapping[str, str], parts: Mapping[str, Part]) -> str:
    """SHA-256 of the metadata and the weights; it guards against accidents, not against intent."""
    kept = {name: told.get(name, "") for name in METADATA}
    return digest(hashlib.sha256(json.dumps(kept).encode()).hexdigest(), parts)


def _weights(path: Path, parts: Mapping[str, Part]) -> tuple[dict[str, Part], dict[str, Array]]:
    """The tensors of a cell without gates by role, as they are and in float64."""
    required, optional = ({role + SUFFIX for role in roles} for roles in (REQUIRED, OPTIONAL))
    if not required <= parts.keys() <= required | optional:
        raise TruncatedFileError(path, "does not hold exactly a torch.nn.RNN's weights")
    roles = {name.removesuffix(SUFFIX): part for name, part in parts.items()}
    if any(dtype_of(part) is None for part in roles.values()):
        raise TruncatedFileError(path, "has weights of a dtype that is not read")
    arrays = {role: decoded(part) for role, part in roles.items()}
    U, W = (arrays[role] for role in REQUIRED)
    n = len(W) if W.ndim else 0
    if not 0 < n <= LARGEST or W.shape != (n, n) or U.ndim != 2 or len(U) != n or not U.size:
        raise TruncatedFileError(path, f"has weights of wrong shapes, or over {LARGEST} states")
    if any(arrays[role].shape != (n,) for role in OPTIONAL if role in arrays):
        raise TruncatedFileError(path, "has biases of wrong shapes")
    if not all(np.isfinite(part).all() for part in arrays.values()):
        raise TruncatedFileError(path, "holds NaN or infinity")
    return roles, arrays
