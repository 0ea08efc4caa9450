"""A cell of any kind contracts as its comparison matrix says: λ of its program, unit by unit.

|φ_i(s) − φ_i(s′)| ≤ ℓ_i max_j |s_j − s′_j|/v_j ≤ λ v_i ‖s − s′‖_box
"""

from sympy import Abs

from rnnbounds.theory.axioms.entries import DIFFERENCES, LEAST_BOUND
from rnnbounds.theory.language import ZERO, assume, at, eq, le, lt, symbols
from rnnbounds.theory.language.terms import jets
from rnnbounds.theory.language.terms.networks import unit_weights
from rnnbounds.theory.language.terms.unitary import part
from rnnbounds.theory.language.terms.variables import a, b, i, v, x
from rnnbounds.theory.language.terms.vectors import entry, phi
from rnnbounds.theory.models.jets.model import (
    ACTIVATIONS,
    IMAGES,
    INTERVALS,
    LEAVES,
    PROGRAM,
    RULES,
    VALUES,
)
from rnnbounds.theory.models.jets.ranges import GATES, IMAGES_OF_GATES
from rnnbounds.theory.models.jets.units import VALUES_OF_UNITS
from rnnbounds.theory.proof import Form, Proof, step, theorem

lam_box, gate_gap, gate_state_gap = symbols("lam_box gate_gap gate_state_gap")
gate_gap_box, gate_state_gap_box = symbols("gate_gap_box gate_state_gap_box")
first_input = entry(x, 1)
next_state_gap = phi(jets.one, first_input) - phi(jets.two, first_input)
NEXT_STATE = assume(
    "next state",
    "the entries of φ(s, x) are units, numbered so that the i-th comes from at most i operations, "
    "and ‖s‖_box = max |s_i|/v_i",
    forall=(a, i, v),
).that(
    eq(part(phi(a, first_input), i), jets.unit_value(jets.shown(i), a)),
    eq(part(v, i), jets.unit_weight(i) * part(unit_weights * v, i)),
    le(jets.depth(jets.shown(i)), i),
    lt(ZERO, jets.unit_weight(i)),
)
CONTRACTS = theorem(
    "box-contraction",
    le(gate_gap_box, lam_box * gate_state_gap_box),
    (
        *(PROGRAM, VALUES, INTERVALS, IMAGES, ACTIVATIONS, RULES, LEAVES, NEXT_STATE),
        assume(
            "constants",
            "lam_box is at least ℓ_s/v_i of each row, max_i (M v)_i/v_i of the comparison matrix",
            forall=(i,),
        ).that(le(jets.steep(jets.shown(i), jets.STATES), lam_box * jets.unit_weight(i))),
    ),
    "cell",
    (
        *VALUES_OF_UNITS,
        step(
            "each entry",
            le(Abs(part(unit_weights * next_state_gap, i)), lam_box * jets.gap),
            forall=(i,),
        ).by(
            DIFFERENCES.at(phi(jets.one, first_input), phi(jets.two, first_input), i),
            at("next state", jets.one, i, next_state_gap),
            at("next state", jets.two, i, next_state_gap),
            at("values of all units", jets.shown(i), a, b, i),
            at("constants", i),
        ),
    ),
    note="any cell, by its comparison matrix",
).by("each entry", LEAST_BOUND.at(lam_box * jets.gap, unit_weights * next_state_gap))


def per_unit_form(name: str, about: str, note: str) -> Form:
    """The form `CONTRACTS` for a gated cell, whose activations σ and tanh take intervals to the
    intervals between their end values."""
    assumptions = tuple(
        GATES if assumption is IMAGES else assumption for assumption in CONTRACTS.assumptions
    )
    proof = Proof((*IMAGES_OF_GATES, *CONTRACTS.proof.steps))
    return Form(name, CONTRACTS.statement, assumptions, about, proof, note)


PLAIN = CONTRACTS.variant(
    "box-plain",
    "the factor in the norm of the box is one in the maximum norm",
    le(gate_gap, lam_box * gate_state_gap),
)
