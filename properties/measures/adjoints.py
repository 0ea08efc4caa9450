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
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import Any

Number = Any
Matrix = Any
Vector = list[Number]


@dataclass(frozen=True)
class PairArithmetic:
    """Arithmetic of one pair's gradients: numbers, matrices, ρ, ρ′ and ∇p."""

    number: Callable[[float], Number]
    matrix: Callable[[list[list[Number]]], Matrix]
    rho: Callable[[Number], Number]
    slope: Callable[[Number], Number]
    loss_gradient: Callable[[Vector], Vector]
    is_linear: bool = False

    def rows(self, values: Sequence[Sequence[float]]) -> Matrix:
        """The matrix of these floats, exactly."""
        return self.matrix([[self.number(v) for v in row] for row in values])

    def column(self, values: Sequence[float]) -> Matrix:
        """The (n, 1) matrix of these floats, exactly."""
        return self.rows([[v] for v in values])


@dataclass(frozen=True)
class CellWeights:
    """W (n, n), U (n, d), b (n, 1) in one arithmetic."""

    W: Matrix
    U: Matrix
    b: Matrix

    def subtract(self, other: CellWeights) -> CellWeights:
        """The difference of two weights."""
        return CellWeights(self.W - other.W, self.U - other.U, self.b - other.b)


def matrix_entries(matrix: Matrix) -> Vector:
    """The entries of a matrix, row by row."""
    found: Vector = matrix.entries()
    return found


def is_zero(values: Vector) -> bool:
    """True if all entries are exactly 0."""
    return all(v == 0 for v in values)


def function_change(
    f: Callable[[Number], Number], values: Vector, points: Vector, shift: Vector
) -> Vector:
    """f(a) − f(a − s) entry by entry for values f(a), exactly 0 where s is."""
    return [
        0 * s if s == 0 else value - f(a - s)
        for value, a, s in zip(values, points, shift, strict=True)
    ]


def hadamard(first: Vector, second: Vector) -> Vector:
    """The products, entry by entry."""
    return [v * w for v, w in zip(first, second, strict=True)]


def add(first: Vector, second: Vector) -> Vector:
    """u + v, entry by entry."""
    return [v + w for v, w in zip(first, second, strict=True)]


def subtract(first: Vector, second: Vector) -> Vector:
    """u − v, entry by entry."""
    return [v - w for v, w in zip(first, second, strict=True)]


@dataclass(frozen=True)
class StateDrift:
    """How another run differs from the full one, from its start on.

    Differences of states h_start … h_T, of pre-activations a_{start+1} … a_T, of what trained
    weights see at these times, and of the weights.
    """

    start: int
    state_gaps: list[Matrix]
    preactivation_gaps: list[Vector]
    feature_gaps: list[Vector]
    weight_gap: CellWeights | None

    @property
    def last(self) -> Matrix:
        """The difference of the last states."""
        return self.state_gaps[-1]


