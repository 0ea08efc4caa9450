"""What is taken without proof, counted: laws, their clauses, the theorems they belong to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from theory.language import Axiom, Instance, Law
from theory.proof.lemma import Lemma
from theory.proof.proof import Proof

Taken = TypeVar("Taken", bound=Law)


@dataclass(frozen=True)
class Count:
    """How many laws, clauses and theorems.

    A law of every norm is one law, told by its theorem, text and source; its clauses are counted in
    each norm in which it is used.
    """

    laws: int
    clauses: int
    theorems: int

    @property
    def text(self) -> str:
        """As `prove`, the page and the README say it."""
        return f"{self.laws} laws, {self.clauses} clauses, of {self.theorems} textbook theorems"


def counted(axioms: Iterable[Axiom]) -> Count:
    """The count of these axioms."""
    once = frozenset(axioms)
    return Count(
        laws=len({(axiom.id, axiom.text, axiom.source) for axiom in once}),
        clauses=sum(len(axiom.clauses) for axiom in once),
        theorems=len({axiom.id for axiom in once}),
    )


def axioms_of(proof: Proof) -> Iterator[Axiom]:
    """The axioms that the proof uses, those of its lemmas included."""
    return laws_of(proof, Axiom)


def laws_of(proof: Proof, kind: type[Taken]) -> Iterator[Taken]:
    """The laws of this kind that the proof uses, those of its lemmas included; nothing is run."""
    for use in (use for step in proof.steps for use in step.needs if isinstance(use, Instance)):
        if isinstance(use.law, kind):
            yield use.law
        elif isinstance(use.law, Lemma):
            yield from laws_of(use.law.proof, kind)
