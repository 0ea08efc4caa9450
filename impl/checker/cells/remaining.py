"""What is left of all states after k steps, by what compares two runs: often less than λᵏ.

If |s_i| ≤ g_i for all states, and |Δφ_i| ≤ r_i(g) for |Δs_j| ≤ g_j, r growing with g, then outputs
are at most ‖(r(⋯r(g)))_h‖₂ apart k steps after one run was at 0. The same of Euclidean norms of
blocks.
"""

import math
from typing import Any

from flint import arb, ctx

from impl.checker.cells.norms import Norm
from impl.checker.cells.stepped import Blocks, Stepped, Unitwise
from impl.checker.definite import norm
from impl.checker.truncated_record import Stated

STEPS, WORK = 2**12, 2**24  # and squares of the size of a state; a maker may not take more
_PRECISION = 128


def left(told: Stated, one: Norm, cell: Any, k: int) -> arb:
    """At least ‖h − h′‖₂ after k steps, of two runs of which one was at 0 before; infinite where
    nothing but the factor says how much, or where it is too much work."""
    if not (isinstance(cell, Stepped) and isinstance(one, Unitwise | Blocks)):
        return arb("inf")
    if k > STEPS or k * cell.states**2 > WORK or not told.lam < 1:
        return arb("inf")
    with ctx.workprec(_PRECISION):
        return _left(told, one, cell, k)


def _left(told: Stated, one: Unitwise | Blocks, cell: Stepped, k: int) -> arb:
    R, most = _radius(told), cell.box
    if isinstance(one, Unitwise):
        g = [(arb(v) * R).min(side).upper() for v, side in zip(one.v, most, strict=True)]
        for _ in range(k):
            g = [rate.upper() for rate in cell.moves(g)]
        return norm(g[-cell.n :])
    width, E = cell.states // len(one.w), one.factors(cell)
    sides = [norm(most[i : i + width]) for i in range(0, cell.states, width)]
    g = [(arb(w) * R).min(side).upper() for w, side in zip(one.w, sides, strict=True)]
    for _ in range(k):
        g = [_sum([e * size for e, size in zip(row, g, strict=True)]).upper() for row in E]
    return g[-1]


def _radius(told: Stated) -> arb:
    """At least ‖s‖ of all states, in the norm that is stated."""
    size = arb(told.drive) / (1 - arb(told.lam))
    return size if math.isinf(told.radius) else size.min(arb(told.radius))


def _sum(terms: list[arb]) -> arb:
    return sum(terms, arb(0))
