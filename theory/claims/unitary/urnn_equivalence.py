"""A contractive ReLU network has a unitary equivalent (Emami et al., Theorem 3.1)."""

from sympy import Max

from rnnbounds.theory.claims.unitary.equivalent import EQUIVALENCE
from rnnbounds.theory.claims.unitary.existence import EXISTENCE
from rnnbounds.theory.claims.unitary.pulse import BEYOND
from rnnbounds.theory.claims.unitary.similar import SIMILARITY, WITH_RELU
from rnnbounds.theory.language import ZERO, eq, symbols
from rnnbounds.theory.proof import Claim, Source

n, states = symbols("n states")
unitary_gap, unitary_gap_unbiased, unitary_gap_undamped = symbols(
    "unitary_gap unitary_gap_unbiased unitary_gap_undamped"
)
unitary_gap_unstarted, unitary_gap_scant, unitary_gap_beyond = symbols(
    "unitary_gap_unstarted unitary_gap_scant unitary_gap_beyond"
)
unitary_defect, unitary_defect_transposed, unitary_defect_short = symbols(
    "unitary_defect unitary_defect_transposed unitary_defect_short"
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
    emphasis=2.85,
)
