"""One (system, sequence) pair in exact rationals, for activations that map rationals to rationals.

Every float is a rational number, so a linear or ReLU system has exact states, and the squares of
their norms decide what no precision can: equality.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import isfinite

from flint import fmpq, fmpq_mat
from torch import Tensor

from rnnbounds.impl.arithmetic.entries.rationals import IrrationalError, Rationals, Ratios
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.properties.systems.unitary.exact import rational, square, times

Vector = list[fmpq]
VANILLA = "rnn-"  # how the kinds of cells whose states are ρ(z) are named
Square = Callable[[Batch, int], fmpq | None]


def where_rational(read: Square) -> Square:
    """The square, None where it leaves the rationals."""

    def found(batch: Batch, k: int) -> fmpq | None:
        try:
            return read(batch, k)
        except IrrationalError:
            return None

    return found


def parameters(batch: Batch) -> Rationals:
    """The weights of one pair as rationals, made once."""
    if "rationals" not in batch.cache:
        named = batch.systems.parameters
        batch.cache["rationals"] = Rationals({name: part[0] for name, part in named.items()})
    found: Rationals = batch.cache["rationals"]
    return found


def run(batch: Batch, start: Sequence[fmpq], inputs: Iterable[list[float]]) -> Vector | None:
    """The state of one pair after these inputs, of any cell; None where a step leaves the
    rationals."""
    made, s = parameters(batch), Ratios([[v] for v in start])
    try:
        for x in inputs:
            s = batch.cell.program(made, s, Ratios([[rational(v)] for v in x]))
    except IrrationalError:
        return None
    return list(s.matrix.entries())


def seen(batch: Batch) -> list[list[float]]:
    """The inputs x_1 … x_T of one pair."""
    if "inputs of the pair" not in batch.cache:
        batch.cache["inputs of the pair"] = batch.x[0, :, :, 0].tolist()
    found: list[list[float]] = batch.cache["inputs of the pair"]
    return found


def range_bound(batch: Batch) -> fmpq | None:
    """M ≥ |ρ|, which no unit of a run of a vanilla network exceeds; None where nothing is known."""
    vanilla = batch.cells is None or batch.cells.kind.startswith(VANILLA)
    if batch.exact or not vanilla:
        return None
    most = batch.cell.activation.bound
    return rational(most) if isfinite(most) else None


def range_square(batch: Batch) -> fmpq | None:
    """n M², which no ‖h_t‖₂² exceeds."""
    most = range_bound(batch)
    return None if most is None else batch.cell.n * most**2


def rolled(batch: Batch, start: int, inputs: list[list[float]] | None = None) -> Vector | None:
    """The state after the inputs x_{start+1} … x_T (or other ``inputs``) from the zero state."""
    given = seen(batch) if inputs is None else inputs
    key = f"rational state from {start} on {'its own inputs' if inputs is None else inputs}"
    if key not in batch.cache:
        batch.cache[key] = run(batch, [fmpq(0)] * batch.cell.n, given[start:])
    found: Vector | None = batch.cache[key]
    return found


def started(batch: Batch, k: int) -> Vector | None:
    """h_{T−k}, exactly."""
    key = "rational states"
    if key not in batch.cache:
        found: list[Vector | None] = [[fmpq(0)] * batch.cell.n]
        for x in seen(batch):
            found.append(None if found[-1] is None else run(batch, found[-1], [x]))
        batch.cache[key] = found
    states: list[Vector | None] = batch.cache[key]
    return states[batch.spec.T - k]


def minus(one: Vector | None, two: Vector | None) -> Vector | None:
    """The difference, if both are there."""
    return None if one is None or two is None else [p - q for p, q in zip(one, two, strict=True)]


def truncated(batch: Batch) -> list[Vector] | None:
    """h_T^0 … h_T^K, exactly, run side by side; None where one of them leaves the rationals."""
    key = "rational truncated states"
    if key not in batch.cache:
        made, zero = parameters(batch), Ratios([[fmpq(0)]] * batch.cell.n)
        s = Ratios([[]] * batch.cell.n)  # the longest window first
        try:
            for x in seen(batch)[batch.spec.T - batch.K :]:
                s = Ratios([row + new for row, new in zip(s.units, zero.units, strict=True)])
                s = batch.cell.program(made, s, Ratios([[rational(v)] for v in x]))
            rows = (row + new for row, new in zip(s.units, zero.units, strict=True))
            batch.cache[key] = [list(column) for column in zip(*rows, strict=True)][::-1]
        except IrrationalError:
            batch.cache[key] = None
    found: list[Vector] | None = batch.cache[key]
    return found


def gap(batch: Batch, k: int) -> Vector | None:
    """h_T − h_T^k, exactly."""
    full = rolled(batch, 0)
    known = None if full is None else truncated(batch)
    return minus(full, rolled(batch, max(batch.spec.T - k, 0)) if known is None else known[k])


def forward_gap(batch: Batch, k: int) -> Vector | None:
    """H_T^{(k)} − h_T^k, exactly: the layers' own recursion against the truncated rollout."""
    x, n = seen(batch), batch.cell.n
    layer: list[Vector | None] = [[fmpq(0)] * n for _ in range(batch.spec.T + 1)]
    for _ in range(k):
        below = layer
        layer = [[fmpq(0)] * n]
        for t, row in enumerate(x):
            before = below[t]
            layer.append(None if before is None else run(batch, before, [row]))
    return minus(layer[-1], rolled(batch, max(batch.spec.T - k, 0)))


