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
from theory.models.lemmas.powers import power, power_at_most_one, power_sum
from theory.models.printed import (
    TOLD,
    assumed,
)
from theory.proof.methods import Smt
from theory.proof.proof import Proof, Step

T, k, x_gap, h_gap, h_norm, forced_gap = symbols("T k x_gap h_gap h_norm forced_gap")
lam, epsilon, window, S, R = symbols("lam_told eps_told k_told S_told R_told")
C, reach, S_0, B_h, gain = symbols("C_told c_told S_0_told B_h_told gain_told")
rounding, turns, turned = symbols("rounding_told two_norm_steps_told two_norm_told")
orbit_start, orbit_start_told, orbit_gap, orbit_gap_told, orbit_state = symbols(
    "orbit_start orbit_start_told orbit_gap orbit_gap_told orbit_state"
)
state_told, first_norm, h_rounding, share_used = symbols(
    "state_told first_norm h_rounding_told share_used"
)
grad_gap, gamma, beta, lam_w, G_0, G_1 = symbols("grad_gap gamma_told beta_told lam G_0 G_1")
grad_gap_weights, weight_distance = symbols("grad_gap_weights weight_distance")
unitary_gap, unitary_defect, exact, defect, bounded = symbols(
    "unitary_gap unitary_defect exact_told defect_told B_u_told"
)
rounding_64, rounding_own, computed_norm = symbols(
    "unitary_rounding unitary_rounding_own unitary_computed"
)
drift, drift_own, reached = symbols("drift_told drift_own_told B_computed_told")
POWERS = (power(TOLD.lam), power_sum(TOLD.lam), power_at_most_one(TOLD.lam))


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
