"""A contractive ReLU network has a unitary equivalent (Emami et al., Theorem 3.1).

It is one for bounded inputs: a pulse beyond the bound leaks into it.  The outputs of
h = max(λ h + x, 0) on x = (X, 0, 0, …), X = 2B/(1 − λ), and of its equivalent for inputs up to B,
V = (λ μ; μ −λ), differ by (1 − λ²)(X − B/(1 − λ)) at the third step.  Without an activation a
change of the states' basis changes nothing that is seen: W → T W T⁻¹, U → T U, b → T b and
C → C T⁻¹ have the states T h_t, equal maps, whatever the norm of T W T⁻¹ is (the poster).
"""

from sympy import Abs, Integer, Max, sqrt

from rnnbounds.theory.claims.unitary.equivalent import EQUIVALENCE
from rnnbounds.theory.claims.unitary.urnn_defect import EXISTENCE
from rnnbounds.theory.language import ZERO, Assumption, assume, at, eq, le, lt, ne, symbols
from rnnbounds.theory.language.definitions import maximum
from rnnbounds.theory.language.terms.unitary import (
    LARGEST_PULSE_GAP,
    largest_pulse_gap,
    linear_network,
    pulse,
    pulse_lower,
    pulse_upper,
    similar_network,
    similarity,
    similarity_inverse,
    start,
)
from rnnbounds.theory.language.terms.variables import a, j, x
from rnnbounds.theory.models.cells import U, W, bias
from rnnbounds.theory.models.system import CONTRACTIVE
from rnnbounds.theory.models.unitary.networks import x_next
from rnnbounds.theory.proof import Claim, Source, step, theorem
from rnnbounds.theory.proof.methods import Words

lam, B_x, T, n, states = symbols("lam B_x T n states")
unitary_gap, unitary_gap_unbiased, unitary_gap_undamped = symbols(
    "unitary_gap unitary_gap_unbiased unitary_gap_undamped"
)
unitary_gap_unstarted, unitary_gap_scant, unitary_gap_beyond = symbols(
    "unitary_gap_unstarted unitary_gap_scant unitary_gap_beyond"
)
unitary_defect, unitary_defect_transposed, unitary_defect_short = symbols(
    "unitary_defect unitary_defect_transposed unitary_defect_short"
)
similar_gap, similar_gap_relu = symbols("similar_gap similar_gap_relu")

B, mu = B_x / (1 - lam), sqrt(1 - lam**2)
PULSE = assume(
    "pulse",
    "h_t = max(λ h_{t−1} + x_t, 0) from 0, and its equivalent for inputs up to B, with "
    "V = (λ μ; μ −λ) and μ = √(1 − λ²), on x = (2B/(1 − λ), 0, 0, …)",
    forall=(j,),
).that(
    eq(pulse(0), ZERO),
    eq(pulse_upper(0), ZERO),
    eq(pulse_lower(0), ZERO),
    *maximum(pulse(1), ZERO, 2 * B),
    *maximum(pulse_upper(1), ZERO, 2 * B),
    *maximum(pulse_lower(1), ZERO, -B * mu),
    *maximum(pulse(j + 2), ZERO, lam * pulse(j + 1)),
    *maximum(pulse_upper(j + 2), ZERO, lam * pulse_upper(j + 1) + mu * pulse_lower(j + 1)),
    *maximum(pulse_lower(j + 2), ZERO, mu * pulse_upper(j + 1) - lam * pulse_lower(j + 1) - B * mu),
)
INPUTS = Assumption("inputs", "B > 0", lt(ZERO, B_x))
THREE_STEPS = Assumption("three steps", "T ≥ 3", le(Integer(3), T))
gap = pulse_upper(3) - pulse(3)
LEAK = (
    step("leak", eq(gap, (1 - lam**2) * B)).by(at("pulse", 0), at("pulse", 1), "contractive"),
    step("lasting gap", le(Abs(gap), largest_pulse_gap(j + 3)), forall=(j,)).by_induction(
        base=LARGEST_PULSE_GAP.at(2), step=LARGEST_PULSE_GAP.at(j + 3)
    ),
)
BEYOND = theorem(
    "beyond",
    ne(unitary_gap_beyond, ZERO),
    (CONTRACTIVE, INPUTS, THREE_STEPS, PULSE),
    "unitary",
    LEAK,
    note="the bound on the inputs is needed",
).by("leak", at("lasting gap", T - 3), "three steps", "contractive", "inputs")


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


excess = Max(states - 2 * n, 0)

URNN_EQUIVALENCE = Claim(
    id="urnn-equivalence",
    title="A contractive ReLU network has a unitary equivalent",
    source=Source(
        "Emami et al., Input-Output Equivalence of Unitary and Contractive RNNs", "Theorem 3.1"
    ),
    forms=(EXISTENCE, EQUIVALENCE, BEYOND, SIMILARITY),
    false_variants=(
        EXISTENCE.variant(
            "one-state-fewer",
            "2n − 1 states are enough",
            eq(unitary_gap + unitary_defect + Max(states - 2 * n + 1, 0), ZERO),
        ),
        EXISTENCE.variant(
            "transposed",
            "the added rows complete the rows of W, W₃ᵀW₃ = I − WWᵀ",
            eq(unitary_gap + unitary_defect_transposed + excess, ZERO),
        ),
        EXISTENCE.variant(
            "one-row-fewer",
            "one added row can be left out",
            eq(unitary_gap + unitary_defect_short + excess, ZERO),
        ),
        EQUIVALENCE.variant(
            "unbiased", "the added units need no bias", eq(unitary_gap_unbiased, ZERO)
        ),
        EQUIVALENCE.variant(
            "undamped",
            "their bias counts one drive, without 1/(1 − λ)",
            eq(unitary_gap_undamped, ZERO),
        ),
        EQUIVALENCE.variant(
            "unstarted",
            "their bias leaves out the start of the states",
            eq(unitary_gap_unstarted, ZERO),
        ),
        EQUIVALENCE.variant(
            "scant", "a bias a hundredth smaller does as well", eq(unitary_gap_scant, ZERO)
        ),
        BEYOND.variant(
            "any-input",
            "the equivalent is one for all inputs, not for bounded ones alone",
            eq(unitary_gap_beyond, ZERO),
        ),
        WITH_RELU,
    ),
    extremal=(
        "every network: an exact equivalence. The bias is reached by the scalar network whose "
        "inputs all are B: h_t → B/(1 − λ)"
    ),
    example_factor=2.85,
)
