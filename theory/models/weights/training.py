"""Projected gradient descent on two losses, side by side, and the steps that each ledger about it
begins with.

w_{t+1} = Π(w_t − α_t ∇p(w_t)) on one loss and ŵ_{t+1} = Π(ŵ_t − α_t ∇p̂(ŵ_t)) on the other one, from
one start.
"""

from sympy import Expr

from rnnbounds.theory.axioms.base import HOMOGENEITY, PROJECTION_INSIDE, TRIANGLE
from rnnbounds.theory.language import (
    ONE,
    ZERO,
    Assumption,
    Clause,
    Statement,
    assume,
    at,
    eq,
    le,
    lt,
    symbols,
)
from rnnbounds.theory.language.terms.networks import (
    feasible,
    loss_gradient,
    project,
    step_size,
    truncated_gradient,
    weights,
    weights_hat,
)
from rnnbounds.theory.language.terms.variables import j, m, w, w_other
from rnnbounds.theory.language.terms.vectors import norm
from rnnbounds.theory.models.weights.projection import LEMMAS as PROJECTION_LEMMAS
from rnnbounds.theory.models.weights.projection import PROJECTS
from rnnbounds.theory.proof import step

N, k, lam, alpha, beta, eps_k = symbols("N k lam alpha beta eps_k")
G_0, G_1, D_1 = symbols("G_0 G_1 D_1")


def _feasible(point: Expr) -> Statement:
    return eq(feasible(point), ONE)


def gradient_step(point: Expr, gradient: Expr, size: Expr) -> Expr:
    """The gradient step w − α ∇p, before its projection."""
    return point - size * gradient


DESCENT = assume(
    "descent", "both descents start from one point of Ω, and project each step onto Ω", forall=(j,)
).that(
    eq(weights(0), weights_hat(0)),
    _feasible(weights_hat(0)),
    eq(weights(j + 1), project(gradient_step(weights(j), loss_gradient(weights(j)), step_size(j)))),
    eq(
        weights_hat(j + 1),
        project(gradient_step(weights_hat(j), truncated_gradient(weights_hat(j)), step_size(j))),
    ),
)
INVERSE_STEPS = assume("inverse steps", "the t-th step has the size α/t", forall=(j,)).that(
    eq((j + 1) * step_size(j), alpha)
)
STEP = Assumption("step", "α > 0", lt(ZERO, alpha))
SOME_STEPS = Assumption("some steps", "there is a step: N ≥ 1", le(ONE, N))
# Of any two losses; the descents of a model and of its truncation are shown to be two such.
SMOOTH = assume("smooth gradient", "∇p is β-Lipschitz on Ω", forall=(w, w_other)).that(
    Clause(
        le(norm(loss_gradient(w) - loss_gradient(w_other)), beta * norm(w - w_other)),
        (_feasible(w), _feasible(w_other)),
    )
)
CURVED = Assumption("curved", "β > 0", lt(ZERO, beta))
GRADIENT_GAP = assume("gradient gap", "ε_k bounds ‖∇p − ∇p̂‖ on Ω", forall=(w,)).that(
    Clause(le(norm(loss_gradient(w) - truncated_gradient(w)), eps_k), (_feasible(w),))
)
GRADIENT_BOUND = assume(
    "gradient bound", "ε_k = λ^k G_0 + k λ^{k−1} D_1 for k ≥ 1", forall=(m,)
).that(Clause(eq(eps_k, lam ** (m + 1) * G_0 + k * lam**m * D_1), (eq(m + 1, k),)))
GAMMA_BOUND = assume("gamma", "G_1 = D_1/λ for λ > 0").that(
    Clause(eq(lam * G_1, D_1), (lt(ZERO, lam),))
)

here, there, size = weights(j), weights_hat(j), step_size(j)
gradient, same, other = loss_gradient(here), loss_gradient(there), truncated_gradient(there)
after, after_hat = gradient_step(here, gradient, size), gradient_step(there, other, size)

FEASIBLE = tuple(
    step(f"the {name} weights are feasible", eq(feasible(point(j)), ONE), forall=(j,)).inductively(
        base=(at("descent", 0),),
        step=(at("descent", j), at("projection", inside), PROJECTION_INSIDE.at(inside)),
    )
    for name, point, inside in (("full", weights, after), ("truncated", weights_hat, after_hat))
)
STEP_SIZE = step("step sizes are positive", le(ZERO, size), forall=(j,)).by(
    at("inverse steps", j), "step"
)
ONE_STEP = step(
    "one step",
    le(
        norm(weights(j + 1) - weights_hat(j + 1)),
        (1 + size * beta) * norm(here - there) + size * eps_k,
    ),
    forall=(j,),
).by(
    at("descent", j),
    at("non-expansive", after, after_hat),
    TRIANGLE.at(here - there, -size * (gradient - other)),
    HOMOGENEITY.at(size, gradient - other),
    TRIANGLE.at(gradient - same, same - other),
    at("smooth gradient", here, there),
    at("gradient gap", there),
    at("the full weights are feasible", j),
    at("the truncated weights are feasible", j),
    at("step sizes are positive", j),
)
STEPS = (*PROJECTION_LEMMAS, *FEASIBLE, STEP_SIZE, ONE_STEP)

DESCENTS = (PROJECTS, DESCENT, INVERSE_STEPS, STEP)
TRAINING = (*DESCENTS, SMOOTH, GRADIENT_GAP)
