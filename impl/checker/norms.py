"""The norms of vanilla cells in rationals and balls, where claims about them are proved anew.

Slopes of ρ lie in [l, L] and |ρ(b)| ≤ o unit by unit; see `impl.norms.state_norms` for the claims
themselves.
"""

from dataclasses import dataclass, field
from typing import Protocol

from flint import arb, arb_mat, fmpq

from impl.checker.ball_activations import BallActivation
from impl.checker.definite import Rows, exact, float_above, norm, norm_at_most, positive
from impl.checker.iterated_balls import norm_above, scaled, step_factors


@dataclass(frozen=True)
class Cell:
    """h⁺ = ρ(Wh + Ux + b) with the exact weights, o ≥ |ρ(b)| and B ≥ ‖x‖₂; first_i ≥ |φ(0, x)_i|
    where inputs lie in a box too."""

    W: Rows
    U: Rows
    offset: list[arb]
    rho: BallActivation
    B: arb
    first: list[arb] | None = None

    @property
    def slope(self) -> fmpq:
        """The least float that is at least L."""
        return exact(float_above(self.rho.slope))

    @property
    def steepened(self) -> Rows:
        """LW."""
        return [[self.slope * v for v in row] for row in self.W]

    def pushed(self, U: arb_mat) -> arb:
        """L‖U‖₂B."""
        return self.slope * norm_above([U]) * self.B


class Norm(Protocol):
    """A norm ‖·‖_* of states."""

    def contracts(self, cell: Cell, lam: float) -> bool:
        """Whether ‖φ(h, x) − φ(h′, x)‖_* ≤ λ‖h − h′‖_* is proved."""

    def drive(self, cell: Cell, lam: float) -> arb:
        """At least sup ‖φ(0, x)‖_*."""

    def corner(self, cell: Cell, lam: float) -> arb:
        """At least ‖h‖_* over |h_i| ≤ 1."""

    def equivalent(self, C: float) -> bool:
        """Whether ‖h‖₂ ≤ C‖h‖_* is proved."""

    def reached(self, cell: Cell, lam: float, c: float) -> bool:
        """Whether ‖h‖_* ≤ c‖h‖₂ is proved, in the norm in which the cell contracts by λ."""


@dataclass(frozen=True)
class Greatest:
    """max |h_i|/v_i."""

    v: list[fmpq]

    def contracts(self, cell: Cell, lam: float) -> bool:
        """L|W|v ≤ λv, in rationals."""
        rows = [sum((abs(w) * a for w, a in zip(row, self.v, strict=True)), fmpq(0))
                for row in cell.steepened]  # fmt: skip
        return all(row <= exact(lam) * a for row, a in zip(rows, self.v, strict=True))

    def drive(self, cell: Cell, lam: float) -> arb:
        """max (L‖U_i‖₂B + o_i)/v_i."""
        return largest([unit / arb(a) for unit, a in zip(units(cell), self.v, strict=True)])

    def corner(self, cell: Cell, lam: float) -> arb:
        """1/min v."""
        return 1 / arb(min(self.v))

    def equivalent(self, C: float) -> bool:
        """‖v‖₂ ≤ C."""
        return bool(sum((a * a for a in self.v), fmpq(0)) <= exact(C) ** 2)

    def reached(self, cell: Cell, lam: float, c: float) -> bool:
        """1/min v ≤ c."""
        return bool(min(self.v) * exact(c) >= 1)


@dataclass(frozen=True)
class Total:
    """Σ |h_i|."""

    def contracts(self, cell: Cell, lam: float) -> bool:
        """Column sums, in rationals."""
        columns = zip(*cell.steepened, strict=True)
        return all(sum(map(abs, column), fmpq(0)) <= exact(lam) for column in columns)

    def drive(self, cell: Cell, lam: float) -> arb:
        """Σ (L‖U_i‖₂B + o_i)."""
        return sum(units(cell), arb(0))

    def corner(self, cell: Cell, lam: float) -> arb:
        """n."""
        return arb(len(cell.W))

    def equivalent(self, C: float) -> bool:
        """1 ≤ C."""
        return C >= 1

    def reached(self, cell: Cell, lam: float, c: float) -> bool:
        """√n ≤ c."""
        return bool(exact(c) ** 2 >= len(cell.W))


