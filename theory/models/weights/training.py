"""What the claims presuppose of training: projected gradient descent on two losses, side by side.

w_{t+1} = Π(w_t − α_t ∇p_T(w_t)) on the full model's loss and ŵ_{t+1} = Π(ŵ_t − α_t ∇p_T^k(ŵ_t)) on
the truncated one's, from one start.  All constants are uniform on the set Ω of weights.
"""

from sympy import Expr

from theory.language import (
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
from theory.language.terms.gradients import (
    feasible,
    loss_gradient,
    project,
    step_size,
    truncated_gradient,
    weights,
    weights_hat,
)
from theory.language.terms.variables import a, b, c, j, m, v, vector, x
from theory.language.terms.vectors import entry, norm, phi, state

N, k, lam, alpha, beta, eps_k = symbols("N k lam alpha beta eps_k")
inverse_steps, constant_steps = symbols("inverse_steps constant_steps")
S_0, L_w, G_0, G_1, D_1 = symbols("S_0 L_w G_0 G_1 D_1")
w = vector("w")


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
SMOOTH = assume("smooth", "∇p_T is β-Lipschitz on Ω (Lemma 3)", forall=(a, b)).that(
    Clause(
        le(norm(loss_gradient(a) - loss_gradient(b)), beta * norm(a - b)),
        (_feasible(a), _feasible(b)),
    )
)
CURVED = Assumption("curved", "β > 0", lt(ZERO, beta))
GRADIENT_GAP = assume(
    "gradient gap", "ε_k bounds ‖∇p_T − ∇p_T^k‖ on Ω (Lemma 2)", forall=(a,), ties=True
).that(Clause(le(norm(loss_gradient(a) - truncated_gradient(a)), eps_k), (_feasible(a),)))
GRADIENT_BOUND = assume(
    "gradient bound", "ε_k = λ^k G_0 + k λ^{k−1} D_1 for k ≥ 1", forall=(m,)
).that(Clause(eq(eps_k, lam ** (m + 1) * G_0 + k * lam**m * D_1), (eq(m + 1, k),)))
GAMMA_BOUND = assume("gamma", "G_1 = D_1/λ for λ > 0").that(
    Clause(eq(lam * G_1, D_1), (lt(ZERO, lam),))
)

CONTRACTION = assume(
    "contraction",
    "φ_w is λ-Lipschitz in the state, for every w of Ω",
    forall=(v, a, b, c),
    ties=True,
).that(Clause(le(norm(phi(a, c, v) - phi(b, c, v)), lam * norm(a - b)), (_feasible(v),)))
DRIVE = assume(
    "drive", "S_0 bounds ‖φ_w(0, x_t)‖ for every input and every w of Ω", forall=(v, m)
).that(Clause(le(norm(phi(0, entry(x, m + 1), v)), S_0), (_feasible(v),)))
LIPSCHITZ_WEIGHTS = assume(
    "lipschitz weights",
    "φ is L_w-Lipschitz in the weights on Ω, at every state that the model reaches on Ω",
    forall=(v, w, j),
).that(
    Clause(
        le(
            norm(
                phi(state(x, 0, j, v), entry(x, j + 1), v)
                - phi(state(x, 0, j, v), entry(x, j + 1), w)
            ),
            L_w * norm(v - w),
        ),
        (_feasible(v), _feasible(w)),
    )
)
