"""So do its predictions (Miller & Hardt, Proposition 3)."""

from sympy import Rational

from theory.claims.memory.box_truncation import OUTPUT
from theory.claims.memory.truncation import FINITE as TRUNCATION_FINITE
from theory.claims.memory.truncation import UNIFORM as TRUNCATION_UNIFORM
from theory.language.claim import Claim, Form, Source
from theory.language.law import at
from theory.language.statement import Statement, le
from theory.language.terms.vectors import state, x
from theory.language.vocabulary import symbols
from theory.models.system import (
    CONTRACTION,
    CONTRACTIVE,
    DRIVE,
    LIPSCHITZ_READOUT,
    LONG_WINDOW,
    WINDOW,
)
from theory.proof.methods import Smt
from theory.proof.proof import Proof, Step

lam, S_0, B_x, L_x, L_f, C_box, T, k, y_gap = symbols("lam S_0 B_x L_x L_f C_box T k y_gap")

MODEL = (CONTRACTION, CONTRACTIVE, DRIVE, WINDOW, LIPSCHITZ_READOUT)


def _through_readout(bound: Statement, truncation: Form, name: str = "truncation") -> Proof:
    lipschitz = at("lipschitz readout", state(x, 0, T), state(x, T - k, k))
    step = Step("claim", bound, Smt(lipschitz, truncation.lemma(name).at(), "contractive"))
    return Proof((step,))


FINITE_BOUND = le(y_gap, L_f * S_0 * (lam**k - lam**T) / (1 - lam))
FINITE = Form(
    "finite", FINITE_BOUND, MODEL, "rnn", _through_readout(FINITE_BOUND, TRUNCATION_FINITE)
)

UNIFORM_BOUND = le(y_gap, L_f * S_0 * lam**k / (1 - lam))
UNIFORM = Form(
    "uniform",
    UNIFORM_BOUND,
    MODEL,
    "rnn",
    _through_readout(UNIFORM_BOUND, TRUNCATION_UNIFORM),
    note="for every length T",
)

IN_BOX_BOUND = le(y_gap, L_f * OUTPUT.statement.rhs)
IN_BOX = Form(
    "box",
    IN_BOX_BOUND,
    (*OUTPUT.assumptions, LIPSCHITZ_READOUT),
    "cell",
    _through_readout(IN_BOX_BOUND, OUTPUT, "truncation, box"),
    note="any cell with a comparison matrix",
)

PREDICTION = Claim(
    id="prediction",
    title="Predictions of the truncated model",
    source=Source("Miller & Hardt, Stable Recurrent Models", "Proposition 3"),
    forms=(FINITE, UNIFORM, IN_BOX),
    false_variants=(
        UNIFORM.variant(
            "next-power",
            "λ^{k+1} in place of λ^k",
            le(y_gap, L_f * S_0 * lam ** (k + 1) / (1 - lam)),
        ),
        UNIFORM.variant(
            "no-horizon", "the factor 1/(1 − λ) is missing", le(y_gap, L_f * S_0 * lam**k)
        ),
        FINITE.variant(
            "no-readout",
            "the readout's constant L_f is missing",
            le(y_gap, S_0 * (lam**k - lam**T) / (1 - lam)),
        ),
        FINITE.variant(
            "inputs-alone",
            "the drive counts the inputs and forgets the bias",
            le(y_gap, L_f * L_x * B_x * (lam**k - lam**T) / (1 - lam)),
        ),
        UNIFORM.variant(
            "a-thousandth-less",
            "the limit is never reached: 0.999 of it is enough",
            le(y_gap, Rational(999, 1000) * L_f * S_0 * lam**k / (1 - lam)),
        ),
        UNIFORM.variant(
            "half-by-eight",
            "eight steps forget half of any prediction, whatever λ is",
            le(y_gap, L_f * S_0 / (1 - lam) / 2),
            (*MODEL, LONG_WINDOW),
        ),
        IN_BOX.variant(
            "box-without-output",
            "the readout is taken to see the norm of the box: C_box is missing",
            le(y_gap, IN_BOX_BOUND.rhs / C_box),
        ),
        IN_BOX.variant(
            "box-no-readout",
            "the readout's constant L_f is missing, of a cell",
            le(y_gap, OUTPUT.statement.rhs),
        ),
    ),
    extremal=(
        "scalar linear system h = λh + x, y = L_f h, with the constant input x = S_0: equality "
        "for every k ≤ T"
    ),
)
