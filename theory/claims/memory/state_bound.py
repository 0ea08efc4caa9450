"""The state of a contractive model stays in a ball (Miller & Hardt, section 2)."""

from rnnbounds.theory.language import at, le, symbols
from rnnbounds.theory.models.box.geometry import BOX
from rnnbounds.theory.models.geometry import EUCLIDEAN
from rnnbounds.theory.models.lemmas.powers import POWER_NOT_NEGATIVE
from rnnbounds.theory.models.sensitivity import state_steps
from rnnbounds.theory.models.system import CONTRACTION, CONTRACTIVE, DRIVE, TWO_STEPS
from rnnbounds.theory.proof import Claim, Source, swap, theorem

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

STATE_BOUND = Claim(
    id="state-bound",
    title="The state stays in a ball",
    source=Source("Miller & Hardt, Stable Recurrent Models", "section 2"),
    forms=(FINITE, UNIFORM, IN_BOX),
    false_variants=(
        swap(
            FINITE, T, T - 1, "one-step-short", "the geometric sum ends one step early", TWO_STEPS
        ),
        FINITE.variant(
            "inputs-alone",
            "the drive counts the inputs and forgets the bias",
            L_x * B_x * (1 - lam**T) / (1 - lam),
        ),
        UNIFORM.variant("drive-alone", "the state never exceeds one drive", S_0),
        IN_BOX.variant(
            "box-one-step-short",
            "the geometric sum of a cell ends one step early",
            BOX.S_0 * BOX.geometric_sum(T - 1),
            TWO_STEPS,
        ),
        IN_BOX.variant(
            "box-two-drives", "no cell holds more than two drives, whatever λ is", 2 * BOX.S_0
        ),
    ),
    example_factor=0.8,
    extremal=(
        "scalar linear system h = λh + x with the constant input x = S_0: equality for every T"
    ),
)
