"""The slope and the curvature of ρ, whichever activation of the table it is."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import ClassVar

from rnnbounds.theory.axioms.activations import ACTIVATIONS, BOUNDS, ActivationFacts, Piece
from rnnbounds.theory.kernel import door, heads
from rnnbounds.theory.kernel.algebra import apply, rebuilt
from rnnbounds.theory.kernel.smt import entail
from rnnbounds.theory.kernel.statements import Clause, Statement, eq, le, lt
from rnnbounds.theory.kernel.terms import ZERO, Term
from rnnbounds.theory.language import Use
from rnnbounds.theory.proof.methods.base import GIVEN, Gap, Method, Scope, Smt, in_part
from rnnbounds.theory.proof.methods.calculus import BallMaximum, Z, derivatives

_PROVED: dict[tuple[object, ...], str] = {}


@dataclass(frozen=True)
class Cases(Method):
    """|ρ'| ≤ L_ρ or, with order 2, |ρ''| ≤ β_ρ, for each activation of the table: on its pieces,
    which meet without a jump.  Of those with an infinite β_ρ the statement says nothing."""

    order: int = 1

    name: ClassVar[str] = "cases"

    @property
    def table(self) -> tuple[ActivationFacts, ...]:
        """Activations whose constant of this order is finite."""
        return tuple(f for f in ACTIVATIONS.values() if f.supremum(self.order).bounded)

    @property
    def uses(self) -> tuple[Use, ...]:
        """The equations that define constants of the table."""
        return tuple(use for facts in self.table for use in facts.supremum(self.order).equations)

    def prove(self, goal: Statement, scope: Scope) -> str:
        """Prove the bound from nothing, once for all ledgers."""
        if self.order not in (1, 2) or goal != door.goal(BOUNDS[self.order - 1]):
            raise Gap(f"{goal} is not the bound on a slope or a curvature of all activations")
        key = (self.order, *ACTIVATIONS.values())
        if key not in _PROVED:
            bare = scope.bare()
            names = [name for facts in self.table for name in prove_case(facts, self.order, bare)]
            _PROVED[key] = f"{len(names)} cases: {', '.join(names)}"
        return _PROVED[key]


def prove_case(facts: ActivationFacts, order: int, scope: Scope) -> list[str]:
    """Show that the pieces cover the line, meet at 0 with derivatives below the order, and have
    one of this order that is at most the table's; their names."""
    for first, *others in product(*(piece.region for piece in facts.pieces)):
        outside = tuple(Clause(lt(s.rhs, s.lhs)) for s in map(door.goal, others))
        with in_part(f"{facts.name}: the pieces leave a gap"):
            entail(door.goal(first), outside, scope.conditions)
    for lower in range(order) if len(facts.pieces) > 1 else ():
        one, *rest = (rebuilt(_derivative(p, lower, scope), {Z: ZERO}) for p in facts.pieces)
        for other in rest:
            with in_part(f"{facts.name}: a jump at 0"):
                Smt().prove(eq(other, one), scope)
    supremum, names = facts.supremum(order), []
    for index, piece in enumerate(facts.pieces, start=1):
        names.append(f"{facts.name} {index}" if len(facts.pieces) > 1 else facts.name)
        goal = le(apply(heads.ABS, _derivative(piece, order, scope)), door.term(supremum.value))
        known, given = scope, [f"{GIVEN} {n}" for n, _ in enumerate(piece.region, start=1)]
        for name, statement in zip(given, piece.region, strict=True):
            known = known.with_hypothesis(name, door.goal(statement))
        with in_part(names[-1]):
            if supremum.peaks is not None:
                BallMaximum(supremum.peaks, supremum.equations).prove(goal, known)
            else:
                Smt(*given).prove(goal, known)
    return names


def _derivative(piece: Piece, order: int, scope: Scope) -> Term:
    """The derivative of this order of the piece's formula, which is shown to exist on ℝ."""
    return derivatives(door.term(piece.rho), Z, order, scope)[-1]
