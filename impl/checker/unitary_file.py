"""The file of a unitary network: safetensors under torch's names, with its certificate, sealed.

Read without torch, so that the checker needs none. Nothing is believed before its names, dtypes,
shapes and values were looked at.
"""

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy

from rnnbounds.impl import disk
from rnnbounds.impl.checker.origin import described
from rnnbounds.impl.checker.stored import MOST, Array, header, plain
from rnnbounds.impl.errors import InputError, shown

FAMILY = "rnnbounds/unitary/"
FORMAT = f"{FAMILY}2"
SCHEMA = "rnnbounds/unitary-certificate/2"
METADATA = ("format", "cell", "certificate")  # and their seal, sha256
CELL = "rnn-relu"
BIASES = ("bias_ih", "bias_hh")
NAMES = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
ROLES = {name.removesuffix("_l0") for name in NAMES}
LARGEST = 2048  # states beyond which nobody waits for a check
MODERATE = 2.0**200  # scales beyond it would meet overflow and underflow

KEYS = {
    "schema", "cell", "dtype", "sha256", "verdict", "shape", "states", "input_bound",
    "initial_state", "scaling", "constants", "orthogonality_defect", "difference", "information",
}  # fmt: skip
CONSTANTS = {"W_norm", "U_norm", "B_h", "B_h_computed"}
DIFFERENCES = {"exact", "float64", "own_dtype"}
# Of these nothing is proved.
INFORMATION = {"model", "tensors", "ignored", "unread", "rank_decided_by"}

# Unit roundoff, least normal and greatest number of the dtypes that a model may have.
DTYPES = {
    "float16": (2.0**-11, 2.0**-14, 65504.0),
    "bfloat16": (2.0**-8, 2.0**-126, (2 - 2.0**-7) * 2.0**127),
    "float32": (2.0**-24, 2.0**-126, (2 - 2.0**-23) * 2.0**127),
    "float64": (2.0**-53, 2.0**-1022, (2 - 2.0**-52) * 2.0**1023),
}


class UnitaryFileError(InputError):
    """A file that holds no unitary network with its certificate."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{shown(path)}: {reason}; write it again with 'rnnbounds unitary'")


@dataclass(frozen=True, eq=False)
class UnitaryFile:
    """The float64 arrays of a file under torch's names, and its certificate."""

    weights: Mapping[str, Array]
    certificate: dict[str, Any]
    n: int
    initial: list[float]
    scaling: list[float]

    @property
    def states(self) -> int:
        """m, the rows of V."""
        return len(self.weights["weight_hh_l0"])

    @property
    def d(self) -> int:
        """The size of the input."""
        return int(self.weights["weight_ih_l0"].shape[1])


def read(path: Path) -> UnitaryFile:
    """The file, whole and unchanged since it was written; raises UnitaryFileError."""
    try:
        data = disk.read(path, MOST)
    except OSError as cause:
        raise UnitaryFileError(path, str(cause.strerror)) from None
    try:
        told = header(data)["__metadata__"]
        weights = safetensors.numpy.load(data)  # checks lengths, offsets and shapes
    except Exception as cause:  # a damaged file makes the parser raise anything
        reason = f"is no intact file of a unitary network ({type(cause).__name__})"
        raise UnitaryFileError(path, reason) from None
    if told.get("format") != FORMAT:
        raise UnitaryFileError(path, f"is not of the format {FORMAT}")
    _look(path, weights)
    if told.keys() != {*METADATA, "sha256"} or told["sha256"] != seal(told, weights):
        raise UnitaryFileError(path, "was changed after it was written")
    return _parse(path, weights, told)


def seal(told: Mapping[str, str], weights: Mapping[str, Array]) -> str:
    """SHA-256 of the metadata and of the weights."""
    kept = [told.get(name, "") for name in METADATA]
    sha = hashlib.sha256(json.dumps(kept).encode())
    for name in sorted(weights):
        part = np.ascontiguousarray(weights[name])
        sha.update(f"|{name}|{part.dtype}|{part.shape}|".encode())
        sha.update(part.tobytes())
    return sha.hexdigest()


