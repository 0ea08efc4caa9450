"""A contractive model forgets: only the last k inputs matter (Miller & Hardt, Lemma 1)."""

from sympy import log, sqrt

from rnnbounds.theory.axioms.base import EXPONENTIAL, LOGARITHM
from rnnbounds.theory.claims.memory.box_truncation import BOX_FORMS, BOX_VARIANTS
from rnnbounds.theory.claims.memory.state_bound import FINITE as STATE_BOUND_FINITE
from rnnbounds.theory.language import at, le, lt, symbols
from rnnbounds.theory.models.geometry import EUCLIDEAN
from rnnbounds.theory.models.lemmas.powers import (
    POWER_NOT_NEGATIVE,
    decay,
    long_window,
    positive_rate,
    power_sum,
    rate_of,
)
from rnnbounds.theory.models.sensitivity import forgetting
from rnnbounds.theory.models.system import (
    ACCURACY,
    CONTRACTION,
    CONTRACTIVE,
    DRIVE,
    DRIVEN,
    LONG_WINDOW,
    MEMORY,
    SHORT_WINDOW,
    WINDOW,
)
from rnnbounds.theory.proof import Claim, Source, instead, theorem, thousandth_less

lam, S_0, B_x, L_x, epsilon, T, k, h_gap = symbols("lam S_0 B_x L_x epsilon T k h_gap")

MODEL = (CONTRACTION, CONTRACTIVE, DRIVE, WINDOW)

FINITE = theorem(
    "finite",
    le(h_gap, S_0 * (lam**k - lam**T) / (1 - lam)),
    MODEL,
    "rnn",
    (*forgetting(EUCLIDEAN), power_sum(lam), POWER_NOT_NEGATIVE),
).by(
    at("forgetting", T - k, k),
    STATE_BOUND_FINITE.lemma("state-bound", T).at(T - k),
    at("power of a sum", k, T - k),
    at("power not negative", k),
    "contractive",
    "window",
)
LEMMA = FINITE.lemma("truncation").at()

UNIFORM = theorem(
    "uniform",
    le(h_gap, S_0 * lam**k / (1 - lam)),
    MODEL,
    "rnn",
    (POWER_NOT_NEGATIVE,),
    note="for every length T",
).by(LEMMA, at("power not negative", T), "contractive")

rate = rate_of(lam)
needed = S_0 / ((1 - lam) * epsilon)
reached = lam**T + epsilon * (1 - lam) / S_0


LONG = long_window("ln(S_0/((1 − λ)ε))/ln(1/λ)", le(log(needed) / rate, k))
LONG_FINITE = long_window("−ln(λ^T + ε(1 − λ)/S_0)/ln(1/λ)", le(-log(reached) / rate, k))
WINDOW_MODEL = (*MODEL, MEMORY, ACCURACY)

DECAY, POSITIVE_RATE = decay(lam), positive_rate(lam)

TARGET = le(h_gap, epsilon)
WINDOW_FORM = theorem(
    "window",
    TARGET,
    (*WINDOW_MODEL, LONG),
    "rnn",
    (DECAY,),
    note="how long a window is enough, for every T",
).by(
    UNIFORM.lemma("truncation").at(),
    "long window",
    at("decay", k),
    LOGARITHM.at(needed),
    EXPONENTIAL.at(log(needed), k * rate),
    *POSITIVE_RATE,
    "accuracy",
)

WINDOW_FINITE = theorem(
    "window-finite",
    TARGET,
    (*WINDOW_MODEL, DRIVEN, LONG_FINITE),
    "rnn",
    (DECAY, POWER_NOT_NEGATIVE),
    note="how long a window is enough, for one given T",
).by(
    LEMMA,
    "long window",
    at("decay", k),
    LOGARITHM.at(reached),
    EXPONENTIAL.at(-log(reached), log(reached)),
    EXPONENTIAL.at(-log(reached), k * rate),
    at("power not negative", T),
    *POSITIVE_RATE,
    "driven",
    "accuracy",
)

TRUNCATION = Claim(
    id="truncation",
    title="A contractive model forgets",
    source=Source("Miller & Hardt, Stable Recurrent Models", "Lemma 1"),
    forms=(FINITE, UNIFORM, WINDOW_FORM, WINDOW_FINITE, *BOX_FORMS),
    false_variants=(
        instead(UNIFORM, k, k + 1, "next-power", "λ^{k+1} in place of λ^k"),
        UNIFORM.variant("no-horizon", "the factor 1/(1 − λ) is missing", S_0 * lam**k),
        FINITE.variant(
            "window-one-longer",
            "a window of k does what k + 1 should",
            S_0 * (lam ** (k + 1) - lam**T) / (1 - lam),
            SHORT_WINDOW,
        ),
        FINITE.variant(
            "inputs-alone",
            "the drive counts the inputs and forgets the bias",
            L_x * B_x * (lam**k - lam**T) / (1 - lam),
        ),
        thousandth_less(UNIFORM),
        UNIFORM.variant(
            "half-by-eight",
            "eight steps forget half of any state, whatever λ is",
            S_0 / (1 - lam) / 2,
            LONG_WINDOW,
        ),
        UNIFORM.variant(
            "independent-inputs",
            "the inputs add up like independent ones, in squares",
            S_0 * lam**k / sqrt(1 - lam**2),
        ),
        WINDOW_FORM.variant(
            "floor",
            "the window is rounded down",
            assumptions=(*WINDOW_MODEL, long_window("⌊log⌋", lt(log(needed) / rate, k + 1))),
        ),
        WINDOW_FORM.variant(
            "no-horizon-window",
            "the window forgets the factor 1/(1 − λ)",
            assumptions=(*WINDOW_MODEL, long_window("log S_0/ε", le(log(S_0 / epsilon) / rate, k))),
        ),
        WINDOW_FORM.variant(
            "one-short",
            "a window one shorter is enough",
            assumptions=(*WINDOW_MODEL, long_window("log − 1", le(log(needed) / rate, k + 1))),
        ),
        WINDOW_FINITE.variant(
            "finite-one-short",
            "for one given T a window one shorter is enough",
            assumptions=(
                *WINDOW_MODEL,
                DRIVEN,
                long_window("log − 1", le(-log(reached) / rate, k + 1)),
            ),
        ),
        *BOX_VARIANTS,
    ),
    extremal=(
        "scalar linear system h = λh + x with the constant input x = S_0: equality for every "
        "k ≤ T, and the window for finite T is the least possible"
    ),
    emphasis=2.5,
    breadth=11,
)
