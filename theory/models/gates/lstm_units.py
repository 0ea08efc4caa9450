"""An LSTM unit by unit: the comparison matrix on the box, in a weighted maximum norm (Perron).

    M = (diag f̄, A; diag(ō f̄), diag(σ′ tanh c̄)|W_o| + diag(ō) A),
    A = diag(σ′ḡ)|W_i| + diag(ī tanh′)|W_g| + diag(σ′c̄)|W_f|,

with σ′ and tanh′ the largest slopes of the gate at hand on the box; M v ≤ λ v for some v > 0.
"""

from sympy import Expr, Symbol, tanh

from theory.language.law import assume, at
from theory.language.statement import le
from theory.language.terms.gates import boxed, cell_box, to_cell, to_output, unit_weights
from theory.language.terms.vectors import a, b, i, m, v
from theory.models.box_runs import JOINT
from theory.models.gates.gate import Gate, intervals, slopes
from theory.models.gates.gated_steps import TANH_GAP, TANH_SLOPE
from theory.models.gates.lstm_model import BOX, GATES, LSTM, OPEN, F, G, I, O, most
from theory.models.gates.lstm_steps import Bounds, next_cell, next_one, next_two
from theory.models.gates.units import (
    FED_BY_UNIT,
    UNIT_BOUND,
    UNIT_WEIGHTS,
    WEIGHTED_ROWS,
    apart,
    lam_box,
    reach,
    unit_cell,
    unit_gap,
    unit_output,
    weighted_side,
)
from theory.proof.proof import Step
from theory.proof.steps import theorem

BY_UNIT = Bounds(
    most,
    cell_box(i),
    tanh(cell_box(i)),
    (at("a cell stays", v, m, i), at("tanh inside", next_cell(boxed(v)), cell_box(i))),
)
steep = {gate: gate.of_unit("steep") * reach(gate.matrix) for gate in GATES}
row = most(I) * steep[G] + most(G) * steep[I] + cell_box(i) * steep[F]
to_cells = most(F) * unit_cell(i) + row
to_outputs = tanh(cell_box(i)) * steep[O] + most(O) * to_cells
COMPARISON = assume(
    "comparison",
    "lam_box bounds max_j (M v)_j/v_j for the comparison matrix M of the units",
    forall=(i,),
).that(le(to_cells, lam_box * unit_cell(i)), le(to_outputs, lam_box * unit_output(i)))


def side(
    name: str, P: Symbol, bound: Expr, gates: tuple[Gate, ...], entry: str
) -> tuple[Step, ...]:
    """The cells, or the outputs, by how far the gates move."""
    given = (unit_cell(i) * unit_gap, *(gate.unit_moves for gate in gates))
    return weighted_side(
        name,
        P,
        (next_one, next_two),
        bound,
        (at("comparison", i),),
        at(entry, a, b, m, i, *given),
        at("a cell apart", a, b, i),
        *(at(f"gate {gate.name}", a, b, m, i) for gate in gates),
    )


UNITS = theorem(
    "per-unit",
    UNIT_BOUND,
    (
        *LSTM,
        BOX,
        OPEN,
        JOINT,
        UNIT_WEIGHTS,
        WEIGHTED_ROWS,
        intervals(*GATES),
        slopes(*GATES),
        COMPARISON,
    ),
    "lstm",
    (
        TANH_SLOPE,
        TANH_GAP,
        FED_BY_UNIT,
        apart("a cell apart", to_cell, unit_cell),
        *(step for gate in GATES for step in gate.unit_steps),
        *BY_UNIT.steps,
        *side("the cells move", to_cell, to_cells, (I, F, G), "a cell moves"),
        *side("the outputs move", to_output, to_outputs, GATES, "an output moves"),
    ),
    note="v is the Perron vector of M; the slopes are those on the box",
).by(
    at("the cells move", a, b, 0),
    at("the outputs move", a, b, 0),
    at(
        "joint state",
        lam_box * unit_gap,
        (unit_weights * (next_one - next_two)).expand().subs(m, 0),
    ),
)
