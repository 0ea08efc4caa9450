"""Gradient descent on an unstable scalar system doubles its parameter in every step."""

from sympy import Expr, Integer

from rnnbounds.theory.language import (
    ONE,
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
from rnnbounds.theory.language.terms.networks import descent
from rnnbounds.theory.language.terms.variables import a, b, c, i, j, m, x, y, z
from rnnbounds.theory.language.terms.vectors import Scalar, entry, function, inner
from rnnbounds.theory.proof import step, theorem
from rnnbounds.theory.proof.methods import HYPOTHESIS

T, alpha, a_1, descent_growth = symbols("T alpha a_1 descent_growth")

rate = function("rate", Scalar)  # rate(j), the step size of step j + 1
loss_slope = function("loss_slope", Scalar)  # loss_slope(a) = p′(a)
series = function("series", Scalar, defined=True)  # series(m, y) = Σ_{i≤m} i y^{2i-2}
SERIES = define(
    "series",
    (m, y),
    eq(series(0, y), ZERO),
    eq(series(m + 1, y), series(m, y) + (m + 1) * y ** (2 * m)),
)
# driven(j, y) = h_j for a = y, and d_driven(j, y) its derivative in a: random numbers, of which
# ⟨·, ·⟩ is the mean of products
driven, d_driven = (function(name) for name in ("driven", "d_driven"))
h, d, x_next = driven(j, y), d_driven(j, y), entry(x, j + 1)
h_next, d_next = driven(j + 1, y), d_driven(j + 1, y)
end, final_derivative = driven(T - 1, y), d_driven(T - 1, y)
SYSTEM = assume(
    "scalar system",
    "h_t = a h_{t−1} + x_t from 0, and so dh_t/da = a dh_{t−1}/da + h_{t−1}",
    forall=(j, y),
).that(
    eq(driven(0, y), ZERO),
    eq(h_next, y * h + x_next),
    eq(d_driven(0, y), ZERO),
    eq(d_next, y * d + h),
)
MEANS = assume(
    "means",
    "⟨a, b⟩ = E ab of two random numbers: symmetric, and linear in each",
    forall=(y, a, b, c),
).that(eq(inner(y * a + b, c), y * inner(a, c) + inner(b, c)), eq(inner(a, c) - inner(c, a), ZERO))
WHITE = assume("white inputs", "E x_t² = 1, and E x_s x_t = 0 for s < t", forall=(j, m)).that(
    eq(inner(entry(x, j), entry(x, j)), ONE), eq(inner(entry(x, j), entry(x, j + m + 1)), ZERO)
)
RISK = assume(
    "risk", "p(a) = E(h_T − x_T)²/2, and so p′(a) = E(h_T − x_T) dh_T/da", forall=(y,)
).that(eq(loss_slope(y), inner(driven(T, y) - entry(x, T), d_driven(T, y))))
DESCENT = assume("descent", "a_{i+1} = a_i − α_i p′(a_i)", forall=(j,)).that(
    eq(descent(0), a_1), eq(descent(j + 1), descent(j) - rate(j) * loss_slope(descent(j)))
)
ON_RISK = (SYSTEM, MEANS, WHITE, RISK, DESCENT)
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
        "states know no later input", eq(inner(h, entry(x, j + m + 1)), ZERO), (j, m, y)
    ).inductively(
        base=(at("scalar system", 0, y), at("means", 1, 0, 0, entry(x, m + 1))),
        step=(
            at("scalar system", j, y),
            at("means", y, h, x_next, entry(x, j + m + 2)),
            at(HYPOTHESIS, m + 1),
            at("white inputs", j + 1, m),
        ),
        others=(m,),
    ),
    step("nor do derivatives", eq(inner(d, entry(x, j + m + 1)), ZERO), (j, m, y)).inductively(
        base=(at("scalar system", 0, y), at("means", 1, 0, 0, entry(x, m + 1))),
        step=(
            at("scalar system", j, y),
            at("means", y, d, h, entry(x, j + m + 2)),
            at(HYPOTHESIS, m + 1),
            at("states know no later input", j, m + 1, y),
        ),
        others=(m,),
    ),
    step("variance", eq(inner(h_next, h_next), y**2 * inner(h, h) + 1), (j, y)).by(
        at("scalar system", j, y),
        at("means", y, h, x_next, y * h + x_next),
        at("means", y, h, x_next, h),
        at("means", y, h, x_next, x_next),
        at("means", y, y * h + x_next, 0, x_next),
        at("states know no later input", j, 0, y),
        at("white inputs", j + 1, 0),
    ),
    step("covariance", eq(inner(h_next, d_next), y**2 * inner(h, d) + y * inner(h, h)), (j, y)).by(
        at("scalar system", j, y),
        at("means", y, h, x_next, y * d + h),
        at("means", y, d, h, h),
        at("means", y, d, h, x_next),
        at("means", y, y * d + h, 0, x_next),
        at("states know no later input", j, 0, y),
        at("nor do derivatives", j, 0, y),
    ),
    step(
        "one power more", eq(inner(h_next, h_next), inner(h, h) + y ** (2 * j)), (j, y)
    ).by_induction(
        base=(at("variance", 0, y), at("scalar system", 0, y), at("means", 1, 0, 0, 0)),
        step=(at("variance", j, y), at("variance", j + 1, y)),
    ),
    step(
        "series of variances",
        eq(series(j, y) * y**2 + inner(h_next, h_next), series(j + 1, y)),
        (j, y),
    ).by_induction(
        base=(
            SERIES.at(0, y),
            at("one power more", 0, y),
            at("scalar system", 0, y),
            at("means", 1, 0, 0, 0),
        ),
        step=(SERIES.at(j, y), SERIES.at(j + 1, y), at("one power more", j + 1, y)),
    ),
    step("covariances add up", eq(inner(h_next, d_next), y * series(j, y)), (j, y)).by_induction(
        base=(
            at("covariance", 0, y),
            at("scalar system", 0, y),
            at("means", 1, 0, 0, 0),
            SERIES.at(0, y),
        ),
        step=(at("covariance", j + 1, y), at("series of variances", j, y)),
    ),
    step(
        "risk by means",
        eq(loss_slope(y), y**2 * inner(end, final_derivative) + y * inner(end, end)),
        (y,),
    ).by(
        at("risk", y),
        at("scalar system", T - 1, y),
        at("means", y, end, 0, y * final_derivative + end),
        at("means", 1, 0, 0, y * final_derivative + end),
        at("means", y, final_derivative, end, end),
        "length",
    ),
    step("closed form", eq(loss_slope(y), y * series(T - 1, y)), (y,)).by(
        at("risk by means", y),
        at("covariance", T - 1, y),
        at("covariances add up", T - 1, y),
        "length",
    ),
)
DIVERGENCE = theorem(
    "divergence",
    exists(Integer(2), descent_growth),
    (*ON_RISK, STEP_SIZES, LENGTH, STEEP),
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
