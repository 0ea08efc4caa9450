"""A rescaled ReLU network has the same outputs, and its unitary equivalent may be smaller.

ReLU commutes with a positive diagonal D: the network of D W D⁻¹, D U, D b has the states D h_t.
"""

from theory.axioms.unitary import EXTENSIONAL
from theory.claims.unitary.urnn_equivalence import STATES, equal_outputs, equal_states
from theory.language.law import assume, at
from theory.language.statement import ZERO, eq, lt
from theory.language.terms.gradients import activation
from theory.language.terms.unitary import (
    LARGEST_SCALED_GAP,
    W_3,
    D,
    D_inverse,
    below,
    largest_scaled_gap,
    part,
    scaled_preactivation,
    scaled_urnn,
    unscaled,
)
from theory.language.terms.variables import a, i, j, v, x
from theory.language.terms.vectors import Scalar, function
from theory.language.vocabulary import symbols
from theory.models.unitary.networks import BLOCKS, BOUNDED_NETWORK, EMBEDDING, Equivalent, h, inside
from theory.proof.methods import Identity
from theory.proof.steps import step, theorem

B_h, T, unitary_gap_rescaled = symbols("B_h T unitary_gap_rescaled")

factor = function("factor", Scalar, __name__)  # factor(i) = D_ii
SCALES = assume("scales", "D is diagonal with positive entries", forall=(v, i)).that(
    lt(ZERO, factor(i)), eq(part(D * v, i), factor(i) * part(v, i))
)
INVERSE = assume("inverse", "D⁻¹ undoes D", forall=(a,)).that(eq(D_inverse * D * a, a))
SCALED = Equivalent(
    "rescaled equivalent",
    lambda time: scaled_urnn(x, time),
    lambda time: scaled_preactivation(x, time),
    lambda time: unscaled(x, time),
    below(B_h, W_3 * D),
    W_3 * D,
    D,
    D_inverse,
)
SCALED_DILATION = assume("dilation", "V has D W D⁻¹ above W₃ in its first n columns").that(
    SCALED.dilation
)
SCALED_EQUIVALENT = assume(
    SCALED.id,
    "s_t = ρ(V s_{t−1} + (D U x_t + D b, b₂)) from s_0 = (D h_0, 0), with b₂ = −B_h ‖row of W₃D‖; "
    "the first n units are read, divided by the scales",
    forall=(j,),
).that(*SCALED.steps)
UNDONE = at("inverse", h)
RESCALED_STATES = (
    step(
        "entries of scaled states",
        eq(part(activation(D * v), i), part(D * activation(v), i)),
        forall=(i,),
    ).by(
        at("relu", D * v, i), at("relu", v, i), at("scales", v, i), at("scales", activation(v), i)
    ),
    step("ReLU commutes with the scales", eq(activation(D * v), D * activation(v)), forall=(v,)).by(
        "entries of scaled states",
        EXTENSIONAL.at(activation(D * v), D * activation(v)),
        method=Identity,
    ),
    *equal_states(
        SCALED,
        lambda time: at(SCALED.id, time),
        (UNDONE,),
        at("ReLU commutes with the scales", inside),
    ),
    *equal_outputs(
        SCALED, largest_scaled_gap(x, j), LARGEST_SCALED_GAP.at(x, j), at(SCALED.id, j), UNDONE
    ),
)
RESCALED = theorem(
    "rescaled",
    eq(unitary_gap_rescaled, ZERO),
    (*BOUNDED_NETWORK, SCALES, INVERSE, SCALED_DILATION, BLOCKS, EMBEDDING, SCALED_EQUIVALENT),
    "unitary",
    (*STATES, *RESCALED_STATES),
    note="the rank is that of DWD⁻¹, which may be smaller",
).by(at("equal outputs", T))
