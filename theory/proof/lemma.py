"""Lemmas: what one claim proved, as a law of another one's proof."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from sympy import Symbol

from rnnbounds.theory.kernel import door
from rnnbounds.theory.kernel.statements import Clause, Law, Statement
from rnnbounds.theory.language import Assumption, Axiom, Instance
from rnnbounds.theory.language import Statement as Stated
from rnnbounds.theory.language.terms.variables import w, w_other
from rnnbounds.theory.language.vocabulary import VOCABULARY
from rnnbounds.theory.proof.everywhere import WeightSet
from rnnbounds.theory.proof.ledger import Ledger, ProvedLaw
from rnnbounds.theory.proof.proof import Proof, check
from rnnbounds.theory.proof.scope import assumption_variables


@dataclass(frozen=True)
class Lemma(ProvedLaw):
    """The proved conclusion of another claim; its assumptions go with it.

    A law that it assumes is granted, or stated by what the step uses by name.  With `weight_set` it
    is used of all weights of a set, and so is what it assumes.
    """

    goal: Stated
    proof: Proof
    weight_set: WeightSet | None = None

    @property
    def lengths(self) -> tuple[Symbol, ...]:
        """The law's variables without the weights w and w′: lengths of runs."""
        weights = () if self.weight_set is None else (w, w_other)
        return tuple(variable for variable in self.variables if variable not in weights)

    def premise(self, assumption: Assumption) -> Statement | None:
        """The assumption's condition, if it speaks of what varies: then it is to be shown."""
        if assumption.law is not None or not self._varies(assumption):
            return None
        return None if assumption.condition is None else door.goal(assumption.condition)

    def _varies(self, assumption: Assumption) -> bool:
        """True if the assumption contains a variable length, if only in a definition."""
        return not assumption_variables(assumption).isdisjoint(map(door.term, self.lengths))

    @cached_property
    def kernel_law(self) -> Law:
        """Law of the lemma: the goal, for all values of its variables, in its user's quantities."""
        premises = (self.premise(assumption) for assumption in self.assumptions)
        clause = Clause(door.goal(self.goal), tuple(p for p in premises if p is not None))
        law = Law(self.id, tuple(map(door.term, self.lengths)), (clause,))
        return law if self.weight_set is None else self.weight_set.law(law)

    @property
    def ledger(self) -> Ledger:
        """Ledger of the lemma's own proof."""
        return check(self.proof, self.goal, self.assumptions)

    def objection(self, granted: Mapping[str, Assumption], named: Sequence[object]) -> str:
        """A variable that is no length, an assumption not granted, or a proof that fails."""
        known = {door.term(q.symbol) for q in VOCABULARY.values() if q.lower == 0}
        for variable in map(door.term, self.lengths):
            if not variable.whole or variable not in known:
                return f"{self.id}: {variable} cannot vary"
        if self.weight_set is not None:
            if w not in self.variables:
                return f"{self.id}: it says nothing of the weights"
            objection = self.weight_set.objection(self.assumptions, self.goal)
            if objection:
                return f"{self.id}: {objection}"
        facts = {replace(law, id="") for law in named if isinstance(law, Law)}
        for assumption in self.assumptions:
            if self.premise(assumption) is None and (
                self._varies(assumption) or not self._is_granted(assumption, granted, facts)
            ):
                return f"{self.id}: {assumption.id!r} is neither granted nor proved"
        ok = not self.clauses and tuple(map(door.term, self.variables)) == self.kernel_law.variables
        return "" if ok and self.ledger.proved else f"{self.id} is not proved"

    def _is_granted(
        self, assumption: Assumption, granted: Mapping[str, Assumption], facts: set[Law]
    ) -> bool:
        """True if the assumption's condition is granted, and its law granted or stated."""
        weights, condition = self.weight_set, assumption.condition
        if weights is None and granted.get(assumption.id) == assumption:
            return True
        conditions = {door.goal(a.condition) for a in granted.values() if a.condition is not None}
        goal = None if condition is None else door.goal(condition)
        law = None if assumption.law is None else door.unfolded(assumption.law)
        if weights is not None:
            goal = None if goal is None else weights.statement(goal)
            law = None if law is None else weights.law(law)
        return (goal is None or goal in conditions) and (
            law is None or replace(law, id="") in facts
        )


def lemma(
    id: str,
    variables: tuple[Symbol, ...],
    assumptions: tuple[Assumption, ...],
    goal: Stated,
    proof: Proof,
    weight_set: WeightSet | None = None,
) -> Lemma:
    """A proved goal, for all values of the given lengths, as a law of other proofs."""
    draft = Lemma(id, variables, (), assumptions, goal, proof, weight_set)
    weights = (w, w_other)[: len(draft.kernel_law.variables) - len(variables)]
    return replace(draft, variables=(*weights, *variables))


def law_instances(proof: Proof) -> Iterator[Instance]:
    """Every use of a law by the proof, those of its lemmas included."""
    for use in (
        use for step in proof.steps for use in step.method.uses if isinstance(use, Instance)
    ):
        yield use
        if isinstance(use.law, Lemma):
            yield from law_instances(use.law.proof)


def axioms_used(proof: Proof) -> Iterator[Axiom]:
    """The axioms that the proof uses, those of its lemmas included."""
    return (use.law for use in law_instances(proof) if isinstance(use.law, Axiom))
