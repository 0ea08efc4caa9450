"""The rows of an orthogonal matrix with the block W: n + rank(I − WᵀW) (Emami et al.; Halmos).

With W = PΣQᵀ and K = (I − Σ²)^½ on the q coordinates where Σ < I, which E embeds into all n,
V = (W PEK; KEᵀQᵀ −Σ_q) is orthogonal: the witness of Theorem 3.1, of at most 2n rows.  No
orthogonal matrix with the block W has fewer.  An equivalent network may have fewer, with another
block: positive scales D change the rank but not the outputs, for ReLU commutes with them.
"""

from rnnbounds.theory.axioms import unitary
from rnnbounds.theory.axioms.ranks import RANK_GRAM, RANK_PRODUCT, RANK_ROWS
from rnnbounds.theory.axioms.unitary import COSINES, SINGULAR_VALUES
from rnnbounds.theory.language import ONE, ZERO, Assumption, assume, eq, le, symbols
from rnnbounds.theory.language.terms.unitary import J_2, W_2, W_3, W_4, J, V, eye_all, rank, rows
from rnnbounds.theory.language.terms.variables import eye
from rnnbounds.theory.language.terms.vectors import frobenius, norm, transpose
from rnnbounds.theory.models.cells import W
from rnnbounds.theory.proof import Claim, Source, step, theorem
from rnnbounds.theory.proof.methods import Words

lam, n, states, unitary_defect, defect_rank = symbols("lam n states unitary_defect defect_rank")

NORM = assume("norm of W", "λ bounds ‖W‖₂").that(le(norm(W), lam))
CONTRACTION = Assumption("at most one", "λ ≤ 1", le(lam, ONE))
P, Q, S = unitary.left(W), unitary.right(W), unitary.singular(W)
K, E, S_q = unitary.cosine(W), unitary.kept(W), unitary.low(W)
MINIMAL = assume(
    "minimal dilation",
    "W₂ = PEK, W₃ = KEᵀQᵀ and W₄ = −Σ_q, from the singular values of W; QQᵀ is the identity of n "
    "coordinates",
).that(
    eq(eye, Q * transpose(Q)),
    eq(W_2, P * E * K),
    eq(W_3, K * transpose(E) * transpose(Q)),
    eq(W_4, -S_q),
)
FOUR_BLOCKS = assume("four blocks", "V = (W W₂; W₃ W₄)").that(
    eq(
        V,
        J * W * transpose(J)
        + J * W_2 * transpose(J_2)
        + J_2 * W_3 * transpose(J)
        + J_2 * W_4 * transpose(J_2),
    )
)
COORDINATES = assume(
    "coordinates of all units",
    "J embeds the first n of m coordinates and J₂ the q others, I is the identity of all; the "
    "blocks have as many rows and columns, Q has n rows, and EᵀE is the identity of q coordinates",
).that(
    eq(eye_all, J * transpose(J) + J_2 * transpose(J_2)),
    eq(transpose(J) * J_2, ZERO),
    eq(transpose(J_2) * J, ZERO),
    *(eq(transpose(J) * J * block, block) for block in (W, W_2)),
    *(eq(transpose(J_2) * J_2 * block, block) for block in (W_3, W_4)),
    *(eq(block * transpose(J) * J, block) for block in (W, W_3)),
    eq(J * Q * transpose(Q), J),
    eq(J_2 * transpose(E) * E, J_2),
)
SMALL = step("contraction", le(norm(W), ONE)).by("norm of W", "at most one")
_corner_gram = transpose(W) * W + transpose(W_3) * W_3
_edge_gram = transpose(W) * W_2 + transpose(W_3) * W_4
_added_gram = transpose(W_2) * W_2 + transpose(W_4) * W_4
COLUMNS = (
    ("first columns are orthonormal", transpose(W) * W, Q * transpose(Q) - transpose(W_3) * W_3),
    ("first and last columns are orthogonal", transpose(W) * W_2, -transpose(W_3) * W_4),
    ("last columns are orthonormal", transpose(W_2) * W_2, transpose(E) * E - transpose(W_4) * W_4),
)
ORTHOGONAL = theorem(
    "dilation",
    eq(unitary_defect, ZERO),
    (NORM, CONTRACTION, MINIMAL, FOUR_BLOCKS, COORDINATES),
    "unitary",
    (
        SMALL,
        step(
            "block by block",
            eq(
                transpose(V) * V,
                J * _corner_gram * transpose(J)
                + J * _edge_gram * transpose(J_2)
                + J_2 * transpose(_edge_gram) * transpose(J)
                + J_2 * _added_gram * transpose(J_2),
            ),
        ).by("four blocks", "coordinates of all units", method=Words),
        *(
            step(name, eq(product, rest)).by(
                "contraction",
                "minimal dilation",
                *((unitary.SINGULAR_VALUES.at(W),) if product.has(W) else ()),
                unitary.COSINES.at(W),
                method=Words,
            )
            for name, product, rest in COLUMNS
        ),
        step("V is orthogonal", eq(frobenius(transpose(V) * V - eye_all), ZERO)).by(
            "block by block",
            *(name for name, _, _ in COLUMNS),
            "coordinates of all units",
            method=Words,
        ),
    ),
    note="V, of the rows counted next",
).by("V is orthogonal")

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
added_block = transpose(J_2) * V * J
BLOCK = assume("block", "V is orthogonal, with the leading block W").that(
    eq(W, transpose(J) * V * J), eq(transpose(J) * transpose(V) * V * J, eye)
)
OTHER_COORDINATES = assume(
    "coordinates", "J embeds the first n of V's m coordinates, J₂ the other ones"
).that(eq(J_2 * transpose(J_2) * V, V - J * transpose(J) * V))
NEEDED = theorem(
    "needed",
    le(n + defect_rank, states),
    (
        BLOCK,
        OTHER_COORDINATES,
        assume("added rows", "m − n coordinates are added").that(
            eq(rows(transpose(J_2)), states - n)
        ),
    ),
    "block",
    (
        step(
            "defect", eq(rank(eye - transpose(W) * W), rank(transpose(added_block) * added_block))
        ).by("block", "coordinates", method=Words),
    ),
    note="no orthogonal matrix with the block W is smaller",
).by(
    "defect",
    RANK_GRAM.at(added_block),
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
    forms=(ORTHOGONAL, ENOUGH, NEEDED),
    false_variants=(
        ENOUGH.variant("one-row-fewer", "one added row can be left out", n + defect_rank - 1),
        NEEDED.variant("twice-n", "every dilation has 2n rows", le(2 * n, states)),
        NEEDED.variant(
            "one-more", "a dilation needs one row more", le(n + defect_rank + 1, states)
        ),
    ),
    extremal=(
        "every minimal dilation: exact, and of n + rank(I − WᵀW) rows; singular values equal to 1"
    ),
    example_factor=1.25,
)
