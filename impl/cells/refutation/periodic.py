"""Points of small periods of a cell under one constant input.

Searched in floats by Newton's method, proved in ball arithmetic by Krawczyk's.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from flint import arb, arb_mat

from rnnbounds.impl.arithmetic.activation import Activation
from rnnbounds.impl.cells.refutation import work
from rnnbounds.impl.numbers.ball_functions import float_above
from rnnbounds.impl.numbers.spectra.discs import eigenvalue_outside_circle
from rnnbounds.impl.numbers.spectra.eigenvalues import unstable_eigenvalue_of_ball
from rnnbounds.impl.numbers.spectra.krawczyk import Vector, are_disjoint, identity, unique_zero

PERIODS = (1, 2, 3, 4)
_STARTS, _ITERATIONS, _NEWTON = 8, 60, 15
_WIDE, _BALLS = 128, 32  # states beyond which Newton starts, and eigenvalues are found, otherwise
_FAR = 4.0  # of states beyond the reach of gates
_APART, _SETTLED = 1e-6, 1e-9  # what is worth a proof, not what proves
_STILL = 1e-14  # of a Newton step, after which none does better
_AROUND = 2.0**-60


def anywhere(box: arb_mat) -> bool:
    """All states are allowed."""
    return True


class Orbits(Protocol):
    """A cell under one constant input: states of size n; W (n, n) has useful eigenvectors."""

    @property
    def n(self) -> int:
        """The size of the state."""

    @property
    def W(self) -> Vector:
        """A matrix whose eigenvectors are worth starting from."""

    def step(self, h: Vector) -> Vector:
        """One float step of many states at once: (M, n) -> (M, n)."""

    def orbit(self, h: Vector, period: int) -> tuple[Vector, Vector]:
        """φ^period and its Jacobian in floats: (M, n) -> (M, n), (M, n, n)."""

    def enclose(self, h: arb_mat, period: int) -> tuple[arb_mat, arb_mat, bool]:
        """φ^period(h), its Jacobian, and whether that is continuous on the box h."""


@dataclass(frozen=True, eq=False)
class Frozen:
    """The cell under one constant input, h ↦ ρ(Wh + c), with W (n, n) and c (n, 1) exact."""

    W: Vector
    constant: arb_mat
    rho: Activation

    @property
    def n(self) -> int:
        """The size of the state."""
        return len(self.W)

    def step(self, h: Vector) -> Vector:
        """One float step of many states at once: (M, n) -> (M, n)."""
        moved: Vector = self.rho(torch.from_numpy(self._before(h))).numpy()
        return moved

    def slope(self, h: Vector) -> Vector:
        """The float Jacobians at many states: (M, n) -> (M, n, n)."""
        slopes: Vector = self.rho.derivative(torch.from_numpy(self._before(h))).numpy()
        return slopes[:, :, None] * self.W

    def orbit(self, h: Vector, period: int) -> tuple[Vector, Vector]:
        """φ^period and its Jacobian in floats: (M, n) -> (M, n), (M, n, n)."""
        slopes = np.broadcast_to(np.eye(self.n), (len(h), self.n, self.n))
        for _ in range(period):
            slopes = self.slope(h) @ slopes
            h = self.step(h)
        return h, slopes

    def enclose(self, h: arb_mat, period: int) -> tuple[arb_mat, arb_mat, bool]:
        """φ^period(h), its Jacobian, and whether that is continuous on the box h."""
        W, slopes, smooth = arb_mat(self.W.tolist()), identity(self.n), True
        for _ in range(period):
            z = (W * h + self.constant).entries()
            smooth = smooth and (self.rho.curvature < np.inf or all(a < 0 or a > 0 for a in z))
            h = arb_mat([[self.rho.ball(a)] for a in z])
            rates = [self.rho.ball_derivative(a) for a in z]
            rows = zip(rates, W.tolist(), strict=True)
            slopes = arb_mat([[rate * w for w in row] for rate, row in rows]) * slopes
        return h, slopes, smooth

    def _before(self, h: Vector) -> Vector:
        drive = np.array([float(c.mid()) for c in self.constant.entries()])
        before: Vector = h @ self.W.T + drive
        return before


def pair(
    frozen: Orbits, found: list[Vector], period: int, allowed: Callable[[arb_mat], bool] = anywhere
) -> tuple[arb_mat, arb_mat] | None:
    """Two disjoint boxes (n, 1) among `found`, each proved to hold a point with φ^period(h) = h,
    and to be allowed."""
    boxes: list[arb_mat] = []
    for h in found if len(found) > 1 else ():
        if (box := point(frozen, h, period)) is not None and allowed(box):
            for other in boxes:
                if are_disjoint(box, other):
                    return other, box
            boxes.append(box)
    return None


def repeller(
    frozen: Orbits, found: list[Vector], period: int, allowed: Callable[[arb_mat], bool] = anywhere
) -> tuple[arb_mat, float] | None:
    """A box proved to hold such a point, and the modulus > 1 of one of its multipliers.

    The Jacobian J of φ^period at the point has spectral radius > 1, so ‖J‖ > 1 in every norm. A
    neighbourhood of the point must be allowed too.
    """
    for h in found:
        _, slopes = frozen.orbit(h[None], period)
        if not np.abs(np.linalg.eigvals(slopes[0])).max() > 1:
            continue
        if (box := point(frozen, h, period)) is not None:
            around = arb_mat([[a + arb(0, _AROUND)] for a in box.entries()])
            if not allowed(around):
                continue
            work.proof(frozen.n, period)
            _, jacobian, smooth = frozen.enclose(around, period)
            if smooth and (modulus := _outside(jacobian)):
                return box, modulus
    return None


def _outside(J: arb_mat) -> float | None:
    """A lower bound > 1 on the modulus of an eigenvalue of every matrix in the ball."""
    if J.nrows() <= _BALLS:
        found = unstable_eigenvalue_of_ball(J)
        return None if found is None else found.modulus
    rows = J.tolist()
    mid = [[float(a.mid()) for a in row] for row in rows]
    off = [
        [float_above(abs(a - m)) for a, m in zip(row, middles, strict=True)]
        for row, middles in zip(rows, mid, strict=True)
    ]
    told = eigenvalue_outside_circle(
        *(torch.tensor(part, dtype=torch.float64) for part in (mid, off))
    )
    return None if told is None else told[1]


def point(frozen: Orbits, near: Vector, period: int) -> arb_mat | None:
    """A box around `near` proved to hold exactly one point with φ^period(h) = h, or None."""
    work.proof(frozen.n, period)

    def displacement(h: arb_mat) -> tuple[arb_mat, arb_mat]:
        moved, slopes, _ = frozen.enclose(h, period)
        return moved - h, slopes - identity(frozen.n)

    return unique_zero(displacement, near)


def settled(frozen: Orbits) -> tuple[Vector, Vector]:
    """States to start from, and where all these and more come to after a while: (M, n) each."""
    n = frozen.n
    symmetric = frozen.W / max(1.0, float(np.abs(frozen.W).max()))
    slow = 3 * np.linalg.eigh(symmetric + symmetric.T)[1].T[-2:]
    rng = np.random.Generator(np.random.Philox(key=n))
    starts = np.concatenate([np.zeros((1, n)), slow, -slow, rng.standard_normal((_STARTS, n))])
    ends = np.concatenate([starts, _FAR * rng.standard_normal((_STARTS, n))])
    with np.errstate(all="ignore"):  # what overflows becomes NaN and is dropped
        for _ in range(_ITERATIONS):
            ends = frozen.step(ends)
    return starts, np.array(_apart(ends)).reshape(-1, n)


def candidates(
    frozen: Orbits,
    period: int,
    begun: tuple[Vector, Vector] | None = None,
    *,
    thorough: bool = True,
) -> list[Vector]:
    """At most four float solutions of φ^period(h) = h, pairwise apart; none if all is lost.

    Longer periods than 2, and those of wide cells, are sought where the cell settles alone, as all
    are unless thoroughly.
    """
    n = frozen.n
    starts, ends = settled(frozen) if begun is None else begun
    far = period > 2 or n > (_WIDE if thorough else _BALLS)
    if far and len(ends) == 1:  # all has come to one point, which has no other beside it
        return []
    with np.errstate(all="ignore"):
        h = ends[:_STARTS].copy() if far else np.concatenate([starts, ends])
        moving = np.arange(len(h))
        for _ in range(_NEWTON):
            work.floats(n, len(moving), period)
            moved, slopes = frozen.orbit(h[moving], period)
            step = _solve(np.eye(n) - slopes, moved - h[moving])
            h[moving] += step
            size = np.abs(step).max(axis=1) / np.maximum(1.0, np.abs(h[moving]).max(axis=1))
            moving = moving[(size > _STILL) & np.isfinite(size)]
            if not len(moving):
                break
        ends = h = np.concatenate([h, frozen.step(h)])
        for _ in range(period):
            ends = frozen.step(ends)
        error = np.abs(ends - h).max(axis=1)
        good = h[error <= _SETTLED * np.maximum(1.0, np.abs(h).max(axis=1))]
    return _apart(good)[:4]


def _apart(states: Vector) -> list[Vector]:
    """Those that are apart from all before them: (M, n)."""
    apart: list[Vector] = []
    for state in states:
        scale = _APART * max(1.0, float(np.abs(state).max()))
        if not any(float(np.abs(state - other).max()) <= scale for other in apart):
            apart.append(state)
    return apart


def _solve(A: Vector, y: Vector) -> Vector:
    """Newton's corrections, NaN where the matrix is singular: (M, n, n), (M, n) -> (M, n)."""
    solved, info = torch.linalg.solve_ex(torch.from_numpy(A), torch.from_numpy(y))
    solved[info != 0] = torch.nan
    steps: Vector = solved.numpy()
    return steps
