"""So do its predictions (Miller & Hardt, Proposition 3)."""

from rnnbounds.theory.claims.memory import truncation
from rnnbounds.theory.language import at, le, symbols
from rnnbounds.theory.language.terms.variables import x
from rnnbounds.theory.language.terms.vectors import state
from rnnbounds.theory.models.system import LIPSCHITZ_READOUT, READOUT_OF_CELLS
from rnnbounds.theory.proof import Claim, Form, Source, scale, swap, theorem

lam, S_0, B_x, L_x, L_f, C_box, T, k, y_gap = symbols("lam S_0 B_x L_x L_f C_box T k y_gap")


def readout_form(form: Form, name: str = "truncation", note: str = "") -> Form:
    """Form that bounds the gap of outputs by L_f times the form's bound on the gap of states."""
    of_cells = form.about == "cell"
    model = (*form.assumptions, READOUT_OF_CELLS if of_cells else LIPSCHITZ_READOUT)
    bound = le(y_gap, L_f * form.statement.rhs)
    return theorem(form.name, bound, model, form.about, note=note).by(
        at("lipschitz readout", state(x, 0, T), state(x, T - k, k)),
        form.lemma(name).at(),
        "contractive",
    )


FINITE = readout_form(truncation.FINITE)
UNIFORM = readout_form(truncation.UNIFORM, note="for every length T")
IN_BOX = readout_form(truncation.OUTPUT, "truncation, box", "any cell with a comparison matrix")

PREDICTION = Claim(
    id="prediction",
    title="Predictions of the truncated model are close",
    source=Source("Miller & Hardt, Stable Recurrent Models", "Proposition 3"),
    forms=(FINITE, UNIFORM, IN_BOX),
    false_variants=(
        swap(UNIFORM, k, k + 1, "next-power", "λ^{k+1} in place of λ^k"),
        scale(UNIFORM, 1 - lam, "no-horizon", "the factor 1/(1 − λ) is missing"),
        swap(FINITE, L_f, 1, "no-readout", "the readout's constant L_f is missing"),
        FINITE.variant(
            "inputs-alone",
            "the drive counts the inputs and forgets the bias",
            L_f * L_x * B_x * (lam**k - lam**T) / (1 - lam),
        ),
        IN_BOX.variant(
            "box-without-output",
            "the readout is taken to see the norm of the box: C_box is missing",
            IN_BOX.statement.rhs / C_box,
        ),
        swap(IN_BOX, L_f, 1, "box-no-readout", "the readout's constant L_f is missing, of a cell"),
    ),
    example_factor=0.8,
    extremal=(
        "scalar linear system h = λh + x, y = L_f h, with the constant input x = S_0: equality "
        "for every k ≤ T"
    ),
)
