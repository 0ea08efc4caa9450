"""A form's proof as JSON-able data, in the format of `docs/reference/proofs.md`.

The document has what `check` reads and no verdict: assumptions, steps with their methods and uses,
laws, lemmas with their proofs. Terms are the kernel's, quantities replaced by their definitions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any, TypeAlias

from rnnbounds.theory.kernel import door, statements
from rnnbounds.theory.kernel.algebra import rebuilt
from rnnbounds.theory.kernel.terms import NUMBER, Head, Term
from rnnbounds.theory.language import Assumption, Axiom, Instance, Law, Statement, Use
from rnnbounds.theory.language.definitions import Definition
from rnnbounds.theory.language.terms.variables import w, w_other
from rnnbounds.theory.proof.everywhere import WeightSet
from rnnbounds.theory.proof.lemma import Lemma
from rnnbounds.theory.proof.methods import Direct, Induction, Method, Monotone
from rnnbounds.theory.proof.proof import Proof, Step, final_step

FORMAT, VERSION = "rnnbounds-proof", 1

Json: TypeAlias = dict[str, Any]


def proof_document(
    proof: Proof, goal: Statement, assumptions: tuple[Assumption, ...]
) -> Mapping[str, Any]:
    """The proof, its last step re-targeted at the goal; raises TermError for what is no term."""
    tables = _DocumentTables()
    tables.proof(proof, goal, assumptions)
    return tables.document


def law_document(laws: Iterable[Law]) -> Mapping[str, Any]:
    """Document of laws that a checker may take on trust."""
    tables = _DocumentTables()
    for law in laws:
        tables.law(law)
    return tables.document


class _DocumentTables:
    """The tables of a document, which grow as statements are written."""

    def __init__(self) -> None:
        self._heads: dict[Head, int] = {}
        self._terms: dict[Term, int] = {}
        self._laws: dict[Law, int] = {}
        self._proofs: dict[tuple[Proof, Statement, tuple[Assumption, ...]], int] = {}
        self.document: dict[str, Any] = {
            "format": FORMAT, "version": VERSION, "heads": [], "terms": [], "laws": [],
            "proofs": [],
        }  # fmt: skip

    def term(self, term: Term) -> int:
        """Index of the term in its table, after those of its arguments."""
        if term not in self._terms:
            args = [self.term(arg) for arg in term.args]
            row = [str(term.value)] if term.head is NUMBER else [self._head(term.head), *args]
            self._terms[term] = len(self._terms)
            self.document["terms"].append(row)
        return self._terms[term]

    def _head(self, head: Head) -> int:
        if head not in self._heads:
            row = asdict(head)
            row["interval"] = head.interval and [str(end) for end in head.interval]
            self._heads[head] = len(self._heads)
            self.document["heads"].append(row)
        return self._heads[head]

    def statement(self, statement: statements.Statement) -> list[Any]:
        """Row of a statement: [left side, relation, right side]."""
        statement.require_sorted()
        return [self.term(statement.lhs), statement.relation, self.term(statement.rhs)]

    def clauses(self, law: statements.Law) -> Json:
        """Row of a law: its variables and its clauses."""
        clauses = [
            {
                "given": list(map(self.statement, c.given)),
                "conclusion": self.statement(c.conclusion),
            }
            for c in law.clauses
        ]
        return {"variables": list(map(self.term, law.variables)), "clauses": clauses}

    def law(self, law: Law) -> int:
        """The law's index: an axiom, a definition, a lemma or, to be refused, another one."""
        if law not in self._laws:
            row: Json = {"kind": "law", "id": law.id}
            if isinstance(law, Lemma):
                proof = self.proof(law.proof, law.goal, law.assumptions)
                lengths = [self.term(door.term(symbol)) for symbol in law.lengths]
                everywhere = law.weight_set and self._everywhere(law.weight_set)
                row |= {"kind": "lemma", "proof": proof, "variables": lengths}
                row["everywhere"] = everywhere
            else:
                row |= self.clauses(door.unfolded(law))
            if isinstance(law, Axiom):
                needed = [self.clauses(door.law(symbol)) for symbol in law.requires]
                row |= {"kind": "axiom", "requires": needed}
            if isinstance(law, Definition):
                row["kind"] = "definition"
            self._laws[law] = len(self._laws)
            self.document["laws"].append(row)
        return self._laws[law]

    def _everywhere(self, weight_set: WeightSet) -> Json:
        return {
            "weights": [self.term(door.term(symbol)) for symbol in (w, w_other)],
            "member": self.statement(door.goal(weight_set.membership)),
            "constants": [
                [self.term(door.term(symbol)) for symbol in pair] for pair in weight_set.constants
            ],
        }

    def proof(self, proof: Proof, goal: Statement, assumptions: tuple[Assumption, ...]) -> int:
        """Index of the proof in its table, after those of its lemmas."""
        key = proof, goal, assumptions
        if key not in self._proofs:
            steps = (*proof.steps[:-1], final_step(proof, goal)) if proof.steps else ()
            row = {
                "assumptions": list(map(self._assumption, assumptions)),
                "steps": list(map(self._step, steps)),
                "goal": self.statement(door.goal(goal)),
            }
            self._proofs[key] = len(self._proofs)
            self.document["proofs"].append(row)
        return self._proofs[key]

    def _assumption(self, assumption: Assumption) -> Json:
        condition, law = assumption.condition, assumption.law
        return {
            "id": assumption.id,
            "condition": condition and self.statement(door.goal(condition)),
            "law": law and self.clauses(door.unfolded(law)),
        }

    def _step(self, step: Step) -> Json:
        method = step.method
        return {
            "id": step.id,
            "forall": [self.term(door.term(symbol)) for symbol in step.forall],
            "given": [self.statement(door.goal(symbol)) for symbol in step.given],
            "conclusion": self.statement(door.goal(step.conclusion)),
            "method": self._method(method) if isinstance(method, Method) else {"rule": "prose"},
        }

    def _method(self, method: Method) -> Json:
        row: Json = {"rule": method.name}
        if isinstance(method, Induction):
            row |= {"over": self.term(door.term(method.over)), "carries": bool(method.given)}
            row["others"] = [self.term(door.term(symbol)) for symbol in method.others]
            return row | {"base": self._method(method.base), "step": self._method(method.step)}
        if isinstance(method, Monotone):
            row |= {"over": self.term(door.term(method.over))}
            row["start"] = self.term(door.term(method.start))
            parts = ("base", "slope", "inside")
            return row | {part: self._method(getattr(method, part)) for part in parts}
        return (
            row | {"uses": list(map(self._use, method.uses))} if isinstance(method, Direct) else row
        )

    def _use(self, use: Use) -> str | Json:
        if not isinstance(use, Instance):
            return use
        law = use.law if isinstance(use.law, str) else self.law(use.law)
        terms = [door.term(term) for term in use.terms]
        known = door.definitions()
        return {"law": law, "terms": [self.term(rebuilt(term, known)) for term in terms]}
