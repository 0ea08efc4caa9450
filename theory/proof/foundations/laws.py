"""Count of all that is taken without proof: laws, their clauses, the theorems they belong to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rnnbounds.theory.language import Axiom, Instance
from rnnbounds.theory.proof.lemma import Lemma
from rnnbounds.theory.proof.proof import Proof


@dataclass(frozen=True)
class AxiomCount:
    """How many laws, clauses and theorems.

    A law of every norm is one law, told by its theorem, text and source; its clauses are counted in
    each norm in which it is used.
    """

    laws: int
    clauses: int
    theorems: int

    @property
    def text(self) -> str:
        """The counts as English text."""
        counts = (self.laws, "law"), (self.clauses, "clause"), (self.theorems, "textbook theorem")
        laws, clauses, theorems = (f"{n} {noun}{'s' * (n != 1)}" for n, noun in counts)
        return f"{laws}, {clauses}, of {theorems}"


def count_axioms(axioms: Iterable[Axiom]) -> AxiomCount:
    """Count distinct laws, clauses and theorems among the axioms."""
    distinct = frozenset(axioms)
    return AxiomCount(
        laws=len({(axiom.id, axiom.text, axiom.source) for axiom in distinct}),
        clauses=sum(len(axiom.clauses) for axiom in distinct),
        theorems=len({axiom.id for axiom in distinct}),
    )


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
