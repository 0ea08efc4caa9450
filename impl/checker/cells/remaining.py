"""Bounds on the distance of two runs after k steps, from a comparison: often less than λᵏ.

If |s_i| ≤ g_i for all states, and |Δφ_i| ≤ r_i(g) for |Δs_j| ≤ g_j with r increasing, outputs are
at most ‖(r(⋯r(g)))_h‖₂ apart k steps after one run was at 0. Euclidean norms of blocks obey the
analogous bound, as do the layers of a stack, each driven also by the layer below.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from flint import arb, ctx, fmpq

from rnnbounds.impl.checker.cells.norms import Norm
from rnnbounds.impl.checker.cells.stacked import Cascade, Stack
from rnnbounds.impl.checker.cells.stepped import Blocks, Stepped
from rnnbounds.impl.checker.definite import largest, norm
from rnnbounds.impl.format.fields import Stated

# And entries of matrices: twice those of a maker, whose k steps by λ may be a few more here.
STEPS, WORK = 2**13, 2**25
_PRECISION = 128


def left(told: Stated, one: Norm, cell: Any, steps: range) -> arb:
    """At least ‖h − h′‖₂ after so many steps, any of them, of two runs of which one was at 0
    before; infinite where nothing but the factor says how much, or where it is too much work."""
    last, work = steps[-1], _work(one, cell)
    if last > STEPS or last * work > WORK:
        return arb("inf")
    with ctx.workprec(_PRECISION):
        sizes = list(islice(_sizes(told, one, cell), steps[0], last + 1))
        return largest(sizes) if sizes else arb("inf")


def steps_by_factor(told: Stated, most: float, k: int) -> int:
    """About the least number of steps, more than k, after which λ alone leaves at most `most`."""
    size = told.equivalence * min(told.drive / (1 - told.lam), told.radius)
    if not 0 < told.lam < 1 or not most < size < math.inf:
        return k + 1
    steps = (math.log(most) - math.log(size)) / math.log(told.lam)  # their ratio may underflow
    return max(k, math.ceil(steps)) + 1


def _work(one: Norm, cell: Any) -> float:
    """Entries of the matrices of a comparison."""
    if isinstance(one, Blocks):
        return len(one.w) ** 2
    layers = cell.cells if isinstance(cell, Stack) else [cell]
    sizes = (
        layer.states * (layer.states + layer.d * (l > 0))
        for l, layer in enumerate(layers)
        if isinstance(layer, Stepped)
    )
    return max(1, sum(sizes))


def _sizes(told: Stated, one: Norm, cell: Any) -> Iterator[arb]:
    """Yield bounds on ‖Δh‖₂ after 0, 1, … steps by the comparison; none without one."""
    layers, norms, stated = [cell], [one], [told]
    if isinstance(cell, Stack) and isinstance(one, Cascade):
        layers, norms, stated = cell.cells, one.norms, [layer.norm for layer in cell.stated]
    compared = all(isinstance(layer, Stepped) for layer in layers)
    if not compared or not all(part.lam < 1 for part in stated):
        return
    if len(layers) == 1 and isinstance(one, Blocks):
        yield from _of_blocks(told, one, cell)
    starts = [_start(*each) for each in zip(stated, norms, layers, strict=True)]
    yield from _of_units(starts, layers)


def _of_units(g: list[list[arb]], layers: Sequence[Stepped]) -> Iterator[arb]:
    """After 0, 1, … steps."""
    while True:
        yield norm(g[-1][-layers[-1].n :])
        below: list[arb] | None = None
        for l, layer in enumerate(layers):
            g[l] = [size.upper() for size in layer.moves(g[l], below)]
            below = g[l][-layer.n :]


def _of_blocks(told: Stated, one: Blocks, cell: Stepped) -> Iterator[arb]:
    """Yield bounds on ‖Δh‖₂ after 0, 1, … steps, by the comparison of blocks."""
    width, E = cell.states // len(one.w), one.factors(cell)
    sides = [norm(cell.box[i : i + width]) for i in range(0, cell.states, width)]
    g = _held(told, one.w, sides)
    while True:
        yield g[-1]
        rows = ([e * size for e, size in zip(row, g, strict=True)] for row in E)
        g = [sum(row, arb(0)).upper() for row in rows]


def _start(told: Stated, one: Norm, cell: Stepped) -> list[arb]:
    """|s_i| of all states, by the box and by the norm."""
    v = one.units
    if isinstance(one, Blocks):
        v = [w for w in one.w for _ in range(cell.states // len(one.w))]
    return list(cell.box) if v is None else _held(told, v, cell.box)


def _held(told: Stated, v: list[fmpq], sides: list[arb]) -> list[arb]:
    """The less of each side and R v, for R at least ‖s‖ of all states in the stated norm."""
    R = arb(told.drive) / (1 - arb(told.lam))
    R = R if math.isinf(told.radius) else R.min(arb(told.radius))
    return [(arb(a) * R).min(side).upper() for a, side in zip(v, sides, strict=True)]
