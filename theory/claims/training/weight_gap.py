"""Weights trained on the truncated model stay close (Miller & Hardt, Proposition 4)."""

from sympy import Rational, log

from rnnbounds.theory.axioms.base import EXPONENTIAL, LOGARITHM
from rnnbounds.theory.claims.training import chained
from rnnbounds.theory.language import at, le, symbols
from rnnbounds.theory.language.functions import REAL_POWER, RealPower, StepProduct
from rnnbounds.theory.language.terms.variables import j
from rnnbounds.theory.language.terms.vectors import norm
from rnnbounds.theory.models.lemmas.growth import (
    LOGARITHM_POSITIVE,
    POWER_LARGE,
    POWERS,
    PRODUCT,
    PRODUCT_BY_LOGARITHM,
    TANGENTS,
)
from rnnbounds.theory.models.system import MEMORY
from rnnbounds.theory.models.weights import training
from rnnbounds.theory.models.weights.training import (
    CURVED,
    GAMMA_BOUND,
    SOME_STEPS,
)
from rnnbounds.theory.proof import Claim, Source, step, theorem

N, k, lam, alpha, beta, eps_k = symbols("N k lam alpha beta eps_k")
G_0, G_1, w_gap = symbols("G_0 G_1 w_gap")
c = alpha * beta

PRODUCT_BOUND = le(w_gap, eps_k / beta * (StepProduct(N, c) - 1))
OF_LOSSES = theorem(
    "losses",
    PRODUCT_BOUND,
    (*training.TRAINING, CURVED),
    "losses",
    (
        *training.STEPS,
        *PRODUCT,
        step(
            "weights by the product",
            le(beta * norm(training.here - training.there), eps_k * (StepProduct(j, c) - 1)),
            forall=(j,),
        ).by_induction(
            base=(at("descent", 0), at("empty product", c), "step"),
            step=(at("one step", j), at("next factor", j, c), at("inverse steps", j), "step"),
        ),
    ),
    note="of any two losses; the Γ quotient is the product of all 1 + αβ/t",
).by(at("weights by the product", N), "curved")
LEMMA = OF_LOSSES.lemma("weight-gap, losses").at()
TIED = ("smooth gradient", "gradient gap")  # what Lemmas 3 and 2 say of a model's losses
BY_PRODUCT = theorem(
    "product",
    PRODUCT_BOUND,
    (*training.DESCENTS, CURVED, *chained.MODEL),
    "training",
    chained.CHAIN,
).by(LEMMA, *TIED, "curved")

MODEL = (*training.TRAINING, CURVED, SOME_STEPS)
BY_LOGARITHM = theorem(
    "logarithm",
    le(w_gap, alpha * eps_k * RealPower(N, c) * (1 + log(N))),
    MODEL,
    "losses",
    (*POWERS, POWER_LARGE, LOGARITHM_POSITIVE, *PRODUCT, PRODUCT_BY_LOGARITHM),
    note="sharper for small αβ",
).by(
    LEMMA,
    at("product by a logarithm", c, N - 1),
    REAL_POWER.at(N, c),
    "curved",
    "step",
    "some steps",
)

PAPER = theorem(
    "paper",
    le(w_gap, alpha * (G_0 + G_1) * k * lam**k * RealPower(N, c + 1)),
    (*BY_PRODUCT.assumptions, SOME_STEPS, GAMMA_BOUND, MEMORY),
    "training",
    (
        *chained.CHAIN,
        *TANGENTS,
        step("gradient bound by γ", le(eps_k, (G_0 + G_1) * k * lam**k)).by(
            at("gradient bound", k - 1), "gamma", "memory", "some window"
        ),
    ),
    note="γ = G_0 + G_1; a factor N more than need be",
).by(
    BY_LOGARITHM.lemma("weight-gap, logarithm").at(),
    *TIED,
    "gradient bound by γ",
    REAL_POWER.at(N, c),
    REAL_POWER.at(N, c + 1),
    EXPONENTIAL.at(c * log(N), log(N)),
    at("exp positive", c * log(N)),
    LOGARITHM.at(N),
    at("tangent of exp", log(N)),
    "step",
    "some steps",
)

IN_BOX = theorem(
    "box",
    PRODUCT_BOUND,
    (*training.DESCENTS, CURVED, *chained.CELL_MODEL),
    "cell",
    chained.CELL_CHAIN,
    note="any cell, by Lemmas 2 and 3 in the norm of a box that no weights of Ω leave",
).by(LEMMA, *TIED, "curved")

WEIGHT_GAP = Claim(
    id="weight-gap",
    title="Weights trained on the truncated model stay close",
    source=Source("Miller & Hardt, Stable Recurrent Models", "Proposition 4"),
    forms=(BY_PRODUCT, OF_LOSSES, BY_LOGARITHM, PAPER, IN_BOX),
    false_variants=(
        BY_LOGARITHM.variant(
            "no-logarithm", "N^{αβ} alone, without the logarithm", alpha * eps_k * RealPower(N, c)
        ),
        BY_LOGARITHM.variant(
            "exponent-without-step",
            "the exponent β in place of αβ",
            alpha * eps_k * RealPower(N, beta) * (1 + log(N)),
        ),
        BY_PRODUCT.variant(
            "one-step-short",
            "the product of one step less",
            eps_k / beta * (StepProduct(N - 1, c) - 1),
            SOME_STEPS,
        ),
        OF_LOSSES.variant(
            "a-thousandth-less",
            "the worst case is never reached: 0.999 of it is enough",
            Rational(999, 1000) * eps_k / beta * (StepProduct(N, c) - 1),
        ),
        IN_BOX.variant(
            "box-one-step-short",
            "of a cell, the product of one step less",
            eps_k / beta * (StepProduct(N - 1, c) - 1),
            SOME_STEPS,
        ),
    ),
    extremal=(
        "p(w) = −βw²/2 and p^k(w) = p(w) + εw on the line, without constraint: equality in the "
        "product, for every N"
    ),
    example_factor=1.25,
)
