"""How steep and how curved the losses are: squared loss and cross-entropy (Miller & Hardt)."""

from rnnbounds.theory.axioms.base import SUBMULTIPLICATIVE, TRIANGLE
from rnnbounds.theory.axioms.gradients import SUBMULTIPLICATIVE_TRANSPOSED
from rnnbounds.theory.claims.gradients.cross_entropy import ENTROPY_CURVATURE, ENTROPY_SLOPE
from rnnbounds.theory.language import assume, at, eq, le, symbols
from rnnbounds.theory.language.terms.gradients import gradient
from rnnbounds.theory.language.terms.variables import a, b, c, operator, vector
from rnnbounds.theory.language.terms.vectors import norm, transpose
from rnnbounds.theory.proof import Claim, Elsewhere, Source, scaled, step, theorem, thousandth_less

H, y_norm, C_norm_sq, C_norm_ce = symbols("H y_norm C_norm_sq C_norm_ce")
C_label, C_spread, dp, dp_gap, state_gap = symbols("C_label C_spread dp dp_gap state_gap")
C, target = operator("C"), vector("target")

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
        scaled(SQUARED_CURVATURE, 1 / C_norm_sq, "readout-once", "‖C‖ in place of its square"),
        ENTROPY_SLOPE.variant("without-root", "‖C‖ without the factor √2", C_norm_ce),
        ENTROPY_SLOPE.variant(
            "half-the-spread",
            "half the spread of the rows, as if the softmax stayed between them",
            C_spread / 2,
        ),
        ENTROPY_CURVATURE.variant(
            "quarter-of-the-norm", "‖C‖ in place of the rows' spread", C_norm_ce**2 / 4 * state_gap
        ),
        ENTROPY_CURVATURE.variant(
            "spread-from-the-label",
            "the spread from the label's row in place of that of all rows",
            C_label**2 / 4 * state_gap,
        ),
    ),
    emphasis=1.25,
    extremal=(
        "squared loss along C's singular vector with y against it; cross-entropy far out where "
        "another class is certain, and half way between two classes"
    ),
    elsewhere=Elsewhere(shown="it is proved for any output h; on this cell nothing was attacked"),
)
