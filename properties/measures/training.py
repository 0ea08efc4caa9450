"""Fast paths of projected gradient descent, on the full and the truncated loss at once."""

from __future__ import annotations

from collections.abc import Callable

from flint import arb, fmpq

from rnnbounds.properties.measures.measure import FastPath, Opaque, enclose_with_error
from rnnbounds.properties.measures.readings import exact_training as exact
from rnnbounds.properties.measures.readings import training
from rnnbounds.properties.measures.runs import ball_descent, descent
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.properties.systems.unitary.exact import rational
from rnnbounds.theory.numbers.interval import Interval


def is_kind(kind: str) -> Callable[[Batch], bool]:
    """Build a predicate that is True if the systems are of that kind."""
    return lambda batch: batch.spec.kind == kind


def enclose_quadratic_gap(batch: Batch) -> Interval:
    """The distance of the weights of the quadratic instance, which is known exactly."""
    shape = (batch.cell.batch, batch.x.shape[3], batch.K + 1)
    return exact.constant_interval(abs(arb(exact.quadratic_gap(batch))), shape)


def growth_square(batch: Batch, k: int) -> fmpq:
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


IS_TRAINING = is_kind("training")
FAST = (
    FastPath(
        "w_gap", lambda batch: batch.cells is not None, enclosure=descent.w_gap,
        balls=ball_descent.w_gap_ball,
    ),
    FastPath(
        "w_gap", IS_TRAINING, enclosure=enclose_with_error(training.w_gap, training.w_gap_rounding),
        balls=exact.w_gap_ball,
    ),
    FastPath(
        "trained_gap", IS_TRAINING,
        enclosure=enclose_with_error(training.trained_gap, training.trained_gap_rounding),
        balls=exact.trained_gap_ball,
    ),
    FastPath(
        "w_gap", is_kind("quadratic"), enclosure=enclose_quadratic_gap,
        balls=lambda pair, k: abs(arb(exact.quadratic_gap(pair.batch))),
        square=lambda batch, k: exact.quadratic_gap(batch) ** 2,
    ),
    Opaque(
        "descent_growth", balls=lambda pair, k: arb(growth_square(pair.batch, k)).sqrt(),
        square=growth_square, reason="it is the least growth of three steps",
    ),
)  # fmt: skip
