"""One (system, sequence) pair in exact rationals, for activations that map rationals to rationals.

Every float is a rational number, so a linear or ReLU system has exact states, and the squares of
their norms decide what no precision can: equality.
"""

from __future__ import annotations

from fractions import Fraction
from math import isfinite

from flint import fmpq

from properties.systems.batch import Batch

Vector = list[fmpq]


def exact(value: float) -> fmpq:
    """The rational number that a finite float is."""
    fraction = Fraction(value)
    return fmpq(fraction.numerator, fraction.denominator)


def product(matrix: list[list[float]], vector: Vector) -> Vector:
    """A v, exactly."""
    return [
        sum((exact(w) * v for w, v in zip(row, vector, strict=True)), fmpq(0)) for row in matrix
    ]


def range_square(batch: Batch) -> fmpq | None:
    """n sup ρ², which no ‖h_t‖₂² exceeds, of a vanilla network with a bounded activation."""
    most = batch.cell.activation.bound
    vanilla = batch.cells is None and not batch.exact and isfinite(most)
    return batch.cell.n * exact(most) ** 2 if vanilla else None


def square(vector: Vector) -> fmpq:
    """‖v‖₂², exactly."""
    return sum((v * v for v in vector), fmpq(0))


def step(batch: Batch, h: Vector, x: list[float]) -> Vector | None:
    """φ(h, x) of the pair, or None where the activation leaves the rationals."""
    drive = product(batch.cell.U[0].tolist(), [exact(v) for v in x])
    bias = [exact(v) for v in batch.cell.b[0].tolist()]
    carried = product(batch.cell.W[0].tolist(), h)
    values = [
        batch.cell.activation.rational(w + u + b)
        for w, u, b in zip(carried, drive, bias, strict=True)
    ]
    known = [v for v in values if v is not None]
    return known if len(known) == len(values) else None


def rolled(batch: Batch, start: int, inputs: list[list[float]] | None = None) -> Vector | None:
    """The state after the inputs x_{start+1} … x_T (or other ``inputs``) from the zero state."""
    seen = batch.x[0, :, :, 0].tolist() if inputs is None else inputs
    key = f"rational state from {start} on {seen}"
    if key not in batch.cache:
        h: Vector | None = [fmpq(0)] * batch.cell.n
        for x in seen[start:]:
            h = step(batch, h, x) if h is not None else None
        batch.cache[key] = h
    found = batch.cache[key]
    assert found is None or isinstance(found, list)
    return found


def started(batch: Batch, k: int) -> Vector | None:
    """h_{T−k}, exactly."""
    return rolled(batch, 0, batch.x[0, : batch.spec.T - k, :, 0].tolist())


def minus(one: Vector | None, two: Vector | None) -> Vector | None:
    """The difference, if both are there."""
    return None if one is None or two is None else [p - q for p, q in zip(one, two, strict=True)]


def gap(batch: Batch, k: int) -> Vector | None:
    """h_T − h_T^k, exactly."""
    return minus(rolled(batch, 0), rolled(batch, max(batch.spec.T - k, 0)))


def forward_gap(batch: Batch, k: int) -> Vector | None:
    """H_T^{(k)} − h_T^k, exactly: the layers' own recursion against the truncated rollout."""
    x, n = batch.x[0, :, :, 0].tolist(), batch.cell.n
    layer: list[Vector | None] = [[fmpq(0)] * n for _ in range(batch.spec.T + 1)]
    for _ in range(k):
        below = layer
        layer = [[fmpq(0)] * n]
        for t, row in enumerate(x):
            before = below[t]
            layer.append(None if before is None else step(batch, before, row))
    return minus(layer[-1], rolled(batch, max(batch.spec.T - k, 0)))


def padding_gap(batch: Batch, k: int) -> Vector | None:
    """h_T^k minus the full state whose inputs are zero before the window, exactly."""
    x, start = batch.x[0, :, :, 0].tolist(), max(batch.spec.T - k, 0)
    padded = [[0.0] * len(row) if t < start else row for t, row in enumerate(x)]
    return minus(rolled(batch, start), rolled(batch, 0, padded))


def recurrent_gap(batch: Batch, k: int) -> Vector | None:
    """h_T minus itself with the inputs before the window negated, exactly."""
    x, start = batch.x[0, :, :, 0].tolist(), max(batch.spec.T - k, 0)
    negated = [[-v for v in row] if t < start else row for t, row in enumerate(x)]
    return minus(rolled(batch, 0), rolled(batch, 0, negated))


def edge_gap(batch: Batch, k: int, other: list[list[float]]) -> Vector | None:
    """H_T^{(k)} minus itself with its oldest input replaced, exactly; None at k = 0."""
    if not 1 <= k <= batch.spec.T:
        return None
    x, edge = batch.x[0, :, :, 0].tolist(), batch.spec.T - k
    changed = [other[t] if t == edge else row for t, row in enumerate(x)]
    return minus(rolled(batch, edge), rolled(batch, edge, changed))


def step_gap(batch: Batch) -> Vector | None:
    """φ(h, x_1) − φ(h', x_1), exactly."""
    x = batch.x[0, 0, :, 0].tolist()
    pair = ([exact(v) for v in h[0, :, 0].tolist()] for h in (batch.h, batch.h_other))
    return minus(*(step(batch, h, x) for h in pair))


def state_gap(batch: Batch) -> Vector:
    """h − h', exactly."""
    pairs = zip(batch.h[0, :, 0].tolist(), batch.h_other[0, :, 0].tolist(), strict=True)
    return [exact(p) - exact(q) for p, q in pairs]


def weighted(weights: list[list[float]], vector: Vector | None) -> fmpq | None:
    """‖Q v‖₂², exactly."""
    return None if vector is None else square(product(weights, vector))


def relative_sup(weights: list[float], vector: Vector | None) -> fmpq | None:
    """(max |v_i|/weight_i)², exactly."""
    if vector is None:
        return None
    return max(v * v / exact(w) ** 2 for v, w in zip(vector, weights, strict=True))


def descent_growth(a: fmpq, alpha: fmpq, T: int, steps: int = 3) -> fmpq:
    """min |a_{t+1}|/|a_t| over gradient descent with steps α/t on p_T(a) = ½ Σ_{i<T} a^{2i}.

    a = 0 is a fixed point: the growth is then 0.
    """
    smallest: fmpq | None = None
    for t in range(1, steps + 1):
        if a == 0:
            return fmpq(0)
        # p_T'(a) = Σ_{i=1}^{T−1} i a^{2i−1}, and the factor is 1 − (α/t) p_T'(a)/a.
        slope = sum((i * a ** (2 * i - 2) for i in range(1, T)), fmpq(0))
        factor = 1 - alpha / t * slope
        growth = abs(factor)
        smallest = growth if smallest is None else min(smallest, growth)
        a = a * factor
    assert smallest is not None
    return smallest
