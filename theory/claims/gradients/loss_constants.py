"""How steep and how curved the losses are: squared loss and cross-entropy (Miller & Hardt).

With logits C h and s = softmax(C h), the cross-entropy's gradient is a convex combination,
∇p = Σ s_j (C_j − C_label), and vᵀ∇²p v is the variance of the ⟨C_j, v⟩ under s, which Popoviciu's
inequality bounds by a quarter of their squared spread.
"""

from sympy import Abs, Symbol

from rnnbounds.theory.axioms.base import HOMOGENEITY, SUBMULTIPLICATIVE, TRIANGLE
from rnnbounds.theory.axioms.entries import INNER_PRODUCT
from rnnbounds.theory.axioms.gradients import (
    CAUCHY_SCHWARZ,
    MEAN_VALUE_GRADIENT,
    RAYLEIGH,
    SUBMULTIPLICATIVE_TRANSPOSED,
)
from rnnbounds.theory.language import ONE, ZERO, assume, at, define, eq, le, symbols
from rnnbounds.theory.language.terms.networks import (
    bottom,
    first_moment,
    gradient,
    hessian,
    logits,
    mass,
    mixture,
    second_moment,
    share,
    top,
)
from rnnbounds.theory.language.terms.variables import a, b, c, j, operator, v, vector, z
from rnnbounds.theory.language.terms.vectors import inner, is_symmetric, norm, transpose
from rnnbounds.theory.proof import Claim, Source, scale, step, theorem, thousandth_less

H, y_norm, C_norm_sq = symbols("H y_norm C_norm_sq")
C_label, C_spread, dp, dp_gap, state_gap = symbols("C_label C_spread dp dp_gap state_gap")
C, target, label = operator("C"), vector("target"), vector("label_row")
classes = Symbol("classes", integer=True)

SUMS = define(
    "sums over classes",
    (c, v, j),
    eq(mass(c, 0), ZERO),
    eq(mass(c, j + 1), mass(c, j) + share(c, j)),
    eq(mixture(c, v, 0), ZERO),
    eq(mixture(c, v, j + 1), mixture(c, v, j) + share(c, j) * (logits(j) - v)),
    eq(first_moment(c, v, 0), ZERO),
    eq(first_moment(c, v, j + 1), first_moment(c, v, j) + share(c, j) * inner(logits(j), v)),
    eq(second_moment(c, v, 0), ZERO),
    eq(second_moment(c, v, j + 1), second_moment(c, v, j) + share(c, j) * inner(logits(j), v) ** 2),
)
SOFTMAX = assume(
    "softmax", "s = softmax(C h): s_j ≥ 0, and the s_j add up to 1", forall=(c, j)
).that(le(ZERO, share(c, j)), eq(mass(c, classes), ONE))
CROSS_ENTROPY = assume(
    "cross-entropy", "p(h) = −log s_label, with the gradient Σ s_j (C_j − C_label)", forall=(c,)
).that(eq(gradient(c), mixture(c, label, classes)))
SECOND_DERIVATIVE = assume(
    "second derivative",
    "∇²p(h) of the cross-entropy is symmetric, and in a direction v it is the variance of the "
    "⟨C_j, v⟩ under s",
    forall=(c, v),
).that(
    eq(is_symmetric(hessian(c)), ONE),
    eq(inner(v, hessian(c) * v), second_moment(c, v, classes) - first_moment(c, v, classes) ** 2),
)
highest, lowest = inner(top(v), v), inner(bottom(v), v)
SPREAD = assume(
    "spread",
    "C_spread bounds ‖C_i − C_j‖, so for the rows with the largest and the least product with v",
    forall=(v, j),
).that(
    le(inner(logits(j), v), highest),
    le(lowest, inner(logits(j), v)),
    le(norm(top(v) - bottom(v)), C_spread),
)

ENTROPY_SLOPE = theorem(
    "cross-entropy",
    le(dp, C_label),
    (
        SOFTMAX,
        CROSS_ENTROPY,
        assume("label rows", "C_label bounds ‖C_j − C_label‖", forall=(j,)).that(
            le(norm(logits(j) - label), C_label)
        ),
    ),
    "gradient",
    (
        step(
            "mixture", le(norm(mixture(c, label, j)), mass(c, j) * C_label), forall=(c, j)
        ).by_induction(
            base=SUMS.at(c, label, 0),
            step=(
                SUMS.at(c, label, j),
                TRIANGLE.at(mixture(c, label, j), share(c, j) * (logits(j) - label)),
                HOMOGENEITY.at(share(c, j), logits(j) - label),
                at("softmax", c, j),
                at("label rows", j),
            ),
        ),
    ),
    note="at most √2 ‖C‖₂",
).by(at("mixture", a, classes), at("cross-entropy", a), at("softmax", a, 0))

