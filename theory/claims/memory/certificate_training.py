"""What a certificate prints of gradients: γ, its two factors, and β (Lemmas 2 and 3)."""

from theory.claims.gradients.gradient_gap import PAPER
from theory.claims.gradients.gradient_gap import UNIFORM as UNIFORM_GAP
from theory.claims.gradients.gradient_lipschitz import UNIFORM as UNIFORM_SMOOTH
from theory.claims.gradients.gradient_lipschitz import beta as smoothness
from theory.language.claim import Form
from theory.language.law import at
from theory.language.statement import le
from theory.language.vocabulary import symbols
from theory.models.geometry import EUCLIDEAN
from theory.models.lemmas.powers import power
from theory.models.printed import (
    assumed,
)
from theory.proof.methods import Smt
from theory.proof.proof import Proof, Step

(k,) = symbols("k")
grad_gap, gamma, beta, lam_w, G_0, G_1 = symbols("grad_gap gamma_told beta_told lam G_0 G_1")
grad_gap_weights, weight_distance = symbols("grad_gap_weights weight_distance")


PRINTED_GAMMA = assumed(
    "printed gamma", "the printed γ is at least G_0 + G_1", (), le(G_0 + G_1, gamma)
)
PRINTED_BETA = assumed(
    "printed beta", "the printed β is at least that of Lemma 3", (), le(smoothness, beta)
)


of_gradients = PAPER.lemma("gradient-gap, paper").at()
GRADIENTS = Form(
    "gradients",
    bound := le(grad_gap, gamma * k * lam_w**k),
    (*PAPER.assumptions, PRINTED_GAMMA),
    "certified-rnn",
    Proof(
        (
            power(EUCLIDEAN.lam),
            Step(
                "claim",
                bound,
                Smt(of_gradients, at("power not negative", k), "printed gamma"),
            ),
        )
    ),
    note="γ k λ^k with the printed γ, and the printed λ of training",
)
FACTORS = Form(
    "gradient-factors",
    bound := le(grad_gap, (G_0 + k * G_1) * lam_w**k),
    PAPER.assumptions,
    "certified-rnn",
    Proof(
        (
            power(EUCLIDEAN.lam),
            Step(
                "claim",
                bound,
                Smt(
                    UNIFORM_GAP.lemma("gradient-gap, uniform").at(),
                    at("power not negative", k - 1),
                    "division",
                    "memory",
                    "some window",
                ),
            ),
        )
    ),
    note="λ^k (G_0 + k G_1) with both printed factors",
)
SMOOTHNESS = Form(
    "smoothness",
    bound := le(grad_gap_weights, beta * weight_distance),
    (*UNIFORM_SMOOTH.assumptions, PRINTED_BETA),
    "certified-rnn",
    Proof(
        (
            Step(
                "claim",
                bound,
                Smt(
                    UNIFORM_SMOOTH.lemma("gradient-lipschitz, uniform").at(),
                    "printed beta",
                    "contractive",
                ),
            ),
        )
    ),
    note="β as it is printed, for weights that are no larger than the model's",
)
