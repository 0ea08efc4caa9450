"""Points of small periods of a cell under one constant input.

Searched in floats by Newton's method, proved in ball arithmetic by Krawczyk's.

The work of a search for witnesses, counted: it ends at its limit, on every machine alike.

Counted are multiplications, as the products of n × n matrices need them; one in balls, of which a
proof takes several, costs as much as many in floats.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

import numpy as np
import torch
from flint import arb, arb_mat
from torch import Tensor

from rnnbounds.impl.arithmetic.activation import activation
from rnnbounds.impl.arithmetic.base import Program
from rnnbounds.impl.arithmetic.derivatives.dual_numbers import (
    ball_step,
    float_step,
    step_with_jacobian,
)
from rnnbounds.impl.arithmetic.entries import Balls, Columns
from rnnbounds.impl.numbers.ball_functions import float_above
from rnnbounds.impl.numbers.spectra.eigenvalues import (
    eigenvalue_outside_circle,
    unstable_eigenvalue_of_ball,
)
from rnnbounds.impl.numbers.spectra.krawczyk import (
    Vector,
    are_disjoint,
    column,
    identity,
    unique_zero,
)

WORK_LIMIT = 6e10  # multiplications of one search: some ten seconds
LIMIT_REACHED = "the search reached its limit of work"
_PROOF_COST = 200  # of a point, in products of floats


class ExhaustedError(Exception):
    """The search has come to its limit; nothing is claimed."""


class Work:
    """Remaining work of a search, and a flag once it is exhausted."""

    def __init__(self, limit: float = WORK_LIMIT) -> None:
        self.remaining, self.exhausted = limit, False

    def spend(self, amount: float) -> None:
        """Raises ExhaustedError if there is not so much left."""
        if amount > self.remaining:
            self.exhausted = True
            raise ExhaustedError
        self.remaining -= amount


_WORK: ContextVar[Work | None] = ContextVar("work", default=None)


@contextmanager
def limit_work(limit: float = WORK_LIMIT) -> Iterator[Work]:
    """Context manager that limits the work of a search inside it; outside, none is limited."""
    work = Work(limit)
    token = _WORK.set(work)
    try:
        yield work
    finally:
        _WORK.reset(token)


def spend(amount: float) -> None:
    """Count so many multiplications; raises ExhaustedError inside `limit_work`."""
    if (work := _WORK.get()) is not None:
        work.spend(amount)


PERIODS = (1, 2, 3, 4)
_STARTS, _ITERATIONS, _NEWTON = 8, 60, 15
_WIDE, _BALLS = 128, 32  # states beyond which Newton starts, and eigenvalues are found, otherwise
_FAR_SCALE = 4.0  # of states beyond the reach of gates
_DISTANCE, _TOLERANCE = 1e-6, 1e-9  # what is worth a proof, not what proves
_LEAST_STEP = 1e-8  # of a Newton step, after which convergence of second order leaves rounding
_NEIGHBOURHOOD = 2.0**-60


def allow_all(box: arb_mat) -> bool:
    """All states are allowed."""
    return True


@dataclass(frozen=True, eq=False)
class _KinkBalls(Balls):
    """Balls that note the activations whose slope was taken where it may jump."""

    kinks: list[str] = field(default_factory=list)

    def slope(self, name: str, v: Columns) -> Columns:
        """ρ′(v)."""
        if math.isinf(activation(name).curvature):
            sure = all(a < 0 or a > 0 for unit in v.units for a in unit)
            self.kinks.extend([] if sure else [name])
        return super().slope(name, v)


@dataclass(frozen=True, eq=False)
class Frozen:
    """The one cell of a batch of one under a constant input x (d,), with states of size n.

    parameters: as stored, (1, …) each. W (n, n): a symmetric part whose eigenvectors are worth
    starting from; None if none is better than another.
    """

    program: Program
    parameters: Mapping[str, Tensor]
    x: Vector
    n: int
    W: Vector | None = None

    def step(self, h: Vector) -> Vector:
        """One float step of many states at once: (M, n) -> (M, n)."""
        s, x = self._columns(h)
        states: Vector = float_step(self.program, self.parameters, s, x)[0].T.numpy()
        return states

    def orbit(self, h: Vector, period: int) -> tuple[Vector, Vector]:
        """φ^period and its Jacobian in floats: (M, n) -> (M, n), (M, n, n)."""
        s, x = self._columns(h)
        slopes = torch.eye(self.n, dtype=s.dtype)
        for _ in range(period):
            s, jacobian = step_with_jacobian(self.program, self.parameters, s, x)
            slopes = jacobian[0] @ slopes
        return s[0].T.numpy(), slopes.numpy()

    def enclose(self, h: arb_mat, period: int) -> tuple[arb_mat, arb_mat, bool]:
        """φ^period(h), its Jacobian, and whether that is continuous on the box h."""
        m = _KinkBalls.of_one(self.parameters)
        slopes, x = identity(self.n), column(self.x)
        for _ in range(period):
            h, jacobian = ball_step(self.program, m, h, x)
            slopes = jacobian * slopes
        return h, slopes, not m.kinks

    def _columns(self, h: Vector) -> tuple[Tensor, Tensor]:
        """States and the input as columns, (1, n, M) and (1, d, M)."""
        x = torch.from_numpy(self.x)[None, :, None]
        return torch.from_numpy(h).T[None], x.expand(1, -1, len(h))


def periodic_pair(
    frozen: Frozen,
    points: list[Vector],
    period: int,
    is_allowed: Callable[[arb_mat], bool] = allow_all,
) -> tuple[arb_mat, arb_mat] | None:
    """Two disjoint boxes (n, 1) among `points`, each proved to hold a point with φ^period(h) = h,
    and to be allowed."""
    boxes: list[arb_mat] = []
    for h in points if len(points) > 1 else ():
        if (box := periodic_point(frozen, h, period)) is not None and is_allowed(box):
            for other in boxes:
                if are_disjoint(box, other):
                    return other, box
            boxes.append(box)
    return None


def repelling_point(
    frozen: Frozen,
    points: list[Vector],
    period: int,
    is_allowed: Callable[[arb_mat], bool] = allow_all,
) -> tuple[arb_mat, float] | None:
    """A box proved to hold such a point, and the modulus > 1 of one of its multipliers.

    The Jacobian J of φ^period at the point has spectral radius > 1, so ‖J‖ > 1 in every norm. A
    neighbourhood of the point must be allowed too.
    """
    for h in points:
        _, slopes = frozen.orbit(h[None], period)
        if not np.abs(np.linalg.eigvals(slopes[0])).max() > 1:
            continue
        if (box := periodic_point(frozen, h, period)) is not None:
            neighbourhood = arb_mat([[a + arb(0, _NEIGHBOURHOOD)] for a in box.entries()])
            if not is_allowed(neighbourhood):
                continue
            spend(_PROOF_COST * period * frozen.n**3)
            _, jacobian, is_smooth = frozen.enclose(neighbourhood, period)
            if is_smooth and (modulus := _unstable_modulus(jacobian)):
                return box, modulus
    return None


def _unstable_modulus(J: arb_mat) -> float | None:
    """A lower bound > 1 on the modulus of an eigenvalue of every matrix in the ball."""
    if J.nrows() <= _BALLS:
        eigenvalue = unstable_eigenvalue_of_ball(J)
        return None if eigenvalue is None else eigenvalue.modulus
    rows = J.tolist()
    mid = [[float(a.mid()) for a in row] for row in rows]
    radii = [
        [float_above(abs(a - m)) for a, m in zip(row, middles, strict=True)]
        for row, middles in zip(rows, mid, strict=True)
    ]
    disc = eigenvalue_outside_circle(
        *(torch.tensor(rows_of, dtype=torch.float64) for rows_of in (mid, radii))
    )
    return None if disc is None else disc[1]


def periodic_point(frozen: Frozen, start: Vector, period: int) -> arb_mat | None:
    """A box around `start` proved to hold exactly one point with φ^period(h) = h, or None."""
    spend(_PROOF_COST * period * frozen.n**3)

    def displacement(h: arb_mat) -> tuple[arb_mat, arb_mat]:
        image, slopes, _ = frozen.enclose(h, period)
        return image - h, slopes - identity(frozen.n)

    return unique_zero(displacement, start)


def limit_states(cells: Sequence[Frozen]) -> list[tuple[Vector, Vector]]:
    """Of each of the cells, which differ in their inputs alone: states to start from, and where all
    these and more come to after a while, (M, n) each."""
    one, n = cells[0], cells[0].n
    W = np.eye(n) if one.W is None else one.W
    symmetric = W / max(1.0, float(np.abs(W).max()))
    slow_directions = 3 * np.linalg.eigh(symmetric + symmetric.T)[1].T[-2:]
    rng = np.random.Generator(np.random.Philox(key=n))
    starts = np.concatenate(
        [np.zeros((1, n)), slow_directions, -slow_directions, rng.standard_normal((_STARTS, n))]
    )
    first = np.concatenate([starts, _FAR_SCALE * rng.standard_normal((_STARTS, n))])
    x = np.repeat([cell.x for cell in cells], len(first), axis=0)
    s, inputs = (torch.from_numpy(rows).T[None] for rows in (np.tile(first, (len(cells), 1)), x))
    for _ in range(_ITERATIONS):  # what overflows becomes NaN and is dropped
        s = float_step(one.program, one.parameters, s, inputs)
    ends = s[0].T.numpy().reshape(len(cells), -1, n)
    return [(starts, np.array(_distinct_states(each)).reshape(-1, n)) for each in ends]


def periodic_candidates(
    frozen: Frozen,
    period: int,
    start_states: tuple[Vector, Vector] | None = None,
    *,
    thorough: bool = True,
) -> list[Vector]:
    """At most four float solutions of φ^period(h) = h, pairwise apart; none if all is lost.

    Longer periods than 2, and those of wide cells, are sought where the cell settles alone, as all
    are unless thoroughly.
    """
    n = frozen.n
    starts, ends = limit_states([frozen])[0] if start_states is None else start_states
    from_limits_only = period > 2 or n > (_WIDE if thorough else _BALLS)
    if from_limits_only and len(ends) == 1:  # all has come to one point, with no other beside it
        return []
    with np.errstate(all="ignore"):
        h = ends[:_STARTS].copy() if from_limits_only else np.concatenate([starts, ends])
        active = np.arange(len(h))
        for _ in range(_NEWTON):
            spend(len(active) * (period + 1) * n**3)  # a Jacobian a step, and a solution
            images, slopes = frozen.orbit(h[active], period)
            step = _newton_steps(np.eye(n) - slopes, images - h[active])
            h[active] += step
            size = np.abs(step).max(axis=1) / np.maximum(1.0, np.abs(h[active]).max(axis=1))
            active = active[(size > _LEAST_STEP) & np.isfinite(size)]
            active = active[_distinct_rows(h[active])]  # what has come together goes on as one
            if not len(active):
                break
        ends = h = np.concatenate([h, frozen.step(h)])
        for _ in range(period):
            ends = frozen.step(ends)
        error = np.abs(ends - h).max(axis=1)
        solutions = h[error <= _TOLERANCE * np.maximum(1.0, np.abs(h).max(axis=1))]
    return _distinct_states(solutions)[:4]


def _distinct_rows(states: Vector) -> list[int]:
    """The places of those that are apart from all before them: (M, n)."""
    distinct: list[int] = []
    for place, state in enumerate(states):
        scale = _DISTANCE * np.maximum(1.0, np.abs(state).max())
        if not (np.abs(states[distinct] - state).max(axis=1) <= scale).any():
            distinct.append(place)
    return distinct


def _distinct_states(states: Vector) -> list[Vector]:
    """Those that are apart from all before them: (M, n)."""
    return list(states[_distinct_rows(states)])


def _newton_steps(A: Vector, y: Vector) -> Vector:
    """Newton's corrections, NaN where the matrix is singular: (M, n, n), (M, n) -> (M, n)."""
    solved, info = torch.linalg.solve_ex(torch.from_numpy(A), torch.from_numpy(y))
    solved[info != 0] = torch.nan
    steps: Vector = solved.numpy()
    return steps
