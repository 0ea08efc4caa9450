"""A GRU unit by unit: comparison matrices on the box, in a weighted maximum norm (Perron).

    M_ζ = diag ζ + diag(1 − ζ) K + diag(σ′(h̄ + ν̄))|W_z|  for z̲ ≤ ζ ≤ z̄, row by row,
    K = diag(tanh′)(diag(r̄)|W_n| + diag(σ′q)|W_r|),  q = |W_n|h̄ + |c_n|,

in torch's convention.  M_ζ v ≤ λ v at both ends ζ, for some v > 0.
"""

from sympy import Abs, Expr

from theory.language.claim import Form
from theory.language.law import Assumption, assume, at
from theory.language.statement import Statement, le
from theory.language.terms.gates import boxed, output_box, to_output, unit_weights
from theory.language.terms.vectors import a, b, i, m, phi, v
from theory.models.gates.gate import intervals, new, one, slopes, two
from theory.models.gates.gated_steps import SIGMOID_BELOW_ONE, SIGMOID_POSITIVE
from theory.models.gates.gru_model import BOX, GRU, OPEN, STATE, Candidate, N, R, Z, hidden_bias
from theory.models.gates.gru_steps import output_moves
from theory.models.gates.units import (
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
from theory.proof.proof import Step
from theory.proof.steps import step, theorem

least, most = Z.of_unit("least"), Z.of_unit("most")
hidden = N.of_unit("hidden")
fed_n = R.of_unit("most") * reach(N.matrix) + hidden * R.of_unit("steep") * reach(R.matrix)
slope_n = N.of_unit("steep") * fed_n


def turned(candidate: Candidate) -> Expr:
    """What turns the update gate, of the unit's row of M_ζ v."""
    apart_at_most = output_box(i) + candidate.of_unit("most")
    return apart_at_most * Z.of_unit("steep") * reach(Z.matrix)


def comparison(candidate: Candidate, slope: Expr) -> Assumption:
    """M_ζ v ≤ λ v at both ends ζ of the update gate, where K v is the candidate's slope."""
    rows = (kept * unit_output(i) + (1 - kept) * slope for kept in (least, most))
    return assume(
        "comparison",
        "lam_box bounds max_j (M v)_j/v_j for both comparison matrices M of the units",
        forall=(i,),
    ).that(*(le(row + turned(candidate), lam_box * unit_output(i)) for row in rows))


def candidates(candidate: Candidate, text: str, *more: Statement) -> Assumption:
    """Bounds on the candidate."""
    bound = le(Abs(candidate.opened(boxed(v))), candidate.of_unit("most"))
    return assume("candidates", f"on the box |ν_j| ≤ ν̄_j{text}", forall=(v, m, i)).that(
        bound, *more
    )


FED = "what the candidate is fed with"


def moves(candidate: Candidate, slope: Expr) -> tuple[Step, Step]:
    """|Δν|, from what the candidate is fed with."""
    return candidate.slope, step(
        "the candidate moves",
        le(Abs(candidate.opened(one) - candidate.opened(two)), slope * unit_gap),
        forall=(a, b, m, i),
    ).by(*candidate.between, at(FED, a, b, m, i))


TORCH_FED = step(FED, le(Abs(N.fed(one) - N.fed(two)), fed_n * unit_gap), forall=(a, b, m, i)).by(
    at("pre-activations by unit", N.matrix, one, two, hidden_bias, i),
    at("gate r", a, b, m, i),
    at("gates", a, m, i),
    at("candidates", b, m, i),
)
after = phi(one, new), phi(two, new)
change = unit_weights * (after[0] - after[1])


def units(
    name: str,
    about: str,
    candidate: Candidate,
    slope: Expr,
    fed: tuple[Step, ...],
    *assumptions: Assumption,
) -> Form:
    """The bound in one convention, from how far what the candidate is ``fed`` with moves."""
    needed = (
        *assumptions,
        STATE,
        BOX,
        OPEN,
        OUTPUT_WEIGHTS,
        WEIGHTED_ROWS,
        intervals(R, Z, candidate),
        slopes(R, Z, candidate),
        comparison(candidate, slope),
    )
    moves_most = unit_output(i) * unit_gap, slope * unit_gap, Z.unit_moves
    largest = output_box(i), candidate.of_unit("most"), least, most
    bounds = *moves_most, *largest, (lam_box * unit_output(i) - turned(candidate)) * unit_gap
    moved = weighted_side(
        "the outputs move",
        to_output,
        after,
        lam_box * unit_output(i),
        (),
        at("an output moves", a, b, m, i, *bounds),
        at("an output apart", a, b, i),
        at("the candidate moves", a, b, m, i),
        at("gate z", a, b, m, i),
        at("box", b, i),
        at("gates", a, m, i),
        at("candidates", b, m, i),
        at("comparison", i),
    )
    convention = "Cho's" if candidate.cho else "torch's"
    near = "v is near the Perron vector of the M_ζ with the worst rows for it"
    return theorem(
        name,
        UNIT_BOUND,
        needed,
        about,
        (
            SIGMOID_POSITIVE,
            SIGMOID_BELOW_ONE,
            FED_BY_UNIT,
            apart("an output apart", to_output, unit_output),
            *R.unit_steps,
            *Z.unit_steps,
            *fed,
            *moves(candidate, slope),
            output_moves(candidate),
            *moved,
        ),
        f"{convention} convention; {near}",
    ).by(at("the outputs move", a, b, 0), at("joint state", 0, change.expand().subs(m, 0)))


UNITS = units(
    "per-unit",
    "gru",
    N,
    slope_n,
    (TORCH_FED,),
    GRU,
    candidates(N, " and |W_n h + c_n|_j ≤ q_j", le(Abs(N.hidden(boxed(v))), hidden)),
)
