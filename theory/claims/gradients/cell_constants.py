"""The constants of a vanilla RNN and, by jets, of any cell: its derivatives and how they bend."""

from sympy import Expr, sqrt

from rnnbounds.theory.axioms import base
from rnnbounds.theory.axioms.gradients import (
    CHAIN_RULE_LAYER,
    DIAGONAL_ROWS,
    LINEAR_MAP,
    SUBMULTIPLICATIVE_FROBENIUS,
)
from rnnbounds.theory.claims.gradients.box_constants import BOX_FORMS, BOX_VARIANTS
from rnnbounds.theory.language import ONE, assume, at, eq, le, symbols
from rnnbounds.theory.language.terms.networks import (
    bends,
    d_inputs,
    d_matrix,
    d_offset,
    d_weights,
    differentiable,
    lift,
    slopes,
)
from rnnbounds.theory.language.terms.variables import A, B, a, b, c, v, vector
from rnnbounds.theory.language.terms.vectors import diagonal, frobenius, norm, row_norm
from rnnbounds.theory.models.cells import CURVATURES, RECURRENT_NORM, RNN, SLOPES, U, W, bias
from rnnbounds.theory.proof import Claim, Source, scale, step, theorem

L_rho, beta_rho, W_norm, W_rows, B_x, H = symbols("L_rho beta_rho W_norm W_rows B_x H")
dphi_w, dphi_w_gap, dphi_h_gap, state_gap = symbols("dphi_w dphi_w_gap dphi_h_gap state_gap")

x_t = vector("x_t")


def preactivation(h: Expr) -> Expr:
    """Change of the pre-activation under a change of the weights: δW h + δU x + δb."""
    return d_matrix(v) * h + d_inputs(v) * x_t + d_offset(v)


PARTS = assume(
    "parts",
    "the weights are W, U and b: a change v of them has the parts δW, δU and δb, with all squares "
    "of entries ‖v‖², and changes the pre-activation by δW h + δU x + δb",
    forall=(A, B, a, b, c, v),
).that(
    eq(norm(v) ** 2, frobenius(d_matrix(v)) + frobenius(d_inputs(v)) + norm(d_offset(v)) ** 2),
    eq(
        norm(A * lift(a, c) * v + B * lift(b, c) * v),
        norm(
            A * (d_matrix(v) * a + d_inputs(v) * c + d_offset(v))
            + B * (d_matrix(v) * b + d_inputs(v) * c + d_offset(v))
        ),
    ),
)
SIZES = assume("sizes", "H bounds ‖h‖ and ‖h′‖, B_x bounds ‖x‖").that(
    le(norm(a), H), le(norm(b), H), le(norm(x_t), B_x)
)
DIFFERENTIABLE = assume("differentiable", "φ is differentiable at both states").that(
    eq(differentiable(a, x_t), ONE), eq(differentiable(b, x_t), ONE)
)
ROWS = assume("rows", "W_rows bounds the 2-norm of each row of W").that(le(row_norm(W), W_rows))

z_a, z_b = (W * h + U * x_t + bias for h in (a, b))
slopes_a, slopes_b = slopes(z_a, z_a), slopes(z_b, z_b)
augmented_norm = sqrt(norm(a) ** 2 + norm(x_t) ** 2 + 1)
R = sqrt(H**2 + B_x**2 + 1)

SIZE_OF_WEIGHTS = at("parts", 0, 0, a, a, x_t, v)
SLOPE = step("slope", le(norm(slopes(c, c)), L_rho), forall=(c,)).by(
    "slopes", base.DIAGONAL_NORM.at(c, c)
)
changes = (d_matrix(v) * a, d_inputs(v) * x_t, d_offset(v))
SHIFT = (
    step(
        "shift, squared",
        le(
            (norm(changes[0]) + norm(changes[1]) + norm(changes[2])) ** 2,
            (norm(a) ** 2 + norm(x_t) ** 2 + 1)
            * (frobenius(d_matrix(v)) + frobenius(d_inputs(v)) + norm(d_offset(v)) ** 2),
        ),
        forall=(v,),
    ).by(
        SUBMULTIPLICATIVE_FROBENIUS.at(d_matrix(v), a),
        SUBMULTIPLICATIVE_FROBENIUS.at(d_inputs(v), x_t),
    ),
    step("shift", le(norm(preactivation(a)), augmented_norm * norm(v)), forall=(v,)).by(
        at("shift, squared", v),
        SIZE_OF_WEIGHTS,
        base.TRIANGLE.at(changes[0] + changes[1], changes[2]),
        base.TRIANGLE.at(changes[0], changes[1]),
    ),
)
OPERATOR = step(
    "all weights", le(norm(d_weights(a, x_t) * v), L_rho * augmented_norm * norm(v)), forall=(v,)
).by(
    CHAIN_RULE_LAYER.at(W, U, bias, a, x_t),
    "rnn",
    "differentiable",
    at("parts", slopes_a, 0, a, a, x_t, v),
    base.SUBMULTIPLICATIVE.at(slopes_a, preactivation(a)),
    at("slope", z_a),
    at("shift", v),
)
WEIGHTS = theorem(
    "weights",
    le(dphi_w, L_rho * R),
    (RNN, DIFFERENTIABLE, PARTS, SIZES),
    "gradient",
    (
        SLOPES,
        SLOPE,
        *SHIFT,
        OPERATOR,
        step("operator", le(norm(d_weights(a, x_t)), L_rho * augmented_norm)).by(
            LINEAR_MAP.at(L_rho * augmented_norm, d_weights(a, x_t)), "all weights"
        ),
    ),
    note="L_w, with the bounds on states and inputs for H and B_x",
).by("operator", "sizes")

