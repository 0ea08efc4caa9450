"""Steps of two projected gradient descents: what every ledger about training begins with."""

from rnnbounds.theory.axioms.base import HOMOGENEITY, PROJECTION_INSIDE, TRIANGLE
from rnnbounds.theory.language import ONE, ZERO, at, eq, le, symbols
from rnnbounds.theory.language.terms.gradients import (
    feasible,
    loss_gradient,
    step_size,
    truncated_gradient,
    weights,
    weights_hat,
)
from rnnbounds.theory.language.terms.variables import j
from rnnbounds.theory.language.terms.vectors import norm
from rnnbounds.theory.models.weights import training
from rnnbounds.theory.models.weights.projection import LEMMAS as PROJECTION_LEMMAS
from rnnbounds.theory.models.weights.projection import PROJECTS
from rnnbounds.theory.proof import step

beta, eps_k = symbols("beta eps_k")

here, there, size = weights(j), weights_hat(j), step_size(j)
gradient, same, other = loss_gradient(here), loss_gradient(there), truncated_gradient(there)
after, after_hat = training.moved(here, gradient, size), training.moved(there, other, size)

FEASIBLE = tuple(
    step(f"the {name} weights are feasible", eq(feasible(point(j)), ONE), forall=(j,)).inductively(
        base=(at("descent", 0),),
        step=(at("descent", j), at("projection", inside), PROJECTION_INSIDE.at(inside)),
    )
    for name, point, inside in (("full", weights, after), ("truncated", weights_hat, after_hat))
)
STEP_SIZE, CONSTANT_SIZE = (
    step("step sizes are positive", le(ZERO, size), forall=(j,)).by(at(schedule, j), "step")
    for schedule in ("inverse steps", "constant steps")
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
CONSTANT_SIZE_STEPS = (*PROJECTION_LEMMAS, *FEASIBLE, CONSTANT_SIZE, ONE_STEP)

DESCENTS = (PROJECTS, training.DESCENT, training.INVERSE_STEPS, training.STEP)
TRAINING = (*DESCENTS, training.SMOOTH, training.GRADIENT_GAP)
