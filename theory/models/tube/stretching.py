"""Derivatives of runs in a tube in metrics that vary in time, |M_t d| for the line at time t.

‖M_1 φ′‖ ≤ g_1 of the first step and ‖M_{t+1} φ′ A‖ ≤ g_{t+1} for each A with ‖M_t A‖ ≤ g_t, so that
‖∂s_T/∂s_0‖ ≤ g_T, as M_T = I; the printed exponent is at least log(g_T)/T.
"""

from sympy import exp

from rnnbounds.theory.language import ONE, Assumption, Clause, assume, at, le, symbols
from rnnbounds.theory.language.terms.certificates import BEGUN, RUN_SLOPE, begun, run_slope
from rnnbounds.theory.language.terms.gradients import d_state
from rnnbounds.theory.language.terms.tubes import alone, growth, met, metric
from rnnbounds.theory.language.terms.variables import A, a, b, j, v, x
from rnnbounds.theory.language.terms.vectors import entry, norm
from rnnbounds.theory.models.tube.sets import close, in_line
from rnnbounds.theory.proof import step

T, exponent = symbols("T near_exponent_told")
SOME_STEPS = Assumption("some steps", "there is an input: T ≥ 1", le(ONE, T))
_inside = in_line(alone(j), v), close(b, met(alone(j)))
FIRST_SLOPE = assume(
    "first slope",
    "g_1 bounds the derivatives of the first step, at all states and inputs of it, in the metric",
    forall=(v, b),
).that(
    Clause(
        le(norm(metric(alone(1)) * d_state(v, b)), growth(alone(1))),
        (in_line(alone(0), v), close(b, met(alone(0)))),
    )
)
NEXT_SLOPE = assume(
    "next slope",
    "a step stretches what g_j bounds to g_{j+1} at most, at all states and inputs of it",
    forall=(j, v, b, A),
).that(
    Clause(
        le(norm(metric(alone(j + 1)) * d_state(v, b) * A), growth(alone(j + 1))),
        (*_inside, le(norm(metric(alone(j)) * A), growth(alone(j)))),
    )
)
LAST_METRIC = assume(
    "last metric", "the metric of the last line is the Euclidean norm", forall=(A,)
).that(le(norm(A), norm(metric(alone(T)) * A)))
PRINTED_EXPONENT = assume(
    "printed exponent", "exp(T e) is at least g_T, e the printed exponent", forall=()
).that(le(growth(alone(T)), exp(T * exponent)))
ASSUMED = (SOME_STEPS, FIRST_SLOPE, NEXT_SLOPE, LAST_METRIC, PRINTED_EXPONENT)
_slope = run_slope(a, x, 0, j)
STRETCHED = (
    step(
        "runs stretch as stated",
        le(norm(metric(alone(j + 1)) * _slope), growth(alone(j + 1))),
        (j,),
    ).by_induction(
        base=(
            "starts",
            at("runs stay", a, 0),
            at("inputs of the line", 0),
            BEGUN.at(a, x, 0, 0),
            RUN_SLOPE.at(a, x, 0, 0),
            at("first slope", a, entry(x, 1)),
        ),
        step=(
            "starts",
            at("runs stay", a, j + 1),
            at("inputs of the line", j + 1),
            RUN_SLOPE.at(a, x, 0, j),
            at("next slope", j + 1, begun(a, x, 0, j + 1), entry(x, j + 2), _slope),
        ),
    ),
)
