"""A GRU unit by unit: comparison matrices on the box, in a weighted maximum norm (Perron).

    M_ζ = diag ζ + diag(1 − ζ) K + diag(σ′(h̄ + ν̄))|W_z|  for z̲ ≤ ζ ≤ z̄, row by row,
    K = diag(tanh′)(diag(r̄)|W_n| + diag(σ′q)|W_r|),  q = |W_n|h̄ + |c_n|,

in torch's convention.  M_ζ v ≤ λ v at both ends ζ, for some v > 0.
"""

from sympy import Abs, Expr

from theory.claim import Form
from theory.gate import intervals, new, one, slopes, two
from theory.gate_terms import boxed, output_box, to_output, unit_weights
from theory.gated_steps import SIGMOID_BELOW_ONE, SIGMOID_POSITIVE
from theory.gru_model import BOX, GRU, OPEN, STATE, N, R, Z, hidden_bias
from theory.gru_steps import output_moves
from theory.law import Assumption, at, law
from theory.methods import Smt
from theory.proof import Proof, Step
from theory.statement import le
from theory.terms import a, b, i, m, phi, v
from theory.unit_terms import (
    FED_BY_UNIT,
    OUTPUT_WEIGHTS,
    UNIT_BOUND,
    WEIGHTED_ROWS,
    apart,
    lam_box,
    reach,
    unit_gap,
    unit_output,
    weighted_side,
)

least, most = Z.of_unit("least"), Z.of_unit("most")
hidden = N.of_unit("hidden")
fed_n = R.of_unit("most") * reach(N.matrix) + hidden * R.of_unit("steep") * reach(R.matrix)
slope_n = N.of_unit("steep") * fed_n
turned = (output_box(i) + N.of_unit("most")) * Z.of_unit("steep") * reach(Z.matrix)


def row(kept: Expr) -> Expr:
    """The unit's row of M_ζ v, but for what turns the update gate."""
    return kept * unit_output(i) + (1 - kept) * slope_n


CANDIDATES = Assumption(
    "candidates",
    "on the box |ν_j| ≤ ν̄_j and |W_n h + c_n|_j ≤ q_j",
    law=law(
        "candidates",
        (v, m, i),
        le(Abs(N.opened(boxed(v))), N.of_unit("most")),
        le(Abs(N.hidden(boxed(v))), hidden),
    ),
)
COMPARISON = Assumption(
    "comparison",
    "lam_box bounds max_j (M v)_j/v_j for both comparison matrices M of the units",
    law=law(
        "comparison",
        (i,),
        *(le(row(kept) + turned, lam_box * unit_output(i)) for kept in (least, most)),
    ),
)
CANDIDATE_MOVES = (
    Step(
        "what the candidate is fed with",
        le(Abs(N.fed(one) - N.fed(two)), fed_n * unit_gap),
        Smt(
            at("pre-activations by unit", N.matrix, one, two, hidden_bias, i),
            at("gate r", a, b, m, i),
            at("gates", a, m, i),
            at("candidates", b, m, i),
        ),
        (a, b, m, i),
    ),
    N.slope,
    Step(
        "the candidate moves",
        le(Abs(N.opened(one) - N.opened(two)), slope_n * unit_gap),
        Smt(*N.between, at("what the candidate is fed with", a, b, m, i)),
        (a, b, m, i),
    ),
)
after = phi(one, new), phi(two, new)
change = unit_weights * (after[0] - after[1])
UNITS = Form(
    "per-unit",
    UNIT_BOUND,
    (
        GRU,
        STATE,
        BOX,
        OPEN,
        OUTPUT_WEIGHTS,
        WEIGHTED_ROWS,
        intervals(R, Z, N),
        slopes(R, Z, N),
        CANDIDATES,
        COMPARISON,
    ),
    "gru",
    Proof(
        (
            SIGMOID_POSITIVE,
            SIGMOID_BELOW_ONE,
            FED_BY_UNIT,
            apart("an output apart", to_output, unit_output),
            *R.unit_steps,
            *Z.unit_steps,
            *CANDIDATE_MOVES,
            output_moves(N),
            *weighted_side(
                "the outputs move",
                to_output,
                after,
                lam_box * unit_output(i),
                (),
                at(
                    "an output moves",
                    a,
                    b,
                    m,
                    i,
                    unit_output(i) * unit_gap,
                    slope_n * unit_gap,
                    Z.unit_moves,
                    output_box(i),
                    N.of_unit("most"),
                    least,
                    most,
                    (lam_box * unit_output(i) - turned) * unit_gap,
                ),
                at("an output apart", a, b, i),
                at("the candidate moves", a, b, m, i),
                at("gate z", a, b, m, i),
                at("box", b, i),
                at("gates", a, m, i),
                at("candidates", b, m, i),
                at("comparison", i),
            ),
            Step(
                "claim",
                UNIT_BOUND,
                Smt(
                    at("the outputs move", a, b, 0),
                    at("joint state", 0, change.expand().subs(m, 0)),
                ),
            ),
        )
    ),
    note="torch's convention; v is near the Perron vector of the M_ζ with the worst rows for it",
)
