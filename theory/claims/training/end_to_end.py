"""Trained models make close predictions (Miller & Hardt, Theorem 1)."""

from sympy import Expr, log

from rnnbounds.theory.claims.training.logarithmic_window import logarithmic_form, quarter_variant
from rnnbounds.theory.claims.training.weight_gap import BY_PRODUCT as PRODUCT
from rnnbounds.theory.language import ONE, ZERO, Assumption, at, le, lt, symbols
from rnnbounds.theory.language.functions import StepProduct
from rnnbounds.theory.models.lemmas.powers import POWER_NOT_NEGATIVE
from rnnbounds.theory.models.lemmas.window import (
    ANY_STEPS,
    ELEMENTARY_STEPS,
    LAMBERT_STEPS,
    POSITIVE_RATE,
    elementary,
    lambert_window,
    level,
    rate,
    surplus,
)
from rnnbounds.theory.models.system import ACCURACY, LIPSCHITZ_READOUT, MEMORY
from rnnbounds.theory.models.weights.training import FEASIBLE, GAMMA_BOUND
from rnnbounds.theory.models.weights.weighted_runs import PREDICTIONS, RUNS
from rnnbounds.theory.proof import Claim, Source, theorem

N, k, lam, epsilon, alpha, beta = symbols("N k lam epsilon alpha beta")
S_0, L_f, L_w, G_0, G_1, eps_k = symbols("S_0 L_f L_w G_0 G_1 eps_k")
K_0, K_1, trained_gap = symbols("K_0 K_1 trained_gap")

weight_spread = (
    StepProduct(N, alpha * beta) - 1
) / beta  # M_N: the weights' gap is at most ε_k M_N
output_lipschitz = L_f / (1 - lam)
# What K_0 and K_1 are at least.
STILL = output_lipschitz * (L_w * weight_spread * G_0 + S_0)
DRIFT = output_lipschitz * L_w * weight_spread * G_1

MODEL = (*PRODUCT.assumptions, LIPSCHITZ_READOUT)
BOUND_FORM = theorem(
    "bound",
    le(trained_gap, output_lipschitz * (L_w * weight_spread * eps_k + lam**k * S_0)),
    MODEL,
    "training",
    (*FEASIBLE, POWER_NOT_NEGATIVE, *RUNS, PREDICTIONS),
).by("predictions by the weights", PRODUCT.lemma("weight-gap").at(), "contractive", "curved")

LOGARITHMIC = logarithmic_form(BOUND_FORM)

_M = "with M = (∏(1 + αβ/t) − 1)/β over t ≤ N"
CONSTANTS = (
    Assumption("K_0", f"K_0 bounds L_f (L_w M G_0 + S_0)/(1 − λ), {_M}", le(STILL, K_0)),
    Assumption("K_1", f"K_1 bounds L_f L_w M G_1/(1 − λ), {_M}", le(DRIFT, K_1)),
)
EXPLICIT_MODEL = (*MODEL, GAMMA_BOUND, MEMORY, *CONSTANTS)
EXPLICIT = theorem(
    "explicit",
    le(trained_gap, lam**k * (K_0 + k * K_1)),
    EXPLICIT_MODEL,
    "training",
    (POWER_NOT_NEGATIVE,),
    note="K_0 and K_1 do not depend on the window",
).by(
    BOUND_FORM.lemma("end-to-end").at(),
    "K_0",
    "K_1",
    at("gradient bound", k - 1),
    at("power not negative", k),
    "gamma",
    "memory",
    "some window",
    "contractive",
    "curved",
)

