"""Identities of sums of words of operators, modulo rules between words.

Products are words of letters: symbols and function terms. No function is looked into but
transposition and scalar ones, whose arguments are brought to normal form (`theory.kernel.normal`).
"""

from typing import ClassVar

from rnnbounds.theory.kernel.algebra import fully_expanded, minus
from rnnbounds.theory.kernel.normal import require_polynomial, word_form, word_rules
from rnnbounds.theory.kernel.statements import Statement
from rnnbounds.theory.kernel.terms import ZERO
from rnnbounds.theory.proof.methods.base import Direct, Gap, Scope


class Words(Direct):
    """Both sides are the same sum of words, once no rule applies any more."""

    name: ClassVar[str] = "words"

    def prove(self, goal: Statement, scope: Scope) -> str:
        """Prove an equation of operators, or of scalars that measure them."""
        if goal.relation != "==":
            raise Gap(f"a {goal.relation} is no identity")
        rules = word_rules(scope.clauses(self.hypotheses))
        require_polynomial(goal)
        left = fully_expanded(minus(*(word_form(side, rules) for side in goal.sides)))
        if left is not ZERO:
            raise Gap(f"counter-model: by the rules the sides differ by {left}")
        return f"the same words by {len(rules)} rules"
