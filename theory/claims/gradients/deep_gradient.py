"""Gradients through deep transitions: ‖∂h_T/∂h_{T−k}‖ ≤ λ^k, with equality for isometries.

The folklore "the gradient is ‖A‖^{L k}" is this bound; equality needs layers that stretch what the
layers before them stretch.  Source: Pascanu et al.; Miller & Hardt, section 3.
"""

from sympy import Expr

from rnnbounds.theory.axioms.base import SUBMULTIPLICATIVE
from rnnbounds.theory.axioms.gradients import DERIVATIVE_IN_STATE, DERIVATIVE_NO_LESS
from rnnbounds.theory.axioms.unitary import CHAIN_RULE_STATES, IDENTITY_NORM, STATES_START
from rnnbounds.theory.claims.contraction.deep import DEEP, LAYER_NORMS, STEPS, first, gap, second
from rnnbounds.theory.language import ONE, assume, at, eq, le, symbols
from rnnbounds.theory.language.terms.networks import (
    activation,
    d_state,
    layer,
    layer_matrix,
    layer_product,
)
from rnnbounds.theory.language.terms.unitary import d_run
from rnnbounds.theory.language.terms.variables import a, b, c, j, s, v, x
from rnnbounds.theory.language.terms.vectors import entry, norm, phi, state
from rnnbounds.theory.models.system import DIFFERENTIABLE, WINDOW
from rnnbounds.theory.proof import Claim, Source, Step, step, swap, theorem

lam_deep, W_product, isometric, depth = symbols("lam_deep W_product isometric depth")
T, k, dh_dh = symbols("T k dh_dh_deep")

before, x_next = state(x, 0, s + j), entry(x, s + j + 1)
run, slope = d_run(x, s, j), d_state(before, x_next)
CHAIN = (CHAIN_RULE_STATES.at(x, s, j), at("differentiable", 0, s + j))


def powers(factor: Expr, lipschitz: str) -> tuple[Step, Step]:
    """‖∂h_{s+j}/∂h_s‖ ≤ factor^j, from the step that says that φ is Lipschitz."""
    return (
        step("one step more", le(norm(d_run(x, s, j + 1)), factor * norm(run)), forall=(s, j)).by(
            *CHAIN,
            SUBMULTIPLICATIVE.at(slope, run),
            DERIVATIVE_IN_STATE.at(factor, before, x_next),
            lipschitz,
        ),
        step("all steps", le(norm(run), factor**j), forall=(s, j)).by_induction(
            base=(STATES_START.at(x, s), IDENTITY_NORM.at()), step=at("one step more", s, j)
        ),
    )


UPPER = theorem(
    "bound",
    le(dh_dh, lam_deep**k),
    (DEEP, LAYER_NORMS, DIFFERENTIABLE, WINDOW),
    "layered",
    (*STEPS, *powers(lam_deep, "one step")),
).by(at("all steps", T - k, k), "window")

ISOMETRIC = assume(
    "isometric layers",
    "ρ is the identity, every W_l is a multiple of an isometry, a_l I say, and W_product is Π‖W_l‖",
    forall=(v, j),
    condition=eq(isometric, ONE),
).that(
    eq(activation(v), v),
    eq(norm(layer_matrix(j) * v), norm(layer_matrix(j)) * norm(v)),
    eq(layer_product(0), ONE),
    eq(layer_product(j + 1), norm(layer_matrix(j + 1)) * layer_product(j)),
    eq(layer_product(depth), W_product),
)
EQUAL = theorem(
    "equality",
    eq(dh_dh, W_product**k),
    (DEEP, ISOMETRIC, DIFFERENTIABLE, WINDOW),
    "layered",
    (
        *(
            step(
                "one layer",
                eq(gap.xreplace({j: j + 1}), norm(layer_matrix(j + 1)) * gap),
                forall=(a, b, c, j),
            ).by(
                at("deep transition", a, c, j),
                at("deep transition", b, c, j),
                at("isometric layers", first, 0),
                at("isometric layers", second, 0),
                at("isometric layers", layer(a, c, j) - layer(b, c, j), j + 1),
            ),
            step(
                "all layers", eq(gap, layer_product(j) * norm(a - b)), forall=(a, b, c, j)
            ).by_induction(
                base=(
                    at("deep transition", a, c, 0),
                    at("deep transition", b, c, 0),
                    at("isometric layers", 0, 0),
                ),
                step=(at("one layer", a, b, c, j), at("isometric layers", 0, j)),
            ),
            *(
                step(name, statement, forall=(a, b, c)).by(
                    at("deep transition", a, c, 0),
                    at("deep transition", b, c, 0),
                    at("all layers", a, b, c, depth),
                    at("isometric layers", 0, 0),
                )
                for name, statement in (
                    ("no more", le(norm(phi(a, c) - phi(b, c)), W_product * norm(a - b))),
                    ("no less", le(W_product * norm(a - b), norm(phi(a, c) - phi(b, c)))),
                )
            ),
        ),
        *powers(W_product, "no more"),
        step(
            "one step more, at least",
            le(W_product * norm(run), norm(d_run(x, s, j + 1))),
            forall=(s, j),
        ).by(*CHAIN, DERIVATIVE_NO_LESS.at(W_product, before, x_next, run), "no less"),
        step("all steps, at least", le(W_product**j, norm(run)), forall=(s, j)).by_induction(
            base=(STATES_START.at(x, s), IDENTITY_NORM.at()),
            step=at("one step more, at least", s, j),
        ),
    ),
).by(at("all steps", T - k, k), at("all steps, at least", T - k, k), "window")

DEEP_GRADIENT = Claim(
    id="deep-gradient",
    title="Gradients through deep transitions are at most λᵏ, which isometries attain",
    source=Source(
        "Pascanu et al., How to construct deep recurrent neural networks; Miller & Hardt",
        "section 3",
    ),
    forms=(UPPER, EQUAL),
    false_variants=(
        UPPER.variant("next-power", "λ^{k+1} in place of λ^k", lam_deep ** (k + 1)),
        EQUAL.variant(
            "any-matrix",
            "the gradient is the product of norms, whatever the matrices are",
            without="isometric layers",
        ),
        swap(
            EQUAL, k, k + 1, "one-more-step", "the step at the start of the window is counted too"
        ),
    ),
    example_factor=1.25,
    extremal="multiples of isometries; a nilpotent A = (0 1; 0 0), whose gradient vanishes",
)
