"""Stacks of two layers in dyadic rationals.

    s¹⁺ = ρ(W_1 s¹ + U x + b_1),  s²⁺ = ρ(W_2 s² + V s¹⁺ + b_2).

Norms are ‖·‖_∞, so that all of them are rational. Source: Miller & Hardt, section 2.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cached_property

from flint import fmpq, fmpq_mat

from impl.cells.activation import activation
from impl.numbers.rationals import identity
from properties.systems.layered.dyadic import ONE, ZERO, eighths, inputs, largest, matrix, row_sum
from properties.systems.spec import SystemSpec
from properties.systems.unitary.exact import Table, Vector, above, minus, rational, stream, times

FACTORS = (fmpq(1, 2), fmpq(3, 4), fmpq(1, 4), ZERO, ONE, fmpq(5, 4))
COUPLINGS = (ONE, fmpq(1, 2), fmpq(2), fmpq(4), ZERO)
WEIGHTS = (ONE, fmpq(2), fmpq(4), fmpq(1, 2), fmpq(16))
Pair = tuple[Vector, Vector]


@dataclass(frozen=True, eq=False)
class Stack:
    """Two layers of n units each, inputs x (S, T, d), pairs of states (s¹, s²), the weight v."""

    spec: SystemSpec
    W: tuple[fmpq_mat, fmpq_mat]
    V: fmpq_mat
    U: fmpq_mat
    b: Pair
    x: list[list[Vector]]
    h: list[Pair]
    h_other: list[Pair]
    v: fmpq

    def tables(self) -> dict[str, Table]:
        """The lower layer stands for the cell, the upper one, driven by it, for the other."""
        spec = self.spec
        return {
            "W": self.W[0].tolist(), "U": self.U.tolist(), "b": self.b[0],
            "C": identity(spec.n).tolist(), "x": self.x, "h": [low for low, _ in self.h],
            "h_other": [low for low, _ in self.h_other],
            "W2": self.W[1].tolist(), "U2": self.V.tolist(), "b2": self.b[1],
        }  # fmt: skip

    def constants(self) -> dict[str, float]:
        """λ_1, λ_2 and μ: the largest row sums, for a ρ that is 1-Lipschitz."""
        sums = (row_sum(A) for A in (*self.W, self.V))
        return dict(zip(("lam_1", "lam_2", "mu"), map(above, sums), strict=True))

    def parameters(self) -> dict[str, float]:
        """v."""
        return {"v_top": above(self.v)}

    def step(self, state: Pair, x: Vector) -> Pair:
        """Both layers after one input."""
        low = self.layer(self.W[0], state[0], times(self.U, x), self.b[0])
        return low, self.layer(self.W[1], state[1], times(self.V, low), self.b[1])

    def layer(self, W: fmpq_mat, h: Vector, driven: Vector, b: Vector) -> Vector:
        """ρ(W h + driven + b)."""
        rho = activation(self.spec.activation).exact
        assert rho is not None
        carried = times(W, h)
        return tuple(rho(p + q + r) for p, q, r in zip(carried, driven, b, strict=True))

    def run(self, state: Pair, s: int, first: int, last: int) -> Pair:
        """From the state before input ``first`` to the one after input ``last`` − 1."""
        for x in self.x[s][first:last]:
            state = self.step(state, x)
        return state

    @property
    def zero(self) -> Pair:
        """Where runs start."""
        nothing = (ZERO,) * self.spec.n
        return nothing, nothing

    @cached_property
    def path(self) -> list[list[Pair]]:
        """The states of each sequence from zero, 0 … T."""
        found = []
        for inputs_of in self.x:
            states = [self.zero]
            for x in inputs_of:
                states.append(self.step(states[-1], x))
            found.append(states)
        return found

    def weighted(self, one: Pair, two: Pair) -> fmpq:
        """max(‖Δs¹‖, ‖Δs²‖/v)."""
        low, top = (largest(minus(p, q)) for p, q in zip(one, two, strict=True))
        return max(low, top / self.v)

    def stack_gap(self, s: int) -> fmpq:
        """The pair after one step."""
        return self.weighted(*(self.run(h[s], s, 0, 1) for h in (self.h, self.h_other)))

    def stack_state_gap(self, s: int) -> fmpq:
        """The pair."""
        return self.weighted(self.h[s], self.h_other[s])

    def top_gap(self, s: int) -> fmpq:
        """The upper layer after T steps from each of the pair."""
        ends = [self.run(h[s], s, 0, self.spec.T)[1] for h in (self.h, self.h_other)]
        return largest(minus(*ends))

    def start(self, s: int, layer: int) -> fmpq:
        """The pair, in one layer."""
        return largest(minus(self.h[s][layer], self.h_other[s][layer]))

    def before(self, s: int, k: int, layer: int) -> fmpq:
        """One layer at the start of the window."""
        return largest(self.path[s][self.spec.T - k][layer])

    def memory(self, s: int, k: int) -> fmpq:
        """Full against truncated state of the upper layer."""
        T = self.spec.T
        fresh = self.run(self.zero, s, T - k, T)[1]
        return largest(minus(self.path[s][T][1], fresh))


def stack(spec: SystemSpec, member: int) -> Stack:
    """The member of a ``cascade`` spec.

    positive: W_l = λ_l I, V = μ I and nothing negative, where the cascade is attained; equal: the
    same with λ_1 = λ_2; signed: signed permutations in place of I; gaussian: multiples of 1/8.
    """
    draw, n = stream(spec, member, "system"), spec.n
    one, two = draw.sample(FACTORS, 2)
    mu = draw.choice(COUPLINGS)
    sizes = (one, one if spec.regime == "equal" else two, mu)
    W_1, W_2, V = (block(spec.regime, size, n, draw) for size in sizes)
    positive = spec.regime in ("positive", "equal")
    U, scale = matrix(n, spec.d, draw), rational(spec.bias)
    b = tuple(tuple(scale * v for v in eighths(n, draw)) for _ in range(2))
    pairs = [states(n, stream(spec, member, f"states {s}"), positive) for s in spec.chosen]
    return Stack(
        spec, (W_1, W_2), V, U, (b[0], b[1]), inputs(spec, member),
        [h for h, _ in pairs], [other for _, other in pairs], draw.choice(WEIGHTS),
    )  # fmt: skip


def block(regime: str, size: fmpq, n: int, draw: random.Random) -> fmpq_mat:
    """A matrix with ‖A‖_∞ = size, but for Gaussian ones."""
    if regime == "gaussian":
        return size / n * matrix(n, n, draw) if n in (1, 2, 4) else size / 4 * matrix(n, n, draw)
    places = draw.sample(range(n), n) if regime == "signed" else list(range(n))
    A = fmpq_mat(n, n)
    for i, j in enumerate(places):
        A[i, j] = size * (draw.choice((1, -1)) if regime == "signed" else 1)
    return A


def states(n: int, draw: random.Random, positive: bool) -> tuple[Pair, Pair]:
    """Two states; where all is ``positive``, the first is the larger in every unit."""
    h, moved = [(eighths(n, draw), eighths(n, draw)) for _ in range(2)]
    if positive:
        moved = tuple(tuple(abs(v) for v in part) for part in moved)  # type: ignore[assignment]
    apart = draw.choice((ONE, fmpq(1, 4)))
    low, top = (
        tuple(p + apart * q for p, q in zip(part, by, strict=True))
        for part, by in zip(h, moved, strict=True)
    )
    return (low, top), h