TARGET = le(trained_gap, epsilon)
WINDOWED = (*EXPLICIT_MODEL, ACCURACY)
DRIFTING = Assumption("drifting", "K_1 > 0", lt(ZERO, K_1))
LEVELS = Assumption(
    "level", "L = c K_0/K_1 + ln(K_1/(c ε)) ≥ 1, with c = ln(1/λ)", le(ONE, level(K_0, K_1))
)
LOW_LEVEL = Assumption(
    "low level", "L = c K_0/K_1 + ln(K_1/(c ε)) ≤ 1, with c = ln(1/λ)", le(level(K_0, K_1), ONE)
)
SURPLUS = Assumption(
    "surplus", "ς = ln((K_0 + K_1)/(c ε)) − 1 ≥ 0, with c = ln(1/λ)", le(ZERO, surplus(K_0, K_1))
)


def _long_window(text: str, minimum: Expr) -> Assumption:
    return Assumption("long window", f"the window is long enough: k ≥ {text}", le(minimum, k))


LONG = _long_window("−W₋₁(−e^{−L})/c − K_0/K_1", lambert_window(K_0, K_1))
LONG_ELEMENTARY = _long_window("(1 + √(2ς) + ς)/c", elementary(K_0, K_1))
MEANINGFUL = ("accuracy", *POSITIVE_RATE)  # no quotient divides by 0
LEMMA = EXPLICIT.lemma("end-to-end").at()

WINDOW_FORM = theorem(
    "window",
    TARGET,
    (*WINDOWED, DRIFTING, LEVELS, LONG),
    "training",
    LAMBERT_STEPS,
    note="how long a window is enough, by the explicit bound",
).by(
    LEMMA,
    at("enough by Lambert's function", K_0, K_1, k),
    "drifting",
    "level",
    "long window",
    *MEANINGFUL,
)

ANY = theorem(
    "window-any",
    TARGET,
    (*WINDOWED, DRIFTING, LOW_LEVEL),
    "training",
    ANY_STEPS,
    note="a target so large that every window with k ≥ 1 meets it",
).by(LEMMA, at("enough for any window", K_0, K_1, k), "drifting", "low level", *MEANINGFUL)
ELEMENTARY_FORM = theorem(
    "elementary",
    TARGET,
    (*WINDOWED, SURPLUS, LONG_ELEMENTARY),
    "training",
    ELEMENTARY_STEPS,
    note="without special functions",
).by(
    LEMMA,
    at("enough by elementary functions", K_0, K_1, k),
    "some window",
    "surplus",
    "long window",
    *MEANINGFUL,
)


END_TO_END = Claim(
    id="end-to-end",
    title="Trained models make close predictions",
    source=Source("Miller & Hardt, Stable Recurrent Models", "Theorem 1"),
    forms=(BOUND_FORM, EXPLICIT, WINDOW_FORM, ANY, ELEMENTARY_FORM, LOGARITHMIC),
    false_variants=(
        BOUND_FORM.variant(
            "weights-alone",
            "close weights are enough: the truncation of the trained model is forgotten",
            output_lipschitz * L_w * weight_spread * eps_k,
        ),
        BOUND_FORM.variant(
            "truncation-alone",
            "the truncation is enough: that the weights differ is forgotten",
            output_lipschitz * lam**k * S_0,
        ),
        EXPLICIT.variant("next-power", "λ^{k+1} in place of λ^k", lam ** (k + 1) * (K_0 + k * K_1)),
        ELEMENTARY_FORM.variant(
            "logarithm-window",
            "the window is log K/ε to the base 1/λ: the factor k is forgotten",
            _long_window("log (K_0 + K_1)/ε", log((K_0 + K_1) / epsilon) / rate),
        ),
        ELEMENTARY_FORM.variant(
            "no-root",
            "(1 + ς)/c, without the root",
            _long_window("(1 + ς)/c", (1 + surplus(K_0, K_1)) / rate),
        ),
        WINDOW_FORM.variant(
            "one-short",
            "a window one shorter is enough",
            _long_window("… − 1", lambert_window(K_0, K_1) - 1),
        ),
        quarter_variant(LOGARITHMIC),
    ),
    extremal=(
        "scalar linear system with a linear loss whose descent raises the weight: the instances "
        "tried nearly meet the truncation term, and about a thousandth of the training term"
    ),
    example_factor=1.85,
)