@dataclass(frozen=True)
class FullRun:
    """The full run of one cell on the inputs, each (d, 1)."""

    arithmetic: PairArithmetic
    cell: CellWeights
    inputs: Sequence[Matrix]
    trained: str
    drift_cache: dict[int, StateDrift] = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def path(self) -> tuple[list[Matrix], list[Vector]]:
        """States h_0 … h_T, and pre-activations a_1 … a_T."""
        n, rho = self.cell.b.nrows(), self.arithmetic.rho
        states, preactivations = [self.arithmetic.column([0.0] * n)], []
        for x in self.inputs:
            preactivations.append(
                matrix_entries(self.cell.W * states[-1] + self.cell.U * x + self.cell.b)
            )
            states.append(self.arithmetic.matrix([[rho(a)] for a in preactivations[-1]]))
        return states, preactivations

    @cached_property
    def slopes(self) -> list[Vector]:
        """ρ′(a_1) … ρ′(a_T)."""
        return [[self.arithmetic.slope(a) for a in at] for at in self.path[1]]

    @cached_property
    def features(self) -> list[Vector]:
        """f_1 … f_T, the trained parts of [h_{t−1} x_t 1]."""
        one, states = self.arithmetic.number(1.0), self.path[0]
        return [self.trained_features(h, x, one) for h, x in zip(states, self.inputs, strict=False)]

    def trained_features(self, h: Matrix, x: Matrix, one: Number) -> Vector:
        """[h x 1], but for what is not trained."""
        parts = {"W": matrix_entries(h), "U": matrix_entries(x), "b": [one]}
        return [v for name, part in parts.items() if name in self.trained for v in part]

    def times_slopes(self, t: int, g: Vector) -> Vector:
        """ρ′(a_{t+1}) ∘ g."""
        return g if self.arithmetic.is_linear else hadamard(self.slopes[t], g)

    def times_transpose(self, q: Vector, W: Matrix = None) -> Vector:
        """Wᵀ q, of the cell's W or another."""
        matrix = (self.cell.W if W is None else W).transpose()
        return matrix_entries(matrix * self.arithmetic.matrix([[v] for v in q]))

    @cached_property
    def known_adjoints(self) -> tuple[list[Vector], list[Vector]]:
        """g by the states h_T, h_{T−1}, …, and q by the pre-activations, as far as one asked."""
        return [self.arithmetic.loss_gradient(matrix_entries(self.path[0][-1]))], []

    def adjoints(self, steps: int) -> tuple[list[Vector], list[Vector]]:
        """The adjoints g and q of p(h_T) over at least so many steps back."""
        g, q = self.known_adjoints
        for lag in range(len(q), steps):
            q.append(self.times_slopes(len(self.inputs) - 1 - lag, g[-1]))
            g.append(self.times_transpose(q[-1]))
        return g, q

    @cached_property
    def gradient_terms(self) -> list[tuple[Vector, Vector]]:
        """(q_t, f_t) for t = 1, …, T."""
        T = len(self.inputs)
        return list(zip(self.adjoints(T)[1][::-1], self.features, strict=True))

    @cached_property
    def cumulative_gradients(self) -> list[Matrix]:
        """Σ q_t f_tᵀ over t ≤ 0, 1, …, T, (n, m) each: what these steps add to ∇p_T."""
        contributions = (self.sum_terms([term]) for term in self.gradient_terms)
        return list(accumulate(contributions, initial=self.sum_terms([])))

    def gradient_gap(self, start: int, weight_gap: CellWeights | None = None) -> Matrix:
        """∇p_T minus that of another run, which is zero up to time ``start``. ``weight_gap`` is
        this cell minus the other run's, nothing where that is the same."""
        return self.cumulative_gradients[start] + self.drift_contribution(
            self.state_drift(start, weight_gap)
        )

    def state_drift(self, start: int, weight_gap: CellWeights | None = None) -> StateDrift:
        """How the states drift apart; of the same weights made once."""
        if weight_gap is None and start in self.drift_cache:
            return self.drift_cache[start]
        (states, preactivations), arithmetic = self.path, self.arithmetic
        zero_input, zero = 0 * self.inputs[0], arithmetic.number(0.0)
        found = StateDrift(start, [states[start]], [], [], weight_gap)
        if weight_gap is None:
            self.drift_cache[start] = found
        for t in range(start, len(self.inputs)):
            after = shift = self.cell.W * found.last
            if weight_gap is not None:
                other_state = states[t] - found.last
                after = shift = (
                    shift
                    + weight_gap.W * other_state
                    + weight_gap.U * self.inputs[t]
                    + weight_gap.b
                )
            if not arithmetic.is_linear:
                gap = function_change(
                    arithmetic.rho,
                    matrix_entries(states[t + 1]),
                    preactivations[t],
                    matrix_entries(shift),
                )
                after = arithmetic.matrix([[v] for v in gap])
            found.feature_gaps.append(self.trained_features(found.last, zero_input, zero))
            found.preactivation_gaps.append(matrix_entries(shift))
            found.state_gaps.append(after)
        return found

    def drift_contribution(self, drift: StateDrift) -> Matrix:
        """Sum a drift's contributions to the difference of the two gradients, (n, m)."""
        return self.sum_terms(self.drift_terms(drift))

    def drift_terms(self, drift: StateDrift) -> list[tuple[Vector, Vector]]:
        """The terms (q, f) whose sum is `drift_contribution`."""
        (states, preactivations), arithmetic, start = self.path, self.arithmetic, drift.start
        T, weight_gap, (g, _) = len(self.inputs), drift.weight_gap, self.adjoints(0)
        if weight_gap is None and is_zero(
            matrix_entries(drift.state_gaps[0])
        ):  # the runs are the same
            return []
        dg = [0 * v for v in g[0]]
        if not is_zero(matrix_entries(drift.last)):
            dg = subtract(
                g[0],
                arithmetic.loss_gradient(matrix_entries(states[T] - drift.last)),
            )
        is_same_adjoint = (
            arithmetic.is_linear and weight_gap is None and is_zero(dg)
        )  # the adjoints are
        if is_same_adjoint and "W" not in self.trained:
            return []
        g, q = self.adjoints(T - start)
        if is_same_adjoint:
            return list(zip(q, drift.feature_gaps[::-1], strict=False))
        terms = list[tuple[Vector, Vector]]()
        for lag, t in enumerate(range(T - 1, start - 1, -1)):
            dq = dg
            if not arithmetic.is_linear:
                slope_gaps = function_change(
                    arithmetic.slope,
                    self.slopes[t],
                    preactivations[t],
                    drift.preactivation_gaps[t - start],
                )
                zipped = zip(self.slopes[t], slope_gaps, g[lag], dg, strict=True)
                dq = [c * g + (s - c) * d for s, c, g, d in zipped]
            other_adjoint = subtract(q[lag], dq)
            terms += [(dq, self.features[t]), (other_adjoint, drift.feature_gaps[t - start])]
            dg = self.times_transpose(dq)
            if weight_gap is not None:
                dg = add(dg, self.times_transpose(other_adjoint, weight_gap.W))
        return terms

    def sum_terms(self, terms: Sequence[tuple[Vector, Vector]]) -> Matrix:
        """Σ q fᵀ over the terms (q, f), in one product."""
        if not terms:
            h, x = 0 * self.path[0][0], 0 * self.inputs[0]
            zero = self.trained_features(h, x, self.arithmetic.number(0.0))
            return self.arithmetic.matrix([zero] * self.cell.b.nrows())
        q, f = (self.arithmetic.matrix(list(part)) for part in zip(*terms, strict=True))
        return q.transpose() * f
