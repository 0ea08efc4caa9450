"""The textbook laws of ranks and kernels, nearly all parts of the rank-nullity theorem.

Products of any shapes have a meaning here: a matrix stands for the infinite one that continues it
by zeros, and `rows` counts the rows but for the last ones that are 0.  So no law is false of
operators whose sizes do not fit.
"""

from dataclasses import replace
from functools import partial

from rnnbounds.theory.language import ZERO, Axiom, Clause, axiom, axioms_in, eq, law, le
from rnnbounds.theory.language.terms.unitary import identity, rank, rows
from rnnbounds.theory.language.terms.variables import A, B, X, Y, m, operator, v, y, z
from rnnbounds.theory.language.terms.vectors import norm, transpose

C = operator("C")
_ID, _SOURCE = "rank-nullity", "Horn & Johnson, Matrix Analysis, 0.4"

_RANK_5 = partial(axiom, _ID, f"{_SOURCE}.5")
_RANK_1 = partial(axiom, _ID, f"{_SOURCE}.1")
_RANK_2 = partial(axiom, _ID, f"{_SOURCE}.2")

_FROBENIUS = _RANK_5(
    "rank(A B) + rank(B C) ≤ rank B + rank(A B C), Frobenius; so rank(A B) ≤ rank A and ≤ rank B, "
    "with 0 for A or C",
    (A, B, C),
)
RANK_FROBENIUS = _FROBENIUS.that(le(rank(A * B) + rank(B * C), rank(B) + rank(A * B * C)))
RANK_PRODUCT = replace(_FROBENIUS, variables=(A, B)).that(
    *RANK_FROBENIUS.clauses_at({A: ZERO, B: A, C: B}), *RANK_FROBENIUS.clauses_at({C: ZERO})
)
RANK_SUM = _RANK_5("rank(A + B) ≤ rank A + rank B", (A, B)).that(le(rank(A + B), rank(A) + rank(B)))
RANK_GRAM = axiom(_ID, f"{_SOURCE}.6", "rank(AᵀA) = rank A", (A,)).that(
    eq(rank(transpose(A) * A), rank(A))
)
RANK_ROWS = _RANK_1("the rank is at most the number of rows", (A,)).that(le(rank(A), rows(A)))
_rows = "A B has no more rows than A, A + z B no more than A and B"
ROWS_OF_PRODUCT = _RANK_1(_rows, (A, Y)).that(le(rows(A * Y), rows(A)))
ROWS_OF_SUM = _RANK_1(_rows, (X, Y, y, z)).that(
    Clause(le(rows(X + z * Y), y), (le(rows(X), y), le(rows(Y), y)))
)
RANK_IDENTITY = _RANK_1("the m × m identity has rank m", (m,)).that(eq(rank(identity(m)), m))
_vanishes = {operator: eq(norm(operator * v), ZERO) for operator in (A, B, C)}
RANK_KERNELS = _RANK_2(
    "if C v = 0 wherever A v = 0 and B v = 0, then rank C ≤ rank A + rank B", (A, B, C)
).that(
    le(rank(C), rank(A) + rank(B)),
    requires=law("", (v,), Clause(_vanishes[C], (_vanishes[A], _vanishes[B]))),
)
RANK_ZERO = _RANK_1(
    "an operator that takes all vectors to 0 has rank 0; under a premise z = 0, if need be", (A, z)
).that(
    Clause(eq(rank(A), ZERO), (eq(z, ZERO),)),
    requires=law("", (v,), Clause(_vanishes[A], (eq(z, ZERO),))),
)
RANK_AXIOMS: tuple[Axiom, ...] = axioms_in(globals())
