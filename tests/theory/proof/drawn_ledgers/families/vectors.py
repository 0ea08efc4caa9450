"""Operators and vectors: words, norms, laws of matrices of any size."""

from __future__ import annotations

from collections.abc import Callable

from sympy import Abs, Expr, Integer, Symbol

from drawn_ledgers.models import Chance, R, V, W, eye, lam, u, v, x
from drawn_ledgers.said import Said, method, premises
from drawn_ledgers.values import Model
from rnnbounds.theory.axioms.base import (
    HOMOGENEITY,
    HOMOGENEITY_GAIN,
    HOMOGENEITY_WEIGHTED,
    LEAST_EIGENVALUE,
    SUBMULTIPLICATIVE,
    SUBMULTIPLICATIVE_GAIN,
    SUBMULTIPLICATIVE_MAX,
    TRIANGLE,
    TRIANGLE_GAIN,
    TRIANGLE_MAX,
)
from rnnbounds.theory.axioms.entries import DIFFERENCES, INNER_PRODUCT, LARGEST_ENTRY
from rnnbounds.theory.axioms.gradients import CAUCHY_SCHWARZ
from rnnbounds.theory.axioms.ranks import RANK_IDENTITY, RANK_PRODUCT, RANK_ROWS, RANK_SUM
from rnnbounds.theory.axioms.unitary import IDENTITY_NORM
from rnnbounds.theory.language import Instance, Statement, eq, le, lt
from rnnbounds.theory.language.law import Law
from rnnbounds.theory.language.terms.unitary import POWERS, identity, part, power, rank, rows
from rnnbounds.theory.language.terms.variables import (
    A,
    B,
    OperatorSymbol,
    X,
    Y,
    a,
    b,
    j,
    m,
    s,
    y,
    z,
)
from rnnbounds.theory.language.terms.vectors import (
    RECURSION,
    entry,
    frobenius,
    gain,
    inner,
    max_norm,
    norm,
    phi,
    state,
    transpose,
    weighted,
)
from rnnbounds.theory.proof.methods import Smt, Words

Pair = tuple[Expr, Expr]
KNOWN = {lam, W, V, R, eye, u, v, x}
OPERATORS, VECTORS = (A, B, W, V, eye), (a, b, u, v)
SIZES = (norm, gain, max_norm, weighted, frobenius)
TRUE: tuple[Callable[[Expr, Expr, Expr], Pair], ...] = (
    lambda p, q, r: ((p + q) * r, p * r + q * r),
    lambda p, q, r: ((p + q) ** 2, p**2 + p * q + q * p + q**2),
    lambda p, q, r: ((p - q) * (p + q), p**2 + p * q - q * p - q**2),
    lambda p, q, r: (transpose(p * q), transpose(q) * transpose(p)),
    lambda p, q, r: (transpose(p + 2 * transpose(q)), transpose(p) + 2 * q),
    lambda p, q, r: (norm(p * (q - r)), norm(p * r - p * q)),
    lambda p, q, r: (norm((p * q) ** 2), norm(p * q * p * q)),
)
NEAR: tuple[Callable[[Expr, Expr, Expr], Pair], ...] = (
    lambda p, q, r: (p * q, q * p),
    lambda p, q, r: ((p * q) ** 2, p**2 * q**2),
    lambda p, q, r: ((p + q) ** 2, p**2 + 2 * p * q + q**2),
    lambda p, q, r: (transpose(p * q), transpose(p) * transpose(q)),
    lambda p, q, r: (transpose(p), p),
    lambda p, q, r: (transpose(p * q) * r, transpose(q) * r * transpose(p)),
    lambda p, q, r: (norm(p * q), norm(q * p)),
    lambda p, q, r: (norm(p * q), norm(p) * norm(q)),
    lambda p, q, r: (norm(p + q), norm(p) + norm(q)),
    lambda p, q, r: (norm(-p), -norm(p)),
    lambda p, q, r: (max_norm(p), norm(p)),
    lambda p, q, r: (gain(p), norm(p)),
    lambda p, q, r: (gain(p * q), gain(p) * gain(q)),
    lambda p, q, r: (gain(p * q), norm(p) * gain(q)),
    lambda p, q, r: (frobenius(p), norm(p) ** 2),
    lambda p, q, r: (norm(transpose(p) * p), norm(p)),
    lambda p, q, r: (p * q * r, p * r * q),
    lambda p, q, r: (rank(p + q), rank(p) + rank(q)),
    lambda p, q, r: (p**0 * q, q * 0),
    lambda p, q, r: (z * p, p),
    lambda p, q, r: (norm(z * p), z * norm(p)),
    lambda p, q, r: (max_norm(transpose(p)), max_norm(p)),
)


