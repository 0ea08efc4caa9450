"""Lemmas: what one claim proved, as a law of another one's proof."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from sympy import Symbol

from rnnbounds.theory.kernel import door
from rnnbounds.theory.kernel.statements import Clause, Law, Statement
from rnnbounds.theory.language import Assumption
from rnnbounds.theory.language import Statement as Stated
from rnnbounds.theory.language.terms.variables import w, w_other
from rnnbounds.theory.language.vocabulary import VOCABULARY
from rnnbounds.theory.proof.everywhere import Everywhere
from rnnbounds.theory.proof.ledger import Ledger, Proved
from rnnbounds.theory.proof.proof import Proof, check
from rnnbounds.theory.proof.scope import constants_of


@dataclass(frozen=True)
class Lemma(Proved):
    """The proved conclusion of another claim; its assumptions go with it.

    A law that it assumes is granted, or stated by what the step uses by name.  With `everywhere` it
    is used of all weights of a set, and so is what it assumes.
    """

    goal: Stated
    proof: Proof
    everywhere: Everywhere | None = None

    @property
    def lengths(self) -> tuple[Symbol, ...]:
        """The variables that are no weights."""
        weights = () if self.everywhere is None else (w, w_other)
        return tuple(variable for variable in self.variables if variable not in weights)

    def premise(self, assumption: Assumption) -> Statement | None:
        """The assumption's condition, if it speaks of what varies: then it is to be shown."""
        if assumption.law is not None or not self._moves(assumption):
            return None
        return None if assumption.condition is None else door.goal(assumption.condition)

    def _moves(self, assumption: Assumption) -> bool:
        """True if the assumption contains a variable length, if only in a definition."""
        return not constants_of(assumption).isdisjoint(map(door.term, self.lengths))

    @cached_property
    def spoken(self) -> Law:
        """Law of the lemma: the goal, for all values of its variables, in its user's quantities."""
        premises = (self.premise(assumption) for assumption in self.assumptions)
        clause = Clause(door.goal(self.goal), tuple(p for p in premises if p is not None))
        said = Law(self.id, tuple(map(door.term, self.lengths)), (clause,))
        return said if self.everywhere is None else self.everywhere.law(said)

    @property
    def ledger(self) -> Ledger:
        """The lemma's own ledger."""
        return check(self.proof, self.goal, self.assumptions, minimal=False)

    def objection(self, granted: Mapping[str, Assumption], named: Sequence[object]) -> str:
        """A variable that is no length, an assumption not granted, or a proof that fails."""
        known = {door.term(q.symbol) for q in VOCABULARY.values() if q.lower == 0}
        for variable in map(door.term, self.lengths):
            if not variable.whole or variable not in known:
                return f"{self.id}: {variable} cannot vary"
        if self.everywhere is not None:
            if w not in self.variables:
                return f"{self.id}: it says nothing of the weights"
            objection = self.everywhere.objection(self.assumptions, self.goal)
            if objection:
                return f"{self.id}: {objection}"
        facts = {replace(law, id="") for law in named if isinstance(law, Law)}
        for assumption in self.assumptions:
            if self.premise(assumption) is None and (
                self._moves(assumption) or not self._is_granted(assumption, granted, facts)
            ):
                return f"{self.id}: {assumption.id!r} is neither granted nor proved"
        honest = not self.clauses and tuple(map(door.term, self.variables)) == self.spoken.variables
        return "" if honest and self.ledger.proved else f"{self.id} is not proved"

    def _is_granted(
        self, assumption: Assumption, granted: Mapping[str, Assumption], facts: set[Law]
    ) -> bool:
        """True if condition and law of the assumption are granted; `facts` may state the law."""
        every, condition = self.everywhere, assumption.condition
        if every is None and granted.get(assumption.id) == assumption:
            return True
        conditions = {door.goal(a.condition) for a in granted.values() if a.condition is not None}
        wanted = None if condition is None else door.goal(condition)
        law = None if assumption.law is None else door.unfolded(assumption.law)
        if every is not None:
            wanted = None if wanted is None else every.statement(wanted)
            law = None if law is None else every.law(law)
        return (wanted is None or wanted in conditions) and (
            law is None or replace(law, id="") in facts
        )


def lemma(
    id: str,
    variables: tuple[Symbol, ...],
    assumptions: tuple[Assumption, ...],
    goal: Stated,
    proof: Proof,
    everywhere: Everywhere | None = None,
) -> Lemma:
    """A proved goal, for all values of the given lengths, as a law of other proofs."""
    bare = Lemma(id, variables, (), assumptions, goal, proof, everywhere)
    weights = (w, w_other)[: len(bare.spoken.variables) - len(variables)]
    return replace(bare, variables=(*weights, *variables))
