"""Gradients of one pair in balls or in rationals, always as differences of two runs.

The full run is compared with one that starts later, or that has other weights. Where two states,
slopes or weights are exactly equal their difference is exactly 0, and so is all that it is
multiplied into: a gap that vanishes (λ = 0, nilpotent W) is seen to vanish.

The full run and its adjoints are made once for all windows, and so are the sums of what came before
each start; a window goes over its own last k steps alone:

    time               0  ···  T−k  ···  T
    the full run       h_0 → a_t, slopes, f_t → h_T         once
    its adjoints       q_1 ← q_t ← ∇p(h_T)                  once
    what came before   Σ_{t ≤ T−k} q_t f_tᵀ                 once, for all k
    how another drifts away           δ_t from T−k on       for each start, whatever the end
    the other's adjoints              dq_t over k steps     for each k
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
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


def change(
    function: Callable[[Number], Number], values: Vector, at: Vector, shift: Vector
) -> Vector:
    """f(a) − f(a − s) entry by entry for values f(a), exactly 0 where s is."""
    return [
        0 * s if s == 0 else value - function(a - s)
        for value, a, s in zip(values, at, shift, strict=True)
    ]


def hadamard(one: Vector, two: Vector) -> Vector:
    """The products, entry by entry."""
    return [p * q for p, q in zip(one, two, strict=True)]


@dataclass(frozen=True)
class Adjoints:
    """The adjoints of the full run from one end: g by the states h_0, h_1, …, q by the
    pre-activations a_1, a_2, …, and the sums of q_t f_tᵀ over t ≤ 0, 1, …, (n, m) each."""

    g: list[Vector]
    q: list[Vector]
    sums: list[Matrix]


@dataclass(frozen=True)
class Drift:
    """How another run differs from the full one, from its start to its end.

    Differences of states h_start … h_end, of pre-activations a_{start+1} … a_end, of what trained
    weights see at these times, and of the weights.
    """

    start: int
    deltas: list[Matrix]
    shifts: list[Vector]
    seen: list[Vector]
    moved: Cell | None

    @property
    def end(self) -> int:
        """The time of the last state."""
        return self.start + len(self.shifts)

    @property
    def last(self) -> Matrix:
        """The difference of the last states."""
        return self.deltas[-1]

    @property
    def none(self) -> bool:
        """Whether both runs are the same."""
        return self.moved is None and vanishes(flat(self.deltas[0]))

    def upto(self, end: int) -> Drift:
        """As far as an earlier end."""
        steps = end - self.start
        shifts, seen = self.shifts[:steps], self.seen[:steps]
        return Drift(self.start, self.deltas[: steps + 1], shifts, seen, self.moved)


@dataclass(frozen=True)
class Run:
    """The full run of one cell on the inputs, each (d, 1)."""

    arithmetic: Arithmetic
    cell: Cell
    inputs: Sequence[Matrix]
    trained: str
    known: dict[int, Adjoints] = field(default_factory=dict, compare=False, repr=False)
    later: dict[int, Drift] = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def path(self) -> tuple[list[Matrix], list[Vector]]:
        """States h_0 … h_T, and pre-activations a_1 … a_T."""
        n, rho = self.cell.b.nrows(), self.arithmetic.rho
        states, before = [self.arithmetic.column([0.0] * n)], []
        for x in self.inputs:
            before.append(flat(self.cell.W * states[-1] + self.cell.U * x + self.cell.b))
            states.append(self.arithmetic.matrix([[rho(a)] for a in before[-1]]))
        return states, before

    @cached_property
    def slopes(self) -> list[Vector]:
        """ρ′(a_1) … ρ′(a_T)."""
        return [[self.arithmetic.slope(a) for a in at] for at in self.path[1]]

    @cached_property
    def seen(self) -> list[Vector]:
        """f_1 … f_T, the trained parts of [h_{t−1} x_t 1]."""
        one, states = self.arithmetic.number(1.0), self.path[0]
        return [self.columns(h, x, one) for h, x in zip(states, self.inputs, strict=False)]

    def columns(self, h: Matrix, x: Matrix, one: Number) -> Vector:
        """[h x 1], but for what is not trained."""
        parts = {"W": flat(h), "U": flat(x), "b": [one]}
        return [v for name, part in parts.items() if name in self.trained for v in part]

    def adjoints(self, end: int) -> Adjoints:
        """Those of p(h_end), made once."""
        if end not in self.known:
            made, WT = self.arithmetic, self.cell.W.transpose()
            g, q = [made.gradient(flat(self.path[0][end]))], []
            for slopes in self.slopes[end - 1 :: -1] if end else []:
                q.append(hadamard(slopes, g[-1]))
                g.append(flat(WT * made.matrix([[v] for v in q[-1]])))
            terms = (self.summed([term]) for term in zip(q[::-1], self.seen, strict=False))
            sums = list(accumulate(terms, initial=self.summed([])))
            self.known[end] = Adjoints(g[::-1], q[::-1], sums)
        return self.known[end]

    def gradient(self) -> Matrix:
        """∇p_T itself, (n, m)."""
        return self.adjoints(len(self.inputs)).sums[-1]

    def before(self, start: int, end: int | None = None) -> Matrix:
        """What the steps up to time ``start`` add to ∇p at the end, (n, m)."""
        return self.adjoints(len(self.inputs) if end is None else end).sums[start]

    def against(self, start: int, moved: Cell | None = None, end: int | None = None) -> Matrix:
        """∇p of the run minus that of another, which is zero up to time ``start``; both end at time
        ``end``. ``moved`` is this cell minus the other run's, nothing where that is the same."""
        return self.before(start, end) + self.since(self.drift(start, moved, end))

    def drift(self, start: int, moved: Cell | None = None, end: int | None = None) -> Drift:
        """How the states drift apart; of the same weights made once, whatever the end is."""
        end = len(self.inputs) if end is None else end
        if moved is not None:
            return self.drifting(start, moved, end)
        if start not in self.later:
            self.later[start] = self.drifting(start, None, len(self.inputs))
        return self.later[start].upto(end)

    def drifting(self, start: int, moved: Cell | None, end: int) -> Drift:
        """Such a drift, step by step."""
        (states, before), made = self.path, self.arithmetic
        still, zero = 0 * self.inputs[0], made.number(0.0)
        deltas, shifts, seen = [states[start]], [], []
        for t in range(start, end):
            delta = deltas[-1]
            shift = self.cell.W * delta
            if moved is not None:
                shift = shift + moved.W * (states[t] - delta) + moved.U * self.inputs[t] + moved.b
            shifts.append(flat(shift))
            seen.append(self.columns(delta, still, zero))
            if not made.linear:
                gap = change(made.rho, flat(states[t + 1]), before[t], shifts[-1])
                shift = made.matrix([[v] for v in gap])
            deltas.append(shift)
        return Drift(start, deltas, shifts, seen, moved)

    def since(self, drift: Drift) -> Matrix:
        """What the steps of a drift add to the difference of the two gradients, (n, m)."""
        if drift.none:
            return self.summed([])
        (states, before), made, WT = self.path, self.arithmetic, self.cell.W.transpose()
        full, moved, start = self.adjoints(drift.end), drift.moved, drift.start
        dg = [0 * v for v in full.g[-1]]
        if not vanishes(flat(drift.last)):
            there = made.gradient(flat(states[drift.end] - drift.last))
            dg = [p - q for p, q in zip(full.g[-1], there, strict=True)]
        if made.linear and moved is None and vanishes(dg):  # the adjoints are the same
            return self.summed(list(zip(full.q[start:], drift.seen, strict=True)))
        terms: list[tuple[Vector, Vector]] = []
        for t in range(drift.end - 1, start - 1, -1):
            slopes = self.slopes[t]
            if made.linear:
                dq = hadamard(slopes, dg)
            else:
                bent = change(made.slope, slopes, before[t], drift.shifts[t - start])
                each = zip(slopes, bent, full.g[t + 1], dg, strict=True)
                dq = [c * g + (s - c) * d for s, c, g, d in each]
            other = [p - r for p, r in zip(full.q[t], dq, strict=True)]
            terms += [(dq, self.seen[t]), (other, drift.seen[t - start])]
            dg_column = WT * made.matrix([[v] for v in dq])
            if moved is not None:
                dg_column += moved.W.transpose() * made.matrix([[v] for v in other])
            dg = flat(dg_column)
        return self.summed(terms)

    def summed(self, terms: Sequence[tuple[Vector, Vector]]) -> Matrix:
        """Σ q fᵀ over the terms (q, f), in one product."""
        if not terms:
            zero = self.columns(
                0 * self.path[0][0], 0 * self.inputs[0], self.arithmetic.number(0.0)
            )
            return self.arithmetic.matrix([list(zero) for _ in range(self.cell.b.nrows())])
        left = self.arithmetic.matrix(
            [list(row) for row in zip(*(q for q, _ in terms), strict=True)]
        )
        return left * self.arithmetic.matrix([f for _, f in terms])
