"""Runs with any weights of Ω: bounded, forgetful, Lipschitz in the weights; what they predict."""

from theory.axioms.base import TRIANGLE
from theory.language import ONE, at, eq, le, symbols
from theory.language.terms.gradients import feasible, weights, weights_hat
from theory.language.terms.variables import j, s, v, x
from theory.language.terms.vectors import cell, entry, norm, readout, run
from theory.models.weights.training import RUN, w
from theory.proof import step

N, T, k, lam, S_0, L_f, L_w = symbols("N T k lam S_0 L_f L_w")

state, other = run(v, x, 0, j), run(w, x, 0, j)
given = (eq(feasible(v), ONE), eq(feasible(w), ONE))

BOUNDED = step(
    "states are bounded",
    le(norm(state), S_0 * (1 - lam**j) / (1 - lam)),
    forall=(v, j),
    given=given[:1],
).by_induction(
    base=RUN.at(v, x, 0, 0),
    step=(
        RUN.at(v, x, 0, j),
        TRIANGLE.at(
            cell(v, state, entry(x, j + 1)) - cell(v, 0, entry(x, j + 1)),
            cell(v, 0, entry(x, j + 1)),
        ),
        at("contraction", v, state, 0, entry(x, j + 1)),
        at("drive", v, j),
        "contractive",
    ),
)
FORGETTING = step(
    "forgetting",
    le(norm(run(v, x, 0, s + j) - run(v, x, s, j)), lam**j * norm(run(v, x, 0, s))),
    forall=(v, s, j),
    given=given[:1],
).by_induction(
    base=RUN.at(v, x, s, 0),
    step=(
        RUN.at(v, x, 0, s + j),
        RUN.at(v, x, s, j),
        at("contraction", v, run(v, x, 0, s + j), run(v, x, s, j), entry(x, s + j + 1)),
    ),
)
SENSITIVITY = step(
    "states of other weights",
    le(norm(state - other), L_w * (1 - lam**j) / (1 - lam) * norm(v - w)),
    forall=(v, w, j),
    given=given,
).by_induction(
    base=(RUN.at(v, x, 0, 0), RUN.at(w, x, 0, 0)),
    step=(
        RUN.at(v, x, 0, j),
        RUN.at(w, x, 0, j),
        TRIANGLE.at(
            cell(v, state, entry(x, j + 1)) - cell(w, state, entry(x, j + 1)),
            cell(w, state, entry(x, j + 1)) - cell(w, other, entry(x, j + 1)),
        ),
        at("lipschitz weights", v, w, j),
        at("contraction", w, state, other, entry(x, j + 1)),
        "contractive",
    ),
)
RUNS = (BOUNDED, FORGETTING, SENSITIVITY)

full, hat = run(weights(N), x, 0, T), run(weights_hat(N), x, 0, T)
truncated = run(weights_hat(N), x, T - k, k)
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
    at("states are bounded", weights_hat(N), T - k),
    at("the full weights are feasible", N),
    at("the truncated weights are feasible", N),
    at("power not negative", T),
    at("power not negative", T - k),
    at("power not negative", k),
    "contractive",
    "window",
)