def operator(chance: Chance) -> Expr:
    """A symbol, its transpose, a product, 0, or an identity."""
    one = chance.one(OPERATORS)
    kind = chance.one(range(8))
    if kind < 5:
        return one
    if kind == 5:
        return chance.one((transpose(one), one * chance.one(OPERATORS)))
    return chance.one((Integer(0), identity(chance.one((0, 1, 2))), -one, 2 * one, R, one**j))


def variables(*statements: Statement) -> tuple[Symbol, ...]:
    """The free symbols that are no constants of the model."""
    found = {one for statement in statements for one in statement.symbols} - KNOWN
    return tuple(sorted(found, key=lambda one: (one.name, str(type(one)))))


def words(chance: Chance, model: Model) -> Said:
    """Equations between operators, or between their norms."""
    kind = chance.one(range(3))
    p, q, r = (operator(chance) for _ in range(3))
    if chance.one(range(3)) == 0:
        r = chance.one(VECTORS)
    left, right = chance.one(TRUE if kind == 0 else NEAR)(p, q, r)
    if kind == 2:
        old, new = chance.one((p, q, r)), chance.one((p, q, r, transpose(p), Integer(0)))
        right = right.xreplace({old: new}) if old != 0 else 2 * right
    given: tuple[Statement, ...] = ()
    if kind and chance.one(range(4)) == 0:
        rule = (A * B, transpose(A) * A, 2 * A, A, A + B), (eye, A, Integer(0), B * A, transpose(B))
        given = (eq(chance.one(rule[0]), chance.one(rule[1])),)
    stated = eq(left, right)
    likely = chance.one((Words, Smt))
    by = method(chance, likely)(*premises(given))
    return Said(stated, variables(stated, *given), by, given, kind == 0)


def inverses(chance: Chance, model: Model) -> Said:
    """What would be true of equal operators that had an inverse; or what is true of equal ones."""
    p, q = chance.one(((A, B), (A, W), (V, A), (B, eye), (B, V), (W, B)))
    r, size, true = chance.one((a, u, A)), chance.one(SIZES[:2]), chance.one(range(3)) == 0
    words = p * q**-1 * r, p**-1 * q * r, (p * q**-1) ** 2 * r, transpose(p) * q**-1 * r
    left, right = (p * r, q * r) if true else (chance.one(words), r)
    ends = (size(left), size(right)) if chance.one((True, False)) else (size(right), size(left))
    stated, given = chance.one((eq, le))(*ends), (eq(p, q),)
    by = (Smt if true else method(chance, chance.one((Smt, Words))))(*premises(given))
    return Said(stated, variables(stated, *given), by, given, true)


# What an axiom gives at its own variables, and the axiom.
LAWS: tuple[tuple[Statement, Instance], ...] = (
    (le(norm(a + b), norm(a) + norm(b)), TRIANGLE.at(a, b)),
    (le(norm(A + B), norm(A) + norm(B)), TRIANGLE.at(A, B)),
    (le(gain(a + b), gain(a) + gain(b)), TRIANGLE_GAIN.at(a, b)),
    (eq(gain(2 * a), 2 * gain(a)), HOMOGENEITY_GAIN.at(2, a)),
    (le(gain(A * a), gain(A) * norm(a)), SUBMULTIPLICATIVE_GAIN.at(A, a)),
    (le(max_norm(a - b), max_norm(a) + max_norm(b)), TRIANGLE_MAX.at(a, -b)),
    (eq(norm(2 * a), 2 * norm(a)), HOMOGENEITY.at(2, a)),
    (eq(weighted(z * A), Abs(z) * weighted(A)), HOMOGENEITY_WEIGHTED.at(z, A)),
    (le(norm(A * B), norm(A) * norm(B)), SUBMULTIPLICATIVE.at(A, B)),
    (le(norm(A * a), norm(A) * norm(a)), SUBMULTIPLICATIVE.at(A, a)),
    (le(max_norm(A * a), max_norm(A) * max_norm(a)), SUBMULTIPLICATIVE_MAX.at(A, a)),
    (le(inner(a, b), norm(a) * norm(b)), CAUCHY_SCHWARZ.at(a, b)),
    (eq(inner(a - b, a), inner(a, a) - inner(b, a)), INNER_PRODUCT.at(a, b, a)),
    (eq(inner(a, a), norm(a) ** 2), INNER_PRODUCT.at(a, a, a)),
    (eq(part(a - b, 0), part(a, 0) - part(b, 0)), DIFFERENCES.at(a, b, 0)),
    (le(part(a, 0), max_norm(a)), LARGEST_ENTRY.at(a, 0)),
    (le(rank(A * B), rank(A)), RANK_PRODUCT.at(A, B)),
    (le(rank(A + B), rank(A) + rank(B)), RANK_SUM.at(A, B)),
    (le(rank(A), rows(A)), RANK_ROWS.at(A)),
    (eq(rank(identity(j)), j), RANK_IDENTITY.at(j)),
    (eq(norm(eye), 1), IDENTITY_NORM.at()),
    (eq(norm(state(a, s, j + 1)), norm(phi(state(a, s, j), entry(a, s + j + 1)))),
     RECURSION.at(a, s, j)),
    (eq(norm(power(A, a, j + 1)), norm(A * power(A, a, j))), POWERS.at(A, a, j)),
)  # fmt: skip
EXCHANGED: tuple[tuple[Expr, Expr], ...] = (
    (a, b), (b, a), (A, B), (a, Integer(0)), (a, -b), (A, transpose(B)), (j, j + 1), (z, -z),
    (A, eye), (b, a), (norm(a), norm(b)), (norm(A), norm(B)), (norm(a), max_norm(a)), (z, z**2),
    (norm(a), gain(a)), (gain(a), norm(a)), (gain(A), norm(A)), (norm(A), gain(A)),
    (Integer(2), Integer(-2)), (Integer(2), Integer(1)),
)  # fmt: skip


