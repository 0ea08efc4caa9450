"""Runs with any weights of Ω: bounded, forgetful, Lipschitz in the weights; what they predict."""

from rnnbounds.theory.axioms.base import TRIANGLE
from rnnbounds.theory.language import ONE, at, eq, le, symbols
from rnnbounds.theory.language.terms.networks import feasible, weights, weights_hat
from rnnbounds.theory.language.terms.variables import j, v, w, x
from rnnbounds.theory.language.terms.vectors import RUN, entry, norm, phi, readout, state
from rnnbounds.theory.models.geometry import EUCLIDEAN
from rnnbounds.theory.models.sensitivity import forgetting_steps, state_steps
from rnnbounds.theory.proof import step

N, T, k, lam, S_0, L_f, L_w = symbols("N T k lam S_0 L_f L_w")

run_one, run_two = state(x, 0, j, v), state(x, 0, j, w)
given = (eq(feasible(v), ONE), eq(feasible(w), ONE))
OF_ONE = (
    *state_steps(EUCLIDEAN, weights=v, given=given[:1]),
    *forgetting_steps(EUCLIDEAN, weights=v, given=given[:1]),
)
SENSITIVITY = step(
    "states of other weights",
    le(norm(run_one - run_two), L_w * (1 - lam**j) / (1 - lam) * norm(v - w)),
    forall=(v, w, j),
    given=given,
).by_induction(
    base=(RUN.at(v, x, 0, 0), RUN.at(w, x, 0, 0)),
    step=(
        RUN.at(v, x, 0, j),
        RUN.at(w, x, 0, j),
        TRIANGLE.at(
            phi(run_one, entry(x, j + 1), v) - phi(run_one, entry(x, j + 1), w),
            phi(run_one, entry(x, j + 1), w) - phi(run_two, entry(x, j + 1), w),
        ),
        at("lipschitz between weights", v, w, j),
        at("contraction", w, run_one, run_two, entry(x, j + 1)),
        "contractive",
    ),
)
RUNS = (*OF_ONE, SENSITIVITY)

full, hat = state(x, 0, T, weights(N)), state(x, 0, T, weights_hat(N))
truncated = state(x, T - k, k, weights_hat(N))
PREDICTIONS = step(
    "predictions by the weights",
    le(
        norm(readout(full) - readout(truncated)),
        L_f / (1 - lam) * (L_w * norm(weights(N) - weights_hat(N)) + lam**k * S_0),
    ),
).by(
    at("lipschitz readout", full, truncated),
    TRIANGLE.at(full - hat, hat - truncated),
    at("states of other weights", weights(N), weights_hat(N), T),
    at("forgetting", weights_hat(N), T - k, k),
    at("state", weights_hat(N), T - k),
    at("the full weights are feasible", N),
    at("the truncated weights are feasible", N),
    at("power not negative", T),
    at("power not negative", T - k),
    at("power not negative", k),
    "contractive",
    "window",
)
