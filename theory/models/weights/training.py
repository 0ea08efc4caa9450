"""What the claims presuppose of training: projected gradient descent on two losses, side by side.

w_{t+1} = Π(w_t − α_t ∇p_T(w_t)) on the full model's loss and ŵ_{t+1} = Π(ŵ_t − α_t ∇p_T^k(ŵ_t)) on
the truncated one's, from one start.  All constants are uniform on the set Ω of weights.
"""

from sympy import Expr

from theory.language.law import Assumption, Clause, law
from theory.language.statement import Statement, eq, le, lt
from theory.language.terms.vectors import (
    a,
    b,
    c,
    cell,
    entry,
    feasible,
    j,
    loss_gradient,
    m,
    norm,
    project,
    run,
    s,
    step_size,
    truncated_gradient,
    v,
    vector,
    weights,
    weights_hat,
    x,
)
from theory.language.vocabulary import symbols
from theory.models.system import ONE, ZERO

N, k, lam, alpha, beta, eps_k = symbols("N k lam alpha beta eps_k")
inverse_steps, constant_steps = symbols("inverse_steps constant_steps")
S_0, L_w, G_0, G_1, D_1 = symbols("S_0 L_w G_0 G_1 D_1")
w = vector("w")


def _feasible(point: Expr) -> Statement:
    return eq(feasible(point), ONE)


def moved(point: Expr, gradient: Expr, size: Expr) -> Expr:
    """w − α ∇p, before the projection."""
    return point - size * gradient


DESCENT = Assumption(
    "descent",
    "both descents start from one point of Ω, and project each step onto Ω",
    law=law(
        "descent",
        (j,),
        eq(weights(0), weights_hat(0)),
        _feasible(weights_hat(0)),
        eq(
            weights(j + 1),
            project(moved(weights(j), loss_gradient(weights(j)), step_size(j))),
        ),
        eq(
            weights_hat(j + 1),
            project(moved(weights_hat(j), truncated_gradient(weights_hat(j)), step_size(j))),
        ),
    ),
)
INVERSE_STEPS = Assumption(
    "inverse steps",
    "the t-th step has the size α/t",
    eq(inverse_steps, ONE),
    law("inverse steps", (j,), eq((j + 1) * step_size(j), alpha)),
)
CONSTANT_STEPS = Assumption(
    "constant steps",
    "all steps have the size α",
    eq(constant_steps, ONE),
    law("constant steps", (j,), eq(step_size(j), alpha)),
)
STEP = Assumption("step", "α > 0", lt(ZERO, alpha))
SOME_STEPS = Assumption("some steps", "there is a step: N ≥ 1", le(ONE, N))
SMOOTH = Assumption(
    "smooth",
    "∇p_T is β-Lipschitz on Ω (Lemma 3)",
    law=law(
        "smooth",
        (a, b),
        Clause(
            le(norm(loss_gradient(a) - loss_gradient(b)), beta * norm(a - b)),
            (_feasible(a), _feasible(b)),
        ),
    ),
)
CURVED = Assumption("curved", "β > 0", lt(ZERO, beta))
GRADIENT_GAP = Assumption(
    "gradient gap",
    "ε_k bounds ‖∇p_T − ∇p_T^k‖ on Ω (Lemma 2)",
    law=law(
        "gradient gap",
        (a,),
        Clause(le(norm(loss_gradient(a) - truncated_gradient(a)), eps_k), (_feasible(a),)),
    ),
    ties=True,
)
GRADIENT_BOUND = Assumption(
    "gradient bound",
    "ε_k = λ^k G_0 + k λ^{k−1} D_1 for k ≥ 1",
    law=law(
        "gradient bound",
        (m,),
        Clause(eq(eps_k, lam ** (m + 1) * G_0 + k * lam**m * D_1), (eq(m + 1, k),)),
    ),
)
GAMMA_BOUND = Assumption(
    "gamma",
    "G_1 = D_1/λ for λ > 0",
    law=law("gamma", (), Clause(eq(lam * G_1, D_1), (lt(ZERO, lam),))),
)

RUN = law(
    "recursion with weights",
    (a, x, s, j),
    eq(run(a, x, s, 0), ZERO),
    eq(run(a, x, s, j + 1), cell(a, run(a, x, s, j), entry(x, s + j + 1))),
)
CONTRACTION = Assumption(
    "contraction",
    "φ_w is λ-Lipschitz in the state, for every w of Ω",
    law=law(
        "contraction",
        (v, a, b, c),
        Clause(le(norm(cell(v, a, c) - cell(v, b, c)), lam * norm(a - b)), (_feasible(v),)),
    ),
    ties=True,
)
DRIVE = Assumption(
    "drive",
    "S_0 bounds ‖φ_w(0, x_t)‖ for every input and every w of Ω",
    law=law(
        "drive",
        (v, m),
        Clause(le(norm(cell(v, 0, entry(x, m + 1))), S_0), (_feasible(v),)),
    ),
)
LIPSCHITZ_WEIGHTS = Assumption(
    "lipschitz weights",
    "φ is L_w-Lipschitz in the weights on Ω, at every state that the model reaches on Ω",
    law=law(
        "lipschitz weights",
        (v, w, j),
        Clause(
            le(
                norm(
                    cell(v, run(v, x, 0, j), entry(x, j + 1))
                    - cell(w, run(v, x, 0, j), entry(x, j + 1))
                ),
                L_w * norm(v - w),
            ),
            (_feasible(v), _feasible(w)),
        ),
    ),
)
