"""Theorem 1's window k = O(log(γ N^β/ε)) with its constants (Miller & Hardt, Theorem 1).

With c = ln(1/λ) and K = L_f/(1 − λ) (L_w γ α N^{αβ} (1 + 1/(αβ)) + S_0), which grows like γ N^{αβ},
and ς = ln(K/(c ε)) − 1 ≥ 0 it is 1 + √(2ς) + ς ≤ 3/2 + 2ς: k ≥ (2 ln(K/(c ε)) − ½)/c is enough.
"""

from sympy import Expr, Rational, log

from rnnbounds.theory.language import ONE, ZERO, Assumption, at, le, symbols
from rnnbounds.theory.language.functions import REAL_POWER, RealPower, StepProduct
from rnnbounds.theory.models.lemmas.growth import POWERS, PRODUCT, PRODUCT_BY_ZETA
from rnnbounds.theory.models.lemmas.window import ELEMENTARY_STEPS, POSITIVE_RATE, elementary, rate
from rnnbounds.theory.models.system import ACCURACY, MEMORY
from rnnbounds.theory.models.weights.training import GAMMA_BOUND, SOME_STEPS
from rnnbounds.theory.proof import Form, Variant, step, theorem

N, k, lam, alpha, beta, epsilon = symbols("N k lam alpha beta epsilon")
S_0, L_f, L_w, G_0, G_1, trained_gap = symbols("S_0 L_f L_w G_0 G_1 trained_gap")

c = alpha * beta
output_lipschitz, weight_spread = L_f / (1 - lam), alpha * RealPower(N, c) * (1 + 1 / c)
fixed_part, drift_part = (
    output_lipschitz * (L_w * weight_spread * G_0 + S_0),
    output_lipschitz * L_w * weight_spread * G_1,
)
log_level = log((fixed_part + drift_part) / (rate * epsilon))
needed_window = (2 * log_level - Rational(1, 2)) / rate

LEVEL = Assumption(
    "level",
    "ln(K/(c ε)) ≥ 1, with c = ln(1/λ) and "
    "K = L_f (L_w α N^{αβ} (1 + 1/(αβ)) (G_0 + G_1) + S_0)/(1 − λ)",
    le(ONE, log_level),
)
FURTHER = (GAMMA_BOUND, SOME_STEPS, MEMORY, ACCURACY, LEVEL)
POSITIVE = ("curved", "step", "contractive")


def _long_window(text: str, minimum: Expr) -> Assumption:
    return Assumption("long window", f"the window is long enough: k ≥ {text}", le(minimum, k))


def logarithmic_form(bound: Form) -> Form:
    """The form, from the bound L_f/(1 − λ) (L_w M_N ε_k + λ^k S_0)."""
    return theorem(
        "logarithmic",
        le(trained_gap, epsilon),
        (*bound.assumptions, *FURTHER, _long_window("(2 ln(K/(c ε)) − ½)/c", needed_window)),
        "training",
        (
            *POWERS,
            *PRODUCT,
            PRODUCT_BY_ZETA,
            *(lemma for lemma in ELEMENTARY_STEPS if lemma not in POWERS),
            step("spread", le((StepProduct(N, c) - 1) / beta, weight_spread)).by(
                at("product by a power", c, N - 1),
                REAL_POWER.at(N, c),
                "curved",
                "step",
                "some steps",
            ),
            step("explicit bound", le(trained_gap, lam**k * (fixed_part + k * drift_part))).by(
                bound.lemma("end-to-end").at(),
                "spread",
                at("gradient bound", k - 1),
                "gamma",
                "memory",
                "some window",
                *POSITIVE,
            ),
            step("a power is positive", le(ZERO, RealPower(N, c))).by(
                REAL_POWER.at(N, c), at("exp positive", c * log(N)), "some steps"
            ),
            step("what stays", le(ZERO, fixed_part)).by("a power is positive", *POSITIVE),
            step("long enough", le(elementary(fixed_part, drift_part), k)).by(
                "level", "long window", "curved", "step", "accuracy", *POSITIVE_RATE
            ),
        ),
        note="k = O(log(γ N^β/ε)) for α = 1: K grows like γ N^{αβ}",
    ).by(
        "explicit bound",
        at("enough by elementary functions", fixed_part, drift_part, k),
        "what stays",
        "long enough",
        "some window",
        "level",
        "curved",
        "step",
        "accuracy",
        *POSITIVE_RATE,
    )


def quarter_variant(form: Form) -> Variant:
    """A quarter of the logarithm, half a power of what is forgotten."""
    long = _long_window("ln(K/(c ε))/(4 c)", log_level / (4 * rate))
    return form.variant("quarter-window", "a quarter of the logarithm is enough", long)