def laws(chance: Chance, model: Model) -> Said:
    """What an axiom says, or almost."""
    stated, use = chance.one(LAWS)
    kind = chance.one(range(5))
    if kind in (1, 4):
        stated = Statement(
            stated.lhs, stated.relation, stated.rhs.xreplace(dict([chance.one(EXCHANGED)]))
        )
    if kind in (2, 4):
        old, new = chance.one(EXCHANGED)
        use = Instance(use.law, tuple(one.xreplace({old: new}) for one in use.terms))
        stated = Statement(stated.rhs, stated.relation, stated.lhs)
    if kind == 3:
        stated = chance.one((lt, eq))(stated.lhs, stated.rhs * chance.one((1, Integer(1) / 2)))
    return Said(stated, variables(stated), method(chance, Smt)(use), true=kind == 0)


ALL_AXIOMS: tuple[Law, ...] = (
    TRIANGLE_GAIN, HOMOGENEITY_GAIN, SUBMULTIPLICATIVE_GAIN,
    TRIANGLE, TRIANGLE_MAX, HOMOGENEITY, HOMOGENEITY_WEIGHTED, SUBMULTIPLICATIVE, RANK_PRODUCT,
    SUBMULTIPLICATIVE_MAX, CAUCHY_SCHWARZ, INNER_PRODUCT, DIFFERENCES, RANK_SUM, RANK_ROWS,
    RANK_IDENTITY, LEAST_EIGENVALUE, RECURSION, POWERS,
)  # fmt: skip


def axioms(chance: Chance, model: Model) -> Said:
    """An axiom at drawn terms, of any sort; what it says there, or the other way round."""
    law = chance.one(ALL_AXIOMS)
    terms = tuple(
        chance.one((*VECTORS, a + b, Integer(0), A * a, operator(chance), y, j))
        if not chance.one(range(8))
        else _fitting(chance, one)
        for one in law.variables
    )
    clause = chance.one(law.clauses).replace(dict(zip(law.variables, terms, strict=True)))
    kind = chance.one(range(4))
    stated = clause.conclusion
    if kind == 1:
        stated = Statement(stated.rhs, stated.relation, stated.lhs)
    elif kind == 2:
        stated = Statement(
            stated.lhs, stated.relation, stated.rhs.xreplace({b: a, B: A, Y: X, m: j})
        )
    elif kind == 3:
        stated = Statement(2 * stated.lhs, stated.relation, stated.rhs)
    given = clause.given if chance.one((True, False)) else ()
    by = method(chance, Smt)(*premises(given), Instance(law, terms))
    return Said(stated, variables(stated, *given), by, given)


def _fitting(chance: Chance, one: Symbol) -> Expr:
    if one.is_integer:
        return chance.one((j, j + 1, Integer(0), Integer(2), j - 1))
    if one.is_commutative:
        return chance.one((z, Integer(-1), Integer(2), lam, 1 / z, norm(a)))
    if isinstance(one, OperatorSymbol):
        return operator(chance)
    return chance.one((*VECTORS, a + b, a - b, Integer(0), A * a, -a))
