"""The textbook laws of ranks and kernels, nearly all parts of the rank-nullity theorem.

Products of any shapes have a meaning here: a matrix stands for the infinite one that continues it
by zeros, and `rows` counts the rows but for the last ones that are 0.  So no law is false of
operators whose sizes do not fit.
"""

from sympy import Integer

from theory.language.law import Axiom, Clause, axiom, law, stated
from theory.language.statement import eq, le
from theory.language.terms.unitary import beside, identity, rank, rows
from theory.language.terms.vectors import A, B, c, function, j, m, norm, transpose, v, vector, y, z

C = vector("C")
ZERO = Integer(0)
projector = function("projector", module=__name__)  # projector(A), along the kernel of A
_ID, _SOURCE = "rank-nullity", "Horn & Johnson, Matrix Analysis, 0.4"

RANK_PRODUCT = axiom(
    _ID,
    (A, B),
    le(rank(A * B), rank(A)),
    le(rank(A * B), rank(B)),
    text="rank(A B) ≤ rank A and rank(A B) ≤ rank B",
    source=f"{_SOURCE}.5",
)
RANK_FROBENIUS = axiom(
    _ID,
    (A, B, C),
    le(rank(A * B) + rank(B * C), rank(B) + rank(A * B * C)),
    text="rank(A B) + rank(B C) ≤ rank B + rank(A B C), Frobenius",
    source=f"{_SOURCE}.5",
)
RANK_SUM = axiom(
    _ID,
    (A, B),
    le(rank(A + B), rank(A) + rank(B)),
    text="rank(A + B) ≤ rank A + rank B",
    source=f"{_SOURCE}.5",
)
RANK_SCALED = axiom(
    _ID, (z, A), le(rank(z * A), rank(A)), text="rank(z A) ≤ rank A", source=f"{_SOURCE}.5"
)
RANK_WHOLE = axiom(
    _ID,
    (A, m, j),
    le(ZERO, (rank(A) + m - j) * (rank(A) + m - j - 1)),
    text="ranks are whole numbers: none lies between j − m and j − m + 1",
    source=f"{_SOURCE}.1",
)
RANK_GRAM = axiom(
    _ID, (A,), eq(rank(transpose(A) * A), rank(A)), text="rank(AᵀA) = rank A", source=f"{_SOURCE}.6"
)
RANK_ROWS = axiom(
    _ID,
    (A,),
    le(rank(A), rows(A)),
    text="the rank is at most the number of rows",
    source=f"{_SOURCE}.1",
)
ROWS_OF_PRODUCT = axiom(
    _ID, (A, B), le(rows(A * B), rows(A)), text="A B has no more rows than A", source=f"{_SOURCE}.1"
)
ROWS_OF_SUM = axiom(
    _ID,
    (A, B, y, z),
    Clause(le(rows(A + z * B), y), (le(rows(A), y), le(rows(B), y))),
    text="A + z B has no more rows than A and B",
    source=f"{_SOURCE}.1",
)
ROWS_BESIDE = axiom(
    _ID,
    (A, B, y),
    Clause(le(rows(beside(A, B)), y), (le(rows(A), y), le(rows(B), y))),
    text="(A, B) has no more rows than A and B",
    source=f"{_SOURCE}.1",
)
RANK_IDENTITY = axiom(
    _ID, (m,), eq(rank(identity(m)), m), text="the m × m identity has rank m", source=f"{_SOURCE}.1"
)
_vanishes = {operator: eq(norm(operator * v), ZERO) for operator in (A, B, C)}
RANK_KERNEL = axiom(
    _ID,
    (A, B),
    le(rank(B), rank(A)),
    text="if B v = 0 wherever A v = 0, then rank B ≤ rank A",
    source=f"{_SOURCE}.2",
    requires=law("", (v,), Clause(_vanishes[B], (_vanishes[A],))),
)
RANK_KERNELS = axiom(
    _ID,
    (A, B, C),
    le(rank(C), rank(A) + rank(B)),
    text="if C v = 0 wherever A v = 0 and B v = 0, then rank C ≤ rank A + rank B",
    source=f"{_SOURCE}.2",
    requires=law("", (v,), Clause(_vanishes[C], (_vanishes[A], _vanishes[B]))),
)
RANK_KERNEL_BACK = axiom(
    _ID,
    (A, B, c),
    Clause(eq(norm(B * c), ZERO), (eq(norm(A * c), ZERO), le(rank(B), rank(A)))),
    text="if A v = 0 wherever B v = 0, and rank B ≤ rank A, then B v = 0 wherever A v = 0",
    source=f"{_SOURCE}.2",
    requires=law("", (v,), Clause(_vanishes[A], (_vanishes[B],))),
)
RANK_BESIDE = axiom(
    _ID,
    (A, B, C),
    le(rank(A * beside(B, C)), rank(A * B) + rank(A * C)),
    le(rank(A * B) + rank(C), rank(beside(B, C)) + rank(A * C)),
    text="of the matrix (B, C): rank(A (B, C)) ≤ rank(A B) + rank(A C), and where A takes C to 0, "
    "rank(A B) + rank C ≤ rank(B, C)",
    source=f"{_SOURCE}.4 and 0.4.5",
)
KERNEL_PROJECTOR = axiom(
    "projection onto a convex set",
    (A, v),
    eq(norm(A * (v - projector(A) * v)), ZERO),
    Clause(eq(norm(projector(A) * v), ZERO), (_vanishes[A],)),
    le(norm(projector(A) * v), norm(v)),
    text="the orthogonal projector P along the kernel of A: A(v − P v) = 0, P v = 0 where A v = 0, "
    "and ‖P v‖ ≤ ‖v‖",
    source="Horn & Johnson, Matrix Analysis, 0.6.5; Hiriart-Urruty & Lemaréchal, Fundamentals of "
    "Convex Analysis, section A.3.1",
)

RANK_AXIOMS: tuple[Axiom, ...] = stated(globals())
