"""A deep transition contracts by the product of its layers' factors (Miller & Hardt, section 2).

φ = g_L ∘ … ∘ g_1,  g_l(u) = ρ(W_l u + [l = 1] U x + b_l),  λ = Π L_ρ‖W_l‖.
"""

from rnnbounds.theory.axioms.base import MEAN_VALUE, SUBMULTIPLICATIVE
from rnnbounds.theory.claims.contraction.vanilla import SECANTS
from rnnbounds.theory.language import ONE, assume, at, eq, le, symbols
from rnnbounds.theory.language.terms.networks import (
    activation,
    layer,
    layer_matrix,
    layer_offset,
    layer_product,
    slopes,
)
from rnnbounds.theory.language.terms.variables import a, b, c, j, v, vector
from rnnbounds.theory.language.terms.vectors import norm, phi
from rnnbounds.theory.models.cells import SLOPES
from rnnbounds.theory.proof import Claim, Source, scale, step, theorem, thousandth_less

L_rho, lam_deep, depth, deep_gap, deep_state_gap = symbols(
    "L_rho lam_deep depth deep_gap deep_state_gap"
)
x_t = vector("x_t")

layer_preactivation = layer_matrix(j + 1) * layer(v, c, j) + layer_offset(c, j + 1)
DEEP = assume(
    "deep transition",
    "φ = g_L ∘ … ∘ g_1 with g_l(u) = ρ(W_l u + [l = 1] U x + b_l), ρ from the table of activations",
    forall=(v, c, j),
).that(
    eq(layer(v, c, 0), v),
    eq(layer(v, c, j + 1), activation(layer_preactivation)),
    eq(phi(v, c), layer(v, c, depth)),
)
LAYER_NORMS = assume(
    "layer norms", "lam_deep bounds the product of L_ρ‖W_l‖₂ over the layers", forall=(j,)
).that(
    eq(layer_product(0), ONE),
    eq(layer_product(j + 1), L_rho * norm(layer_matrix(j + 1)) * layer_product(j)),
    le(layer_product(depth), lam_deep),
)

first, second = (layer_preactivation.xreplace({v: state}) for state in (a, b))
gap = norm(layer(a, c, j) - layer(b, c, j))
ONE_LAYER = step(
    "one layer",
    le(gap.xreplace({j: j + 1}), L_rho * norm(layer_matrix(j + 1)) * gap),
    forall=(a, b, c, j),
).by(
    at("deep transition", a, c, j),
    at("deep transition", b, c, j),
    MEAN_VALUE.at(first, second),
    SUBMULTIPLICATIVE.at(slopes(first, second), first - second),
    SUBMULTIPLICATIVE.at(layer_matrix(j + 1), layer(a, c, j) - layer(b, c, j)),
    at("secants", first, second),
)
ALL_LAYERS = step(
    "all layers", le(gap, layer_product(j) * norm(a - b)), forall=(a, b, c, j)
).by_induction(
    base=(at("deep transition", a, c, 0), at("deep transition", b, c, 0), at("layer norms", 0)),
    step=(at("one layer", a, b, c, j), at("layer norms", j)),
)
ONE_STEP = step(
    "one step", le(norm(phi(a, c) - phi(b, c)), lam_deep * norm(a - b)), forall=(a, b, c)
).by(
    at("deep transition", a, c, 0),
    at("deep transition", b, c, 0),
    at("all layers", a, b, c, depth),
    at("layer norms", 0),
)
STEPS = (SLOPES, SECANTS, ONE_LAYER, ALL_LAYERS, ONE_STEP)
BOUND = le(deep_gap, lam_deep * deep_state_gap)
FORM = theorem("product", BOUND, (DEEP, LAYER_NORMS), "layered", STEPS).by(
    at("one step", a, b, x_t)
)

CONTRACTION_DEEP = Claim(
    id="contraction-deep",
    title="A deep transition contracts by the product of its layers' factors",
    source=Source(
        "Pascanu et al., How to construct deep recurrent neural networks; Miller & Hardt",
        "section 2",
    ),
    forms=(FORM,),
    false_variants=(
        scale(FORM, 1 / L_rho, "a-slope-forgotten", "the slope of one layer is left out"),
        thousandth_less(FORM, "one-thousandth", "a thousandth less than the factor"),
    ),
    example_factor=1.25,
    extremal="multiples of isometries, with pre-activations where the slope is ±L_ρ in each layer",
)
