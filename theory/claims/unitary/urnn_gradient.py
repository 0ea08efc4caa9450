"""Gradients of unitary networks: they do not grow, and the equivalents' vanish as W's do.

A step's derivative is diag(ρ') V.  V keeps norms, but ρ' is 0 of the units that are off: of an
equivalent of a contractive network all added ones, at all times.
"""

from rnnbounds.theory.axioms.base import SUBMULTIPLICATIVE
from rnnbounds.theory.axioms.gradients import CHAIN_RULE_LAYER
from rnnbounds.theory.axioms.unitary import CHAIN_RULE_STATES, IDENTITY_NORM, STATES_START
from rnnbounds.theory.claims.contraction.vanilla import SECANTS
from rnnbounds.theory.claims.unitary.vanishing_equivalent import VANISHING
from rnnbounds.theory.language import ONE, at, eq, le, lt, symbols
from rnnbounds.theory.language.terms.gradients import slopes
from rnnbounds.theory.language.terms.unitary import d_run
from rnnbounds.theory.language.terms.variables import j, s, x
from rnnbounds.theory.language.terms.vectors import norm
from rnnbounds.theory.models.cells import RNN, U, W, bias
from rnnbounds.theory.models.slopes import SLOPES
from rnnbounds.theory.models.system import DIFFERENTIABLE, SOME_WINDOW, WINDOW
from rnnbounds.theory.models.unitary.isometry import SLOPE, before, isometric, isometry, x_next
from rnnbounds.theory.proof import Claim, Source, step, theorem

lam, T, k, dh_dh = symbols("lam T k dh_dh")

# A unitary network, of which W is the orthogonal matrix.
ISOMETRY = isometry("W", W)
inside = W * before + U * x_next + bias
BOUNDED = theorem(
    "bounded",
    le(dh_dh, ONE),
    (RNN, ISOMETRY, SLOPE, DIFFERENTIABLE, WINDOW),
    "urnn",
    (
        SLOPES,
        SECANTS,
        *isometric(W),
        step("one step more", le(norm(d_run(x, s, j + 1)), norm(d_run(x, s, j))), forall=(s, j)).by(
            "rnn",
            at("differentiable", 0, s + j),
            CHAIN_RULE_STATES.at(x, s, j),
            CHAIN_RULE_LAYER.at(W, U, bias, before, x_next),
            SUBMULTIPLICATIVE.at(slopes(inside, inside), W * d_run(x, s, j)),
            SUBMULTIPLICATIVE.at(W, d_run(x, s, j)),
            at("secants", inside, inside),
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
    forms=(BOUNDED, VANISHING),
    false_variants=(
        BOUNDED.variant(
            "isometric", "an orthogonal matrix keeps the gradient's length", eq(dh_dh, ONE)
        ),
        BOUNDED.variant("strict", "every step shrinks the gradient", lt(dh_dh, ONE), SOME_WINDOW),
        BOUNDED.variant(
            "any-slope",
            "the matrix alone decides, whatever the slope of ρ is",
            without="slope at most one",
        ),
        VANISHING.variant(
            "one-more-power",
            "the equivalent's gradients vanish like the network's own, λ^k",
            lam**k,
        ),
    ),
    extremal="linear networks and permutations: equality; the equivalent of λI, with all units on",
    emphasis=0.875,
)
