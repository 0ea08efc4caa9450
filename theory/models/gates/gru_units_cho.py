"""The same of a GRU in Cho's convention, where the reset gate comes before the candidate's matrix.

    K = diag(tanh′)|W_n|(diag r̄ + diag(σ′h̄)|W_r|),

as |Δ(r∘h)| ≤ w unit by unit for w = diag(r̄) v + diag(σ′h̄)|W_r| v.
"""

from sympy import Abs

from theory.axioms.gates import ROW_SUM
from theory.language.law import assume, at
from theory.language.statement import eq, le, lt
from theory.language.terms.gates import DIFFERENCES, output_box, row_sum
from theory.language.terms.unitary import part
from theory.language.terms.vectors import A, Scalar, a, b, function, i, m, v, vector
from theory.models.gates.gate import new, one, two
from theory.models.gates.gru_model import CHO, CHO_N, N, R, reset
from theory.models.gates.gru_units import FED, candidates, units
from theory.models.gates.units import by_entries, reach, unit_gap, unit_output
from theory.models.system import ZERO
from theory.proof.steps import step

# w_j of the unit j, and diag(w) with its inverse
resetting = function("resetting", Scalar, __name__)
reset_weights, without_reset = vector("V_r"), vector("V_r_inverse")
cho_slope = N.of_unit("steep") * row_sum(N.matrix * reset_weights, i)

RESET_WEIGHTS = assume(
    "reset weights",
    "w = diag(r̄) v + diag(σ′h̄)|W_r| v > 0, and u = diag(w) (diag(1/w) u)",
    forall=(A, v, i),
).that(
    eq(part(A * v, i), part(A * reset_weights * without_reset * v, i)),
    eq(part(v, i), resetting(i) * part(without_reset * v, i)),
    lt(ZERO, resetting(i)),
    eq(
        resetting(i),
        R.of_unit("most") * unit_output(i) + R.of_unit("steep") * reach(R.matrix) * output_box(i),
    ),
)
resets = tuple(reset(state, new) for state in (one, two))
reset_change = without_reset * (resets[0] - resets[1])
CHO_FED = (
    step(
        "a reset output moves",
        le(Abs(part(resets[0] - resets[1], i)), resetting(i) * unit_gap),
        forall=(a, b, m, i),
    ).by(
        DIFFERENCES.at(*resets, i),
        at("gru", one, new, i),
        at("gru", two, new, i),
        at("an output apart", a, b, i),
        at("box", b, i),
        at("gate r", a, b, m, i),
        at("gates", a, m, i),
        at("reset weights", 0, 0, i),
    ),
    *by_entries(
        "a reset output moves, weighted",
        "the reset outputs move",
        reset_change,
        unit_gap,
        (a, b, m),
        at("a reset output moves", a, b, m, i),
        at("reset weights", 0, resets[0] - resets[1], i),
    ),
    step(
        FED,
        le(Abs(CHO_N.fed(one) - CHO_N.fed(two)), row_sum(N.matrix * reset_weights, i) * unit_gap),
        forall=(a, b, m, i),
    ).by(
        DIFFERENCES.at(
            N.matrix * resets[0] + N.offset(new), N.matrix * resets[1] + N.offset(new), i
        ),
        at("reset weights", N.matrix, resets[0] - resets[1], i),
        ROW_SUM.at(N.matrix * reset_weights, reset_change, i),
        at("the reset outputs move", a, b, m),
    ),
)
CHO_UNITS = units(
    "per-unit-cho", "gru-cho", CHO_N, cho_slope, CHO_FED, CHO, RESET_WEIGHTS, candidates(CHO_N, "")
)
