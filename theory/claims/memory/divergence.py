"""Gradient descent on an unstable scalar system doubles its parameter in every step."""

from sympy import Expr, Integer

from theory.language import ZERO, Assumption, Statement, assume, at, define, eq, exists, le, symbols
from theory.language.terms.gradients import descent
from theory.language.terms.variables import i, j, m, y, z
from theory.language.terms.vectors import Scalar, function
from theory.proof import step, theorem

T, alpha, a_1, descent_growth = symbols("T alpha a_1 descent_growth")

rate = function("rate", Scalar, __name__)  # rate(j), the step size of step j + 1
series = function("series", Scalar, __name__, defined=True)  # series(m, y) = Σ_{i≤m} i y^{2i-2}
SERIES = define(
    "series",
    (m, y),
    eq(series(0, y), ZERO),
    eq(series(m + 1, y), series(m, y) + (m + 1) * y ** (2 * m)),
)
DESCENT = assume(
    "descent",
    "a_{i+1} = a_i − α_i p′(a_i) with p′(a) = Σ_{i<T} i a^{2i−1}, the risk of h = ah + x "
    "with white inputs and target x_T",
    forall=(j,),
    ties=True,
).that(
    eq(descent(0), a_1),
    eq(descent(j + 1), descent(j) - rate(j) * descent(j) * series(T - 1, descent(j))),
)
STEP_SIZES = assume(
    "step sizes",
    "α_1 = α > 0 and α_{i+1} ≥ α_i/2, as for α_i = α/i and for constant α",
    forall=(j,),
).that(eq(rate(0), alpha), le(ZERO, rate(j)), le(rate(j) / 2, rate(j + 1)))
LENGTH = Assumption("length", "T ≥ 3", le(Integer(3), T))
steepness = alpha * (T - 1) * a_1 ** (2 * T - 4)
STEEP = Assumption("steep start", "α(T − 1)a_1^{2T−4} ≥ 3", le(Integer(3), steepness))
now, then = descent(j), descent(j + 1)


def _steep(index: Expr) -> Statement:
    return le(Integer(3), rate(index) * (T - 1) * descent(index) ** (2 * T - 4))


DIVERGENCE = theorem(
    "divergence",
    exists(Integer(2), descent_growth),
    (DESCENT, STEP_SIZES, LENGTH, STEEP),
    "descent",
    (
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
        step("one step doubles", le(4 * now**2, then**2), forall=(j,), given=(_steep(j),)).by(
            at("descent", j), at("last term", T - 2, now), at("step sizes", j), "length"
        ),
        step("the start stays steep", _steep(j), forall=(j,)).by_induction(
            base=("steep start", at("descent", 0), at("step sizes", 0)),
            step=(
                at("one step doubles", j),
                at("powers grow", T - 3, now, then),
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
