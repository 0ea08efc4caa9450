"""What the claims presuppose of training: projected gradient descent on two losses, side by side.

w_{t+1} = Π(w_t − α_t ∇p(w_t)) on one loss and ŵ_{t+1} = Π(ŵ_t − α_t ∇p̂(ŵ_t)) on the other one, from
one start.
"""

from sympy import Expr

from rnnbounds.theory.language import (
    ONE,
    ZERO,
    Assumption,
    Clause,
    Statement,
    assume,
    eq,
    le,
    lt,
    symbols,
)
from rnnbounds.theory.language.terms.gradients import (
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

N, k, lam, alpha, beta, eps_k = symbols("N k lam alpha beta eps_k")
inverse_steps, constant_steps = symbols("inverse_steps constant_steps")
G_0, G_1, D_1 = symbols("G_0 G_1 D_1")


def _feasible(point: Expr) -> Statement:
    return eq(feasible(point), ONE)


def moved(point: Expr, gradient: Expr, size: Expr) -> Expr:
    """w − α ∇p, before the projection."""
    return point - size * gradient


DESCENT = assume(
    "descent", "both descents start from one point of Ω, and project each step onto Ω", forall=(j,)
).that(
    eq(weights(0), weights_hat(0)),
    _feasible(weights_hat(0)),
    eq(weights(j + 1), project(moved(weights(j), loss_gradient(weights(j)), step_size(j)))),
    eq(
        weights_hat(j + 1),
        project(moved(weights_hat(j), truncated_gradient(weights_hat(j)), step_size(j))),
    ),
)
INVERSE_STEPS = assume(
    "inverse steps", "the t-th step has the size α/t", forall=(j,), condition=eq(inverse_steps, ONE)
).that(eq((j + 1) * step_size(j), alpha))
CONSTANT_STEPS = assume(
    "constant steps", "all steps have the size α", forall=(j,), condition=eq(constant_steps, ONE)
).that(eq(step_size(j), alpha))
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
