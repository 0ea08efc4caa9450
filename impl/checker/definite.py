"""Upper bounds on ‖A‖₂ that are proved by positive pivots, in balls and rationals, without torch.

s²I − AᵀA is positive definite, hence ‖A‖₂ < s, if a leading block and its Schur complement are.
Sources: Johansson, Arb; Haynsworth (1968) for the Schur complement.
"""

import math
from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Any

import numpy as np
from flint import arb, arb_mat, ctx, fmpq

Rows = list[list[fmpq]]

_PRECISIONS = (256, 1024)
_LEAF = 24  # rows below which pivots are found one by one
_FIRST = 2.0**-52  # by how much a norm may exceed its estimate, doubled until it is proved
_DOUBLINGS = 24


def norm_at_most(rows: Rows, s: float | fmpq) -> bool:
    """True if ‖A‖₂ ≤ s is proved: exactly for vectors, else by positive pivots of s²I − AᵀA."""
    limit = s if isinstance(s, fmpq) else exact(s)
    entries = [v for row in rows for v in row]
    if not any(entries) or len(rows) == 1 or len(rows[0]) == 1:
        return bool(sum((v * v for v in entries), fmpq(0)) <= limit * limit)
    for precision in _PRECISIONS:
        with ctx.workprec(precision):
            if below(balls(rows), arb(limit)):
                return True
    return False


def below(A: arb_mat, s: arb) -> bool:
    """True if ‖A‖₂ < s is proved at the working precision."""
    if A.nrows() < A.ncols():
        A = A.transpose()
    return positive(diagonal([s * s] * A.ncols()) - A.transpose() * A)


def positive(S: arb_mat) -> bool:
    """True if S = Sᵀ is proved positive definite, by a block and its Schur complement."""
    n = S.nrows()
    rows = S.tolist()
    if n <= _LEAF:
        for k in range(n):
            pivot = rows[k][k]
            if not pivot > 0:
                return False
            for i in range(k + 1, n):
                factor = rows[i][k] / pivot
                for j in range(k + 1, i + 1):
                    rows[i][j] -= factor * rows[j][k]
        return True
    half = n // 2
    head, corner = (arb_mat([row[:half] for row in part]) for part in (rows[:half], rows[half:]))
    tail = arb_mat([row[half:] for row in rows[half:]])
    if not positive(head):
        return False
    try:
        return positive(tail - corner * head.solve(corner.transpose()))
    except ZeroDivisionError:
        return False


def diagonal(values: Sequence[arb]) -> arb_mat:
    """The matrix with these numbers on its diagonal, and 0 elsewhere."""
    found = arb_mat(len(values), len(values))
    for i, value in enumerate(values):
        found[i, i] = value
    return found


def norm(entries: list[arb]) -> arb:
    """The Euclidean norm; exact for at most one entry that is not 0."""
    left = [v for v in entries if not v.is_zero()]
    if len(left) < 2:
        return abs(left[0]) if left else arb(0)
    return sum((v * v for v in left), arb(0)).sqrt()


def norm_above(matrices: list[arb_mat]) -> arb:
    """A number that is proved to be at least the 2-norm of every matrix; infinite if none is."""
    worst = arb(0)
    left = []
    for A in matrices:
        if 1 in (A.nrows(), A.ncols()) or all(v.is_zero() for v in A.entries()):
            worst = larger(worst, norm(A.entries()))
        else:
            left.append(A)
    if not left:
        return worst
    # Entries near 1, so that floats can estimate norms of any size.
    top = largest(abs(v) for A in left for v in A.entries()).upper()
    if not top.is_finite():
        return arb("inf")
    unit = arb(2) ** (top.log() / arb(2).log()).mid().floor()
    left = [A / unit for A in left]
    middles = [[[float(v.mid()) for v in row] for row in A.tolist()] for A in left]
    estimate = float(np.linalg.norm(np.array(middles), 2, axis=(1, 2)).max())
    excess = _FIRST
    for _ in range(_DOUBLINGS):
        s = arb(estimate) * (1 + arb(excess))
        while left and below(left[-1], s):
            left.pop()
        if not left:
            return larger(worst, s * unit)
        excess *= 2
    return arb("inf")


def larger(a: arb, b: arb) -> arb:
    """max(a, b), exact where one is certainly the larger; NaN if either is."""
    if a >= b:
        return a
    return b if b >= a else a.max(b)


def largest(values: Iterable[arb]) -> arb:
    """The largest of at least one number, as `larger` has it."""
    return reduce(larger, values)


def smaller(a: arb, b: arb) -> arb:
    """Of two upper bounds of one number that which is certainly no larger; where balls overlap the
    one with the smaller radius, which may be none."""
    if a <= b:
        return a
    return b if b <= a or b.rad() <= a.rad() else a


def balls(rows: Rows) -> arb_mat:
    """The rational matrix, each entry enclosed."""
    return arb_mat([[arb(v) for v in row] for row in rows])


def exact(v: float) -> fmpq:
    """The rational that a float64 is."""
    return fmpq(*float(v).as_integer_ratio())


def exact_rows(A: np.ndarray[Any, Any]) -> Rows:
    """The rationals that the entries of a float64 matrix are."""
    return [[exact(v) for v in row] for row in A.tolist()]


def float_above(x: arb) -> float:
    """The least float64 known to be at least every number in the ball; infinity for NaN."""
    if x.is_nan():
        return math.inf
    value = float(x.upper())
    while not arb(value) >= x:
        value = math.nextafter(value, math.inf)
    return value
