"""Fast paths of projected gradient descent, on the full and the truncated loss at once."""

from __future__ import annotations

from collections.abc import Callable

from flint import arb, fmpq

from rnnbounds.properties.measures.cells import cells
from rnnbounds.properties.measures.measure import FastPath, Opaque, enclosed
from rnnbounds.properties.measures.readings import exact_training as exact
from rnnbounds.properties.measures.readings import training
from rnnbounds.properties.measures.runs import ball_descent, descent
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.properties.systems.unitary.exact import rational
from rnnbounds.theory.numbers.interval import Interval


def of_kind(kind: str) -> Callable[[Batch], bool]:
    """Build a predicate that is True if the systems are of that kind."""
    return lambda batch: batch.spec.kind == kind


def quadratic(name: str, before: int) -> FastPath:
    """A distance of the weights of the quadratic instance, which is known exactly."""

    def gap(batch: Batch) -> fmpq:
        return exact.quadratic_gap(batch, max(batch.spec.steps - before, 0))

    def enclosure(batch: Batch) -> Interval:
        shape = (batch.cell.batch, batch.x.shape[3], batch.K + 1)
        return exact.interval(abs(arb(gap(batch))), shape)

    return FastPath(
        name, of_kind("quadratic"), enclosure=enclosure,
        balls=lambda pair, k: abs(arb(gap(pair.batch))), square=lambda batch, k: gap(batch) ** 2,
    )  # fmt: skip


def descent_square(batch: Batch, k: int) -> fmpq:
    """min (a_{t+1}/a_t)² over three steps α/t of descent on p_T(a) = ½ Σ_{i<T} a^{2i} from a = lam.

    a = 0 is a fixed point: the growth is then 0.
    """
    a, alpha, growths = rational(batch.spec.lam), rational(batch.spec.alpha), []
    for t in (1, 2, 3):
        if a == 0:
            return fmpq(0)
        # p_T'(a) = Σ_{i=1}^{T−1} i a^{2i−1}, and the factor is 1 − (α/t) p_T'(a)/a.
        slope = sum((i * a ** (2 * i - 2) for i in range(1, batch.spec.T)), fmpq(0))
        factor = 1 - alpha / t * slope
        growths.append(factor**2)
        a = a * factor
    return min(growths)


TRAINED = of_kind("training")
FAST = (
    FastPath("w_gap", cells, enclosure=descent.w_gap, balls=ball_descent.w_gap_ball),
    FastPath(
        "w_gap", TRAINED, enclosure=enclosed(training.w_gap, training.w_gap_slack),
        balls=exact.w_gap_ball(0),
    ),
    FastPath(
        "w_gap_before", TRAINED,
        enclosure=enclosed(training.w_gap_before, training.w_gap_before_slack),
        balls=exact.w_gap_ball(1),
    ),
    FastPath(
        "trained_gap", TRAINED,
        enclosure=enclosed(training.trained_gap, training.trained_gap_slack),
        balls=exact.trained_gap_ball,
    ),
    quadratic("w_gap", 0),
    quadratic("w_gap_before", 1),
    Opaque(
        "descent_growth", balls=lambda pair, k: arb(descent_square(pair.batch, k)).sqrt(),
        square=descent_square, reason="it is the least growth of three steps",
    ),
)  # fmt: skip
