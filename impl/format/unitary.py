"""The file of a unitary network: float64 weights under torch's names, with its certificate."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from msgspec import field

from rnnbounds.impl.format.fields import (
    Exactly,
    Number,
    RecordError,
    Shape,
    Size,
    StructureError,
    converted,
)
from rnnbounds.impl.format.sealed import ANOTHER, UNITARY, described, no_unitary
from rnnbounds.impl.format.tensors import Array, decoded, dtype_of

SCHEMA = "rnnbounds/unitary-certificate/3"
CELL = "rnn-relu"
BIASES = ("bias_ih", "bias_hh")
NAMES = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
ROLES = {name.removesuffix("_l0") for name in NAMES}
LARGEST = 2048  # states beyond which nobody waits for a check
_LARGE = 2.0**800  # of an entry of the initial state


class Constants(Exactly, frozen=True):
    """λ ≥ ‖W‖₂, ‖U‖₂ and the bounds on exact and on computed states."""

    W_norm: Size
    U_norm: Size
    B_h: Size
    B_h_computed: Size | None


class Difference(Exactly, frozen=True):
    """Bounds on the rounding part of the difference of the two networks, by arithmetic."""

    exact: Size
    float64: Size | None
    own_dtype: Size | None


class Information(Exactly, frozen=True):
    """The source of the weights, their full names in it by role, and those of tensors that were
    left out on request, or that are elsewhere."""

    model: str
    tensors: dict[str, str]
    ignored: tuple[str, ...]
    unread: tuple[str, ...]


class UnitaryRecord(Exactly, frozen=True):
    """Statements of a unitary certificate, proved by `impl.checker.unitary` except for the
    information."""

    schema: Literal["rnnbounds/unitary-certificate/3"]
    cell: Literal["rnn-relu"]
    dtype: Literal["float16", "bfloat16", "float32", "float64"]
    digest: str = field(name="sha256")
    verdict: Literal["certified"]
    shape: Shape
    states: int
    input_bound: Size
    initial_state: list[Number]
    constants: Constants
    orthogonality_defect: Size
    difference: Difference
    information: Information

    def __post_init__(self) -> None:
        if any(abs(entry) > _LARGE for entry in self.initial_state):
            raise RecordError("numbers that are too large")
        if self.difference.exact != 0:
            raise RecordError("a difference in exact arithmetic")


@dataclass(frozen=True, eq=False)
class UnitaryFile:
    """The float64 arrays of a file under torch's names, what it states, and its certificate."""

    weights: Mapping[str, Array]
    record: UnitaryRecord
    certificate: dict[str, Any]

    @property
    def n(self) -> int:
        """The states of the original."""
        return self.record.shape.n

    @property
    def d(self) -> int:
        """The size of the input."""
        return self.record.shape.d

    @property
    def states(self) -> int:
        """m, the rows of V."""
        return self.record.states


def read_unitary(path: Path) -> UnitaryFile:
    """The file, whole and unchanged since it was written; raises FileError."""
    parts, told, certificate = UNITARY.read(path, no_unitary)
    if set(parts) != set(NAMES):
        raise no_unitary(path, "does not hold exactly a torch.nn.RNN's weights")
    if any(dtype_of(part) != "float64" for part in parts.values()):
        raise no_unitary(path, "has weights that are not float64")
    weights = {name: decoded(part) for name, part in parts.items()}
    V, U = weights["weight_hh_l0"], weights["weight_ih_l0"]
    m = len(V) if V.ndim == 2 else 0
    if not 0 < m <= LARGEST or V.shape != (m, m) or U.ndim != 2 or len(U) != m or not U.size:
        raise no_unitary(path, f"has weights of wrong shapes, or over {LARGEST} states")
    if any(weights[f"{role}_l0"].shape != (m,) for role in BIASES):
        raise no_unitary(path, "has biases of wrong shapes")
    if not all(np.isfinite(part).all() for part in weights.values()):
        raise no_unitary(path, "holds NaN or infinity")
    try:
        stated = converted(certificate, UnitaryRecord)
        roles = {"weight_hh", "weight_ih", *stated.information.tensors}
        if not roles <= ROLES or not described(stated.information, roles):
            raise StructureError("information of another kind")
    except StructureError:
        raise no_unitary(path, "holds no readable certificate") from None
    except RecordError:
        raise no_unitary(path, ANOTHER) from None
    n, start = stated.shape.n, len(stated.initial_state)
    same = (start, stated.states, stated.shape.d) == (n, m, U.shape[1])
    if not same or not 0 < n <= m or told["cell"] != stated.cell:
        raise no_unitary(path, ANOTHER)
    return UnitaryFile(weights, stated, certificate)
