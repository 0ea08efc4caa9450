"""Tests for IEEE 754 arithmetic, with subnormals and rounding to nearest even.

Each thread has a register for its rounding mode and for flushing subnormals, which any library may
have changed: so the arithmetic is tested before each certificate, check and run. Operands and
results are compared by their bits, as flushed numbers equal 0. Free of torch; see
`impl.models.torch_machine`. Source: IEEE 754-2019, sections 4.3.1 and 7.5.
"""

import operator
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rnnbounds.impl.errors import InputError

FLUSHED = "subnormal numbers are flushed to 0"
DIRECTED = "results are not rounded once, to nearest even"
_ONE = 1023 << 52  # the bits of 1.0
_ODD = 9  # of each case, so that vector instructions and what is left over both meet it


class MachineError(InputError):
    """Arithmetic on which no bound can rest."""


def ailing(what: str, where: str) -> MachineError:
    """The error that names an ailment."""
    return MachineError(
        f"{what} in {where}, so that no bound computed here is sound; undo it "
        f"(torch.set_flush_denormal(False), fesetround), or run without the library that set it"
    )


@dataclass(frozen=True)
class Operation:
    """One operation on pairs of floats, all given by their bits, and the ailment each row shows."""

    name: str
    apply: Callable[[Any, Any], Any]
    rows: tuple[tuple[str, int, int, int], ...]


def power(e: int) -> int:
    """The bits of 2^e."""
    return (e + 1023) << 52


_SIGN = -(1 << 63)
_U = power(-53)
OPERATIONS = (
    Operation(
        "+",
        operator.add,
        (
            (DIRECTED, _ONE, _U, _ONE),
            (DIRECTED, _ONE, _U + (1 << 51), _ONE + 1),
            (DIRECTED, _SIGN + _ONE, _SIGN + _U, _SIGN + _ONE),
            (DIRECTED, _SIGN + _ONE, _SIGN + _U + (1 << 51), _SIGN + _ONE + 1),
            (DIRECTED, _ONE + 1, _U, _ONE + 2),
            (DIRECTED, _ONE, _U + (1 << 32), _ONE + 1),  # an x87 rounds twice, to even
            (FLUSHED, 1, 2, 3),
        ),
    ),
    Operation(
        "·",
        operator.mul,
        (
            (FLUSHED, power(-1022), power(-1), 1 << 51),
            (FLUSHED, 1, power(1023), power(-51)),
            (DIRECTED, _ONE + 1, _ONE + 1, _ONE + 2),
            (DIRECTED, _ONE + 1, _ONE + (1 << 51), _ONE + (1 << 51) + 2),
        ),
    ),
    Operation(
        "/",
        operator.truediv,
        (
            (FLUSHED, power(-1022), power(1), 1 << 51),
            (DIRECTED, _ONE, power(1) + (1 << 51), 0x3FD5555555555555),
            (DIRECTED, power(2) + (1 << 50), power(1) + (1 << 51), 0x3FFAAAAAAAAAAAAB),
        ),
    ),
)


def require_floats() -> None:
    """Raise MachineError unless Python's floats and NumPy's arrays keep to IEEE 754."""
    for found, where in (
        (ailments_of_floats(), "Python's floats"),
        (ailments_of_arrays(), "NumPy's arrays"),
    ):
        if found:
            raise ailing(" and ".join(sorted(found)), where)


def ailments_of_floats() -> set[str]:
    """Test Python's float arithmetic; return the names of its faults."""
    found = {
        what
        for operation in OPERATIONS
        for what, a, b, expected in operation.rows
        if _bits(operation.apply(_float(a), _float(b))) != expected
    }
    return found if _float(1) > 0 else found | {FLUSHED}


def ailments_of_arrays() -> set[str]:
    """Test NumPy's float64 arithmetic; return the names of its faults."""
    found = set()
    for operation, a, b, expected in _ARRAYS:
        wrong = operation.apply(a, b).view(np.int64) != expected
        found |= ailments_at(operation, np.flatnonzero(wrong).tolist())
    small = _SINGLE.astype(np.float64).view(np.int64)
    return found if (small == power(-149)).all() else found | {FLUSHED}


def ailments_at(operation: Operation, wrong: list[int]) -> set[str]:
    """Name the faults that the wrong entries among `columns` of an operation show."""
    return {operation.rows[entry % len(operation.rows)][0] for entry in wrong}


def _float(bits: int) -> float:
    return float(struct.unpack("<d", struct.pack("<q", bits))[0])


def _bits(value: float) -> int:
    return int(struct.unpack("<q", struct.pack("<d", value))[0])


def columns(operation: Operation, times: int = _ODD) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The operands and the results of an operation, all rows ``times`` over, as int64 bits."""
    rows = np.array([row[1:] for row in operation.rows], dtype=np.int64)
    a, b, c = (np.tile(column, times) for column in rows.T)
    return a, b, c


_ARRAYS = [
    (operation, a.view(np.float64), b.view(np.float64), c)
    for operation in OPERATIONS
    for a, b, c in [columns(operation)]
]
_SINGLE = np.ones(_ODD, dtype=np.int32).view(np.float32)  # the least float32
