"""Members of exact kinds: tables of rationals, their float images, and their constants."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Sequence
from math import inf, isinf
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat

from rnnbounds.impl.numbers.rationals import rational as rational
from rnnbounds.properties.errors import SpecError
from rnnbounds.properties.systems.draws import Array
from rnnbounds.properties.systems.spec import SystemSpec

Vector = tuple[fmpq, ...]
Table = Any  # nested lists of rationals
# The tables that the tensors of a batch are images of; a kind may have others.
TENSORS = ("W", "U", "b", "C", "x", "h", "h_other", "W2", "U2", "b2")
# Rationals grow along a run.
EXACT_LIMITS: dict[str, float] = {"n": 32, "d": 32, "T": 256, "states": 64}
LONGEST = 2**11  # n T together


def check_exact(spec: SystemSpec) -> None:
    """Raise SpecError unless the exact construction can be made in reasonable time."""
    if spec.n * spec.T > LONGEST:
        raise SpecError(f"n T = {spec.n * spec.T} exceeds {LONGEST}, in rationals")
    if spec.units > spec.n:
        raise SpecError(f"units = {spec.units} exceeds n = {spec.n}")


class ExactMember(ABC):
    """One member of a batch, in rationals."""

    @abstractmethod
    def tables(self) -> dict[str, Table]:
        """Everything by name: W (n, n), U (n, d), b (n), C (p, n), x (S, T, d), h and h_other
        (S, n), the second network W2 (m, m), U2 (m, d), b2 (m), if there is one, and more."""

    def constants(self) -> dict[str, float]:
        """The certified constants: upper bounds by the names of the vocabulary."""
        return {}

    def parameters(self) -> dict[str, float]:
        """The parameters in which the members of a batch differ, ``states`` for one."""
        return {}


def recurrence_tables(
    W: Table, U: Table, b: Table, x: Table, h: Table = None, h_other: Table = None, C: Table = None
) -> dict[str, Table]:
    """The tables of h_t = ρ(W h_{t−1} + U x_t + b), y = C h; states are 0 and C is the identity if
    nothing else is said."""
    size, rest = range(len(b)), [(fmpq(0),) * len(b)] * len(x)
    return {
        "W": W, "U": U, "b": b, "C": C or [[fmpq(i == j) for j in size] for i in size], "x": x,
        "h": h or rest, "h_other": h_other or rest,
    }  # fmt: skip


def float_images(members: Sequence[ExactMember]) -> dict[str, Array]:
    """The nearest float64 to every number that tensors hold, (B, …) by name."""
    tables = [member.tables() for member in members]
    return {
        name: np.array(nearest_floats([table[name] for table in tables]), dtype=np.float64)
        for name in TENSORS
        if name in tables[0]
    }


def nearest_floats(table: Table) -> Table:
    """The nearest float64 to every rational of nested lists."""
    if not isinstance(table, list | tuple):
        return nearest_float(table)
    if table and isinstance(table[0], list | tuple):
        return [nearest_floats(part) for part in table]
    try:
        return list(map(float, table))
    except OverflowError:
        return [nearest_float(value) for value in table]


def rational_strings(table: Table) -> Table:
    """Every rational of nested lists as p/q."""
    if isinstance(table, list | tuple):
        return [rational_strings(part) for part in table]
    return str(table)


def nearest_float(value: fmpq) -> float:
    """The nearest float64, infinite beyond them: flint divides whole numbers with one rounding."""
    try:
        return float(value)
    except OverflowError:
        return inf if value > 0 else -inf


def upper_float(value: fmpq) -> float:
    """The least float64 that is at least a rational; infinity, or minus it, beyond them."""
    found = nearest_float(value)
    if isinf(found) or rational(found) >= value:
        return found
    return float(np.nextafter(found, np.inf))


def member_random(spec: SystemSpec, member: int, purpose: str) -> random.Random:
    """Random numbers of one member for one purpose, the same in every process."""
    return random.Random(f"{spec.seed}/{member}/{purpose}")


def matrix_vector(A: fmpq_mat, v: Sequence[fmpq]) -> Vector:
    """A v."""
    return tuple((A * fmpq_mat(len(v), 1, list(v))).entries())


def square_norm(v: Sequence[fmpq]) -> fmpq:
    """‖v‖₂²."""
    return sum((entry * entry for entry in v), fmpq(0))
