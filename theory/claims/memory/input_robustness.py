"""A contractive model is robust: inputs that are near give states that are near.

‖h_T − h′_T‖ ≤ L_x δ (1 − λ^T)/(1 − λ) + λ^T ‖h_0 − h′_0‖ for inputs with ‖x_t − x′_t‖ ≤ δ.
"""

from sympy import Expr, Max, sqrt

from rnnbounds.theory.language import Assumption, Statement, Use, at, le, symbols
from rnnbounds.theory.language.terms.gates import gated_run
from rnnbounds.theory.language.terms.variables import a, b, x, x_other
from rnnbounds.theory.models.driven_runs import OF_CELLS, OF_VANILLA, SHOWN, DrivenRuns
from rnnbounds.theory.models.lemmas.powers import POWER_NOT_NEGATIVE, power_nonnegative
from rnnbounds.theory.models.system import LIPSCHITZ_READOUT, TWO_STEPS
from rnnbounds.theory.proof import (
    Claim,
    Form,
    Source,
    Step,
    scale,
    swap,
    theorem,
    thousandth_less,
)

lam, L_x, L_f, B_x, x_gap, T = symbols("lam L_x L_f B_x x_gap T")
forced_gap, forced_gap_y, response_gap, state_gap = symbols(
    "forced_gap forced_gap_y response_gap state_gap"
)
lam_box, L_x_box, C_box = symbols("lam_box L_x_box C_box")
forced_gap_box, response_gap_box, response_start_box = symbols(
    "forced_gap_box response_gap_box response_start_box"
)

FORCED, FORCED_BOX = OF_VANILLA.bound(T), OF_CELLS.bound(T)
EVER, EVER_BOX = L_x * x_gap / (1 - lam), L_x_box * x_gap / (1 - lam_box)
run, run_other = gated_run(a, x, T), gated_run(a, x_other, T)


def run_form(
    name: str, statement: Statement, model: DrivenRuns, about: str, *starts: Expr, note: str = ""
) -> Form:
    """Form that bounds the distance of two runs from `starts`, by induction on the steps."""
    more: tuple[Use, ...] = ("starts",) if model.premises else ()
    return theorem(name, statement, model.assumptions, about, model.steps, note).by(
        at("all steps", *starts, T), *more, "contractive"
    )


def corollary_form(
    form: Form,
    name: str,
    statement: Statement,
    *uses: Use,
    more: tuple[Assumption, ...] = (),
    before: tuple[Step, ...] = (),
    note: str = "",
) -> Form:
    """Form that follows from another form of the claim, used as a lemma, and from `uses`."""
    lemma = form.lemma(f"input-robustness, {form.name}").at()
    assumptions = (*form.assumptions, *more)
    corollary = theorem(name, statement, assumptions, form.about, before, note)
    return corollary.by(lemma, *uses, "contractive")


FINITE = run_form("finite", le(forced_gap, FORCED), OF_VANILLA, "rnn", a, a)
UNIFORM = corollary_form(
    FINITE,
    "uniform",
    le(forced_gap, EVER),
    at("power not negative", T),
    before=(POWER_NOT_NEGATIVE,),
    note="for every length T",
)
READ_OUT = at("lipschitz readout", run, run_other)
PREDICTION = corollary_form(
    FINITE, "prediction", le(forced_gap_y, L_f * FORCED), READ_OUT, more=(LIPSCHITZ_READOUT,)
)
APART_BOUND = le(response_gap, FORCED + lam**T * state_gap)
APART = run_form("two-states", APART_BOUND, OF_VANILLA, "rnn", a, b, note="from two states")

IN_BOX = run_form(
    "box-state",
    le(forced_gap_box, FORCED_BOX),
    OF_CELLS,
    "cell",
    a,
    a,
    note="the whole state of a cell, (c, h) of an LSTM",
)
OUTPUT = corollary_form(
    IN_BOX,
    "box",
    le(forced_gap, C_box * FORCED_BOX),
    at("output", a, a, T),
    more=(SHOWN,),
    note="any cell with a comparison matrix, by its output",
)
GAIN = corollary_form(
    OUTPUT,
    "box-uniform",
    le(forced_gap, C_box * EVER_BOX),
    at("power not negative", T),
    before=(power_nonnegative(OF_CELLS.norm.lam),),
    note="the gain that a certificate states, for every length T",
)
BOX_PREDICTION = corollary_form(
    OUTPUT,
    "box-prediction",
    le(forced_gap_y, L_f * C_box * FORCED_BOX),
    READ_OUT,
    more=(LIPSCHITZ_READOUT,),
)
BOX_APART = run_form(
    "box-two-states",
    le(response_gap_box, FORCED_BOX + lam_box**T * response_start_box),
    OF_CELLS,
    "cell",
    a,
    b,
    note="from two states of the invariant set",
)

INPUT_ROBUSTNESS = Claim(
    id="input-robustness",
    title="Inputs that are near give states that are near",
    source=Source(
        "Angeli, A Lyapunov Approach to Incremental Stability Properties",
        "incremental input-to-state stability; the bound is by Miller & Hardt's argument",
    ),
    forms=(FINITE, UNIFORM, PREDICTION, APART, OUTPUT, GAIN, IN_BOX, BOX_PREDICTION, BOX_APART),
    false_variants=(
        swap(
            FINITE, T, T - 1, "one-step-short", "the geometric sum ends one step early", TWO_STEPS
        ),
        swap(FINITE, L_x, 1, "no-input-slope", "the constant L_x of the input is missing"),
        FINITE.variant(
            "within-the-ball",
            "no two inputs are further apart than the largest is long",
            L_x * B_x * (1 - lam**T) / (1 - lam),
        ),
        scale(UNIFORM, 1 - lam, "no-horizon", "the effect of earlier inputs is forgotten at once"),
        thousandth_less(UNIFORM),
        UNIFORM.variant(
            "independent-inputs",
            "the differences add up like independent ones, in squares",
            L_x * x_gap / sqrt(1 - lam**2),
        ),
        swap(PREDICTION, L_f, 1, "no-readout", "the readout's constant L_f is missing"),
        APART.variant("starts-forgotten", "the start of the runs is left out", FORCED),
        APART.variant(
            "starts-next-power", "λ^{T+1} in place of λ^T", FORCED + lam ** (T + 1) * state_gap
        ),
        APART.variant(
            "the-larger",
            "the larger of the two terms in place of their sum",
            Max(FORCED, lam**T * state_gap),
        ),
        IN_BOX.variant(
            "box-one-step-short",
            "the geometric sum of a cell ends one step early",
            OF_CELLS.bound(T - 1),
            TWO_STEPS,
        ),
        OUTPUT.variant(
            "box-without-output",
            "the Euclidean norm of the output is taken for the norm of the box",
            FORCED_BOX,
        ),
        GAIN.variant(
            "box-two-inputs",
            "no cell gathers more than two inputs, whatever λ is",
            2 * C_box * L_x_box * x_gap,
        ),
        BOX_PREDICTION.variant(
            "box-no-readout", "the readout's constant L_f is missing, of a cell", C_box * FORCED_BOX
        ),
        BOX_APART.variant(
            "box-starts-forgotten", "the start of the runs of a cell is left out", FORCED_BOX
        ),
    ),
    example_factor=0.8,
    extremal=(
        "scalar linear system h = λh + L_x x with constant inputs δ apart: equality for every T, "
        "from one state, and from two if they differ the same way"
    ),
)
