"""The cross-entropy's gradient is a convex combination, its second derivative a variance.

With logits C h and s = softmax(C h), ∇p = Σ s_j (C_j − C_label), and vᵀ∇²p v is the variance of the
⟨C_j, v⟩ under s, which Popoviciu's inequality bounds by a quarter of their squared spread.
"""

from sympy import Abs, Symbol

from theory.axioms.base import HOMOGENEITY, TRIANGLE
from theory.axioms.gradients import (
    CAUCHY_SCHWARZ,
    MEAN_VALUE_GRADIENT,
    RAYLEIGH,
)
from theory.language.claim import Form
from theory.language.law import Assumption, at, law
from theory.language.statement import eq, le
from theory.language.terms.vectors import (
    a,
    b,
    bottom,
    c,
    first_moment,
    gradient,
    hessian,
    inner,
    is_symmetric,
    j,
    logits,
    mass,
    mixture,
    norm,
    second_moment,
    share,
    top,
    v,
    vector,
    z,
)
from theory.language.vocabulary import symbols
from theory.models.system import ONE, ZERO
from theory.models.weights.projection import INNER_PRODUCT
from theory.proof.methods import Induction, Smt
from theory.proof.methods.induction import HYPOTHESIS
from theory.proof.proof import Proof, Step

C_label, C_spread, dp, dp_gap, state_gap = symbols("C_label C_spread dp dp_gap state_gap")
label = vector("C_label_row")
classes = Symbol("classes", integer=True)

SUMS = law(
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
SOFTMAX = Assumption(
    "softmax",
    "s = softmax(C h): s_j ≥ 0, and the s_j add up to 1",
    law=law("softmax", (c, j), le(ZERO, share(c, j)), eq(mass(c, classes), ONE)),
)
CROSS_ENTROPY = Assumption(
    "cross-entropy",
    "p(h) = −log s_label, with the gradient Σ s_j (C_j − C_label)",
    law=law("cross-entropy", (c,), eq(gradient(c), mixture(c, label, classes))),
)
SECOND_DERIVATIVE = Assumption(
    "second derivative",
    "∇²p(h) of the cross-entropy is symmetric, and in a direction v it is the variance of the "
    "⟨C_j, v⟩ under s",
    law=law(
        "second derivative",
        (c, v),
        eq(is_symmetric(hessian(c)), ONE),
        eq(
            inner(v, hessian(c) * v),
            second_moment(c, v, classes) - first_moment(c, v, classes) ** 2,
        ),
    ),
)
LABEL_ROWS = Assumption(
    "label rows",
    "C_label bounds ‖C_j − C_label‖",
    law=law("label rows", (j,), le(norm(logits(j) - label), C_label)),
)
highest, lowest = inner(top(v), v), inner(bottom(v), v)
SPREAD = Assumption(
    "spread",
    "C_spread bounds ‖C_i − C_j‖, so for the rows with the largest and the least product with v",
    law=law(
        "spread",
        (v, j),
        le(inner(logits(j), v), highest),
        le(lowest, inner(logits(j), v)),
        le(norm(top(v) - bottom(v)), C_spread),
    ),
)

ENTROPY_SLOPE_BOUND = le(dp, C_label)
ENTROPY_SLOPE = Form(
    "cross-entropy",
    ENTROPY_SLOPE_BOUND,
    (SOFTMAX, CROSS_ENTROPY, LABEL_ROWS),
    "gradient",
    Proof(
        (
            Step(
                "mixture",
                le(norm(mixture(c, label, j)), mass(c, j) * C_label),
                Induction(
                    j,
                    base=Smt(SUMS.at(c, label, 0)),
                    step=Smt(
                        HYPOTHESIS,
                        SUMS.at(c, label, j),
                        TRIANGLE.at(mixture(c, label, j), share(c, j) * (logits(j) - label)),
                        HOMOGENEITY.at(share(c, j), logits(j) - label),
                        at("softmax", c, j),
                        at("label rows", j),
                    ),
                ),
                forall=(c, j),
            ),
            Step(
                "claim",
                ENTROPY_SLOPE_BOUND,
                Smt(at("mixture", a, classes), at("cross-entropy", a), at("softmax", a, 0)),
            ),
        )
    ),
    note="at most √2 ‖C‖₂",
)

moments = second_moment(c, v, j), first_moment(c, v, j), mass(c, j)
quarter = C_spread**2 / 4
ENTROPY_CURVATURE_BOUND = le(dp_gap, C_spread**2 / 4 * state_gap)
ENTROPY_CURVATURE = Form(
    "cross-entropy-curvature",
    ENTROPY_CURVATURE_BOUND,
    (SOFTMAX, SECOND_DERIVATIVE, SPREAD),
    "gradient",
    Proof(
        (
            Step(
                "spread of the logits",
                le(highest - lowest, C_spread * norm(v)),
                Smt(
                    CAUCHY_SCHWARZ.at(top(v) - bottom(v), v),
                    INNER_PRODUCT.at(top(v), bottom(v), v),
                    at("spread", v, 0),
                ),
                forall=(v,),
            ),
            Step(
                "between the extremes",
                le(moments[0], (highest + lowest) * moments[1] - highest * lowest * moments[2]),
                Induction(
                    j,
                    base=Smt(SUMS.at(c, v, 0)),
                    step=Smt(HYPOTHESIS, SUMS.at(c, v, j), at("softmax", c, j), at("spread", v, j)),
                ),
                forall=(c, v, j),
            ),
            Step(
                "squares",
                le(ZERO, moments[0] - 2 * z * moments[1] + z**2 * moments[2]),
                Induction(
                    j,
                    base=Smt(SUMS.at(c, v, 0)),
                    step=Smt(HYPOTHESIS, SUMS.at(c, v, j), at("softmax", c, j)),
                ),
                forall=(c, v, z, j),
            ),
            Step(
                "variance",  # Popoviciu's inequality
                le(Abs(inner(v, hessian(c) * v)), quarter * norm(v) ** 2),
                Smt(
                    at("second derivative", c, v),
                    at("softmax", c, 0),
                    at("squares", c, v, first_moment(c, v, classes), classes),
                    at("between the extremes", c, v, classes),
                    at("spread of the logits", v),
                    at("spread", v, 0),
                ),
                forall=(v,),
            ),
            Step(
                "second derivative bounded",
                le(norm(hessian(c)), quarter),
                Smt(RAYLEIGH.at(quarter, hessian(c)), "variance", at("second derivative", c, v)),
                forall=(c,),
            ),
            Step(
                "claim",
                ENTROPY_CURVATURE_BOUND,
                Smt(MEAN_VALUE_GRADIENT.at(quarter, a, b), "second derivative bounded"),
            ),
        )
    ),
    note="at most ½‖C‖₂²",
)
