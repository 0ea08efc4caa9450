"""Unit by unit: states in the norm max |s_j|/v_j, and sums of rows weighted by v."""

from typing import Any

from sympy import Abs, Expr, Symbol

from theory.axioms.gates import LARGEST_ENTRY, LEAST_BOUND, ROW_SUM
from theory.language.law import Assumption, Use, assume, at
from theory.language.statement import eq, le, lt
from theory.language.terms.gates import (
    DIFFERENCES,
    boxed,
    row_sum,
    to_cell,
    to_output,
    unit_weights,
)
from theory.language.terms.unitary import part
from theory.language.terms.vectors import A, Scalar, a, b, function, i, m, max_norm, v, vector
from theory.language.vocabulary import symbols
from theory.models.system import ZERO
from theory.proof.proof import Step
from theory.proof.steps import step

unit_cell = function("unit_cell", Scalar, __name__)  # v_j of c_j
unit_output = function("unit_output", Scalar, __name__)  # v_j of h_j
lam_box, gate_gap_box, gate_state_gap_box = symbols("lam_box gate_gap_box gate_state_gap_box")
UNIT_BOUND = le(gate_gap_box, lam_box * gate_state_gap_box)
output_weights = vector("V_h")  # diag(v) over the outputs

unit_change = unit_weights * (boxed(a) - boxed(b))
unit_gap = max_norm(unit_change)

WEIGHTS = ((to_cell, unit_cell), (to_output, unit_output))


def weights(*sides: tuple[Symbol, Any]) -> Assumption:
    """The weights of the sides of the state."""
    return assume("unit weights", "v > 0, and s = diag(v) (diag(1/v) s)", forall=(v, i)).that(
        *(eq(part(P * v, i), weight(i) * part(P * unit_weights * v, i)) for P, weight in sides),
        *(lt(ZERO, weight(i)) for _, weight in sides),
    )


UNIT_WEIGHTS, OUTPUT_WEIGHTS = weights(*WEIGHTS), weights(WEIGHTS[1])
WEIGHTED_ROWS = assume("weighted rows", "A h = (A diag(v)) (diag(1/v) h)", forall=(A, v, i)).that(
    eq(part(A * to_output * v, i), part(A * output_weights * to_output * unit_weights * v, i))
)


def reach(A: Expr) -> Expr:
    """Σ_l |A_jl| v_l, of the unit j."""
    return row_sum(A * output_weights, i)


FED_BY_UNIT = step(
    "pre-activations by unit",
    le(
        Abs(part(A * to_output * a + v, i) - part(A * to_output * b + v, i)),
        reach(A) * max_norm(unit_weights * (a - b)),
    ),
    forall=(A, a, b, v, i),
).by(
    DIFFERENCES.at(A * to_output * a + v, A * to_output * b + v, i),
    at("weighted rows", A, a - b, i),
    ROW_SUM.at(A * output_weights, to_output * unit_weights * (a - b), i),
    at("joint state", 0, unit_weights * (a - b)),
)


def apart(name: str, P: Symbol, weight: Any) -> Step:
    """An entry of the difference of two states, by their distance in max |s_j|/v_j."""
    one, two = boxed(a), boxed(b)
    return step(
        name, le(Abs(part(P * one, i) - part(P * two, i)), weight(i) * unit_gap), forall=(a, b, i)
    ).by(
        at("unit weights", one - two, i),
        LARGEST_ENTRY.at(P * unit_change, i),
        DIFFERENCES.at(P * one, P * two, i),
        at("joint state", 0, unit_change),
    )


def by_entries(
    each: str, name: str, vector: Expr, bound: Expr, forall: tuple[Symbol, ...], *uses: Use
) -> tuple[Step, Step]:
    """max |v_i| is at most the bound, for each entry is."""
    return (
        step(each, le(Abs(part(vector, i)), bound), forall=(i,)).by(*uses),
        step(name, le(max_norm(vector), bound), forall=forall).by(
            each, LEAST_BOUND.at(bound, vector)
        ),
    )


def weighted_side(
    name: str,
    P: Symbol,
    after: tuple[Expr, Expr],
    bound: Expr,
    compared: tuple[Use, ...],
    *uses: Use,
) -> tuple[Step, ...]:
    """How far the cells or the outputs move at most, from `bound` times the distance by unit."""
    change = P * unit_weights * (after[0] - after[1])
    return (
        step(
            f"{name}, unweighted",
            le(Abs(part(P * after[0], i) - part(P * after[1], i)), bound * unit_gap),
            forall=(a, b, m, i),
        ).by(*uses),
        *by_entries(
            f"{name}, each",
            name,
            change,
            lam_box * unit_gap,
            (a, b, m),
            DIFFERENCES.at(P * after[0], P * after[1], i),
            at("unit weights", after[0] - after[1], i),
            at(f"{name}, unweighted", a, b, m, i),
            *compared,
        ),
    )
