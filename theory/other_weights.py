"""The same model with other weights, on the same inputs: what Lemma 3 presupposes of both."""

from theory.geometry import EUCLIDEAN, ONE, ZERO
from theory.law import Assumption, law
from theory.models import DIFFERENTIABLE
from theory.statement import eq, le
from theory.terms import (
    a,
    b,
    c,
    d_loss,
    d_state,
    d_state_other,
    d_weights,
    d_weights_other,
    differentiable_other,
    entry,
    j,
    norm,
    phi,
    phi_other,
    sensitivity,
    sensitivity_other,
    state,
    state_other,
    w,
    w_other,
    x,
)
from theory.vocabulary import symbols

T, lam, L_w, L_p, beta_p, beta_rho = symbols("T lam L_w L_p beta_p beta_rho")
beta_hh, beta_hw, beta_wh, beta_ww = symbols("beta_hh beta_hw beta_wh beta_ww")

g = EUCLIDEAN.total
x_next, distance = entry(x, j + 1), norm(w - w_other)
h, h_other = state(x, 0, j), state_other(x, j)
S, S_other = sensitivity(x, 0, j), sensitivity_other(x, j)
A, A_other = d_state(h, x_next), d_state_other(h_other, x_next)
B, B_other = d_weights(h, x_next), d_weights_other(h_other, x_next)
# At the one run's states, with the other weights
A_mixed, B_mixed = d_state_other(h, x_next), d_weights_other(h, x_next)
moved = norm(h - h_other)

CONTRACTION_OTHER = Assumption(
    "contraction, other weights",
    "φ is λ-Lipschitz in the state with the other weights too",
    law=law(
        "contraction, other weights",
        (a, b, c),
        le(norm(phi_other(a, c) - phi_other(b, c)), lam * norm(a - b)),
    ),
)
DIFFERENTIABLE_OTHER = Assumption(
    "differentiable, other weights",
    "φ is differentiable along the run with the other weights too",
    law=law("differentiable, other weights", (a, c), eq(differentiable_other(a, c), ONE)),
)
BETWEEN = Assumption(
    "lipschitz between weights",
    "φ is L_w-Lipschitz in the weights: ‖φ_w(h, x) − φ_w′(h, x)‖ ≤ L_w‖w − w′‖, and so on every "
    "segment of a convex set of weights",
    law=law(
        "lipschitz between weights",
        (j,),
        le(norm(phi(h, x_next) - phi_other(h, x_next)), L_w * distance),
    ),
)
SMOOTH = Assumption(
    "smooth",
    "φ is smooth, β_ρ is finite: ∂φ/∂h is β_hh-Lipschitz in the state and β_hw-Lipschitz in the "
    "weights, ∂φ/∂w is β_wh- and β_ww-Lipschitz",
    le(ZERO, beta_rho),
    law(
        "smooth",
        (j,),
        le(norm(A - A_mixed), beta_hw * distance),
        le(norm(A_mixed - A_other), beta_hh * moved),
        le(norm(B - B_mixed), beta_ww * distance),
        le(norm(B_mixed - B_other), beta_wh * moved),
    ),
)
LOSS = Assumption(
    "lipschitz loss",
    "L_p bounds ‖∇p(h_t)‖ with the other weights",
    law=law("lipschitz loss", (j,), le(norm(d_loss(h_other)), L_p)),
)
SMOOTH_LOSS = Assumption(
    "smooth loss",
    "∇p is β_p-Lipschitz",
    law=law("smooth loss", (j,), le(norm(d_loss(h) - d_loss(h_other)), beta_p * moved)),
)
SOME_INPUT = Assumption("some input", "the sequence is not empty: T ≥ 1", le(ONE, T))
MODEL = (
    EUCLIDEAN.contraction,
    CONTRACTION_OTHER,
    EUCLIDEAN.contractive,
    EUCLIDEAN.weights,
    BETWEEN,
    DIFFERENTIABLE,
    DIFFERENTIABLE_OTHER,
    SMOOTH,
    LOSS,
    SMOOTH_LOSS,
    SOME_INPUT,
)
