"""How many states a unitary equivalent needs: n + rank(I − WᵀW) (Emami et al.; Halmos).

With W = PΣQᵀ and K = (I − Σ²)^½ on the q coordinates where Σ < I,
V = (W PJK; KJᵀQᵀ −Σ_q) is orthogonal, and no orthogonal matrix with the block W has fewer rows.
Positive scales D change the rank but not the outputs, for ReLU commutes with them.
"""

from theory.cells import W
from theory.claim import Claim, Form, Source
from theory.law import Assumption, at, law
from theory.methods import Smt, Words
from theory.models import ONE, ZERO
from theory.proof import Proof, Step
from theory.quantities.unitary import ADDED, LAST, MIXED
from theory.rank_axioms import RANK_GRAM, RANK_PRODUCT, RANK_ROWS
from theory.rescaled import RESCALED
from theory.statement import eq, le
from theory.terms import (
    a,
    eye,
    frobenius,
    norm,
    transpose,
)
from theory.unitary_axioms import (
    COSINES,
    SINGULAR_VALUES,
    cosine,
    kept,
    left,
    low,
    right,
    singular,
)
from theory.unitary_models import (
    NORM,
)
from theory.unitary_terms import (
    J_2,
    W_2,
    W_3,
    W_4,
    J,
    V,
    rank,
    rows,
)
from theory.vocabulary import symbols

lam, n, states = symbols("lam n states")
unitary_defect, unitary_defect_transposed, unitary_defect_short = symbols(
    "unitary_defect unitary_defect_transposed unitary_defect_short"
)
defect_rank, W_rank = symbols("defect_rank W_rank")

# The minimal dilation is orthogonal.
CONTRACTION = Assumption("at most one", "λ ≤ 1", le(lam, ONE))
P, Q, S = left(W), right(W), singular(W)
K, E, S_q = cosine(W), kept(W), low(W)
MINIMAL = Assumption(
    "minimal dilation",
    "V = (W PJK; KJᵀQᵀ −Σ_q), from the singular values of W",
    law=law(
        "minimal dilation",
        (),
        eq(W_2, P * E * K),
        eq(W_3, K * transpose(E) * transpose(Q)),
        eq(W_4, -S_q),
    ),
)
NO_DEFECT = eq(unitary_defect, ZERO)
ORTHOGONAL = Form(
    "dilation",
    NO_DEFECT,
    (NORM, CONTRACTION, MINIMAL),
    "unitary",
    Proof(
        (
            Step("contraction", le(norm(W), ONE), Smt("norm of W", "at most one")),
            Step(
                "first columns are orthonormal",
                eq(frobenius(ADDED), ZERO),
                Words(
                    "contraction",
                    "minimal dilation",
                    SINGULAR_VALUES.at(W, S * transpose(Q)),
                    COSINES.at(W, 0, transpose(Q)),
                ),
            ),
            Step(
                "first and last columns are orthogonal",
                eq(frobenius(MIXED), ZERO),
                Words(
                    "contraction",
                    "minimal dilation",
                    SINGULAR_VALUES.at(W, E * K),
                    COSINES.at(W, 0, 0),
                ),
            ),
            Step(
                "last columns are orthonormal",
                eq(frobenius(LAST), ZERO),
                Words(
                    "contraction",
                    "minimal dilation",
                    SINGULAR_VALUES.at(W, E * K),
                    COSINES.at(W, K, 0),
                ),
            ),
            Step(
                "claim",
                NO_DEFECT,
                Smt(
                    "first columns are orthonormal",
                    "first and last columns are orthogonal",
                    "last columns are orthonormal",
                ),
            ),
        )
    ),
    note="with n + rank(I − WᵀW) rows",
)

# No orthogonal matrix with the block W has fewer rows.
added = transpose(J_2) * V * J
BLOCK = Assumption(
    "block",
    "V is orthogonal, with the leading block W",
    law=law("block", (a,), eq(W, transpose(J) * V * J), eq(transpose(V) * V * a, a)),
)
COORDINATES = Assumption(
    "coordinates",
    "J embeds the first n coordinates, J₂ the other ones",
    law=law(
        "coordinates",
        (a,),
        eq(transpose(J) * J, eye),
        eq(J_2 * transpose(J_2) * a, a - J * transpose(J) * a),
    ),
)
ADDED_ROWS = Assumption(
    "added rows",
    "m − n coordinates are added",
    law=law("added rows", (), eq(rows(transpose(J_2)), states - n)),
)
ENOUGH = le(n + defect_rank, states)
NEEDED = Form(
    "needed",
    ENOUGH,
    (BLOCK, COORDINATES, ADDED_ROWS),
    "block",
    Proof(
        (
            Step(
                "defect",
                eq(rank(eye - transpose(W) * W), rank(transpose(added) * added)),
                Words(at("block", J), at("coordinates", V * J)),
            ),
            Step(
                "claim",
                ENOUGH,
                Smt(
                    "defect",
                    RANK_GRAM.at(added),
                    RANK_PRODUCT.at(transpose(J_2), V * J),
                    RANK_ROWS.at(transpose(J_2)),
                    "added rows",
                ),
            ),
        )
    ),
    note="no orthogonal matrix with the block W is smaller",
)

URNN_DEFECT = Claim(
    id="urnn-defect",
    title="A unitary equivalent needs n + rank(I − WᵀW) states",
    source=Source(
        "Emami et al., Input-Output Equivalence of Unitary and Contractive RNNs; Halmos",
        "Theorem 3.1, its count of states; Normal dilations and extensions of operators (1950)",
    ),
    forms=(ORTHOGONAL, NEEDED, RESCALED),
    false_variants=(
        ORTHOGONAL.variant(
            "transposed",
            "the added rows complete the rows of W, W₃ᵀW₃ = I − WWᵀ",
            eq(unitary_defect_transposed, ZERO),
        ),
        ORTHOGONAL.variant(
            "one-row-fewer",
            "one added row can be left out",
            eq(unitary_defect_short, ZERO),
        ),
        NEEDED.variant("twice-n", "every dilation has 2n rows", le(2 * n, states)),
        NEEDED.variant(
            "one-more", "a dilation needs one row more", le(n + defect_rank + 1, states)
        ),
        NEEDED.variant("rank-of-w", "the rank of W itself is to be added", le(n + W_rank, states)),
    ),
    extremal=(
        "every minimal dilation: exact, and of n + rank(I − WᵀW) rows; singular values equal to 1"
    ),
)
