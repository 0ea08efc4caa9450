"""A rescaled ReLU network has the same outputs, and its unitary equivalent may be smaller.

ReLU commutes with a positive diagonal D: the network of D W D⁻¹, D U, D b has the states D h_t.
"""

from rnnbounds.theory.axioms.unitary import EXTENSIONAL
from rnnbounds.theory.claims.unitary.equivalent import STATES, off
from rnnbounds.theory.language import ZERO, assume, at, eq, lt, symbols
from rnnbounds.theory.language.terms.gradients import activation
from rnnbounds.theory.language.terms.unitary import (
    J_2,
    LARGEST_SCALED_GAP,
    W_3,
    D,
    D_inverse,
    J,
    V,
    below,
    largest_scaled_gap,
    part,
    scaled_preactivation,
    scaled_urnn,
    start,
    unscaled,
)
from rnnbounds.theory.language.terms.variables import a, i, j, v, x
from rnnbounds.theory.language.terms.vectors import Scalar, function, transpose
from rnnbounds.theory.models.cells import U, W, bias
from rnnbounds.theory.models.unitary.networks import (
    BELOW,
    BLOCKS,
    BOUNDED_NETWORK,
    EMBEDDING,
    h,
    inside,
    x_next,
)
from rnnbounds.theory.proof import step, theorem
from rnnbounds.theory.proof.methods import Identity, Words

B_h, T, unitary_gap_rescaled = symbols("B_h T unitary_gap_rescaled")

factor = function("factor", Scalar, __name__)  # factor(i) = D_ii
SCALES = assume("scales", "D is diagonal with positive entries", forall=(v, i)).that(
    lt(ZERO, factor(i)), eq(part(D * v, i), factor(i) * part(v, i))
)
INVERSE = assume("inverse", "D⁻¹ undoes D", forall=(a,)).that(eq(D_inverse * D * a, a))
SCALED_DILATION = assume("dilation", "V has D W D⁻¹ above W₃ in its first n columns").that(
    eq(V * J, J * D * W * D_inverse + J_2 * W_3)
)
b_2 = below(B_h, W_3 * D)
SCALED_EQUIVALENT = assume(
    "rescaled equivalent",
    "s_t = ρ(V s_{t−1} + (D U x_t + D b, b₂)) from s_0 = (D h_0, 0), with b₂ = −B_h ‖row of W₃D‖; "
    "the first n units are read, divided by the scales",
    forall=(j,),
).that(
    eq(scaled_urnn(x, 0), J * D * start),
    eq(scaled_urnn(x, j + 1), activation(scaled_preactivation(x, j))),
    eq(
        scaled_preactivation(x, j),
        V * scaled_urnn(x, j) + J * D * U * x_next + J * D * bias + J_2 * b_2,
    ),
    eq(unscaled(x, j), D_inverse * transpose(J) * scaled_urnn(x, j)),
)
SAME = eq(scaled_urnn(x, j), J * D * h)
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
    *off(W_3 * D),
    step(
        "pre-activation",
        eq(scaled_preactivation(x, j), J * D * inside + J_2 * (W_3 * D * h + b_2)),
        forall=(j,),
        given=(SAME,),
    ).by("dilation", at("rescaled equivalent", j), at("inverse", h), method=Words),
    step("scaled states", SAME, forall=(j,)).by_induction(
        base=(at("rescaled equivalent", 0), at("network", 0)),
        step=(
            at("rescaled equivalent", j),
            at("pre-activation", j),
            at("blocks", D * inside, W_3 * D * h + b_2),
            at("ReLU commutes with the scales", inside),
            at("the added units are off", j),
            at("network", j),
        ),
        method=Identity,
    ),
    step("scales undone", eq(unscaled(x, j), h), forall=(j,)).by(
        at("rescaled equivalent", j),
        at("scaled states", j),
        at("embedding", D * h),
        at("inverse", h),
        method=Words,
    ),
    step("equal outputs", eq(largest_scaled_gap(x, j), ZERO), forall=(j,)).by_induction(
        base=LARGEST_SCALED_GAP.at(x, 0),
        step=(LARGEST_SCALED_GAP.at(x, j), at("scales undone", j + 1)),
    ),
)
RESCALED = theorem(
    "rescaled",
    eq(unitary_gap_rescaled, ZERO),
    (
        *(*BOUNDED_NETWORK, SCALES, INVERSE, SCALED_DILATION, BLOCKS, EMBEDDING),
        *(SCALED_EQUIVALENT, BELOW),
    ),
    "unitary",
    (*STATES, *RESCALED_STATES),
    note="the rank is that of DWD⁻¹, which may be smaller",
).by(at("equal outputs", T))
