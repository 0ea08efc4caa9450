"""Without an activation a change of the states' basis changes nothing that is seen.

W → T W T⁻¹, U → T U, b → T b and C → C T⁻¹ have the states T h_t: equal maps, whatever the norm of
T W T⁻¹ is.
Source: Emami et al., Input-Output Equivalence of Unitary and Contractive RNNs, its poster.
"""

from rnnbounds.theory.language import ZERO, assume, at, eq, symbols
from rnnbounds.theory.language.terms.unitary import (
    linear_network,
    similar_network,
    similarity,
    similarity_inverse,
    start,
)
from rnnbounds.theory.language.terms.variables import a, j, x
from rnnbounds.theory.models.cells import U, W, bias
from rnnbounds.theory.models.unitary.networks import x_next
from rnnbounds.theory.proof import step, theorem
from rnnbounds.theory.proof.methods import Words

T, similar_gap, similar_gap_relu = symbols("T similar_gap similar_gap_relu")

LINEAR = assume("linear network", "h_t = W h_{t−1} + U x_t + b, y_t = C h_t", forall=(j,)).that(
    eq(linear_network(x, 0), start),
    eq(linear_network(x, j + 1), W * linear_network(x, j) + U * x_next + bias),
)
SIMILAR = assume(
    "similar network",
    "g_t = T W T⁻¹ g_{t−1} + T U x_t + T b from T h_0, ŷ_t = C T⁻¹ g_t",
    forall=(j,),
).that(
    eq(similar_network(x, 0), similarity * start),
    eq(
        similar_network(x, j + 1),
        similarity * W * similarity_inverse * similar_network(x, j)
        + similarity * U * x_next
        + similarity * bias,
    ),
)
INVERSE = assume("inverse", "T⁻¹ undoes T", forall=(a,)).that(
    eq(similarity_inverse * similarity * a, a)
)
SIMILARITY = theorem(
    "similar",
    eq(similar_gap, ZERO),
    (LINEAR, SIMILAR, INVERSE),
    "unitary",
    (
        step(
            "similar states",
            eq(similar_network(x, j), similarity * linear_network(x, j)),
            forall=(j,),
        ).by_induction(
            base=(at("linear network", 0), at("similar network", 0)),
            step=(
                at("linear network", j),
                at("similar network", j),
                at("inverse", linear_network(x, j)),
            ),
            method=Words,
        ),
        step("similar outputs", eq(similar_gap, ZERO)).by(
            at("similar states", T), at("inverse", linear_network(x, T)), method=Words
        ),
    ),
    note="with the identity for its activation",
).by("similar outputs")
WITH_RELU = SIMILARITY.variant(
    "similar-relu", "any change of basis commutes with ReLU too", eq(similar_gap_relu, ZERO)
)
