"""How often an eigenvalue inside the unit circle occurs in a block of an orthogonal matrix."""

from sympy import Symbol

from rnnbounds.theory.axioms.ranks import RANK_KERNEL, RANK_PRODUCT, RANK_ROWS, ROWS_OF_PRODUCT
from rnnbounds.theory.language import ONE, ZERO, Clause, assume, at, eq, le, lt, symbols
from rnnbounds.theory.language.terms.unitary import rows
from rnnbounds.theory.language.terms.variables import operator, v
from rnnbounds.theory.language.terms.vectors import norm
from rnnbounds.theory.models.unitary.local_maps import W, n, states
from rnnbounds.theory.proof import step, theorem

(multiplicity,) = symbols("multiplicity")
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
