"""A contractive model forgets: only the last k inputs matter (Miller & Hardt, Lemma 1).

‖h_T − h_T^k‖ ≤ S_0 (λ^k − λ^T)/(1 − λ) in the norm in which it contracts: the Euclidean one or, of
a cell, that of its comparison matrix, from which ‖h‖₂ ≤ C_box‖s‖_box leads to what the cell shows.
"""

from dataclasses import replace

from sympy import Expr, log

from rnnbounds.theory.axioms.base import EXPONENTIAL, LOGARITHM, TRIANGLE
from rnnbounds.theory.claims.memory.state_bound import FINITE as STATE_BOUND_FINITE
from rnnbounds.theory.language import ZERO, Assumption, Use, assume, at, eq, le, lt, symbols
from rnnbounds.theory.language.terms.variables import m, x
from rnnbounds.theory.language.terms.vectors import entry, norm, phi
from rnnbounds.theory.models import system
from rnnbounds.theory.models.box.geometry import BOX, SHOWN
from rnnbounds.theory.models.geometry import EUCLIDEAN, Geometry
from rnnbounds.theory.models.lemmas import powers
from rnnbounds.theory.models.lemmas.powers import POWER_NOT_NEGATIVE, long_window
from rnnbounds.theory.models.sensitivity import forgetting_steps, state_steps
from rnnbounds.theory.proof import Claim, Form, Source, Step, step, swap, theorem

lam, S_0, B_x, L_x, epsilon, T, k = symbols("lam S_0 B_x L_x epsilon T k")
h_gap, h_gap_box, C_box, phi_0 = symbols("h_gap h_gap_box C_box phi_0")


def memory_bound(g: Geometry) -> Expr:
    """The bound S_0 (λ^k − λ^T)/(1 − λ)."""
    return g.S_0 * (g.lam**k - g.lam**T) / (1 - g.lam)


def truncation_form(
    name: str,
    gap: Expr,
    g: Geometry,
    about: str,
    bounded: Use,
    setup_steps: tuple[Step, ...] = (),
    note: str = "",
) -> Form:
    """Form gap ≤ S_0 (λ^k − λ^T)/(1 − λ) in the norm of `g`; `bounded` bounds the states."""
    model = (*g.contraction_assumptions, g.contractive, g.drive, system.WINDOW)
    steps = (
        *setup_steps,
        *forgetting_steps(g),
        powers.power_of_sum(g.lam),
        powers.power_nonnegative(g.lam),
    )
    return theorem(name, le(gap, memory_bound(g)), model, about, steps, note).by(
        at("forgetting", T - k, k),
        bounded,
        at("power of a sum", k, T - k),
        at("power not negative", k),
        "contractive",
        "window",
    )


STATE_BOUND = STATE_BOUND_FINITE.lemma("state-bound", T).at(T - k)
FINITE = truncation_form("finite", h_gap, EUCLIDEAN, "rnn", STATE_BOUND)
LEMMA = FINITE.lemma("truncation").at()
UNIFORM = theorem(
    "uniform",
    le(h_gap, S_0 * lam**k / (1 - lam)),
    FINITE.assumptions,
    "rnn",
    (POWER_NOT_NEGATIVE,),
    note="for every length T",
).by(LEMMA, at("power not negative", T), "contractive")
BOX_STATE = truncation_form(
    "box-state",
    h_gap_box,
    BOX,
    "cell",
    at("state", T - k),
    (*BOX.setup_steps, *state_steps(BOX)),
    "the whole state of a cell, (c, h) of an LSTM",
)
OUTPUT = theorem(
    "box",
    le(h_gap, C_box * memory_bound(BOX)),
    (*BOX_STATE.assumptions, SHOWN),
    "cell",
    note="any cell with a comparison matrix, by its output",
).by(BOX_STATE.lemma("truncation, box-state").at(), at("output", T - k, k), "window", "contractive")

