"""A contractive model forgets: only the last k inputs matter (Miller & Hardt, Lemma 1)."""

from sympy import Rational, floor, log, sqrt

from theory.axioms.base import EXPONENTIAL, LOGARITHM
from theory.claims.memory.box_truncation import BOX_FORMS, BOX_VARIANTS
from theory.claims.memory.state_bound import FINITE as STATE_BOUND_FINITE
from theory.language.claim import Claim, Form, Source
from theory.language.law import at
from theory.language.statement import le
from theory.language.terms.vectors import RECURSION, entry, j, norm, s, state, x
from theory.language.vocabulary import symbols
from theory.models.lemmas.decay import decay, long_window, positive_rate, rate_of
from theory.models.lemmas.powers import POWER_NOT_NEGATIVE, POWER_SUM
from theory.models.system import (
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
from theory.proof.methods import Induction, Smt
from theory.proof.methods.induction import HYPOTHESIS
from theory.proof.proof import Proof, Step

lam, S_0, B_x, L_x, epsilon, T, k, h_gap = symbols("lam S_0 B_x L_x epsilon T k h_gap")

MODEL = (CONTRACTION, CONTRACTIVE, DRIVE, WINDOW)

full, fresh = state(x, 0, s + j), state(x, s, j)

TOGETHER = Step(
    "the same input to both",
    le(
        norm(state(x, 0, s + j + 1) - state(x, s, j + 1)),
        lam * norm(full - fresh),
    ),
    Smt(
        RECURSION.at(x, 0, s + j),
        RECURSION.at(x, s, j),
        at("contraction", full, fresh, entry(x, s + j + 1)),
    ),
    forall=(s, j),
)
FORGETTING = Step(
    "forgetting",
    le(norm(full - fresh), lam**j * norm(state(x, 0, s))),
    Induction(
        j,
        base=Smt(RECURSION.at(x, s, 0)),
        step=Smt(HYPOTHESIS, at("the same input to both", s, j)),
    ),
    forall=(s, j),
)

FINITE_BOUND = le(h_gap, S_0 * (lam**k - lam**T) / (1 - lam))
FINITE = Form(
    "finite",
    FINITE_BOUND,
    MODEL,
    "rnn",
    Proof(
        (
            TOGETHER,
            FORGETTING,
            POWER_SUM,
            POWER_NOT_NEGATIVE,
            Step(
                "claim",
                FINITE_BOUND,
                Smt(
                    at("forgetting", T - k, k),
                    STATE_BOUND_FINITE.lemma("state-bound", T).at(T - k),
                    at("power of a sum", k, T - k),
                    at("power not negative", k),
                    "contractive",
                    "window",
                ),
            ),
        )
    ),
)
LEMMA = FINITE.lemma("truncation").at()

UNIFORM_BOUND = le(h_gap, S_0 * lam**k / (1 - lam))
UNIFORM = Form(
    "uniform",
    UNIFORM_BOUND,
    MODEL,
    "rnn",
    Proof(
        (
            POWER_NOT_NEGATIVE,
            Step(
                "claim",
                UNIFORM_BOUND,
                Smt(LEMMA, at("power not negative", T), "contractive"),
            ),
        )
    ),
    note="for every length T",
)

rate = rate_of(lam)
needed = S_0 / ((1 - lam) * epsilon)
reached = lam**T + epsilon * (1 - lam) / S_0


LONG = long_window("log S_0/((1 − λ)ε) to the base 1/λ", le(log(needed) / rate, k))
LONG_FINITE = long_window("−ln(λ^T + ε(1 − λ)/S_0)/ln(1/λ)", le(-log(reached) / rate, k))
WINDOW_MODEL = (*MODEL, MEMORY, ACCURACY)

DECAY, POSITIVE_RATE = decay(lam), positive_rate(lam)

TARGET = le(h_gap, epsilon)
WINDOW_FORM = Form(
    "window",
    TARGET,
    (*WINDOW_MODEL, LONG),
    "rnn",
    Proof(
        (
            DECAY,
            Step(
                "claim",
                TARGET,
                Smt(
                    UNIFORM.lemma("truncation").at(),
                    "long window",
                    at("decay", k),
                    LOGARITHM.at(needed),
                    EXPONENTIAL.at(log(needed), k * rate),
                    *POSITIVE_RATE,
                    "accuracy",
                ),
            ),
        )
    ),
    note="how long a window is enough, for every T; for T → ∞ none shorter is",
)

WINDOW_FINITE = Form(
    "window-finite",
    TARGET,
    (*WINDOW_MODEL, DRIVEN, LONG_FINITE),
    "rnn",
    Proof(
        (
            DECAY,
            POWER_NOT_NEGATIVE,
            Step(
                "claim",
                TARGET,
                Smt(
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
                ),
            ),
        )
    ),
    note="the least window for one given T",
)

TRUNCATION = Claim(
    id="truncation",
    title="A contractive model forgets",
    source=Source("Miller & Hardt, Stable Recurrent Models", "Lemma 1"),
    forms=(FINITE, UNIFORM, WINDOW_FORM, WINDOW_FINITE, *BOX_FORMS),
    false_variants=(
        UNIFORM.variant(
            "next-power",
            "λ^{k+1} in place of λ^k",
            le(h_gap, S_0 * lam ** (k + 1) / (1 - lam)),
        ),
        UNIFORM.variant("no-horizon", "the factor 1/(1 − λ) is missing", le(h_gap, S_0 * lam**k)),
        FINITE.variant(
            "window-one-longer",
            "a window of k does what k + 1 should",
            le(h_gap, S_0 * (lam ** (k + 1) - lam**T) / (1 - lam)),
            (*MODEL, SHORT_WINDOW),
        ),
        FINITE.variant(
            "inputs-alone",
            "the drive counts the inputs and forgets the bias",
            le(h_gap, L_x * B_x * (lam**k - lam**T) / (1 - lam)),
        ),
        UNIFORM.variant(
            "a-thousandth-less",
            "the limit is never reached: 0.999 of it is enough",
            le(h_gap, Rational(999, 1000) * S_0 * lam**k / (1 - lam)),
        ),
        UNIFORM.variant(
            "half-by-eight",
            "eight steps forget half of any state, whatever λ is",
            le(h_gap, S_0 / (1 - lam) / 2),
            (*MODEL, LONG_WINDOW),
        ),
        UNIFORM.variant(
            "independent-inputs",
            "the inputs add up like independent ones, in squares",
            le(h_gap, S_0 * lam**k / sqrt(1 - lam**2)),
        ),
        WINDOW_FORM.variant(
            "floor",
            "the window is rounded down",
            assumptions=(*WINDOW_MODEL, long_window("⌊log⌋", le(floor(log(needed) / rate), k))),
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
    emphasis=6,
)
