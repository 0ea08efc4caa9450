"""The laws of ranks and kernels, tried on random integer matrices of all shapes.

Shapes that do not fit are included: a matrix stands for the infinite one that continues it by
zeros, so that no law can be used at operators of the wrong sizes to prove something false.
"""

from dataclasses import replace
from random import Random

import pytest
from flint import fmpq, fmpq_mat
from sympy import Expr, Integer
from term_values import World, value, violated

from rnnbounds.theory.axioms.ranks import RANK_AXIOMS, RANK_ZERO, C
from rnnbounds.theory.axioms.unitary import COSINES, SINGULAR_VALUES
from rnnbounds.theory.language import Assumption, Clause, Statement, at, eq, le
from rnnbounds.theory.language import symbols as quantities
from rnnbounds.theory.language.terms.unitary import eye_all, identity, rank, rows
from rnnbounds.theory.language.terms.variables import A, B, X, Y, eye, m, v, y, z
from rnnbounds.theory.language.terms.vectors import norm, transpose
from rnnbounds.theory.models.unitary.local_maps import ORTHOGONAL, PATTERNS, V, pattern, rest
from rnnbounds.theory.proof import Proof, Step, check
from rnnbounds.theory.proof.methods import Smt

SIZE = 6  # of the matrices that stand for infinite ones
Matrix = fmpq_mat
(states,) = quantities("states")


def matrix(entries: list[list[object]]) -> Matrix:
    """A rational matrix, continued by zeros."""
    full = fmpq_mat(SIZE, SIZE)
    for row, line in enumerate(entries):
        for column, entry in enumerate(line):
            full[row, column] = fmpq(entry) if isinstance(entry, int) else entry
    return full


def drawn(random: Random) -> Matrix:
    """A product of two small integer matrices of any shapes: all ranks occur."""
    r, k, q = (random.randrange(1, SIZE + 1) for _ in range(3))
    first = matrix([[random.randrange(-2, 3) for _ in range(k)] for _ in range(r)])
    second = matrix([[random.randrange(-2, 3) for _ in range(q)] for _ in range(k)])
    return first * second


def last_row(A: Matrix) -> int:
    """How many rows there are, the last ones that are 0 not counted."""
    found = [r for r in range(A.nrows()) if any(x != 0 for x in A.table()[r])]
    return max(found, default=-1) + 1


def squared(value: Matrix) -> fmpq:
    """The sum of the squares of the entries."""
    return sum((x * x for line in value.table() for x in line), fmpq(0))


Values = dict[Expr, Matrix | fmpq | int]
MEANINGS: World = {
    identity: lambda n: matrix([[int(r == k) for k in range(int(n))] for r in range(int(n))]),
    rank: lambda A: fmpq(A.rank() if isinstance(A, Matrix) else 0),
    rows: lambda A: fmpq(last_row(A)),
    norm: squared,  # which is 0 where the norm is
    transpose: Matrix.transpose,
}


def follows(clause: Clause, given: Values) -> bool:
    """Whether the premises fail or the conclusion holds, in rationals."""
    values = {term: fmpq(v) if isinstance(v, int) else v for term, v in given.items()}
    return not violated(clause, {**MEANINGS, **values})


def kernel(value: Matrix) -> list[Matrix]:
    """Columns that span the kernel."""
    reduced, order = value.rref()
    table = reduced.table()
    pivots = [next(k for k in range(SIZE) if table[r][k] != 0) for r in range(order)]
    found = []
    for free in set(range(value.ncols())) - set(pivots):
        column = [[0] for _ in range(SIZE)]
        column[free] = [fmpq(1)]
        for r, pivot in enumerate(pivots):
            column[pivot] = [-table[r][free]]
        found.append(matrix(column))
    return found


PLAIN = [axiom for axiom in RANK_AXIOMS if not axiom.requires]
INCLUDED = [axiom for axiom in RANK_AXIOMS if axiom.requires and axiom is not RANK_ZERO]


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(PLAIN)))
def test_a_law_of_ranks_holds_for_all_shapes(number: int) -> None:
    """Hundreds of random matrices, of sizes that fit or do not."""
    axiom, random = PLAIN[number], Random(number)
    for _ in range(300):
        given: Values = {symbol: drawn(random) for symbol in (A, B, C, X, Y, v)}
        given |= {m: random.randrange(5), y: random.randrange(7)}
        given[z] = fmpq(random.randrange(-3, 4), 2)
        for clause in axiom.clauses:
            assert follows(clause, given), axiom.text


