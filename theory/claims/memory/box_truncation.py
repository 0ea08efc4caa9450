"""What a truncated cell forgets, in the norm of its comparison matrix and of what it shows.

‖s_T − s_T^k‖_box ≤ S_0 (λ^k − λ^T)/(1 − λ),  ‖h_T − h_T^k‖₂ ≤ C_box S_0 (λ^k − λ^T)/(1 − λ)
"""

from sympy import log

from rnnbounds.theory.axioms.base import EXPONENTIAL, LOGARITHM
from rnnbounds.theory.language import ZERO, Assumption, at, le, lt, symbols
from rnnbounds.theory.models.box_geometry import BOX, SHOWN
from rnnbounds.theory.models.lemmas import powers
from rnnbounds.theory.models.sensitivity import forgetting, states
from rnnbounds.theory.models.system import ACCURACY, LONG_WINDOW, WINDOW
from rnnbounds.theory.proof import theorem

T, k, epsilon, C_box, h_gap, h_gap_box = symbols("T k epsilon C_box h_gap h_gap_box")
lam, S_0 = BOX.lam, BOX.S_0

MODEL = (*BOX.contracts, BOX.contractive, BOX.drive, WINDOW)
forgotten = S_0 * (lam**k - lam**T) / (1 - lam)

STATE = theorem(
    "box-state",
    le(h_gap_box, forgotten),
    MODEL,
    "cell",
    (*BOX.before, *states(BOX), *forgetting(BOX), powers.power_sum(BOX.lam), powers.power(BOX.lam)),
    note="the whole state of a cell, (c, h) of an LSTM",
).by(
    at("forgetting", T - k, k),
    at("state", T - k),
    at("power of a sum", k, T - k),
    at("power not negative", k),
    "contractive",
    "window",
)

OUTPUT = theorem(
    "box",
    le(h_gap, C_box * forgotten),
    (*MODEL, SHOWN),
    "cell",
    note="any cell with a comparison matrix, by its output",
).by(STATE.lemma("truncation, box-state").at(), at("output", T - k, k), "window", "contractive")

MEMORY = Assumption("memory", "λ_box > 0", lt(ZERO, lam))
rate, needed = powers.rate_of(lam), C_box * S_0 / ((1 - lam) * epsilon)
WINDOW_MODEL = (*OUTPUT.assumptions, MEMORY, ACCURACY)
LONG = powers.long_window("ln(C_box S_0_box/((1 − λ_box)ε))/ln(1/λ_box)", le(log(needed) / rate, k))
TARGET = le(h_gap, epsilon)
WINDOW_FORM = theorem(
    "box-window",
    TARGET,
    (*WINDOW_MODEL, LONG),
    "cell",
    (powers.decay(lam), powers.power(BOX.lam)),
    note="how long a window is enough for a cell, in the Euclidean norm of its output",
).by(
    OUTPUT.lemma("truncation, box").at(),
    "long window",
    at("decay", k),
    LOGARITHM.at(needed),
    EXPONENTIAL.at(log(needed), k * rate),
    at("power not negative", T),
    *powers.positive_rate(lam),
    "accuracy",
)

BOX_FORMS = (STATE, OUTPUT, WINDOW_FORM)
BOX_VARIANTS = (
    STATE.variant(
        "box-next-power",
        "λ^{k+1} in place of λ^k, in the norm of the box",
        S_0 * lam ** (k + 1) / (1 - lam),
    ),
    OUTPUT.variant(
        "box-without-output",
        "the Euclidean norm of the output is taken for the norm of the box",
        forgotten,
    ),
    OUTPUT.variant(
        "box-half-by-eight",
        "eight steps halve what any cell remembers, whatever λ is",
        C_box * S_0 / (1 - lam) / 2,
        LONG_WINDOW,
    ),
    WINDOW_FORM.variant(
        "box-window-without-output",
        "the window of a cell forgets the factor C_box",
        assumptions=(
            *WINDOW_MODEL,
            powers.long_window("log S_0/((1 − λ)ε)", le(log(needed / C_box) / rate, k)),
        ),
    ),
)
