"""Operators and vectors: words, norms, laws of matrices of any size."""

from __future__ import annotations

from random import Random

from sympy import Abs, Expr, Integer, Symbol

from drawn_ledgers.models import Model, R, V, W, eye, lam, u, v, x
from drawn_ledgers.said import Said, method, premises
from rnnbounds.theory.axioms.base import (
    HOMOGENEITY,
    HOMOGENEITY_GAIN,
    HOMOGENEITY_WEIGHTED,
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
from rnnbounds.theory.language.terms.unitary import POWERS, identity, part, power, rank, rows
from rnnbounds.theory.language.terms.variables import A, B, a, b, j, s, z
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


def variables(*statements: Statement) -> tuple[Symbol, ...]:
    """The free symbols that are no constants of the model."""
    found = {one for statement in statements for one in statement.symbols} - KNOWN
    return tuple(sorted(found, key=lambda one: (one.name, str(type(one)))))


def inverses(chance: Random, model: Model) -> Said:
    """What would be true of equal operators that had an inverse; or what is true of equal ones."""
    p, q = chance.choice(((A, B), (A, W), (V, A), (B, eye), (B, V), (W, B)))
    r, size, true = chance.choice((a, u, A)), chance.choice(SIZES[:2]), chance.choice(range(3)) == 0
    words = p * q**-1 * r, p**-1 * q * r, (p * q**-1) ** 2 * r, transpose(p) * q**-1 * r
    left, right = (p * r, q * r) if true else (chance.choice(words), r)
    ends = (size(left), size(right)) if chance.choice((True, False)) else (size(right), size(left))
    stated, given = chance.choice((eq, le))(*ends), (eq(p, q),)
    by = (Smt if true else method(chance, chance.choice((Smt, Words))))(*premises(given))
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


def laws(chance: Random, model: Model) -> Said:
    """What an axiom says, or almost."""
    stated, use = chance.choice(LAWS)
    kind = chance.choice(range(5))
    if kind in (1, 4):
        stated = Statement(
            stated.lhs, stated.relation, stated.rhs.xreplace(dict([chance.choice(EXCHANGED)]))
        )
    if kind in (2, 4):
        old, new = chance.choice(EXCHANGED)
        use = Instance(use.law, tuple(one.xreplace({old: new}) for one in use.terms))
        stated = Statement(stated.rhs, stated.relation, stated.lhs)
    if kind == 3:
        stated = chance.choice((lt, eq))(
            stated.lhs, stated.rhs * chance.choice((1, Integer(1) / 2))
        )
    return Said(stated, variables(stated), method(chance, Smt)(use), true=kind == 0)
