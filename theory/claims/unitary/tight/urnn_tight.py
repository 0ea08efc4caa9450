"""2n states are needed to match some contractive ReLU networks (Emami et al., Theorem 3.2)."""

from sympy import Rational, Symbol

from rnnbounds.theory.axioms.ranks import RANK_KERNEL, RANK_PRODUCT, RANK_ROWS, ROWS_OF_PRODUCT
from rnnbounds.theory.claims.unitary.tight.constant_pattern import CONSTANT_PATTERN
from rnnbounds.theory.claims.unitary.tight.two_steps import EXCLUDED, FEWER, KERNEL, NEEDED
from rnnbounds.theory.language import ONE, ZERO, Assumption, Clause, assume, at, eq, le, lt, symbols
from rnnbounds.theory.language.terms.unitary import rows
from rnnbounds.theory.language.terms.variables import operator, v
from rnnbounds.theory.language.terms.vectors import norm
from rnnbounds.theory.models.unitary.krylov import LONG
from rnnbounds.theory.models.unitary.local_maps import T, W, n, separation, states
from rnnbounds.theory.proof import Claim, Source, step, theorem

W_rank, active = symbols("W_rank active")
multiplicity, multiplicity_any = symbols("multiplicity multiplicity_any")
MU = Symbol("mu", real=True)
S, W_3 = operator("S"), operator("W_3")
BLOCK = assume(
    "orthonormal columns",
    "W above W_3 are the first n columns of an orthogonal m × m matrix",
    forall=(v,),
).that(
    Clause(eq(norm(W * v) ** 2 + norm(W_3 * v) ** 2, norm(v) ** 2), (le(rows(v), n),)),
    le(rows(W_3), states - n),
)
EIGENVECTORS = assume(
    "eigenvectors", "the columns of S are eigenvectors of W, of one eigenvalue |μ| < 1", forall=(v,)
).that(eq(norm(W * S * v), MU * norm(S * v)), le(rows(S), n), lt(MU, ONE), le(ZERO, MU))
MULTIPLICITY = theorem(
    "multiplicity",
    le(multiplicity, states - n),
    (BLOCK, EIGENVECTORS),
    "block",
    (
        step(
            "eigenvectors are seen below",
            eq(norm(S * v), ZERO),
            forall=(v,),
            given=(eq(norm(W_3 * S * v), ZERO),),
        ).by(at("orthonormal columns", S * v), at("eigenvectors", v), ROWS_OF_PRODUCT.at(S, v)),
    ),
    note="it rules out a constant pattern with fewer states",
).by(
    "eigenvectors are seen below",
    RANK_KERNEL.at(W_3 * S, S),
    RANK_PRODUCT.at(W_3, S),
    RANK_ROWS.at(W_3),
    "orthonormal columns",
)


FORMS = (EXCLUDED, NEEDED, KERNEL, CONSTANT_PATTERN, MULTIPLICITY)


URNN_TIGHT = Claim(
    id="urnn-tight",
    title="Some contractive ReLU networks need 2n states of a unitary one",
    source=Source(
        "Emami et al., Input-Output Equivalence of Unitary and Contractive RNNs", "Theorem 3.2"
    ),
    forms=FORMS,
    false_variants=(
        EXCLUDED.variant(
            "at-2n",
            "2n states are too few as well",
            Assumption(FEWER.id, "m ≤ 2n", le(states, 2 * n)),
        ),
        EXCLUDED.variant(
            "bounded-away",
            "with fewer states the outputs stay 1/8 apart",
            le(Rational(1, 8), separation),
        ),
        EXCLUDED.variant(
            "one-fewer-suffices",
            "2n − 1 states match W = 0",
            eq(separation, ZERO),
            Assumption(FEWER.id, "m = 2n − 1", eq(states, 2 * n - 1)),
        ),
        NEEDED.variant("one-more", "2n + 1 states are needed", le(2 * n + 1, states)),
        NEEDED.variant("any-contraction", "every contraction needs 2n states", without="forgetful"),
        KERNEL.variant("rank-of-w", "n + rank W states are needed", le(n + W_rank, states)),
        KERNEL.variant(
            "half-the-rank",
            "only half of the rank of W saves states",
            le(2 * n - W_rank / 2, states),
        ),
        CONSTANT_PATTERN.variant(
            "one-more-than-active",
            "one state more than the active units and n",
            le(active + n + 1, states),
        ),
        CONSTANT_PATTERN.variant(
            "one-step-shorter",
            "one step fewer is enough",
            Assumption(LONG.id, "at least p − n + 1 steps", le(active + 1, T + n)),
        ),
        CONSTANT_PATTERN.variant(
            "any-contraction-active", "the bound holds for any contraction W", without="scalar"
        ),
        MULTIPLICITY.variant(
            "one-less",
            "an eigenvalue has a multiplicity below m − n",
            le(multiplicity + 1, states - n),
        ),
        MULTIPLICITY.variant(
            "unit-eigenvalues", "eigenvalues with |μ| = 1 too", le(multiplicity_any, states - n)
        ),
    ),
    extremal=(
        "W = 0 and the swap of n states with n others: 2n states match. ρ I in the leading block "
        "of its dilation: the multiplicity is m − n"
    ),
    example_factor=2.25,
)
