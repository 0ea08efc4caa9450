"""A contractive model is robust: inputs that are near give states that are near.

‖h_T − h′_T‖ ≤ L_x δ (1 − λ^T)/(1 − λ) + λ^T ‖h_0 − h′_0‖ for inputs with ‖x_t − x′_t‖ ≤ δ.
"""

from sympy import Expr

from rnnbounds.theory.language import Assumption, Statement, Use, at, le, symbols
from rnnbounds.theory.language.terms.networks import gated_run
from rnnbounds.theory.language.terms.variables import a, b, x, x_other
from rnnbounds.theory.models.driven_runs import OF_CELLS, OF_VANILLA, DrivenRuns
from rnnbounds.theory.models.lemmas.powers import POWER_NOT_NEGATIVE
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

lam, L_x, L_f, x_gap, T = symbols("lam L_x L_f x_gap T")
forced_gap, forced_gap_y, lam_box = symbols("forced_gap forced_gap_y lam_box")
forced_gap_box, response_gap_box, response_start_box = symbols(
    "forced_gap_box response_gap_box response_start_box"
)

FORCED, FORCED_BOX = OF_VANILLA.bound(T), OF_CELLS.bound(T)
EVER = L_x * x_gap / (1 - lam)
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
IN_BOX = run_form(
    "box-state",
    le(forced_gap_box, FORCED_BOX),
    OF_CELLS,
    "cell",
    a,
    a,
    note="the whole state of a cell, (c, h) of an LSTM",
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
    forms=(FINITE, UNIFORM, PREDICTION, IN_BOX, BOX_APART),
    false_variants=(
        swap(
            FINITE, T, T - 1, "one-step-short", "the geometric sum ends one step early", TWO_STEPS
        ),
        swap(FINITE, L_x, 1, "no-input-slope", "the constant L_x of the input is missing"),
        scale(UNIFORM, 1 - lam, "no-horizon", "the effect of earlier inputs is forgotten at once"),
        thousandth_less(UNIFORM),
        swap(PREDICTION, L_f, 1, "no-readout", "the readout's constant L_f is missing"),
        IN_BOX.variant(
            "box-one-step-short",
            "the geometric sum of a cell ends one step early",
            OF_CELLS.bound(T - 1),
            TWO_STEPS,
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
