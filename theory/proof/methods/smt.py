"""The two rules of a single goal: what z3 shows of numbers, and words of operators."""

from typing import ClassVar

from rnnbounds.theory.kernel.algebra import fully_expanded, minus
from rnnbounds.theory.kernel.normal import require_polynomial, word_form, word_rules, words
from rnnbounds.theory.kernel.rewriting import is_vector_equation, prepare
from rnnbounds.theory.kernel.smt import entail
from rnnbounds.theory.kernel.statements import Statement, eq
from rnnbounds.theory.kernel.terms import ZERO
from rnnbounds.theory.proof.methods.base import Direct, Gap, Scope


class Smt(Direct):
    """The hypotheses are satisfiable, and together with the negated goal they are not.

    An equation of vectors is rewritten by those used, and says of each word of its difference that
    the number before it is 0.
    """

    name: ClassVar[str] = "smt"

    def prove(self, goal: Statement, scope: Scope) -> str:
        """Prove the goal from the hypotheses."""
        goal, facts = prepare(goal, scope.clauses(self.hypotheses))
        if not is_vector_equation(goal):
            return entail(goal, facts, scope)
        if goal.relation != "==":
            raise Gap(f"{goal} compares no numbers")
        factors = words(minus(*goal.sides)).values()
        for factor in factors or (ZERO,):
            entail(eq(factor, ZERO), facts, scope)
        return "the sides are the same sum of words"


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
