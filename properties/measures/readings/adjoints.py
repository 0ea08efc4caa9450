"""Gradients of one pair in balls or in rationals, always as differences of two runs.

The full run is compared with one that starts later, or that has other weights. Where two states,
slopes or weights are exactly equal their difference is exactly 0, and so is all that it is
multiplied into: a gap that vanishes (λ = 0, nilpotent W) is seen to vanish.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

# arb or fmpq, and their matrices: python-flint gives both the same operations.
Number = Any
Matrix = Any
Vector = list[Number]


@dataclass(frozen=True)
class Arithmetic:
    """What one pair's gradients are computed in: numbers, ρ, ρ′ and ∇p."""

    number: Callable[[float], Number]
    matrix: Callable[[list[list[Number]]], Matrix]
    rho: Callable[[Number], Number]
    slope: Callable[[Number], Number]
    gradient: Callable[[Vector], Vector]
    linear: bool = False

    def rows(self, values: Sequence[Sequence[float]]) -> Matrix:
        """The matrix of these floats, exactly."""
        return self.matrix([[self.number(v) for v in row] for row in values])

    def column(self, values: Sequence[float]) -> Matrix:
        """The (n, 1) matrix of these floats, exactly."""
        return self.rows([[v] for v in values])


@dataclass(frozen=True)
class Cell:
    """W (n, n), U (n, d), b (n, 1) in one arithmetic."""

    W: Matrix
    U: Matrix
    b: Matrix

    def minus(self, other: Cell) -> Cell:
        """The difference of two weights."""
        return Cell(self.W - other.W, self.U - other.U, self.b - other.b)


def flat(matrix: Matrix) -> Vector:
    """The entries of a matrix, row by row."""
    found: Vector = matrix.entries()
    return found


def vanishes(values: Vector) -> bool:
    """Whether all entries are exactly 0."""
    return all(v == 0 for v in values)


def change(function: Callable[[Number], Number], at: Vector, shift: Vector) -> Vector:
    """f(a) − f(a − s) entry by entry, exactly 0 where s is."""
    return [
        0 * s if s == 0 else function(a) - function(a - s) for a, s in zip(at, shift, strict=True)
    ]


def hadamard(one: Vector, two: Vector) -> Vector:
    """The products, entry by entry."""
    return [p * q for p, q in zip(one, two, strict=True)]


@dataclass(frozen=True)
class Gap:
    """∇p_T of the full run minus that of another: what came before the other one started, and the
    rest; (n, m) for the m trained columns of [h x 1]."""

    before: Matrix
    since: Matrix

    @property
    def whole(self) -> Matrix:
        """The whole difference."""
        return self.before + self.since


@dataclass(frozen=True)
class Drift:
    """How the states of another run differ from the full one's, from its start to its end.

    Differences of states h_{t−1} and of pre-activations a_t, the last state's, and the weights'.
    """

    start: int
    end: int
    deltas: list[Matrix]
    shifts: list[Vector]
    last: Matrix
    moved: Cell | None


@dataclass(frozen=True)
class Run:
    """The full run of one cell on the inputs, each (d, 1)."""

    arithmetic: Arithmetic
    cell: Cell
    inputs: Sequence[Matrix]
    trained: str

    @cached_property
    def path(self) -> tuple[list[Matrix], list[Vector]]:
        """States h_0 … h_T, and pre-activations a_1 … a_T."""
        n, rho = self.cell.b.nrows(), self.arithmetic.rho
        states, before = [self.arithmetic.column([0.0] * n)], []
        for x in self.inputs:
            before.append(flat(self.cell.W * states[-1] + self.cell.U * x + self.cell.b))
            states.append(self.arithmetic.matrix([[rho(a)] for a in before[-1]]))
        return states, before

    def columns(self, h: Matrix, x: Matrix, one: Number) -> Vector:
        """[h x 1], but for what is not trained."""
        parts = {"W": flat(h), "U": flat(x), "b": [one]}
        return [v for name, part in parts.items() if name in self.trained for v in part]

    def gradient(self) -> Matrix:
        """∇p_T itself, (n, m)."""
        return self.against(len(self.inputs)).before

    def against(self, start: int, moved: Cell | None = None, end: int | None = None) -> Gap:
        """The difference from a run that is zero up to time ``start``; both end at time ``end``.

        ``moved`` is this cell minus the other run's, nothing where that is the same.
        """
        return self.back(self.drift(start, moved, end))

    def drift(self, start: int, moved: Cell | None = None, end: int | None = None) -> Drift:
        """How the states drift apart."""
        end = len(self.inputs) if end is None else end
        (states, before), made = self.path, self.arithmetic
        delta, deltas, shifts = states[start], [], []
        for t in range(start, end):
            shift = self.cell.W * delta
            if moved is not None:
                shift = shift + moved.W * (states[t] - delta) + moved.U * self.inputs[t] + moved.b
            deltas.append(delta)
            shifts.append(flat(shift))
            gap = shifts[-1] if made.linear else change(made.rho, before[t], shifts[-1])
            delta = made.matrix([[v] for v in gap])
        return Drift(start, end, deltas, shifts, delta, moved)

    def back(self, drift: Drift) -> Gap:
        """The adjoint recursion of the run and of its difference from the other one."""
        (states, before), made, WT = self.path, self.arithmetic, self.cell.W.transpose()
        start, end, moved = drift.start, drift.end, drift.moved
        g = made.gradient(flat(states[end]))
        dg = [0 * v for v in g]
        if not vanishes(flat(drift.last)):
            there = made.gradient(flat(states[end] - drift.last))
            dg = [p - q for p, q in zip(g, there, strict=True)]
        early: list[tuple[Vector, Vector]] = []
        late: list[tuple[Vector, Vector]] = []
        nothing = [0 * v for v in self.columns(states[0], self.inputs[0], made.number(0.0))]
        for t in range(end - 1, -1, -1):
            slopes = [made.slope(a) for a in before[t]]
            q = hadamard(slopes, g)
            seen = self.columns(states[t], self.inputs[t], made.number(1.0))
            if t < start:
                early.append((q, seen))
            else:
                i = t - start
                bent = change(made.slope, before[t], drift.shifts[i])
                hat = [s - c for s, c in zip(slopes, bent, strict=True)]
                pairs = zip(hadamard(bent, g), hadamard(hat, dg), strict=True)
                dq = [p + r for p, r in pairs]
                other = [p - r for p, r in zip(q, dq, strict=True)]
                moving = self.columns(drift.deltas[i], 0 * self.inputs[t], made.number(0.0))
                late += [(dq, seen), (other, moving)]
                dg_column = WT * made.matrix([[v] for v in dq])
                if moved is not None:
                    dg_column += moved.W.transpose() * made.matrix([[v] for v in other])
                dg = flat(dg_column)
            g = flat(WT * made.matrix([[v] for v in q]))
        return Gap(*(self.summed(terms, nothing) for terms in (early, late)))

    def summed(self, terms: list[tuple[Vector, Vector]], nothing: Vector) -> Matrix:
        """Σ q fᵀ over the terms (q, f), in one product."""
        if not terms:
            return self.arithmetic.matrix([list(nothing) for _ in range(self.cell.b.nrows())])
        left = self.arithmetic.matrix(
            [list(row) for row in zip(*(q for q, _ in terms), strict=True)]
        )
        return left * self.arithmetic.matrix([f for _, f in terms])
