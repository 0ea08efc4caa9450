"""‖∂s_T/∂s_{T−k}‖₂ of networks with an orthogonal recurrent matrix, exactly or in balls.

A piecewise linear activation, and any other at rest, has rational derivatives. Whether a norm is
at most 1, or is 1, is then decided in rationals: I − JᵀJ is semidefinite, and singular. At a kink
the derivative is that of the left side.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from flint import arb, arb_mat, ctx, fmpq, fmpq_mat

from rnnbounds.impl.arithmetic.activation import activation
from rnnbounds.impl.arithmetic.entries.rationals import known
from rnnbounds.impl.checker.definite import below
from rnnbounds.impl.numbers.rationals import diagonal, identity
from rnnbounds.impl.numbers.spectra.exact_norm import ball_norm, positive_semidefinite
from rnnbounds.properties.measures.exact.rooted import BLANK, PRECISION, alone, each_pair, root_ends
from rnnbounds.properties.measures.measure import Measure
from rnnbounds.properties.measures.readings.balls import BallPair, Ends, float_ends
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.properties.systems.unitary.exact import Vector, times
from rnnbounds.properties.systems.unitary.networks import Network
from rnnbounds.properties.systems.unitary.orthogonal import Recurrent

Exact = fmpq_mat | arb_mat
Matrix = Callable[[Any, int, int], Exact | None]
NEAR_ONE = 2.0**-40  # within it a float64 estimate leaves to rationals whether a norm is 1
WIDER = 1 + 2.0**-40


def jacobian(member: Any, s: int, k: int) -> Exact | None:
    """D_T V ⋯ D_{T−k+1} V, rational where all slopes are; balls at the current precision."""
    if not isinstance(member, Network | Recurrent):
        return None
    return jacobians(member, s, ctx.prec)[k]


@lru_cache(maxsize=16)
def jacobians(member: Network | Recurrent, s: int, precision: int) -> list[Exact]:
    """The same for k = 0 … T, at the precision, which is the current one."""
    V = member.V
    found: list[Exact] = [identity(V.nrows())]
    for row in reversed(slopes(member, s)):
        J, exact = found[-1], [d for d in map(rational, row) if d is not None]
        if isinstance(J, fmpq_mat) and len(exact) == len(row):
            found.append(J * (diagonal(exact) * V))
        else:
            lines = zip(row, arb_mat(V).tolist(), strict=True)
            found.append(arb_mat(J) * arb_mat([[d * v for v in line] for d, line in lines]))
    return found


def slopes(member: Network | Recurrent, s: int) -> Sequence[Sequence[fmpq | arb]]:
    """ρ′(a_t) of every unit at every step."""
    if isinstance(member, Network):
        states = member.unitary_states[s]
        return [[fmpq(int(v > 0)) for v in h.whole.entries()] for h in states]
    if activation(member.spec.activation).exact is not None:
        return piecewise_slopes(member, s)
    return ball_slopes(member, s)


def rational(d: fmpq | arb) -> fmpq | None:
    """A slope as a rational; None where a ball is more than a point."""
    if isinstance(d, fmpq):
        return d
    return d.fmpq() if d.is_exact() else None


def piecewise_slopes(member: Recurrent, s: int) -> list[Vector]:
    """The slopes of a piecewise linear activation along one rollout."""
    rho, h, found = activation(member.spec.activation), member.initial, []
    value, slope = known(rho.name, rho.rational), known(rho.name, rho.rational_slope)
    for x in member.x[s]:
        a = preactivation(member, h, x)
        h = tuple(map(value, a))
        found.append(tuple(map(slope, a)))
    return found


def ball_slopes(member: Recurrent, s: int) -> list[list[arb]]:
    """The slopes in balls at the current precision."""
    key = (s, ctx.prec)
    if key not in member.cache:
        rho, V, U = activation(member.spec.activation), arb_mat(member.V), arb_mat(member.U)
        column, rows = balls(member.initial), []
        for x in member.x[s]:
            z = (V * column + U * balls(x) + balls(member.b)).entries()
            resting = rho.at_zero == 0  # ρ(0) = 0, which a formula in balls may miss by a bit
            column = arb_mat([[arb(0) if resting and v.is_zero() else rho.ball(v)] for v in z])
            rows.append([rho.ball_derivative(v) for v in z])
        member.cache[key] = rows
    return member.cache[key]


def preactivation(member: Recurrent, h: Vector, x: Vector) -> Vector:
    """V h + U x + b."""
    carried, driven = times(member.V, h), times(member.U, x)
    return tuple(v + u + b for v, u, b in zip(carried, driven, member.b, strict=True))


def balls(v: Vector) -> arb_mat:
    """A column of balls."""
    return arb_mat([[arb(entry)] for entry in v])


def norm_ends(J: fmpq_mat | arb_mat, square: fmpq | None = None) -> Ends:
    """Ends of ‖J‖₂, of its ``square`` where that is known: a definite pivot test above, the leading
    singular vector below; 1 is recognised in rationals."""
    if square is not None:
        return root_ends(square)
    A = arb_mat(J)
    middle = np.array([[float(v.mid()) for v in row] for row in A.tolist()])
    _, sizes, vectors = np.linalg.svd(middle)
    size, leading = float(sizes[0]), vectors[0].tolist()
    low = length((A * arb_mat([[arb(v)] for v in leading])).entries()) / length(
        [arb(v) for v in leading]
    )
    high = size * WIDER
    if isinstance(J, fmpq_mat) and abs(size - 1) < NEAR_ONE and at_most(J, fmpq(1)):
        high = 1.0
    elif not below(A, arb(high)):
        high = np.inf
    return max(0.0, float_ends(low)[0]), float(high)


def length(v: list[arb]) -> arb:
    """‖v‖₂."""
    return sum((abs(entry) * abs(entry) for entry in v), arb(0)).sqrt()


def norm_square(J: fmpq_mat | arb_mat) -> fmpq | None:
    """‖J‖₂² where it is known in rationals: rank at most 1, or a norm of exactly 1."""
    if not isinstance(J, fmpq_mat):
        return None
    gram = J.transpose() * J
    rank = int(J.rank())
    if rank < 2:
        return sum((gram[i, i] for i in range(J.ncols())), fmpq(0))
    singular = (identity(J.ncols()) - gram).rank() < J.ncols()
    return fmpq(1) if singular and at_most(J, fmpq(1)) else None


def at_most(J: fmpq_mat, bound: fmpq) -> bool:
    """Whether ‖J‖₂ ≤ bound, decided exactly."""
    return bound >= 0 and square_at_most(J, bound * bound)


def square_at_most(J: fmpq_mat, bound: fmpq) -> bool:
    """Whether ‖J‖₂² ≤ bound: bound I less the smaller of JᵀJ and JJᵀ is positive semidefinite."""
    gram = J.transpose() * J if J.ncols() <= J.nrows() else J * J.transpose()
    whole = (identity(gram.ncols()) * bound - gram).numer_denom()[0]
    return positive_semidefinite([[int(v) for v in row] for row in whole.tolist()])


def matrix_norm(
    name: str, matrix: Matrix, known: Callable[[Exact], fmpq | None] = norm_square
) -> Measure:
    """‖J‖₂ of a matrix of each pair at each window, None of other members; ``known`` is its square,
    where that is rational."""

    def ends(member: Any, s: int, k: int) -> Ends:
        with ctx.workprec(PRECISION):
            J = matrix(member, s, k)
            return BLANK if J is None else norm_ends(J, known(J))

    def ball(pair: BallPair, k: int) -> arb:
        J = matrix(alone(pair.batch), 0, k)
        return arb("nan") if J is None else ball_norm(arb_mat(J))

    def square(batch: Batch, k: int) -> fmpq | None:
        J = matrix(alone(batch), 0, k)
        return None if J is None else known(J)

    def bounded(batch: Batch, bound: fmpq, k: int) -> bool | None:
        J = matrix(alone(batch), 0, k)
        return at_most(J, bound) if isinstance(J, fmpq_mat) else None

    return Measure(
        name,
        enclosure=lambda batch: each_pair(batch, ends, windows=True),
        balls=ball,
        square=square,
        at_most=bounded,
    )


def dh_dh_at_most(batch: Batch, bound: fmpq, k: int) -> bool | None:
    """Whether the norm is at most a rational; None where the derivatives leave it open.

    Where some slopes are 1 and others irrational, no ball decides that a product of norm 1 has it.
    Its factors do: ‖D_t V‖ ≤ 1 if V is orthogonal in rationals and all slopes are at most 1, as
    balls or as the activation's certified L_ρ.
    """
    member = alone(batch)
    J = jacobian(member, 0, k)
    if isinstance(J, fmpq_mat):
        return at_most(J, bound)
    if not isinstance(member, Recurrent) or bound < 1:
        return None
    steps = ball_slopes(member, 0)[member.spec.T - k :]
    flat = activation(member.spec.activation).slope <= 1
    flat = flat or all(bool(abs(d) <= 1) for row in steps for d in row)
    orthogonal = member.V.transpose() * member.V == identity(member.V.nrows())
    return True if flat and orthogonal else None