moments = second_moment(c, v, j), first_moment(c, v, j), mass(c, j)
spread_bound = C_spread**2 / 4
ENTROPY_CURVATURE = theorem(
    "cross-entropy-curvature",
    le(dp_gap, C_spread**2 / 4 * state_gap),
    (SOFTMAX, SECOND_DERIVATIVE, SPREAD),
    "gradient",
    (
        step("spread of the logits", le(highest - lowest, C_spread * norm(v)), forall=(v,)).by(
            CAUCHY_SCHWARZ.at(top(v) - bottom(v), v),
            INNER_PRODUCT.at(top(v), bottom(v), v),
            at("spread", v, 0),
        ),
        step(
            "between the extremes",
            le(moments[0], (highest + lowest) * moments[1] - highest * lowest * moments[2]),
            forall=(c, v, j),
        ).by_induction(
            base=SUMS.at(c, v, 0), step=(SUMS.at(c, v, j), at("softmax", c, j), at("spread", v, j))
        ),
        step(
            "squares",
            le(ZERO, moments[0] - 2 * z * moments[1] + z**2 * moments[2]),
            forall=(c, v, z, j),
        ).by_induction(base=SUMS.at(c, v, 0), step=(SUMS.at(c, v, j), at("softmax", c, j))),
        step(
            "variance",  # Popoviciu's inequality
            le(Abs(inner(v, hessian(c) * v)), spread_bound * norm(v) ** 2),
            forall=(v,),
        ).by(
            at("second derivative", c, v),
            at("softmax", c, 0),
            at("squares", c, v, first_moment(c, v, classes), classes),
            at("between the extremes", c, v, classes),
            at("spread of the logits", v),
            at("spread", v, 0),
        ),
        step("second derivative bounded", le(norm(hessian(c)), spread_bound), forall=(c,)).by(
            RAYLEIGH.at(spread_bound, hessian(c)), "variance", at("second derivative", c, v)
        ),
    ),
    note="at most ½‖C‖₂²",
).by(MEAN_VALUE_GRADIENT.at(spread_bound, a, b), "second derivative bounded")


SQUARED = assume(
    "squared loss", "p(h) = ½‖C h − y‖², with the gradient Cᵀ(C h − y)", forall=(c,)
).that(eq(gradient(c), transpose(C) * (C * c - target)))
READOUT = assume("readout", "C_norm_sq bounds ‖C‖₂").that(le(norm(C), C_norm_sq))
SIZES = assume("sizes", "y_norm bounds ‖y‖, and H ‖h‖ and ‖h′‖").that(
    le(norm(target), y_norm), le(norm(a), H), le(norm(b), H)
)

SQUARED_SLOPE_BOUND = le(dp, C_norm_sq * (C_norm_sq * H + y_norm))
SQUARED_SLOPE = theorem(
    "squared",
    SQUARED_SLOPE_BOUND,
    (SQUARED, READOUT, SIZES),
    "gradient",
    (
        step("residual", le(norm(C * a - target), C_norm_sq * H + y_norm)).by(
            TRIANGLE.at(C * a, -target), SUBMULTIPLICATIVE.at(C, a), "readout", "sizes"
        ),
    ),
).by(
    at("squared loss", a), SUBMULTIPLICATIVE_TRANSPOSED.at(C, C * a - target), "residual", "readout"
)
SQUARED_CURVATURE = theorem(
    "squared-curvature", le(dp_gap, C_norm_sq**2 * state_gap), (SQUARED, READOUT), "gradient"
).by(
    at("squared loss", a),
    at("squared loss", b),
    SUBMULTIPLICATIVE_TRANSPOSED.at(C, C * (a - b)),
    SUBMULTIPLICATIVE.at(C, a - b),
    "readout",
)

LOSS_CONSTANTS = Claim(
    id="loss-constants",
    title="The constants of a loss bound its derivatives",
    source=Source("Miller & Hardt, Stable Recurrent Models", "the constants of section 3"),
    forms=(SQUARED_SLOPE, SQUARED_CURVATURE, ENTROPY_SLOPE, ENTROPY_CURVATURE),
    false_variants=(
        SQUARED_SLOPE.variant("no-target", "the target is taken for 0", C_norm_sq**2 * H),
        thousandth_less(
            SQUARED_SLOPE, "a-thousandth-less", "the bound is never reached: 0.999 of it is enough"
        ),
        scale(SQUARED_CURVATURE, 1 / C_norm_sq, "readout-once", "‖C‖ in place of its square"),
        ENTROPY_SLOPE.variant(
            "half-the-spread",
            "half the spread of the rows, as if the softmax stayed between them",
            C_spread / 2,
        ),
        ENTROPY_CURVATURE.variant(
            "spread-from-the-label",
            "the spread from the label's row in place of that of all rows",
            C_label**2 / 4 * state_gap,
        ),
    ),
    example_factor=1.25,
    extremal=(
        "squared loss along C's singular vector with y against it; cross-entropy far out where "
        "another class is certain, and half way between two classes"
    ),
)
