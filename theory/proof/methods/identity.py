"""Identities by normal forms: of polynomials in atoms, and of sums of words of operators.

Scalars and vectors are rewritten by the equations used, left to right; the difference of both
sides, with quotients multiplied out, must be 0; divisors must differ from 0 by the hypotheses, and
no radicand may be below 0. Products of operators are words of letters, modulo rules between words:
no function is looked into but transposition and scalar ones (`theory.kernel.normal`).
"""

from typing import ClassVar

from rnnbounds.theory.kernel.algebra import fully_expanded, minus
from rnnbounds.theory.kernel.normal import (
    difference,
    divisors,
    radicands,
    require_polynomial,
    word_form,
    word_rules,
)
from rnnbounds.theory.kernel.powers import Powers
from rnnbounds.theory.kernel.rewriting import prepare
from rnnbounds.theory.kernel.smt import entail, require_meaning, require_nonzero
from rnnbounds.theory.kernel.statements import Statement, le
from rnnbounds.theory.kernel.terms import NUMBER, ZERO
from rnnbounds.theory.proof.methods.base import Direct, Gap, Scope


class Identity(Direct):
    """Both sides have the same normal form."""

    name: ClassVar[str] = "identity"

    def prove(self, goal: Statement, scope: Scope) -> str:
        """Prove an equation of scalars or vectors."""
        if goal.relation != "==":
            raise Gap(f"a {goal.relation} is no identity")
        goal, facts, _ = prepare(goal, scope.clauses(self.hypotheses), every=True)
        require_meaning(facts, scope)
        powers = Powers(goal.sides)
        for exponent in powers.exponents:
            scope.require_natural(exponent, facts)
        remainder = difference(goal, powers)
        if remainder is not ZERO:
            raise Gap(f"counter-model: the sides differ by {remainder}")
        for divisor in divisors(goal):
            require_nonzero(divisor, facts, scope)
        for radicand in radicands(goal):
            if radicand.head is not NUMBER or radicand.value < 0:
                entail(le(ZERO, radicand), facts, scope)
        return "the difference of both sides has normal form 0"


class Words(Direct):
    """Both sides are the same sum of words, once no rule applies any more."""

    name: ClassVar[str] = "words"

    def prove(self, goal: Statement, scope: Scope) -> str:
        """Prove an equation of operators, or of scalars that measure them."""
        if goal.relation != "==":
            raise Gap(f"a {goal.relation} is no identity")
        rules = word_rules(scope.clauses(self.hypotheses))
        require_polynomial(goal)
        remainder = fully_expanded(minus(*(word_form(side, rules) for side in goal.sides)))
        if remainder is not ZERO:
            raise Gap(f"counter-model: by the rules the sides differ by {remainder}")
        return f"the same words by {len(rules)} rules"
