"""Gradients of one pair in balls or in rationals, always as differences of two runs.

The full run is compared with one that starts later, or that has other weights. Where two states,
slopes or weights are exactly equal their difference is exactly 0, and so is all that it is
multiplied into: a gap that vanishes (λ = 0, nilpotent W) is seen to vanish.

The full run and its adjoints are made once for all windows, as far back as one asks, and so are the
sums of what came before each start; a window goes over its own last k steps alone:

    time               0  ···  T−k  ···  T
    the full run       h_0 → a_t, slopes, f_t → h_T         once
    its adjoints       q_1 ← q_t ← ∇p(h_T)                  once for each end
    what came before   Σ_{t ≤ T−k} q_t f_tᵀ                 once, for all k
    how another drifts away           δ_t from T−k on       for each start, whatever the end
    the other's adjoints              dq_t over k steps     for each k
    what k leaves out of all losses   Σ over s ≥ t + k      once for each time
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
    """Arithmetic of one pair's gradients: numbers, matrices, ρ, ρ′ and ∇p."""

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
    """True if all entries are exactly 0."""
    return all(v == 0 for v in values)


def change(f: Callable[[Number], Number], values: Vector, at: Vector, shift: Vector) -> Vector:
    """f(a) − f(a − s) entry by entry for values f(a), exactly 0 where s is."""
    return [
        0 * s if s == 0 else value - f(a - s) for value, a, s in zip(values, at, shift, strict=True)
    ]


def hadamard(one: Vector, two: Vector) -> Vector:
    """The products, entry by entry."""
    return [v * w for v, w in zip(one, two, strict=True)]


def plus(one: Vector, two: Vector) -> Vector:
    """The sum."""
    return [v + w for v, w in zip(one, two, strict=True)]


def minus(one: Vector, two: Vector) -> Vector:
    """The difference."""
    return [v - w for v, w in zip(one, two, strict=True)]


@dataclass(frozen=True)
class Adjoints:
    """The adjoints of the full run from one end T: g by the states h_T, h_{T−1}, …, q by the
    pre-activations a_T, a_{T−1}, …, as far back as they were asked for."""

    g: list[Vector]
    q: list[Vector] = field(default_factory=list)