# With the drive L_x B_x in place of S_0, as the paper has it.
FROM_REST = replace(EUCLIDEAN, S_0=L_x * B_x)
RESTING = assume("rest", "φ(0, 0) = 0", condition=le(phi_0, ZERO)).that(eq(norm(phi(0, 0)), ZERO))
INPUTS = assume("inputs", "B_x bounds ‖x_t‖ for every t", forall=(m,)).that(
    le(norm(entry(x, m + 1)), B_x)
)
rate, box_rate = powers.decay_rate(lam), powers.decay_rate(BOX.lam)
needed_window, needed_box_window = (
    constant / ((1 - factor) * epsilon)
    for constant, factor in ((S_0, lam), (C_box * BOX.S_0, BOX.lam))
)
reached_accuracy = lam**T + epsilon * (1 - lam) / S_0


def window_form(
    name: str,
    base_form: Form,
    lemma: Use,
    lam: Expr,
    text: str,
    level: Expr,
    *uses: Use,
    extra_assumptions: tuple[Assumption, ...] = (),
    setup_steps: tuple[Step, ...] = (),
    note: str,
) -> Form:
    """A window of level/ln(1/λ) inputs leaves at most ε of what the other form bounds."""
    rate = powers.decay_rate(lam)
    model = (*base_form.assumptions, *extra_assumptions, long_window(text, le(level / rate, k)))
    form = theorem(
        name,
        le(h_gap, epsilon),
        model,
        base_form.about,
        (powers.decay_step(lam), *setup_steps),
        note,
    )
    return form.by(
        lemma, "long window", at("decay", k), *uses, *powers.positive_rate_uses(lam), "accuracy"
    )


WINDOW_FORM = window_form(
    "window",
    UNIFORM,
    UNIFORM.lemma("truncation").at(),
    lam,
    "ln(S_0/((1 − λ)ε))/ln(1/λ)",
    log(needed_window),
    LOGARITHM.at(needed_window),
    EXPONENTIAL.at(log(needed_window), k * rate),
    extra_assumptions=(system.MEMORY, system.ACCURACY),
    note="how long a window is enough, for every T",
)
WINDOW_FINITE = window_form(
    "window-finite",
    FINITE,
    LEMMA,
    lam,
    "−ln(λ^T + ε(1 − λ)/S_0)/ln(1/λ)",
    -log(reached_accuracy),
    LOGARITHM.at(reached_accuracy),
    EXPONENTIAL.at(-log(reached_accuracy), log(reached_accuracy)),
    EXPONENTIAL.at(-log(reached_accuracy), k * rate),
    at("power not negative", T),
    "driven",
    extra_assumptions=(system.MEMORY, system.ACCURACY, system.DRIVEN),
    setup_steps=(POWER_NOT_NEGATIVE,),
    note="how long a window is enough, for one given T",
)
needed_input_window = FROM_REST.S_0 / ((1 - lam) * epsilon)
PAPER = theorem(
    "paper",
    le(h_gap, epsilon),
    (
        *(system.CONTRACTION, system.CONTRACTIVE, system.LIPSCHITZ_INPUT, RESTING, INPUTS),
        *(system.WINDOW, system.MEMORY, system.ACCURACY),
        long_window("ln(L_x B_x/((1 − λ)ε))/ln(1/λ)", le(log(needed_input_window) / rate, k)),
    ),
    "rnn",
    (
        step("drive", le(norm(phi(0, entry(x, m + 1))), FROM_REST.S_0), forall=(m,)).by(
            at("lipschitz input", entry(x, m + 1), 0, 0),
            TRIANGLE.at(phi(0, entry(x, m + 1)) - phi(0, 0), phi(0, 0)),
            "rest",
            at("inputs", m),
        ),
        *state_steps(FROM_REST),
        *forgetting_steps(FROM_REST),
        POWER_NOT_NEGATIVE,
        powers.decay_step(lam),
        step("every length", le(h_gap, FROM_REST.S_0 * lam**k / (1 - lam))).by(
            at("forgetting", T - k, k),
            at("state", T - k),
            at("power not negative", k),
            at("power not negative", T - k),
            "contractive",
            "window",
        ),
    ),
    note="Lemma 1 as it stands, where φ(0, 0) = 0: the drive is L_x B_x",
).by(
    "every length",
    "long window",
    at("decay", k),
    LOGARITHM.at(needed_input_window),
    EXPONENTIAL.at(log(needed_input_window), k * rate),
    *powers.positive_rate_uses(lam),
    "accuracy",
)
BOX_WINDOW = window_form(
    "box-window",
    OUTPUT,
    OUTPUT.lemma("truncation, box").at(),
    BOX.lam,
    "ln(C_box S_0_box/((1 − λ_box)ε))/ln(1/λ_box)",
    log(needed_box_window),
    LOGARITHM.at(needed_box_window),
    EXPONENTIAL.at(log(needed_box_window), k * box_rate),
    at("power not negative", T),
    extra_assumptions=(Assumption("memory", "λ_box > 0", lt(ZERO, BOX.lam)), system.ACCURACY),
    setup_steps=(powers.power_nonnegative(BOX.lam),),
    note="how long a window is enough for a cell, in the Euclidean norm of its output",
)

