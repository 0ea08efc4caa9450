"""Statements of all naturals, by induction."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from sympy import Expr, Integer

from drawn_ledgers.families.numbers import perturbed
from drawn_ledgers.models import S_0, Model, lam
from drawn_ledgers.said import Said, premises
from rnnbounds.theory.language import Statement, at, eq, le, lt
from rnnbounds.theory.language.terms.variables import j, m, y, z
from rnnbounds.theory.proof.methods import HYPOTHESIS, Induction, Method, Smt

UNIT = (le(Integer(0), z), le(z, 1))
TRUE: tuple[tuple[Statement, tuple[Statement, ...]], ...] = (
    (le(0, j), ()),
    (le(z**j, 1), UNIT),
    (le(0, z**j), (le(0, z),)),
    (le(j + 1, Integer(2) ** j), ()),
    (le(1 + j * y, (1 + y) ** j), (le(0, y),)),
    (eq(Integer(1) ** j, 1), ()),
    (le(0, j * (j - 1)), ()),
    (le(j, j**2), ()),
    (lt(0, Integer(2) ** j), ()),
    (eq((2 * z) ** j, Integer(2) ** j * z**j), ()),
    (le(z ** (j + 1), z), UNIT),
    (eq(z ** (2 * j), (z**2) ** j), ()),
)
FALSE: tuple[tuple[Statement, tuple[Statement, ...]], ...] = (
    (eq(Integer(0) ** j, 0), ()),
    (le(z**j, z), UNIT),
    (le(j, 0), (le(j, 3),)),
    (le(1, j), ()),
    (lt(z**j, 1), UNIT),
    (le(0, z**j), ()),
    (eq(Integer(-1) ** j, 1), ()),
    (eq(z**j, z ** (2 * j)), UNIT),
    (le(j, m), ()),
    (le(j * (j - 1), 0), (le(j, m),)),
    (lt(lam**j, 1), ()),
    (le(S_0**j, S_0), ()),
    (eq(z ** (j - 1) * z, z**j), ()),
)


def inductions(chance: Random, model: Model) -> Said:
    """Bounds of powers, of counts."""
    kind = chance.choice(range(4))
    stated, given = chance.choice(TRUE if kind in (0, 3) else FALSE)
    if kind > 1:
        stated = Statement(*_put(perturbed(chance, (stated.lhs, stated.rhs)), stated.relation))
    given = given if kind == 0 or chance.choice((True, True, False)) else ()
    found = {one for part in (stated, *given) for one in part.symbols} - {lam, S_0}
    forall = tuple(sorted(found | {j}, key=str))
    others = (m,) if m in found and chance.choice((True, False)) else ()
    hypothesis = chance.choice((HYPOTHESIS, HYPOTHESIS, at(HYPOTHESIS, j))) if kind else HYPOTHESIS
    if others:
        hypothesis = at(HYPOTHESIS, chance.choice((m, m + 1, j)))
    carried = (
        given if any(j in part.symbols for part in given) or chance.choice((True, False)) else ()
    )
    named = premises(given)
    over = j if kind == 0 or chance.choice(range(8)) else chance.choice((z, m))
    by = Induction(over, Smt(*named), Smt(hypothesis, *named), carried, others)
    if kind and chance.choice(range(3)) == 0:  # of parts that are no direct methods
        by = replace(by, base=_within(chance, stated, 0), step=_within(chance, stated, j + 1))
    return Said(stated, forall, by, given, kind == 0)


def _within(chance: Random, stated: Statement, place: Expr | int) -> Method:
    """An induction that supposes what it is to show."""
    supposed = stated.replace({j: place})
    over = chance.choice((*(one for one in supposed.symbols if one in (j, m, z)), j))
    return Induction(over, Smt("given 1"), Smt("given 1"), (supposed,))


def _put(pair: tuple[Expr, Expr], relation: str) -> tuple[Expr, str, Expr]:
    return pair[0], relation, pair[1]
