"""Gradients of unitary networks do not grow: a step's derivative is diag(ρ') W, and W keeps norms.

They may vanish, for ρ' is 0 of the units that are off.
"""

from rnnbounds.theory.axioms.base import LEAST_EIGENVALUE, SUBMULTIPLICATIVE
from rnnbounds.theory.axioms.gradients import CHAIN_RULE_LAYER
from rnnbounds.theory.axioms.unitary import CHAIN_RULE_STATES, IDENTITY_NORM, STATES_START
from rnnbounds.theory.claims.contraction.vanilla import SECANTS
from rnnbounds.theory.language import ONE, Assumption, assume, at, eq, le, symbols
from rnnbounds.theory.language.terms.networks import slopes
from rnnbounds.theory.language.terms.unitary import d_run
from rnnbounds.theory.language.terms.variables import eye, j, s, x
from rnnbounds.theory.language.terms.vectors import entry, least, norm, state, transpose
from rnnbounds.theory.models.cells import RNN, SLOPES, U, W, bias
from rnnbounds.theory.models.system import DIFFERENTIABLE, WINDOW
from rnnbounds.theory.proof import Claim, Source, step, theorem
from rnnbounds.theory.proof.methods import Words

T, k, L_rho, dh_dh = symbols("T k L_rho dh_dh")

SLOPE = Assumption("slope at most one", "L_ρ ≤ 1", le(L_rho, ONE))
ISOMETRY = assume("isometry", "WᵀW = I, for W of the states").that(
    eq(transpose(W) * W, eye), eq(W * eye, W)
)
before, x_next = state(x, 0, s + j), entry(x, s + j + 1)
fed = W * before + U * x_next + bias
BOUNDED = theorem(
    "bounded",
    le(dh_dh, ONE),
    (RNN, ISOMETRY, SLOPE, DIFFERENTIABLE, WINDOW),
    "urnn",
    (
        SLOPES,
        SECANTS,
        # ‖W‖ = 1, as the least eigenvalue of I − WᵀW = 0 is 0.
        step("no defect", eq(least(eye - transpose(W) * W), least(0))).by("isometry", method=Words),
        step("of the states", eq(norm(W * eye - W), 0)).by("isometry", method=Words),
        step("norm of an isometry", eq(norm(W), ONE)).by(
            "no defect", "of the states", LEAST_EIGENVALUE.at(W, 1), LEAST_EIGENVALUE.at(0, 0)
        ),
        step("one step more", le(norm(d_run(x, s, j + 1)), norm(d_run(x, s, j))), forall=(s, j)).by(
            "rnn",
            at("differentiable", 0, s + j),
            CHAIN_RULE_STATES.at(x, s, j),
            CHAIN_RULE_LAYER.at(W, U, bias, before, x_next),
            SUBMULTIPLICATIVE.at(slopes(fed, fed), W * d_run(x, s, j)),
            SUBMULTIPLICATIVE.at(W, d_run(x, s, j)),
            at("secants", fed, fed),
            "norm of an isometry",
            "slope at most one",
        ),
        step("all steps", le(norm(d_run(x, s, j)), ONE), forall=(s, j)).by_induction(
            base=(STATES_START.at(x, s), IDENTITY_NORM.at()), step=at("one step more", s, j)
        ),
    ),
).by(at("all steps", T - k, k), "window")

URNN_GRADIENT = Claim(
    id="urnn-gradient",
    title="Gradients of unitary networks do not grow, but they may vanish",
    source=Source(
        "Arjovsky, Shah & Bengio, Unitary Evolution Recurrent Neural Networks",
        "section 2, equation (4)",
    ),
    forms=(BOUNDED,),
    false_variants=(
        BOUNDED.variant(
            "isometric", "an orthogonal matrix keeps the gradient's length", eq(dh_dh, ONE)
        ),
        BOUNDED.variant(
            "any-slope",
            "the matrix alone decides, whatever the slope of ρ is",
            without="slope at most one",
        ),
    ),
    extremal="linear networks and permutations: equality",
    example_factor=0.875,
)