@dataclass(frozen=True)
class Drift:
    """How another run differs from the full one, from its start as far as one asked.

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
    over: list[list[Vector]] = field(default_factory=list, compare=False, repr=False)

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

    def through(self, t: int, g: Vector) -> Vector:
        """ρ′(a_{t+1}) ∘ g."""
        return g if self.arithmetic.linear else hadamard(self.slopes[t], g)

    def back(self, q: Vector, W: Matrix = None) -> Vector:
        """Wᵀ q, of the cell's W or another."""
        matrix = (self.cell.W if W is None else W).transpose()
        return flat(matrix * self.arithmetic.matrix([[v] for v in q]))

    def adjoints(self, end: int, steps: int) -> Adjoints:
        """Those of p(h_end), so many steps back, made once."""
        if end not in self.known:
            self.known[end] = Adjoints([self.arithmetic.gradient(flat(self.path[0][end]))])
        found = self.known[end]
        for lag in range(len(found.q), steps):
            found.q.append(self.through(end - 1 - lag, found.g[-1]))
            found.g.append(self.back(found.q[-1]))
        return found

    @cached_property
    def terms(self) -> list[tuple[Vector, Vector]]:
        """(q_t, f_t) for t = 1, …, T."""
        T = len(self.inputs)
        return list(zip(self.adjoints(T, T).q[::-1], self.seen, strict=True))

    def gradient(self) -> Matrix:
        """∇p_T itself, (n, m)."""
        return self.summed(self.terms)

    @cached_property
    def sums(self) -> list[Matrix]:
        """Σ q_t f_tᵀ over t ≤ 0, 1, …, T, (n, m) each: what these steps add to ∇p_T."""
        each = (self.summed([term]) for term in self.terms)
        return list(accumulate(each, initial=self.summed([])))

    def against(self, start: int, moved: Cell | None = None) -> Matrix:
        """∇p_T minus that of another run, which is zero up to time ``start``. ``moved`` is this
        cell minus the other run's, nothing where that is the same."""
        return self.sums[start] + self.since(self.drift(start, moved))

    def each_against(self, k: int) -> Matrix:
        """Σ_t ∇p_t minus that of the runs on the last k inputs before each t = 1, …, T."""
        terms = list(zip(self.left_out(k), self.seen, strict=False))
        for end in range(k + 1, len(self.inputs) + 1):
            terms += self.added(self.drift(end - k, end=end))
        return self.summed(terms)

    def left_out(self, k: int) -> list[Vector]:
        """The adjoints of Σ p(h_s) over s ≥ t + k by a_t, for t = 1, …, T − k, made once."""
        if not self.over:
            each = list[Vector]()
            for t in range(len(self.inputs) - 1, -1, -1):
                g = self.adjoints(t + 1, 0).g[0]
                each.append(self.through(t, plus(g, self.back(each[-1])) if each else g))
            self.over.append(each[::-1])
        while len(self.over) <= k:
            later = self.over[-1][1:]
            self.over.append([self.through(t, self.back(q)) for t, q in enumerate(later)])
        return self.over[k]

    def drift(self, start: int, moved: Cell | None = None, end: int | None = None) -> Drift:
        """How the states drift apart; of the same weights made once, as far as one asks."""
        (states, before), made = self.path, self.arithmetic
        still, zero = 0 * self.inputs[0], made.number(0.0)
        found = Drift(start, [states[start]], [], [], moved)
        if moved is None:
            found = self.later.setdefault(start, found)
        end = len(self.inputs) if end is None else end
        for t in range(found.end, end):
            after = shift = self.cell.W * found.last
            if moved is not None:
                other = states[t] - found.last
                after = shift = shift + moved.W * other + moved.U * self.inputs[t] + moved.b
            if not made.linear:
                gap = change(made.rho, flat(states[t + 1]), before[t], flat(shift))
                after = made.matrix([[v] for v in gap])
            found.seen.append(self.columns(found.last, still, zero))
            found.shifts.append(flat(shift))
            found.deltas.append(after)
        return found.upto(end)

    def since(self, drift: Drift) -> Matrix:
        """Sum a drift's contributions to the difference of the two gradients, (n, m)."""
        return self.summed(self.added(drift))

    def added(self, drift: Drift) -> list[tuple[Vector, Vector]]:
        """The terms (q, f) of that sum."""
        (states, before), made, start, end = self.path, self.arithmetic, drift.start, drift.end
        moved, full = drift.moved, self.adjoints(end, 0)
        if moved is None and vanishes(flat(drift.deltas[0])):  # the runs are the same
            return []
        dg = [0 * v for v in full.g[0]]
        if not vanishes(flat(drift.last)):
            dg = minus(full.g[0], made.gradient(flat(states[end] - drift.last)))
        same = made.linear and moved is None and vanishes(dg)  # the adjoints are
        if same and "W" not in self.trained:
            return []
        full = self.adjoints(end, end - start)
        if same:
            return list(zip(full.q, drift.seen[::-1], strict=False))
        terms = list[tuple[Vector, Vector]]()
        for lag, t in enumerate(range(end - 1, start - 1, -1)):
            dq = dg
            if not made.linear:
                bent = change(made.slope, self.slopes[t], before[t], drift.shifts[t - start])
                each = zip(self.slopes[t], bent, full.g[lag], dg, strict=True)
                dq = [c * g + (s - c) * d for s, c, g, d in each]
            other = minus(full.q[lag], dq)
            terms += [(dq, self.seen[t]), (other, drift.seen[t - start])]
            dg = self.back(dq)
            if moved is not None:
                dg = plus(dg, self.back(other, moved.W))
        return terms

    def summed(self, terms: Sequence[tuple[Vector, Vector]]) -> Matrix:
        """Σ q fᵀ over the terms (q, f), in one product."""
        if not terms:
            h, x = 0 * self.path[0][0], 0 * self.inputs[0]
            zero = self.columns(h, x, self.arithmetic.number(0.0))
            return self.arithmetic.matrix([zero] * self.cell.b.nrows())
        q, f = (self.arithmetic.matrix(list(part)) for part in zip(*terms, strict=True))
        return q.transpose() * f
