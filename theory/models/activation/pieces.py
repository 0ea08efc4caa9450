"""Formulas of an activation ρ on parts of the real line, which the kernel differentiates."""

from dataclasses import dataclass

from sympy import Expr

from rnnbounds.theory.kernel import door
from rnnbounds.theory.kernel import statements as kernel
from rnnbounds.theory.kernel.algebra import rebuilt
from rnnbounds.theory.kernel.terms import within
from rnnbounds.theory.language import Statement, Use
from rnnbounds.theory.language.terms.variables import z
from rnnbounds.theory.language.terms.vectors import Scalar, function
from rnnbounds.theory.proof.methods import Method, Scope
from rnnbounds.theory.proof.methods.calculus import derivatives

# ρ(z), ρ'(z) and ρ''(z), whichever activation ρ is.
RHO_DERIVATIVES = tuple(
    function(f"rho_{order}", base=Scalar, module=__name__) for order in range(3)
)
Z = door.term(z)


@dataclass(frozen=True)
class Piece:
    """The activation where z satisfies the statements."""

    rho: Expr
    region: tuple[Statement, ...] = ()


@dataclass(frozen=True)
class PieceDerivative(Method):
    """A statement on ρ or one of its derivatives, by the method, for the formula of a piece."""

    rho: Expr
    order: int
    method: Method

    name = "derivative"

    @property
    def uses(self) -> tuple[Use, ...]:
        """Uses of the inner method, which proves the statement with the derivative written out."""
        return self.method.uses

    def prove(self, goal: kernel.Statement, scope: Scope) -> str:
        """Prove the goal with ρ's derivative written out, once it is shown to exist on ℝ."""
        *_, derivative = derivatives(door.term(self.rho), Z, self.order, scope)
        rho_head = door.term(RHO_DERIVATIVES[self.order](z)).head
        terms = (term for side in goal.sides for term in within(side) if term.head == rho_head)
        values = {term: rebuilt(derivative, {Z: term.args[0]}) for term in terms}
        return self.method.prove(goal.replace(values), scope)
