"""Norms ‖Qh‖₂ with a matrix Q, of linear systems and of cells with multipliers for their slopes.

Sources: those of `impl.norms.metric` and of `impl.norms.state_norms`.
"""

from dataclasses import dataclass
from typing import Any

from flint import arb, arb_mat, fmpq

from rnnbounds.impl.checker.cells.norms import Scaled, VanillaNorm
from rnnbounds.impl.checker.definite import (
    Rows,
    balls,
    exact,
    norm,
    norm_above,
    norm_at_most,
    positive,
    smaller,
)


@dataclass(frozen=True)
class Quadratic(VanillaNorm):
    """‖Qh‖₂, of linear systems alone."""

    Q: Rows

    def contracts(self, cell: Any, lam: float) -> bool:
        """λ²QᵀQ − (QW)ᵀQW is positive definite, W with what the cell keeps, or W = 0."""
        cell = cell.linear
        Q, W = balls(self.Q), balls(_diagonal(cell.kept, cell.n)) + balls(cell.W)
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
        one = arb_mat([[int(i == j) for j in range(Q.nrows())] for i in range(Q.nrows())])
        return positive(arb(C) ** 2 * (Q.transpose() * Q) - one)

    def reached(self, cell: Any, c: float) -> bool:
        """‖Q‖₂ ≤ c."""
        return norm_at_most(self.Q, c)


@dataclass(frozen=True)
class Multiplied(Quadratic):
    """‖Qh‖₂ with multipliers Λ ≥ 0 for slopes in [m, L], of any vanilla cell."""

    multipliers: list[fmpq]

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
        A = balls(_diagonal(cell.kept, cell.n)) + least * W
        P, Lambda = Q.transpose() * Q, balls(_diagonal(self.multipliers, cell.n))
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


def _diagonal(values: list[fmpq] | None, n: int) -> Rows:
    """The diagonal matrix, of zeros for None."""
    held = values or [fmpq(0)] * n
    return [[v if i == j else fmpq(0) for j in range(n)] for i, v in enumerate(held)]