APART = step("slopes apart", le(norm(slopes_a - slopes_b), beta_rho * W_rows * norm(a - b))).by(
    base.MEAN_VALUE_SLOPES.at(z_a, z_b),
    "curvatures",
    base.DIAGONAL_BENDS.at(z_a, z_b),
    base.SUBMULTIPLICATIVE.at(bends(z_a, z_b), diagonal(W * (a - b))),
    DIAGONAL_ROWS.at(W, a - b),
    "rows",
)
MATRIX_CHANGE = step(
    "matrix change", le(norm(d_matrix(v) * (a - b)), norm(v) * norm(a - b)), forall=(v,)
).by(SUBMULTIPLICATIVE_FROBENIUS.at(d_matrix(v), a - b), SIZE_OF_WEIGHTS)
curvature_terms = beta_rho * W_rows * norm(a - b) * augmented_norm + L_rho * norm(a - b)
MIXED = theorem(
    "mixed",
    le(dphi_w_gap, (beta_rho * R * W_rows + L_rho) * state_gap),
    (RNN, DIFFERENTIABLE, PARTS, SIZES, ROWS),
    "gradient",
    (
        SLOPES,
        CURVATURES,
        SLOPE,
        *SHIFT,
        APART,
        MATRIX_CHANGE,
        step(
            "all weights",
            le(norm((d_weights(a, x_t) - d_weights(b, x_t)) * v), curvature_terms * norm(v)),
            forall=(v,),
        ).by(
            CHAIN_RULE_LAYER.at(W, U, bias, a, x_t),
            CHAIN_RULE_LAYER.at(W, U, bias, b, x_t),
            "rnn",
            "differentiable",
            at("parts", slopes_a, -slopes_b, a, b, x_t, v),
            base.TRIANGLE.at(
                (slopes_a - slopes_b) * preactivation(a), slopes_b * d_matrix(v) * (a - b)
            ),
            base.SUBMULTIPLICATIVE.at(slopes_a - slopes_b, preactivation(a)),
            base.SUBMULTIPLICATIVE.at(slopes_b, d_matrix(v) * (a - b)),
            "slopes apart",
            at("slope", z_b),
            at("shift", v),
            at("matrix change", v),
        ),
        step("operator", le(norm(d_weights(a, x_t) - d_weights(b, x_t)), curvature_terms)).by(
            LINEAR_MAP.at(curvature_terms, d_weights(a, x_t) - d_weights(b, x_t)), "all weights"
        ),
    ),
    note="β_wh; β_hw is the same",
).by("operator", "sizes")

STATE_BOUND = le(dphi_h_gap, beta_rho * W_rows * W_norm * state_gap)
STATE = theorem(
    "state",
    STATE_BOUND,
    (RNN, DIFFERENTIABLE, RECURRENT_NORM, ROWS),
    "gradient",
    (CURVATURES, APART),
    note="β_hh",
).by(
    CHAIN_RULE_LAYER.at(W, U, bias, a, x_t),
    CHAIN_RULE_LAYER.at(W, U, bias, b, x_t),
    "rnn",
    "differentiable",
    base.SUBMULTIPLICATIVE.at(slopes_a - slopes_b, W),
    "slopes apart",
    "recurrent norm",
)

CELL_CONSTANTS = Claim(
    id="cell-constants",
    title="The constants of a cell bound its derivatives",
    source=Source("Miller & Hardt, Stable Recurrent Models", "the constants of section 3"),
    forms=(WEIGHTS, MIXED, STATE, *BOX_FORMS),
    false_variants=(
        WEIGHTS.variant(
            "inputs-alone",
            "the derivative in W, which is the state, is forgotten",
            L_rho * sqrt(B_x**2 + 1),
        ),
        WEIGHTS.variant(
            "no-bias", "the derivative in the bias is forgotten", L_rho * sqrt(H**2 + B_x**2)
        ),
        MIXED.variant(
            "curvature-alone",
            "the change of the state in δW h is forgotten: no L_ρ",
            beta_rho * R * W_rows * state_gap,
        ),
        MIXED.variant("slope-alone", "the activation's curvature is forgotten", L_rho * state_gap),
        scale(STATE, W_rows / W_norm, "rows-twice", "the largest row of W in place of its norm"),
        *BOX_VARIANTS,
    ),
    example_factor=1.25,
    extremal="pre-activations where ρ' or ρ'' is largest; for β_hh equal rows, and states apart "
    "along them",
)