@pytest.mark.parametrize("number", range(len(INCLUDED)))
def test_a_law_of_kernels_holds_for_all_shapes(number: int) -> None:
    """Wherever the required inclusion of kernels is met, it follows."""
    axiom, random, met = INCLUDED[number], Random(number), 0
    (requirement,) = (clause for required in axiom.requires for clause in required.clauses)
    for _ in range(300):
        first, second = drawn(random), drawn(random)
        combined = drawn(random) * first + drawn(random) * second * random.randrange(2)
        by_rows = {A: first, B: second, C: combined}
        given: Values = {**by_rows}
        shared = fmpq_mat(0, SIZE)
        for premise in requirement.given:
            operator = premise.lhs.args[0].args[0]
            shared = fmpq_mat(shared.table() + by_rows[operator].table())
        inside = all(follows(requirement, given | {v: vector}) for vector in kernel(shared))
        met += inside
        for clause in axiom.clauses if inside else ():
            assert follows(clause, given), axiom.text
    assert met >= 100


def test_the_law_of_the_zero_operator() -> None:
    """Wherever all columns vanish if z = 0, the rank is 0 if z is; else any rank occurs."""
    random, met, ranks = Random(3), 0, set()
    (requirement,) = (clause for required in RANK_ZERO.requires for clause in required.clauses)
    columns = [matrix([[int(r == k)] for r in range(SIZE)]) for k in range(SIZE)]
    for _ in range(300):
        given: Values = {A: drawn(random) * random.randrange(2), z: random.randrange(2)}
        if all(follows(requirement, given | {v: column}) for column in columns):
            met += 1
            ranks.add(int(value(rank(A), {**MEANINGS, **given})))
            assert all(follows(clause, given) for clause in RANK_ZERO.clauses)
    assert met >= 100
    assert len(ranks) > 1


@pytest.mark.parametrize(
    ("assumption", "fact"),
    [(ORTHOGONAL, eq(norm(V * v), norm(v))), (PATTERNS, le(norm(pattern(0) * v), norm(v)))],
    ids=["orthogonal", "patterns"],
)
def test_an_isometry_of_m_states_is_none_of_longer_vectors(
    assumption: Assumption, fact: Statement
) -> None:
    """Without `rows(v) <= m` nothing follows, with it the fact does."""
    terms = (v,) if assumption is ORTHOGONAL else (0, v)
    use = at(assumption.id, *terms)
    free = Step("fact", fact, Smt(use), forall=(v,))
    bound = replace(free, method=Smt(use, "given 1"), given=(le(rows(v), states),))
    for step, verdict in ((free, "failed"), (bound, "proved")):
        end = Step("claim", le(Integer(0), Integer(0)), Smt())
        (found, _) = check(Proof((step, end)), end.conclusion, (assumption,)).steps
        assert found.verdict == verdict


def test_the_assumptions_of_two_steps_hold_of_the_swap() -> None:
    """V = (0 I; I 0) with n = 1: what the ledger takes for granted of V and of its patterns."""
    swap, top, bottom = (matrix(e) for e in ([[0, 1], [1, 0]], [[1, 0]], [[0, 0], [0, 1]]))
    given: Values = {V: swap, pattern(m): top, rest(m): bottom, states: 2, m: 0}
    for entries in ([[3], [-4]], [[0], [2]], [[1], [1], [1]]):
        for assumption in (ORTHOGONAL, PATTERNS):
            assert assumption.law is not None
            for clause in assumption.law.clauses:
                squares = clause.replace(
                    {norm(top_) ** 2: norm(top_) for top_ in (pattern(m) * v, rest(m) * v, v)}
                )
                assert follows(squares, given | {v: matrix(entries)}), clause


def test_no_identity_is_that_of_all_sizes() -> None:
    """One I for matrices of all sizes would have any rank."""
    assert {eye, eye_all}.isdisjoint(SINGULAR_VALUES.constants | COSINES.constants)