def _look(path: Path, weights: Mapping[str, Array]) -> None:
    """Names, dtypes, shapes and values."""
    if set(weights) != set(NAMES):
        raise UnitaryFileError(path, "does not hold exactly a torch.nn.RNN's weights")
    V, U = weights["weight_hh_l0"], weights["weight_ih_l0"]
    m = len(V) if V.ndim == 2 else 0
    if not 0 < m <= LARGEST or V.shape != (m, m) or U.ndim != 2 or len(U) != m or not U.size:
        raise UnitaryFileError(path, f"has weights of wrong shapes, or over {LARGEST} states")
    if any(weights[f"{role}_l0"].shape != (m,) for role in BIASES):
        raise UnitaryFileError(path, "has biases of wrong shapes")
    if any(part.dtype != np.float64 for part in weights.values()):
        raise UnitaryFileError(path, "has weights that are not float64")
    if not all(np.isfinite(part).all() for part in weights.values()):
        raise UnitaryFileError(path, "holds NaN or infinity")


def _parse(path: Path, weights: Mapping[str, Array], told: Mapping[str, str]) -> UnitaryFile:
    """The certificate, with every number that is used a finite float of the right sign."""
    try:
        certificate = plain(told["certificate"])
        constants, difference = certificate["constants"], certificate["difference"]
        n, initial, scaling = (
            certificate["shape"]["n"],
            *map(certificate.__getitem__, ("initial_state", "scaling")),
        )
        numbers = [certificate["input_bound"], certificate["orthogonality_defect"]]
        numbers += [constants[name] for name in ("W_norm", "U_norm", "B_h")]
        optional = [constants["B_h_computed"], difference["float64"], difference["own_dtype"]]
        numbers += [difference["exact"], *(v for v in optional if v is not None)]
        exact = (
            (certificate, KEYS), (certificate["shape"], {"n", "d"}), (constants, CONSTANTS),
            (difference, DIFFERENCES),
        )  # fmt: skip
        if any(part.keys() != keys for part, keys in exact):
            raise KeyError
        information = certificate["information"]
        roles = {"weight_hh", "weight_ih", *information.get("tensors", ())}
        if not information.keys() <= INFORMATION or not roles <= ROLES:
            raise KeyError
        if not described(information, roles):
            raise KeyError
        sizes = (len(initial), len(scaling), certificate["states"], certificate["shape"]["d"])
        good = (certificate["schema"], certificate["cell"], told["cell"]) == (SCHEMA, CELL, CELL)
        good = good and certificate["verdict"] == "certified" and difference["exact"] == 0
        good = good and certificate["dtype"] in DTYPES and type(certificate["sha256"]) is str
        good = good and all(_is_number(v) and v >= 0 for v in numbers)
        good = good and all(map(_is_number, (*initial, *scaling)))
        good = good and all(1 / MODERATE <= v <= MODERATE for v in scaling)
        good = good and all(abs(v) <= MODERATE**4 for v in initial)
    except (ValueError, TypeError, LookupError, AttributeError, OverflowError, RecursionError):
        raise UnitaryFileError(path, "holds no readable certificate") from None
    m, d = weights["weight_ih_l0"].shape
    whole = all(type(size) is int for size in (n, *sizes))
    if not good or not whole or not 0 < n <= m or sizes != (n, n, m, d):
        raise UnitaryFileError(path, "holds the certificate of another model")
    return UnitaryFile(
        weights, certificate, n, list(map(float, initial)), list(map(float, scaling))
    )


def _is_number(value: object) -> bool:
    if type(value) is int:
        return abs(value) <= 2**53
    return type(value) is float and math.isfinite(value)