@dataclass(frozen=True)
class Scaled:
    """‖Dh‖₂ for a positive diagonal D, or what `steps` > 1 steps make of it."""

    d: list[fmpq]
    steps: int = 1
    known: dict[float, list[arb]] = field(default_factory=dict)  # of one cell

    def contracts(self, cell: Cell, lam: float) -> bool:
        """‖DLWD⁻¹‖₂ ≤ λ by pivots; λ_r ≤ λʳ for several steps."""
        if self.steps == 1:
            return norm_at_most(scaled(cell.steepened, self.d), lam)
        return bool(lam > 0 and self.factors(cell, lam)[-1] <= arb(lam) ** self.steps)

    def factors(self, cell: Cell, lam: float) -> list[arb]:
        """λ_0, …, λ_r."""
        if lam not in self.known:
            ends, claimed = (cell.rho.least, cell.rho.slope), arb(lam) ** self.steps
            self.known[lam] = step_factors(scaled(cell.W, self.d), *ends, self.steps, claimed)
        return self.known[lam]

    def condition(self, cell: Cell, lam: float) -> arb:
        """K = max_{m<r} λ_m λ^{−m}, with ‖Dh‖₂ ≤ ‖h‖_* ≤ K‖Dh‖₂; 1 for a single step."""
        if self.steps == 1:
            return arb(1)
        sizes = (f / arb(lam) ** m for m, f in enumerate(self.factors(cell, lam)[:-1]))
        return largest(list(sizes))

    def drive(self, cell: Cell, lam: float) -> arb:
        """K(L‖DU‖₂B + ‖Do‖₂)."""
        U = arb_mat([[arb(d * v) for v in row] for d, row in zip(self.d, cell.U, strict=True)])
        offset = norm([arb(d) * o for d, o in zip(self.d, cell.offset, strict=True)])
        ball = cell.pushed(U) + offset
        if cell.first is not None:
            ball = ball.min(norm([arb(d) * u for d, u in zip(self.d, units(cell), strict=True)]))
        return self.condition(cell, lam) * ball

    def corner(self, cell: Cell, lam: float) -> arb:
        """K‖d‖₂."""
        return self.condition(cell, lam) * norm([arb(d) for d in self.d])

    def equivalent(self, C: float) -> bool:
        """1/min d ≤ C."""
        return bool(min(self.d) * exact(C) >= 1)

    def reached(self, cell: Cell, lam: float, c: float) -> bool:
        """K max d ≤ c."""
        return bool(self.condition(cell, lam) * arb(max(self.d)) <= arb(c))


@dataclass(frozen=True)
class Quadratic:
    """‖Qh‖₂, of linear systems alone."""

    Q: Rows

    def contracts(self, cell: Cell, lam: float) -> bool:
        """λ²QᵀQ − (QW)ᵀQW is positive definite, or W = 0."""
        Q, W = balls(self.Q), balls(cell.W)
        linear = cell.rho.least == 1 and cell.rho.slope == 1
        still = all(v == 0 for row in cell.W for v in row)
        room = arb(lam) ** 2 * (Q.transpose() * Q) - (Q * W).transpose() * (Q * W)
        return linear and (still or positive(room))

    def drive(self, cell: Cell, lam: float) -> arb:
        """‖QU‖₂B + ‖|Q|o‖₂."""
        Q = balls(self.Q)
        offset = balls([[abs(v) for v in row] for row in self.Q]) * arb_mat(
            [[o] for o in cell.offset]
        )
        ball = cell.pushed(Q * balls(cell.U)) + norm(offset.entries())
        if cell.first is None:
            return ball
        size = balls([[abs(v) for v in row] for row in self.Q])
        return ball.min(norm((size * arb_mat([[u] for u in units(cell)])).entries()))

    def corner(self, cell: Cell, lam: float) -> arb:
        """‖|Q|1‖₂."""
        return norm([arb(sum(map(abs, row), fmpq(0))) for row in self.Q])

    def equivalent(self, C: float) -> bool:
        """C²QᵀQ − I is positive definite, or Q is the 1 × 1 matrix with |Q|C ≥ 1."""
        Q = balls(self.Q)
        if Q.nrows() == 1:
            return bool(abs(self.Q[0][0]) * exact(C) >= 1)
        one = arb_mat([[int(i == j) for j in range(Q.nrows())] for i in range(Q.nrows())])
        return positive(arb(C) ** 2 * (Q.transpose() * Q) - one)

    def reached(self, cell: Cell, lam: float, c: float) -> bool:
        """‖Q‖₂ ≤ c."""
        return norm_at_most(self.Q, c)


def units(cell: Cell) -> list[arb]:
    """sup |φ(0, x)_i|."""
    rows = [cell.slope * norm([arb(v) for v in row]) * cell.B for row in cell.U]
    most = [row + o for row, o in zip(rows, cell.offset, strict=True)]
    if cell.first is None:
        return most
    return [ball.min(box) for ball, box in zip(most, cell.first, strict=True)]


def first_steps(cell: Cell, b: list[arb], ends: tuple[list[float], list[float]]) -> list[arb]:
    """sup |ρ(U_i x + b_i)| over a box and ‖x‖₂ ≤ B: at the ends where ρ does not turn in between,
    else by its slope from the middle."""
    box = [(exact(low), exact(high)) for low, high in zip(*ends, strict=True)]
    found = []
    for row, bias in zip(cell.U, b, strict=True):
        reach = norm([arb(u) for u in row]) * cell.B
        pairs = [(u * low, u * high) for u, (low, high) in zip(row, box, strict=True)]
        low = bias + arb(sum(map(min, pairs), fmpq(0))).max(-reach)
        high = bias + arb(sum(map(max, pairs), fmpq(0))).min(reach)
        if cell.rho.monotone(low, high):
            size = abs(cell.rho.function(low)).max(abs(cell.rho.function(high)))
        else:
            size = abs(cell.rho.function((low + high) / 2)) + cell.slope * (high - low) / 2
        found.append(size.min(cell.rho.bound))
    return found


def balls(rows: Rows) -> arb_mat:
    """A rational matrix."""
    return arb_mat([[arb(v) for v in row] for row in rows])


def largest(values: list[arb]) -> arb:
    """One of them that no other exceeds by its upper end."""
    return max(values, key=lambda value: float(value.upper()))