TRUNCATION = Claim(
    id="truncation",
    title="A contractive model forgets",
    source=Source("Miller & Hardt, Stable Recurrent Models", "Lemma 1"),
    forms=(FINITE, UNIFORM, WINDOW_FORM, WINDOW_FINITE, PAPER, BOX_STATE, OUTPUT, BOX_WINDOW),
    false_variants=(
        swap(UNIFORM, k, k + 1, "next-power", "λ^{k+1} in place of λ^k"),
        UNIFORM.variant("no-horizon", "the factor 1/(1 − λ) is missing", S_0 * lam**k),
        FINITE.variant(
            "window-one-longer",
            "a window of k does what k + 1 should",
            S_0 * (lam ** (k + 1) - lam**T) / (1 - lam),
            system.SHORT_WINDOW,
        ),
        FINITE.variant(
            "inputs-alone",
            "the drive counts the inputs and forgets the bias",
            L_x * B_x * (lam**k - lam**T) / (1 - lam),
        ),
        WINDOW_FORM.variant(
            "floor",
            "the window is rounded down",
            long_window("⌊log⌋", lt(log(needed_window) / rate, k + 1)),
        ),
        WINDOW_FORM.variant(
            "no-horizon-window",
            "the window forgets the factor 1/(1 − λ)",
            long_window("log S_0/ε", le(log(S_0 / epsilon) / rate, k)),
        ),
        WINDOW_FINITE.variant(
            "finite-one-short",
            "for one given T a window one shorter is enough",
            long_window("log − 1", le(-log(reached_accuracy) / rate, k + 1)),
        ),
        PAPER.variant(
            "not-at-rest", "φ(0, 0) may be other than 0: the bias is forgotten", without=RESTING.id
        ),
        BOX_STATE.variant(
            "box-next-power",
            "λ^{k+1} in place of λ^k, in the norm of the box",
            BOX.S_0 * BOX.lam ** (k + 1) / (1 - BOX.lam),
        ),
        OUTPUT.variant(
            "box-without-output",
            "the Euclidean norm of the output is taken for the norm of the box",
            memory_bound(BOX),
        ),
        BOX_WINDOW.variant(
            "box-window-without-output",
            "the window of a cell forgets the factor C_box",
            long_window("log S_0/((1 − λ)ε)", le(log(needed_box_window / C_box) / box_rate, k)),
        ),
    ),
    extremal=(
        "scalar linear system h = λh + x with the constant input x = S_0: equality for every "
        "k ≤ T, and the window for finite T is the least possible"
    ),
    example_factor=2.5,
    sequence_factor=11,
)