def padding_gap(batch: Batch, k: int) -> Vector | None:
    """h_T^k minus the full state whose inputs are zero before the window, exactly."""
    x, start = seen(batch), max(batch.spec.T - k, 0)
    padded = [[0.0] * len(row) if t < start else row for t, row in enumerate(x)]
    return minus(rolled(batch, start), rolled(batch, 0, padded))


def recurrent_gap(batch: Batch, k: int) -> Vector | None:
    """h_T minus itself with the inputs before the window negated, exactly."""
    x, start = seen(batch), max(batch.spec.T - k, 0)
    negated = [[-v for v in row] if t < start else row for t, row in enumerate(x)]
    return minus(rolled(batch, 0), rolled(batch, 0, negated))


def edge_gap(batch: Batch, k: int, other: list[list[float]]) -> Vector | None:
    """H_T^{(k)} minus itself with its oldest input replaced, exactly; None at k = 0."""
    if not 1 <= k <= batch.spec.T:
        return None
    x, edge = seen(batch), batch.spec.T - k
    changed = [other[t] if t == edge else row for t, row in enumerate(x)]
    return minus(rolled(batch, edge), rolled(batch, edge, changed))


def pair_states(*states: Tensor) -> list[Vector]:
    """The states (1, N, 1) of one pair."""
    return [[rational(v) for v in s[0, :, 0].tolist()] for s in states]


def step_gap(batch: Batch) -> Vector | None:
    """φ(h, x_1) − φ(h', x_1), exactly."""
    return minus(*(run(batch, h, seen(batch)[:1]) for h in pair_states(batch.h, batch.h_other)))


def state_gap(batch: Batch) -> Vector:
    """h − h', exactly."""
    return [p - q for p, q in zip(*pair_states(batch.h, batch.h_other), strict=True)]


def rows(weights: list[list[float]]) -> list[list[fmpq]]:
    """Floats as they are."""
    return [[rational(w) for w in row] for row in weights]


def weighted(weights: list[list[float]], vector: Vector | None) -> fmpq | None:
    """‖Q v‖₂², exactly."""
    return None if vector is None else square(times(fmpq_mat(rows(weights)), vector))


def relative_sup(weights: list[float], vector: Vector | None) -> fmpq | None:
    """(max |v_i|/weight_i)², exactly."""
    if vector is None:
        return None
    return max(v * v / rational(w) ** 2 for v, w in zip(vector, weights, strict=True))


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
