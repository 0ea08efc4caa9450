"""Lemma 2 for a loss averaged over the sequence (Miller & Hardt)."""

from sympy import Expr
from sympy import symbols as bounds

from rnnbounds.theory.axioms.base import TRIANGLE
from rnnbounds.theory.claims.gradients.jacobian_gap import FINITE, terms, total_at_most_steps
from rnnbounds.theory.language import ZERO, at, define, eq, le, symbols
from rnnbounds.theory.language.quantities.gradients import run_gradient
from rnnbounds.theory.language.terms.gradients import gap_sum
from rnnbounds.theory.language.terms.variables import j, m, s, x
from rnnbounds.theory.language.terms.vectors import norm
from rnnbounds.theory.models.geometry import EUCLIDEAN
from rnnbounds.theory.models.lemmas.powers import power, power_at_most_one
from rnnbounds.theory.proof import step, theorem

T, k, lam, B_h, L_w, L_p, grad_gap_mean = symbols("T k lam B_h L_w L_p grad_gap_mean")

GAP_SUM = define(
    "sum of the gaps",
    (x, m, j),
    eq(gap_sum(x, m, 0), ZERO),
    eq(
        gap_sum(x, m, j + 1), gap_sum(x, m, j) + run_gradient(0, m + j + 1) - run_gradient(j + 1, m)
    ),
)
_, CURVED_LATER, DRIFTED_LATER = terms(EUCLIDEAN, T - k, k, B_h)


def averaged(steps: Expr) -> Expr:
    """Σ of the three terms over s = 1, …, steps, as Σ g(s) = (steps − λ g(steps))/(1 − λ)."""
    forgotten = lam**k * L_p * L_w * (steps - lam * EUCLIDEAN.total(steps)) / (1 - lam)
    return forgotten + steps * (CURVED_LATER + DRIFTED_LATER)


bound, bound_one, bound_next = bounds("bound bound_one bound_next", real=True)
ONE_LOSS_BOUND = lam**k * L_p * L_w * EUCLIDEAN.total(j + 1) + CURVED_LATER + DRIFTED_LATER
ONE_LOSS = norm(run_gradient(0, k + j + 1) - run_gradient(j + 1, k))
AVERAGED = theorem(
    "averaged",
    le(grad_gap_mean, averaged(T - k) / T),
    FINITE.assumptions,
    "gradient",
    (
        power(EUCLIDEAN.lam),
        power_at_most_one(EUCLIDEAN.lam),
        total_at_most_steps(EUCLIDEAN),
        step(
            "curved",
            le(terms(EUCLIDEAN, T - k, k, EUCLIDEAN.start_bound(s))[1], CURVED_LATER),
            forall=(s,),
        ).by(at("power not negative", k), at("power at most one", k), "contractive"),
        step(
            "drifted",
            le(terms(EUCLIDEAN, T - k, k, EUCLIDEAN.start_bound(s))[2], DRIFTED_LATER),
            forall=(s,),
        ).by(at("power not negative", k - 1), at("total", k), "contractive", "some window"),
        step("one loss", le(ONE_LOSS, ONE_LOSS_BOUND), forall=(j,)).by(
            FINITE.lemma("gradient-gap", T).at(k + j + 1),
            at("curved", j + 1),
            at("drifted", j + 1),
            "contractive",
        ),
        step(
            "adding",
            le(norm(gap_sum(x, k, j + 1)), bound_next),
            forall=(bound, bound_one, bound_next, j),
            given=(
                le(norm(gap_sum(x, k, j)), bound),
                le(ONE_LOSS, bound_one),
                eq(bound_next, bound + bound_one),
            ),
        ).by(
            GAP_SUM.at(x, k, j),
            TRIANGLE.at(gap_sum(x, k, j), run_gradient(0, k + j + 1) - run_gradient(j + 1, k)),
        ),
        step("all losses", le(norm(gap_sum(x, k, j)), averaged(j)), forall=(j,)).by_induction(
            base=GAP_SUM.at(x, k, j),
            step=(
                at("adding", averaged(j), ONE_LOSS_BOUND, averaged(j + 1), j),
                at("one loss", j),
                "contractive",
            ),
        ),
    ),
    note="p averaged over t = 1, …, T, each p_t with its own window: no gap for t ≤ k",
).by(at("all losses", T - k), "window", "some window", "contractive")
