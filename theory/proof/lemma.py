"""Lemmas: what one claim proved, as a law of another one's proof."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

from sympy import Symbol

from theory.kernel import door
from theory.kernel.statements import Law as Kept
from theory.language import Assumption, Clause, Law, Statement
from theory.language.terms.variables import w, w_other
from theory.language.vocabulary import VOCABULARY, unfold
from theory.proof.everywhere import Everywhere, stated
from theory.proof.ledger import Ledger, Proved
from theory.proof.proof import Proof, check
from theory.proof.scope import constants_of


@dataclass(frozen=True)
class Lemma(Proved):
    """The proved conclusion of another claim; its assumptions go with it.

    A law that it assumes is granted, or stated by what the step uses by name.  With `everywhere` it
    is used of all weights of a set, and so is what it assumes.
    """

    goal: Statement
    proof: Proof
    everywhere: Everywhere | None = None

    moves: ClassVar[bool] = True  # its quantities are those at its lengths

    @property
    def lengths(self) -> tuple[Symbol, ...]:
        """The variables that are no weights."""
        weights = () if self.everywhere is None else (w, w_other)
        return tuple(variable for variable in self.variables if variable not in weights)

    def premise(self, assumption: Assumption) -> Statement | None:
        """The assumption's condition, if it speaks of what varies: then it is to be shown."""
        if assumption.law is not None or not self._moves(assumption):
            return None
        return None if assumption.condition is None else unfold(assumption.condition)

    def _moves(self, assumption: Assumption) -> bool:
        """Whether the assumption speaks of what varies, if only in a definition."""
        return not constants_of(assumption).isdisjoint(map(door.term, self.lengths))

    @cached_property
    def spoken(self) -> Law:
        """What the lemma says, for all values of its variables."""
        premises = (self.premise(assumption) for assumption in self.assumptions)
        clause = Clause(unfold(self.goal), tuple(p for p in premises if p is not None))
        said = Law(self.id, self.lengths, (clause,))
        return said if self.everywhere is None else self.everywhere.law(said)

    @property
    def ledger(self) -> Ledger:
        """The lemma's own ledger."""
        return check(self.proof, self.goal, self.assumptions, minimal=False)

    def objection(self, granted: Mapping[str, Assumption], named: Sequence[object]) -> str:
        """A variable that is no length, an assumption not granted, or a proof that fails."""
        for variable in self.lengths:
            quantity = VOCABULARY.get(variable.name)
            known = quantity is not None and quantity.symbol == variable and quantity.lower == 0
            if not variable.is_integer or not known:
                return f"{self.id}: {variable} cannot vary"
        if self.everywhere is not None:
            if w not in self.variables:
                return f"{self.id}: it says nothing of the weights"
            objection = self.everywhere.objection(self.assumptions, self.goal)
            if objection:
                return f"{self.id}: {objection}"
        facts: set[tuple[object, ...]] = {
            (law.variables, law.clauses) for law in named if isinstance(law, Kept)
        }
        for assumption in self.assumptions:
            if self.premise(assumption) is None and (
                self._moves(assumption) or not self._is_granted(assumption, granted, facts)
            ):
                return f"{self.id}: {assumption.id!r} is neither granted nor proved"
        proved = (self.variables, self.clauses) == (self.spoken.variables, self.spoken.clauses)
        return "" if proved and self.ledger.proved else f"{self.id} is not proved"

    def _is_granted(
        self,
        assumption: Assumption,
        granted: Mapping[str, Assumption],
        facts: set[tuple[object, ...]],
    ) -> bool:
        """Whether all that it says is granted, its law perhaps stated by what the step uses."""
        wanted = assumption
        if self.everywhere is not None:
            wanted = self.everywhere.assumption(assumption)
        elif granted.get(assumption.id) == assumption:
            return True
        conditions = {door.goal(a.condition) for a in granted.values() if a.condition is not None}
        holds = wanted.condition is None or door.goal(wanted.condition) in conditions
        return holds and (wanted.law is None or stated(wanted.law) in facts)


def lemma(
    id: str,
    variables: tuple[Symbol, ...],
    assumptions: tuple[Assumption, ...],
    goal: Statement,
    proof: Proof,
    everywhere: Everywhere | None = None,
) -> Lemma:
    """A proved goal, for all values of the given lengths, as a law of other proofs."""
    bare = Lemma(id, variables, (), assumptions, goal, proof, everywhere)
    return replace(bare, variables=bare.spoken.variables, clauses=bare.spoken.clauses)
