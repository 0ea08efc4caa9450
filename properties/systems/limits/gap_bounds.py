"""How far apart two networks can be at all times, whatever the inputs of the interval are.

Probes read a gap from below; these are bounds from above, for all inputs |x_k| ≤ BOUND.
"""

from __future__ import annotations

from collections.abc import Sequence

from flint import arb, arb_mat, fmpq

from rnnbounds.properties.systems.limits.sigmoid import BOUND, SigmoidNetwork

ZERO = fmpq(0)
# Every iterate is a bound; further ones change nothing that matters.
ITERATES = 16
INPUT = arb(0, arb(BOUND))


def tanh_gap_bound(one: SigmoidNetwork, other: SigmoidNetwork) -> arb:
    """At least |y_k − ŷ_k| for two tanh networks, of which unit j of the one may be that of the
    other: Σ |c_j| D_j + |Σ (c_j − e_j) t_j + …| with |r_j − t_j| ≤ D_j, the t in their ranges."""
    offset = arb(one.e0 - other.e0)
    trivial_bound = sum((abs(arb(v)) for v in (*one.e, *other.e)), abs(offset)).upper()
    if len(other.d) < len(one.d):
        return trivial_bound
    states = state_ranges(other)
    gap = abs(dot(padded_differences(one.e, other.e), states) + offset)
    found = state_distance_bounds(one, other, states)
    gap += dot([abs(c) for c in one.e], found)
    return gap.upper().min(trivial_bound)


def state_ranges(net: SigmoidNetwork) -> list[arb]:
    """Intervals in which the states of a tanh network lie after any step."""
    m, V = len(net.d), arb_mat(net.V)
    starts = [arb(v) for v in net.start]
    drive = arb_mat(m, 1, [arb(g) * INPUT + arb(d) for g, d in zip(net.g, net.d, strict=True)])
    intervals = [arb(0, 1)] * m
    for _ in range(ITERATES):
        previous = [t.union(start) for t, start in zip(intervals, starts, strict=True)]
        intervals = [wide_tanh(z) for z in (V * arb_mat(m, 1, previous) + drive).entries()]
    return intervals


def wide_tanh(z: arb) -> arb:
    """tanh of a wide ball, from its ends."""
    return z.lower().tanh().union(z.upper().tanh())


def state_distance_bounds(
    one: SigmoidNetwork, other: SigmoidNetwork, states: Sequence[arb]
) -> list[arb]:
    """Bounds on |r_j − t_j| after any step: |W| D and what other weights change, at most 2.

    W r + f x + b − (V t + g x + d) = W (r − t) + (W − V) t + (f − g) x + b − d, and |tanh′| ≤ 1.
    """
    n = len(one.d)
    before = [t.union(arb(start)) for t, start in zip(states, other.start, strict=True)]
    rows, others = one.V.tolist(), other.V.tolist()
    # The one's unit j against the other's; the other has further ones.
    changed = [
        abs(
            dot(padded_differences(rows[j], others[j]), before)
            + arb(one.g[j] - other.g[j]) * INPUT
            + arb(one.d[j] - other.d[j])
        ).upper()
        for j in range(n)
    ]
    first = [abs(arb(r - t)) for r, t in zip(one.start, other.start[:n], strict=True)]
    sizes = arb_mat(n, n, [abs(v) for v in one.V.entries()])
    bounds = [arb(2)] * n
    for _ in range(ITERATES):
        worst = [D.max(start) for D, start in zip(bounds, first, strict=True)]
        moved = (sizes * arb_mat(n, 1, worst)).entries()
        bounds = [(m + c).upper().min(arb(2)) for m, c in zip(moved, changed, strict=True)]
    return bounds


def is_relu_equivalent(one: SigmoidNetwork, other: SigmoidNetwork) -> bool:
    """True if a scalar ReLU network with |w| < 1 and another one are the same map on the interval:
    the other's first unit is the one's, and the biases keep all units that it reads at 0, as they
    read only it and one another. Source: Emami et al., Theorem 3.1."""
    w, V, m = one.V[0, 0], other.V, len(other.d)
    if len(one.d) != 1 or {one.activation, other.activation} != {"relu"} or not abs(w) < 1:
        return False
    held_units = [i for i in range(1, m) if V[0, i] != 0]
    states = max(abs(one.start[0]), (abs(one.g[0]) * BOUND + abs(one.d[0])) / (1 - abs(w)))
    free = [i for i in range(1, m) if i not in held_units]
    return (
        (w, one.g[0], one.d[0], one.start[0], one.e[0], one.e0)
        == (V[0, 0], other.g[0], other.d[0], other.start[0], other.e[0], other.e0)
        and all(other.e[i] == 0 for i in free)
        and all(
            other.g[i] == other.start[i] == 0
            and other.d[i] <= -abs(V[i, 0]) * states
            and all(V[i, j] == 0 for j in free)
            for i in held_units
        )
    )


def dot(weights: Sequence[fmpq], values: Sequence[arb]) -> arb:
    """Σ w_i v_i."""
    return sum((arb(w) * v for w, v in zip(weights, values, strict=True)), arb(0))


def padded_differences(one: Sequence[fmpq], other: Sequence[fmpq]) -> list[fmpq]:
    """one − other, the shorter one continued by zeros."""
    size = max(len(one), len(other))
    first, second = ([*part, *[ZERO] * (size - len(part))] for part in (one, other))
    return [p - q for p, q in zip(first, second, strict=True)]
