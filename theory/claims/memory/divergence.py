"""Gradient descent on an unstable scalar system doubles its parameter in every step."""

from sympy import Expr, Integer

from rnnbounds.theory.language import (
    ZERO,
    Assumption,
    Statement,
    assume,
    at,
    define,
    eq,
    exists,
    le,
    symbols,
)
from rnnbounds.theory.language.terms.gradients import descent
from rnnbounds.theory.language.terms.variables import i, j, m, y, z
from rnnbounds.theory.language.terms.vectors import Scalar, function
from rnnbounds.theory.proof import step, theorem

T, alpha, a_1, descent_growth = symbols("T alpha a_1 descent_growth")

rate = function("rate", Scalar, __name__)  # rate(j), the step size of step j + 1
slope = function("slope", Scalar, __name__)  # slope(a) = p′(a)
series = function("series", Scalar, __name__, defined=True)  # series(m, y) = Σ_{i≤m} i y^{2i-2}
SERIES = define(
    "series",
    (m, y),
    eq(series(0, y), ZERO),
    eq(series(m + 1, y), series(m, y) + (m + 1) * y ** (2 * m)),
)
# The second moments of a run with a = y: E h_j², and E h_j dh_j/da.
variance, covariance = (function(name, Scalar, __name__) for name in ("variance", "covariance"))
MOMENTS = assume(
    "moments",
    "h_t = a h_{t−1} + x_t from 0, inputs with E x_t² = 1 and uncorrelated with all before: "
    "E h_t² = a² E h_{t−1}² + 1, and E h_t dh_t/da = a² E h_{t−1} dh_{t−1}/da + a E h_{t−1}²",
    forall=(j, y),
).that(
    eq(variance(0, y), ZERO),
    eq(variance(j + 1, y), y**2 * variance(j, y) + 1),
    eq(covariance(0, y), ZERO),
    eq(covariance(j + 1, y), y**2 * covariance(j, y) + y * variance(j, y)),
)
RISK = assume("risk", "p(a) = E(h_T − x_T)²/2 = a² E h_{T−1}²/2, and so p′(a)", forall=(y,)).that(
    eq(slope(y), y**2 * covariance(T - 1, y) + y * variance(T - 1, y))
)
DESCENT = assume("descent", "a_{i+1} = a_i − α_i p′(a_i)", forall=(j,)).that(
    eq(descent(0), a_1), eq(descent(j + 1), descent(j) - rate(j) * slope(descent(j)))
)
STEP_SIZES = assume(
    "step sizes",
    "α_1 = α > 0 and α_{i+1} ≥ α_i/2, as for α_i = α/i and for constant α",
    forall=(j,),
).that(eq(rate(0), alpha), le(ZERO, rate(j)), le(rate(j) / 2, rate(j + 1)))
LENGTH = Assumption("length", "T ≥ 3", le(Integer(3), T))
steepness = alpha * (T - 1) * a_1 ** (2 * T - 4)
STEEP = Assumption("steep start", "α(T − 1)a_1^{2T−4} ≥ 3", le(Integer(3), steepness))
weights_now, weights_next = descent(j), descent(j + 1)


def _steep_at(index: Expr) -> Statement:
    return le(Integer(3), rate(index) * (T - 1) * descent(index) ** (2 * T - 4))


# p′(a) = Σ_{i<T} i a^{2i−1}: E h_t² = Σ_{i<t} a^{2i}, and E h_t dh_t/da is a times that of before.
CLOSED_FORM = (
    step(
        "one power more", eq(variance(j + 1, y), variance(j, y) + y ** (2 * j)), (j, y)
    ).by_induction(base=at("moments", 0, y), step=(at("moments", j, y), at("moments", j + 1, y))),
    step(
        "series of variances",
        eq(series(j, y) * y**2 + variance(j + 1, y), series(j + 1, y)),
        (j, y),
    ).by_induction(
        base=(SERIES.at(0, y), at("moments", 0, y)),
        step=(SERIES.at(j, y), SERIES.at(j + 1, y), at("one power more", j + 1, y)),
    ),
    step("covariances add up", eq(covariance(j + 1, y), y * series(j, y)), (j, y)).by_induction(
        base=(at("moments", 0, y), SERIES.at(0, y)),
        step=(at("moments", j + 1, y), at("series of variances", j, y)),
    ),
    step("closed form", eq(slope(y), y * series(T - 1, y)), (y,)).by(
        at("risk", y), at("moments", T - 1, y), at("covariances add up", T - 1, y), "length"
    ),
)
DIVERGENCE = theorem(
    "divergence",
    exists(Integer(2), descent_growth),
    (MOMENTS, RISK, DESCENT, STEP_SIZES, LENGTH, STEEP),
    "descent",
    (
        *CLOSED_FORM,
        step("even powers", le(ZERO, y ** (2 * m)), forall=(m, y)).by_induction(over=m),
        step("series not negative", le(ZERO, series(m, y)), forall=(m, y)).by_induction(
            base=SERIES.at(m, y), step=(SERIES.at(m, y), at("even powers", m, y)), over=m
        ),
        step("last term", le((m + 1) * y ** (2 * m), series(m + 1, y)), forall=(m, y)).by(
            SERIES.at(m, y), at("series not negative", m, y)
        ),
        step(
            "powers grow",
            le(4 * y ** (2 * m + 2), z ** (2 * m + 2)),
            forall=(m, y, z),
            given=(le(4 * y**2, z**2),),
        ).by_induction(base="given 1", step=at("even powers", m + 1, y), over=m),
        step(
            "one step doubles",
            le(4 * weights_now**2, weights_next**2),
            forall=(j,),
            given=(_steep_at(j),),
        ).by(
            at("descent", j),
            at("closed form", weights_now),
            at("last term", T - 2, weights_now),
            at("step sizes", j),
            "length",
        ),
        step("the start stays steep", _steep_at(j), forall=(j,)).by_induction(
            base=("steep start", at("descent", 0), at("step sizes", 0)),
            step=(
                at("one step doubles", j),
                at("powers grow", T - 3, weights_now, weights_next),
                at("step sizes", j),
                "length",
            ),
        ),
    ),
    note="for every step: the parameter at least doubles",
).by(
    at("one step doubles", i),
    at("the start stays steep", i),
    at("even powers", T - 3, descent(i)),
    "length",
)
