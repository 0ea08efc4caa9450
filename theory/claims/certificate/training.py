"""Claims on a certificate's gradient constants: γ, its two factors, and β (Lemmas 2 and 3)."""

from rnnbounds.theory.claims.gradients.gradient_gap import PAPER
from rnnbounds.theory.claims.gradients.gradient_gap import UNIFORM as UNIFORM_GAP
from rnnbounds.theory.claims.gradients.gradient_lipschitz import UNIFORM as UNIFORM_SMOOTH
from rnnbounds.theory.claims.gradients.gradient_lipschitz import beta as smoothness
from rnnbounds.theory.language import at, le, symbols
from rnnbounds.theory.models.geometry import EUCLIDEAN
from rnnbounds.theory.models.lemmas.powers import power_nonnegative
from rnnbounds.theory.models.printed import assumed
from rnnbounds.theory.proof import theorem

(k,) = symbols("k")
grad_gap, gamma, beta, lam_w, G_0, G_1 = symbols("grad_gap gamma_told beta_told lam G_0 G_1")
grad_gap_weights, weight_distance = symbols("grad_gap_weights weight_distance")


PRINTED_GAMMA = assumed(
    "printed gamma", "the printed γ is at least G_0 + G_1", (), le(G_0 + G_1, gamma)
)
PRINTED_BETA = assumed(
    "printed beta", "the printed β is at least that of Lemma 3", (), le(smoothness, beta)
)


GRADIENTS = theorem(
    "gradients",
    le(grad_gap, gamma * k * lam_w**k),
    (*PAPER.assumptions, PRINTED_GAMMA),
    "certified-rnn",
    (power_nonnegative(EUCLIDEAN.lam),),
    "γ k λ^k with the printed γ, and the printed λ of training",
).by(PAPER.lemma("gradient-gap, paper").at(), at("power not negative", k), "printed gamma")
FACTORS = theorem(
    "gradient-factors",
    le(grad_gap, (G_0 + k * G_1) * lam_w**k),
    PAPER.assumptions,
    "certified-rnn",
    (power_nonnegative(EUCLIDEAN.lam),),
    "λ^k (G_0 + k G_1) with both printed factors",
).by(
    UNIFORM_GAP.lemma("gradient-gap, uniform").at(),
    at("power not negative", k - 1),
    "division",
    "memory",
    "some window",
)
SMOOTHNESS = theorem(
    "smoothness",
    le(grad_gap_weights, beta * weight_distance),
    (*UNIFORM_SMOOTH.assumptions, PRINTED_BETA),
    "certified-rnn",
    note="β as it is printed, for weights that are no larger than the model's",
).by(UNIFORM_SMOOTH.lemma("gradient-lipschitz, uniform").at(), "printed beta", "contractive")
