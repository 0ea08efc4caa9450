"""The state of a contractive model stays in a ball (Miller & Hardt, section 2); that of any model
in a box for each step, which is printed as the bound over a horizon."""

from sympy import sqrt

from rnnbounds.theory.language import ONE, Clause, assume, at, enter, le, symbols
from rnnbounds.theory.language.quantity import certified, tag
from rnnbounds.theory.language.terms.certificates import within
from rnnbounds.theory.language.terms.variables import j, v, x
from rnnbounds.theory.language.terms.vectors import RECURSION, entry, norm, phi, state
from rnnbounds.theory.models.box.geometry import BOX
from rnnbounds.theory.models.geometry import EUCLIDEAN
from rnnbounds.theory.models.lemmas.powers import POWER_NOT_NEGATIVE
from rnnbounds.theory.models.sensitivity import state_steps
from rnnbounds.theory.models.system import CONTRACTION, CONTRACTIVE, DRIVE, TWO_STEPS
from rnnbounds.theory.proof import Claim, Source, step, swap, theorem, thousandth_less

lam, S_0, B_x, L_x, T, h_norm, h_norm_box = symbols("lam S_0 B_x L_x T h_norm h_norm_box")

MODEL = (CONTRACTION, CONTRACTIVE, DRIVE)

FINITE_BOUND = le(h_norm, S_0 * (1 - lam**T) / (1 - lam))
FINITE = theorem(
    "finite", FINITE_BOUND, MODEL, "rnn", state_steps(EUCLIDEAN, "one step", "all steps")
).by(at("all steps", T), "contractive")

UNIFORM_BOUND = le(h_norm, S_0 / (1 - lam))
UNIFORM = theorem(
    "uniform", UNIFORM_BOUND, MODEL, "rnn", (POWER_NOT_NEGATIVE,), note="for every length T"
).by(FINITE.lemma("state-bound", T).at(T), at("power not negative", T), "contractive")

IN_BOX = theorem(
    "box",
    le(h_norm_box, BOX.S_0 * BOX.geometric_sum(T)),
    (*BOX.contraction_assumptions, BOX.contractive, BOX.drive),
    "cell",
    (*BOX.setup_steps, *state_steps(BOX)),
    note="any cell with a comparison matrix: LSTM, GRU, deep transitions and stacks",
).by(at("state", T), "contractive")

horizon_told, horizon_before = enter(
    *tag(
        "certified",
        certified("horizon_told", "the printed bound over T steps", "Euclidean", "H_T"),
        certified("horizon_before", "the bound over T - 1 steps", "Euclidean", "H_{T-1}"),
    )
)
BOX_STEP = assume(
    "boxes",
    "0 is in the first box, and a step on an input of the stated set leads from each into the next",
    forall=(j, v),
    inclusion=True,
).that(
    le(ONE, within(0, state(x, 0, 0))),
    Clause(le(ONE, within(j + 1, phi(v, entry(x, j + 1)))), (le(ONE, within(j, v)),)),
)
PRINTED_HORIZON = assume(
    "printed horizon", "the printed bound is at least ‖h‖₂ in the box after T steps", forall=(v,)
).that(Clause(le(norm(v), horizon_told), (le(ONE, within(T, v)),)))
HORIZON = theorem(
    "horizon",
    le(h_norm, horizon_told),
    (BOX_STEP, PRINTED_HORIZON),
    "certified",
    (
        step("in the boxes", le(ONE, within(j, state(x, 0, j))), (j,)).by_induction(
            base=at("boxes", 0, state(x, 0, 0)),
            step=(RECURSION.at(x, 0, j), at("boxes", j, state(x, 0, j))),
        ),
    ),
    note="any model, whether it contracts or not: the bound that is printed over a horizon",
).by(at("in the boxes", T), at("printed horizon", state(x, 0, T)))

STATE_BOUND = Claim(
    id="state-bound",
    title="The state stays in a ball",
    source=Source("Miller & Hardt, Stable Recurrent Models", "section 2"),
    forms=(FINITE, UNIFORM, IN_BOX, HORIZON),
    false_variants=(
        swap(
            FINITE, T, T - 1, "one-step-short", "the geometric sum ends one step early", TWO_STEPS
        ),
        FINITE.variant(
            "inputs-alone",
            "the drive counts the inputs and forgets the bias",
            L_x * B_x * (1 - lam**T) / (1 - lam),
        ),
        thousandth_less(UNIFORM),
        UNIFORM.variant("ten-drives", "ten drives are enough, whatever λ is", 10 * S_0),
        UNIFORM.variant("drive-alone", "the state never exceeds one drive", S_0),
        UNIFORM.variant(
            "independent-inputs",
            "the inputs add up like independent ones, in squares",
            S_0 / sqrt(1 - lam**2),
        ),
        IN_BOX.variant(
            "box-one-step-short",
            "the geometric sum of a cell ends one step early",
            BOX.S_0 * BOX.geometric_sum(T - 1),
            TWO_STEPS,
        ),
        IN_BOX.variant(
            "box-two-drives", "no cell holds more than two drives, whatever λ is", 2 * BOX.S_0
        ),
        thousandth_less(HORIZON, "horizon-a-thousandth-less"),
        HORIZON.variant(
            "horizon-one-step-short", "the horizon ends one step early", horizon_before, TWO_STEPS
        ),
    ),
    example_factor=0.8,
    extremal=(
        "scalar linear system h = λh + x with the constant input x = S_0: equality for every T"
    ),
)
