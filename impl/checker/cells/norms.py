"""The norms of vanilla cells in rationals and balls, where claims about them are proved anew.

Slopes of ρ lie in [l, L] and |ρ(b)| ≤ o unit by unit. An echo-state network
h⁺ = (1 − a)∘h + a∘ρ(…) is such a cell with κ = 1 − a, in `Scaled`, `Quadratic` and `Multiplied`.
For the claims see `impl.norms.state_norms`, and of ‖Qh‖₂ with a matrix Q `impl.norms.metric`.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from flint import arb, arb_mat, fmpq

from rnnbounds.impl.checker.cells.activations import BallActivation
from rnnbounds.impl.checker.definite import (
    Rows,
    balls,
    diagonal,
    exact,
    float_above,
    largest,
    norm,
    norm_above,
    norm_at_most,
    positive,
    smaller,
)


@dataclass(frozen=True, eq=False)
class Cell:
    """h⁺ = κ∘h + ρ(Wh + Ux + b) with the exact weights, o ≥ |ρ(b)|, B ≥ ‖x‖₂ and box ≥ |h|; first_i
    ≥ |φ(0, x)_i| where inputs lie in a box too, kept = κ where that is not 0."""

    W: Rows
    U: Rows
    offset: list[arb]
    rho: BallActivation
    B: arb
    box: list[arb]
    first: list[arb] | None = None
    kept: list[fmpq] | None = None

    @property
    def linear(self) -> "Cell":
        """The cell to which norms by diagonal weights apply."""
        return self

    @property
    def n(self) -> int:
        """The size of the output, which is the state."""
        return len(self.W)

    @property
    def retention(self) -> arb_mat:
        """diag(κ)."""
        return diagonal([arb(a) for a in self.kept or [fmpq(0)] * self.n])

    @property
    def slope(self) -> fmpq:
        """The least float that is at least L."""
        return exact(float_above(self.rho.slope))

    @property
    def steepened(self) -> Rows:
        """LW."""
        return [[self.slope * v for v in row] for row in self.W]

    @property
    def slopes(self) -> list[list[arb]]:
        """L|U|, how inputs move the units."""
        return [[abs(arb(self.slope * v)) for v in row] for row in self.U]

    @property
    def rest(self) -> list[arb]:
        """At least |φ(0, x)_i|."""
        most = [row * self.B + o for row, o in zip(self.fed(), self.offset, strict=True)]
        return most if self.first is None else list(map(smaller, most, self.first))

    def fed(self) -> list[arb]:
        """At least |Δφ_i| for ‖Δx‖₂ = 1."""
        return [self.slope * norm([arb(v) for v in row]) for row in self.U]

    def rates(self, v: list[fmpq]) -> list[fmpq]:
        """At least |Δφ_i| for |Δh_j| ≤ v_j, exactly."""
        return [sum((abs(w) * a for w, a in zip(row, v, strict=True)), fmpq(0))
                for row in self.steepened]  # fmt: skip

    def moves(self, g: list[arb], x: list[arb] | None = None) -> list[arb]:
        """Bound |Δφ_i| for |Δh_j| ≤ g_j and, if inputs differ too, |Δx_j| ≤ x_j, all balls."""
        W = [[abs(arb(v)) for v in row] for row in self.steepened]
        rows = W if x is None else [a + b for a, b in zip(W, self.slopes, strict=True)]
        sizes = g + (x or [])
        return [sum((a * b for a, b in zip(row, sizes, strict=True)), arb(0)) for row in rows]

    def held(self) -> bool:
        """The box is that of the activation."""
        return True

    @cached_property
    def start(self) -> arb:
        """At least ‖φ(0, x)‖₂."""
        return Scaled([exact(1.0)] * self.n).drive(self)

    def pushed(self, U: arb_mat) -> arb:
        """L‖U‖₂B."""
        return self.slope * norm_above([U]) * self.B


class Norm(ABC):
    """A norm ‖·‖_* of states; cells are `Cell`, or those of `impl.checker.cells.stepped`."""

    @property
    def units(self) -> list[fmpq] | None:
        """v of max |s_i|/v_i, None for others."""
        return None

    @abstractmethod
    def contracts(self, cell: Any, lam: float) -> bool:
        """True if ‖φ(h, x) − φ(h′, x)‖_* ≤ λ‖h − h′‖_* is proved."""

    @abstractmethod
    def drive(self, cell: Any) -> arb:
        """At least sup ‖φ(0, x)‖_*."""

    def moved(self, cell: Any) -> arb:
        """L with ‖φ(h, x) − φ(h, x′)‖_* ≤ L‖x − x′‖₂: the drive of ‖x‖₂ ≤ 1 without biases."""
        one = cell.linear
        still = [arb(0)] * len(one.W)
        return self.drive(replace(one, offset=still, B=arb(1), first=None))

    @abstractmethod
    def radius(self, cell: Any) -> arb:
        """At least ‖h‖_* over the box."""

    @abstractmethod
    def equivalent(self, cell: Any, C: float) -> bool:
        """True if ‖h‖₂ ≤ C‖s‖_* is proved for the outputs h of states s."""

    @abstractmethod
    def reached(self, cell: Any, c: float) -> bool:
        """True if ‖h‖_* ≤ c‖h‖₂ is proved."""


@dataclass(frozen=True)
class Greatest(Norm):
    """max |s_i|/v_i, of any cell."""

    v: list[fmpq]

    @property
    def units(self) -> list[fmpq]:
        """v."""
        return self.v

    def contracts(self, cell: Any, lam: float) -> bool:
        """True if |Δφ_i| ≤ λ v_i is proved for all |Δs| ≤ v."""
        most = [exact(lam) * a for a in self.v]
        pairs = zip(cell.rates(self.v), most, strict=True)
        return all(a <= b if isinstance(a, fmpq) else bool(a <= arb(b)) for a, b in pairs)

    def _most(self, sizes: list[arb]) -> arb:
        return largest([size / arb(a) for size, a in zip(sizes, self.v, strict=True)])

    def drive(self, cell: Any) -> arb:
        """max |φ(0, x)_i|/v_i."""
        return self._most(cell.rest)

    def moved(self, cell: Any) -> arb:
        """max ‖N_i‖₂/v_i, N comparing inputs."""
        return self._most(cell.fed())

    def radius(self, cell: Any) -> arb:
        """max box_i/v_i."""
        return self._most(cell.box)

    def equivalent(self, cell: Any, C: float) -> bool:
        """‖v_h‖₂ ≤ C for the units of the output."""
        return bool(sum((a * a for a in self.v[-cell.n :]), fmpq(0)) <= exact(C) ** 2)

    def reached(self, cell: Any, c: float) -> bool:
        """1/min v ≤ c."""
        return bool(min(self.v) * exact(c) >= 1)


@dataclass(frozen=True)
class Total(Norm):
    """Σ |h_i|."""

    def contracts(self, cell: Any, lam: float) -> bool:
        """Column sums, in rationals."""
        columns = zip(*cell.steepened, strict=True)
        return all(sum(map(abs, column), fmpq(0)) <= exact(lam) for column in columns)

    def drive(self, cell: Any) -> arb:
        """Σ (L‖U_i‖₂B + o_i)."""
        return sum(cell.rest, arb(0))

    def radius(self, cell: Any) -> arb:
        """Σ box_i."""
        return sum(cell.box, arb(0))

    def equivalent(self, cell: Any, C: float) -> bool:
        """1 ≤ C."""
        return C >= 1

    def reached(self, cell: Any, c: float) -> bool:
        """√n ≤ c."""
        return bool(exact(c) ** 2 >= len(cell.W))


@dataclass(frozen=True)
class Scaled(Norm):
    """‖Dh‖₂ for a positive diagonal D."""

    d: list[fmpq]

    def contracts(self, cell: Any, lam: float) -> bool:
        """max κ + ‖DLWD⁻¹‖₂ ≤ λ by pivots."""
        cell = cell.linear
        room = exact(lam) - max(cell.kept or [fmpq(0)])
        rows = zip(self.d, cell.steepened, strict=True)
        scaled = [[a * v / b for v, b in zip(row, self.d, strict=True)] for a, row in rows]
        return room >= 0 and norm_at_most(scaled, room)

    def drive(self, cell: Any) -> arb:
        """L‖DU‖₂B + ‖Do‖₂."""
        cell = cell.linear
        U = arb_mat([[arb(d * v) for v in row] for d, row in zip(self.d, cell.U, strict=True)])
        offset = norm([arb(d) * o for d, o in zip(self.d, cell.offset, strict=True)])
        ball: arb = cell.pushed(U) + offset
        if cell.first is None:
            return ball
        return smaller(ball, norm([arb(d) * u for d, u in zip(self.d, cell.rest, strict=True)]))

    def radius(self, cell: Any) -> arb:
        """‖D box‖₂."""
        return norm([arb(d) * size for d, size in zip(self.d, cell.box, strict=True)])

    def equivalent(self, cell: Any, C: float) -> bool:
        """1/min d ≤ C."""
        return bool(min(self.d) * exact(C) >= 1)

    def reached(self, cell: Any, c: float) -> bool:
        """max d ≤ c."""
        return bool(max(self.d) <= exact(c))


@dataclass(frozen=True)
class Quadratic(Norm):
    """‖Qh‖₂, of linear systems alone."""

    Q: Rows

    def contracts(self, cell: Any, lam: float) -> bool:
        """λ²QᵀQ − (QW)ᵀQW is positive definite, W with what the cell keeps, or W = 0."""
        cell = cell.linear
        Q, W = balls(self.Q), cell.retention + balls(cell.W)
        linear = cell.rho.least == 1 and cell.rho.slope == 1
        still = all(v == 0 for v in W.entries())
        room = arb(lam) ** 2 * (Q.transpose() * Q) - (Q * W).transpose() * (Q * W)
        return linear and (still or positive(room))

    def drive(self, cell: Any) -> arb:
        """‖QU‖₂B + ‖|Q|o‖₂."""
        cell = cell.linear
        ball = arb(cell.pushed(balls(self.Q) * balls(cell.U)) + self._size(cell.offset))
        return ball if cell.first is None else smaller(ball, self._size(cell.rest))

    def radius(self, cell: Any) -> arb:
        """‖|Q| box‖₂."""
        return self._size(cell.box)

    def _size(self, v: list[arb]) -> arb:
        """‖|Q| v‖₂ of v ≥ 0."""
        size = balls([[abs(a) for a in row] for row in self.Q])
        return norm((size * arb_mat([[a] for a in v])).entries())

    def equivalent(self, cell: Any, C: float) -> bool:
        """C²QᵀQ − I is positive definite, or Q is the 1 × 1 matrix with |Q|C ≥ 1."""
        Q = balls(self.Q)
        if Q.nrows() == 1:
            return bool(abs(self.Q[0][0]) * exact(C) >= 1)
        identity = diagonal([arb(1)] * Q.nrows())
        return positive(arb(C) ** 2 * (Q.transpose() * Q) - identity)

    def reached(self, cell: Any, c: float) -> bool:
        """‖Q‖₂ ≤ c."""
        return norm_at_most(self.Q, c)


@dataclass(frozen=True)
class Multiplied(Quadratic):
    """‖Qh‖₂ with multipliers Λ ≥ 0 for slopes in [m, L], of any vanilla cell."""

    multipliers: list[fmpq]  # the diagonal of Λ

    def contracts(self, cell: Any, lam: float) -> bool:
        """[[λ²P − AᵀPA, −AᵀP − ℓWᵀΛ], [−PA − ℓΛW, 2Λ − P]] is positive definite for P = QᵀQ,
        A = diag(κ) + mW and ℓ = L − m."""
        cell = cell.linear
        if not all(weight >= 0 for weight in self.multipliers):
            return False
        least = arb(cell.rho.least)
        if not least.is_finite():
            return False
        span = arb(cell.slope) - least
        Q, W = balls(self.Q), balls(cell.W)
        A = cell.retention + least * W
        P, Lambda = Q.transpose() * Q, diagonal([arb(a) for a in self.multipliers])
        upper = arb(lam) ** 2 * P - (Q * A).transpose() * (Q * A)
        corner, lower = -(P * A + span * (Lambda * W)), 2 * Lambda - P
        rows = [a + b for a, b in zip(upper.tolist(), corner.transpose().tolist(), strict=True)]
        rows += [a + b for a, b in zip(corner.tolist(), lower.tolist(), strict=True)]
        return positive(arb_mat(rows))

    def drive(self, cell: Any) -> arb:
        """The less of ‖Q‖₂ times the Euclidean drive and ‖|Q| |φ(0, x)|‖₂."""
        cell = cell.linear
        euclidean = Scaled([exact(1.0)] * cell.n).drive(cell)
        return smaller(norm_above([balls(self.Q)]) * euclidean, self._size(cell.rest))
