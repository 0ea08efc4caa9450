"""The textbook laws of ranks and kernels, nearly all parts of the rank-nullity theorem.

Products of any shapes have a meaning here: a matrix stands for the infinite one that continues it
by zeros, and `rows` counts the rows but for the last ones that are 0.  So no law is false of
operators whose sizes do not fit.
"""

from rnnbounds.theory.axioms.reading import HORN, NAMES, axiom
from rnnbounds.theory.language import Axiom, axioms_in

C = NAMES["C"]
_RANK_1, _RANK_2, _RANK_5, _RANK_6 = (("rank-nullity", f"{HORN}, 0.4.{n}") for n in (1, 2, 5, 6))

_FROBENIUS = (
    *_RANK_5,
    "rank(A B) + rank(B C) ≤ rank B + rank(A B C), Frobenius; so rank(A B) ≤ rank A and ≤ rank B, "
    "with 0 for A or C",
)
RANK_FROBENIUS = axiom(*_FROBENIUS, "A B C: rank(A*B) + rank(B*C) <= rank(B) + rank(A*B*C)")
RANK_PRODUCT = axiom(*_FROBENIUS, "A B: rank(A*B) <= rank(A); rank(A*B) <= rank(B)")
RANK_SUM = axiom(*_RANK_5, "rank(A + B) ≤ rank A + rank B", "A B: rank(A + B) <= rank(A) + rank(B)")
RANK_GRAM = axiom(*_RANK_6, "rank(AᵀA) = rank A", "A: rank(transpose(A)*A) == rank(A)")
RANK_ROWS = axiom(*_RANK_1, "the rank is at most the number of rows", "A: rank(A) <= rows(A)")
_ROWS = *_RANK_1, "A B has no more rows than A, A + z B no more than A and B"
ROWS_OF_PRODUCT = axiom(*_ROWS, "A Y: rows(A*Y) <= rows(A)")
ROWS_OF_SUM = axiom(*_ROWS, "X Y y z: rows(X + z*Y) <= y where rows(X) <= y and rows(Y) <= y")
RANK_IDENTITY = axiom(*_RANK_1, "the m × m identity has rank m", "m: rank(identity(m)) == m")
RANK_KERNELS = axiom(
    *_RANK_2,
    "if C v = 0 wherever A v = 0 and B v = 0, then rank C ≤ rank A + rank B",
    "A B C: rank(C) <= rank(A) + rank(B)",
    "v: norm(C*v) == 0 where norm(A*v) == 0 and norm(B*v) == 0",
)
RANK_ZERO = axiom(
    *_RANK_1,
    "an operator that takes all vectors to 0 has rank 0; under a premise z = 0, if need be",
    "A z: rank(A) == 0 where z == 0",
    "v: norm(A*v) == 0 where z == 0",
)
RANK_AXIOMS: tuple[Axiom, ...] = axioms_in(globals())
