"""The slope and the curvature of ρ, whichever activation of the table it is."""

from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import ClassVar

from sympy import Abs

from rnnbounds.theory.kernel import door
from rnnbounds.theory.kernel.smt import entail
from rnnbounds.theory.kernel.statements import Clause, Statement, lt
from rnnbounds.theory.language import Instance, Use, le, symbols
from rnnbounds.theory.language.terms.gradients import curvature, steepness
from rnnbounds.theory.language.terms.variables import z
from rnnbounds.theory.models.activation.pieces import RHO_DERIVATIVES
from rnnbounds.theory.models.activation.table import ACTIVATIONS, ActivationFacts
from rnnbounds.theory.proof import Step
from rnnbounds.theory.proof.methods import Gap, Method, Scope
from rnnbounds.theory.proof.methods.base import in_part
from rnnbounds.theory.proof.proof import GIVEN
from rnnbounds.theory.proof.scope import StepScope

L_rho, beta_rho = symbols("L_rho beta_rho")
DERIVATIVE_BOUNDS = {1: (steepness, L_rho), 2: (curvature, beta_rho)}


@dataclass(frozen=True)
class EachActivation(Method):
    """The statement for each activation of the table: its derivative for ρ's steepness, its slope
    for L_ρ.

    That is what it is on the pieces and, as they meet without a jump, at their ends the larger of
    two.  The table says what both mean, so the cases are all there are.  With order 2 it is of ρ'
    and β_ρ.  Some activations have no finite β_ρ, and only |ρ''| ≤ β_ρ says nothing of them.
    """

    order: int = 1

    name: ClassVar[str] = "cases"

    @property
    def table(self) -> tuple[ActivationFacts, ...]:
        """Activations whose constant of this order is finite."""
        return tuple(f for f in ACTIVATIONS.values() if f.supremum(self.order).bounded)

    @property
    def uses(self) -> tuple[Use, ...]:
        """Uses of the pieces' methods, without the conditions of the pieces' regions."""
        methods = (f.bound_method(self.order, piece) for f in self.table for piece in f.pieces)
        uses = dict.fromkeys(use for method in methods for use in method.uses)
        return tuple(use for use in uses if isinstance(use, Instance))

    def prove(self, goal: Statement, scope: Scope) -> str:
        """Prove it on every piece, and that the pieces make up the activation; once for all
        ledgers, where nothing that they grant is needed."""
        with suppress(Gap):
            return _prove_without_scope(self, goal, tuple(ACTIVATIONS.values()))
        return self.prove_cases(goal, scope)

    def prove_cases(self, goal: Statement, scope: Scope) -> str:
        """Prove the goal on every piece of every activation in this scope; name the cases."""
        names = []
        function, constant = DERIVATIVE_BOUNDS[self.order]
        bound_goal = door.goal(le(Abs(function(z)), constant))
        if len(self.table) < len(ACTIVATIONS) and goal != bound_goal:
            raise Gap(f"{goal} is not shown where {constant} is infinite")
        for facts in self.table:
            require_pieces(facts, scope, self.order)
            for index, piece in enumerate(facts.pieces, start=1):
                names.append(f"{facts.name} {index}" if len(facts.pieces) > 1 else facts.name)
                piece_scope = scope
                for number, statement in enumerate(piece.region, start=1):
                    piece_scope = piece_scope.with_hypothesis(
                        f"{GIVEN} {number}", door.goal(statement)
                    )
                supremum = door.term(facts.supremum(self.order).value)
                magnitude = door.term(Abs(RHO_DERIVATIVES[self.order](z)))
                case = goal.replace(
                    {door.term(function(z)): magnitude, door.term(constant): supremum}
                )
                with in_part(names[-1]):
                    facts.bound_method(self.order, piece).prove(case, piece_scope)
        return f"{len(names)} cases: {', '.join(names)}"


@cache
def _prove_without_scope(
    method: EachActivation, goal: Statement, activations: tuple[ActivationFacts, ...]
) -> str:
    """How the method proves the goal from nothing, where these are all activations; raises Gap."""
    return method.prove_cases(goal, StepScope({}))


def require_pieces(facts: ActivationFacts, scope: Scope, order: int = 1) -> None:
    """Raise Gap unless the pieces cover the real line and meet where they end, at 0.

    So do their derivatives of less than the order.
    """
    for first, *others in product(*(piece.region for piece in facts.pieces)):
        region_ends = map(door.goal, others)
        outside = tuple(Clause(lt(other.rhs, other.lhs)) for other in region_ends)
        with in_part(f"{facts.name}: the pieces leave a gap"):
            entail(door.goal(first), outside, scope)
    for step in (step for lower in range(order) for step in facts.joint_steps(lower)):
        with in_part(f"{facts.name}: a jump at 0"):
            step.method.prove(door.goal(step.conclusion), scope)


SLOPES = Step("slopes", le(Abs(steepness(z)), L_rho), EachActivation(), forall=(z,))
CURVATURES = Step("curvatures", le(Abs(curvature(z)), beta_rho), EachActivation(2), forall=(z,))
