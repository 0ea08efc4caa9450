"""Count of all that is taken without proof: laws, their clauses, the theorems they belong to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rnnbounds.theory.language import Axiom, Instance
from rnnbounds.theory.proof.lemma import Lemma
from rnnbounds.theory.proof.proof import Proof


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
        """In words."""
        counts = (self.laws, "law"), (self.clauses, "clause"), (self.theorems, "textbook theorem")
        laws, clauses, theorems = (f"{n} {noun}{'s' * (n != 1)}" for n, noun in counts)
        return f"{laws}, {clauses}, of {theorems}"


def counted(axioms: Iterable[Axiom]) -> Count:
    """The count of these axioms."""
    once = frozenset(axioms)
    return Count(
        laws=len({(axiom.id, axiom.text, axiom.source) for axiom in once}),
        clauses=sum(len(axiom.clauses) for axiom in once),
        theorems=len({axiom.id for axiom in once}),
    )


def instances(proof: Proof) -> Iterator[Instance]:
    """Every use of a law by the proof, those of its lemmas included."""
    for use in (use for step in proof.steps for use in step.needs if isinstance(use, Instance)):
        yield use
        if isinstance(use.law, Lemma):
            yield from instances(use.law.proof)


def axioms_of(proof: Proof) -> Iterator[Axiom]:
    """The axioms that the proof uses, those of its lemmas included."""
    return (use.law for use in instances(proof) if isinstance(use.law, Axiom))
