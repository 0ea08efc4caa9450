"""The rows of an orthogonal matrix with the block W: n + rank(I − WᵀW) (Emami et al.; Halmos).

With W = PΣQᵀ and K = (I − Σ²)^½ on the q coordinates where Σ < I,
V = (W PJK; KJᵀQᵀ −Σ_q) is orthogonal, and no orthogonal matrix with the block W has fewer rows.
An equivalent network may have fewer, with another block: positive scales D change the rank but not
the outputs, for ReLU commutes with them.
"""

from rnnbounds.theory.axioms.ranks import RANK_GRAM, RANK_PRODUCT, RANK_ROWS
from rnnbounds.theory.axioms.unitary import COSINES, SINGULAR_VALUES
from rnnbounds.theory.claims.unitary.existence import (
    CONTRACTION,
    MINIMAL,
    ORTHOGONAL,
    SMALL,
    E,
    K,
    Q,
)
from rnnbounds.theory.claims.unitary.rescaled import RESCALED
from rnnbounds.theory.language import ZERO, assume, eq, le, symbols
from rnnbounds.theory.language.terms.unitary import J_2, W_3, J, V, rank, rows
from rnnbounds.theory.language.terms.variables import eye
from rnnbounds.theory.language.terms.vectors import transpose
from rnnbounds.theory.models.cells import W
from rnnbounds.theory.models.unitary.networks import NORM
from rnnbounds.theory.proof import Claim, Source, step, theorem
from rnnbounds.theory.proof.methods import Words

n, states = symbols("n states")
unitary_defect_transposed, unitary_defect_short = symbols(
    "unitary_defect_transposed unitary_defect_short"
)
defect_rank, W_rank = symbols("defect_rank W_rank")

# It has n + rank(I − WᵀW) rows.
ENOUGH = theorem(
    "enough",
    le(states, n + defect_rank),
    (
        NORM,
        CONTRACTION,
        MINIMAL,
        assume(
            "few rows",
            "V has a row more than W for each entry of the diagonal K, which all are positive: "
            "m = n + rank K",
        ).that(eq(states, n + rank(K))),
    ),
    "unitary",
    (
        SMALL,
        step("defect", eq(rank(eye - transpose(W) * W), rank(transpose(W_3) * W_3))).by(
            "contraction", "minimal dilation", SINGULAR_VALUES.at(W), COSINES.at(W), method=Words
        ),
        step("cosines", eq(rank(W_3 * Q * E), rank(K))).by(
            "contraction", "minimal dilation", COSINES.at(W), method=Words
        ),
    ),
    note="the minimal dilation has no more rows",
).by("defect", "cosines", RANK_GRAM.at(W_3), RANK_PRODUCT.at(W_3, Q * E), "few rows")

# No orthogonal matrix with the block W has fewer rows.
added = transpose(J_2) * V * J
BLOCK = assume("block", "V is orthogonal, with the leading block W").that(
    eq(W, transpose(J) * V * J), eq(transpose(J) * transpose(V) * V * J, eye)
)
COORDINATES = assume(
    "coordinates", "J embeds the first n of V's m coordinates, J₂ the other ones"
).that(eq(J_2 * transpose(J_2) * V, V - J * transpose(J) * V))
NEEDED = theorem(
    "needed",
    le(n + defect_rank, states),
    (
        BLOCK,
        COORDINATES,
        assume("added rows", "m − n coordinates are added").that(
            eq(rows(transpose(J_2)), states - n)
        ),
    ),
    "block",
    (
        step("defect", eq(rank(eye - transpose(W) * W), rank(transpose(added) * added))).by(
            "block", "coordinates", method=Words
        ),
    ),
    note="no orthogonal matrix with the block W is smaller",
).by(
    "defect",
    RANK_GRAM.at(added),
    RANK_PRODUCT.at(transpose(J_2), V * J),
    RANK_ROWS.at(transpose(J_2)),
    "added rows",
)

URNN_DEFECT = Claim(
    id="urnn-defect",
    title="An orthogonal matrix with the block W needs n + rank(I − WᵀW) rows",
    source=Source(
        "Emami et al., Input-Output Equivalence of Unitary and Contractive RNNs; Halmos",
        "Theorem 3.1, its count of states; Normal dilations and extensions of operators (1950)",
    ),
    forms=(ORTHOGONAL, ENOUGH, NEEDED, RESCALED),
    false_variants=(
        ORTHOGONAL.variant(
            "transposed",
            "the added rows complete the rows of W, W₃ᵀW₃ = I − WWᵀ",
            eq(unitary_defect_transposed, ZERO),
        ),
        ORTHOGONAL.variant(
            "one-row-fewer", "one added row can be left out", eq(unitary_defect_short, ZERO)
        ),
        ENOUGH.variant("rank-is-enough", "n + rank W states are enough", n + W_rank),
        NEEDED.variant("twice-n", "every dilation has 2n rows", le(2 * n, states)),
        NEEDED.variant(
            "one-more", "a dilation needs one row more", le(n + defect_rank + 1, states)
        ),
        NEEDED.variant("rank-of-w", "the rank of W itself is to be added", le(n + W_rank, states)),
    ),
    extremal=(
        "every minimal dilation: exact, and of n + rank(I − WᵀW) rows; singular values equal to 1"
    ),
    emphasis=1.25,
)
