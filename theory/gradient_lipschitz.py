"""The gradient is Lipschitz in the weights (Miller & Hardt, Lemma 3)."""

from sympy import Rational

from theory.claim import Claim, Form, Source
from theory.geometry import EUCLIDEAN
from theory.law import at
from theory.methods import Smt
from theory.other_weights import MODEL, g
from theory.proof import Proof, Step
from theory.sensitivity import power, power_at_most_one, sensitive
from theory.statement import le
from theory.vocabulary import symbols
from theory.weights_change import (
    JACOBIANS,
    LOSSES,
    STATES,
    change,
    change_factors,
    smoothness,
)

T, lam, L_w, L_p, beta_p = symbols("T lam L_w L_p beta_p")
beta_hh, beta_hw, beta_wh, beta_ww = symbols("beta_hh beta_hw beta_wh beta_ww")
beta_ends, grad_gap_weights, weight_distance = symbols("beta_ends grad_gap_weights weight_distance")

FINITE_BOUND = le(grad_gap_weights, smoothness(T) * weight_distance)
FINITE = Form(
    "finite",
    FINITE_BOUND,
    MODEL,
    "smooth",
    Proof(
        (
            *sensitive(EUCLIDEAN),
            *STATES,
            *JACOBIANS,
            *LOSSES,
            Step(
                "claim",
                FINITE_BOUND,
                Smt(at("gradients bounded", T - 1), "some input", "contractive"),
            ),
        )
    ),
)

bent, mixed = change_factors(T, lam ** (T - 1))
change_most = (
    beta_hh * L_w**2 / (1 - lam) ** 3
    + (beta_hw + beta_wh) * L_w / (1 - lam) ** 2
    + beta_ww / (1 - lam)
)
curvature_most = L_w**2 / (1 - lam) ** 2
beta = beta_p * curvature_most + L_p * change_most
UNIFORM_BOUND = le(grad_gap_weights, beta * weight_distance)
UNIFORM = Form(
    "uniform",
    UNIFORM_BOUND,
    MODEL,
    "smooth",
    Proof(
        (
            power(EUCLIDEAN),
            power_at_most_one(EUCLIDEAN),
            Step(
                "curvature",
                le((L_w * g(T)) ** 2, curvature_most),
                Smt(
                    at("power not negative", T),
                    at("power at most one", T),
                    "contractive",
                ),
            ),
            Step(
                "mixed",
                le(mixed, 1 / (1 - lam) ** 2),
                Smt(at("power not negative", T - 1), "some input", "contractive"),
            ),
            Step(
                "bent",
                le(bent, 1 / (1 - lam) ** 3),
                Smt(at("power not negative", T - 1), "some input", "contractive"),
            ),
            Step(
                "change",
                le(change(T, lam ** (T - 1)), change_most),
                Smt("mixed", "bent", "contractive"),
            ),
            Step(
                "claim",
                UNIFORM_BOUND,
                Smt(
                    FINITE.lemma("gradient-lipschitz").at(),
                    "curvature",
                    "change",
                    "contractive",
                ),
            ),
        )
    ),
    note="for every length T",
)

GRADIENT_LIPSCHITZ = Claim(
    id="gradient-lipschitz",
    title="The gradient is Lipschitz in the weights",
    source=Source("Miller & Hardt, Stable Recurrent Models", "Lemma 3"),
    forms=(UNIFORM, FINITE),
    false_variants=(
        UNIFORM.variant(
            "one-mixed-term",
            "the change of ∂φ/∂w with the state is forgotten: only one of the two mixed terms",
            le(grad_gap_weights, (beta - L_p * beta_wh * L_w / (1 - lam) ** 2) * weight_distance),
        ),
        UNIFORM.variant(
            "one-horizon-less",
            "one factor 1/(1 − λ) less throughout",
            le(grad_gap_weights, (1 - lam) * beta * weight_distance),
        ),
        UNIFORM.variant(
            "curvature-once",
            "β_p L_w²/(1 − λ): the loss's curvature with one horizon in place of two",
            le(
                grad_gap_weights,
                (beta_p * L_w**2 / (1 - lam) + L_p * change_most) * weight_distance,
            ),
        ),
        UNIFORM.variant(
            "ends-alone",
            "the curvature at the two weights is taken for that between them, as on a set of "
            "weights that is not convex",
            le(grad_gap_weights, beta_ends * weight_distance),
        ),
        UNIFORM.variant(
            "a-thousandth-less",
            "the limit is never reached: 0.999 of it is enough",
            le(grad_gap_weights, Rational(999, 1000) * beta * weight_distance),
        ),
        FINITE.variant(
            "one-factor-more",
            "λ times the constant, as if the last step only forgot",
            le(grad_gap_weights, lam * smoothness(T) * weight_distance),
        ),
    ),
    extremal=(
        "scalar linear system h = ah + x with the one weight a = λ, linear loss, constant input "
        "and w′ → w: equality in the limit T → ∞"
    ),
)
