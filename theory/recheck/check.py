"""The check of a document: every step follows from what it uses, and the last one is the goal."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

from rnnbounds.theory.recheck import terms
from rnnbounds.theory.recheck.instances import at_own_variables, instantiate
from rnnbounds.theory.recheck.reading import Clause, Document, Law, Statement
from rnnbounds.theory.recheck.solver import Unsettled, entail
from rnnbounds.theory.recheck.terms import ATOMS, Refused

Json: TypeAlias = Mapping[str, Any]
UNSETTLED_FILE = Path(__file__).with_name("unsettled.json")
KERNEL, Z3 = "the kernel alone", "z3 alone"
CHECKED_RULES = ("smt", "ranges and smt", "identity")
KERNEL_RULES = ("words", "exact", "monotone", "ball maximum", "cases")
MALFORMED = KeyError, IndexError, TypeError, ValueError, AttributeError, ZeroDivisionError


@dataclass(frozen=True)
class OpenStep:
    """A step, of the proof or of a lemma, that this checker does not settle; what it rests on."""

    step: str
    rests_on: str


@dataclass(frozen=True)
class Verdict:
    """`refusal` says why the proof is none; it is empty if all steps but the open ones follow."""

    refusal: str
    open_steps: tuple[OpenStep, ...] = ()


def unsettled() -> dict[str, dict[str, str]]:
    """Of each shipped form the open steps, and what each rests on."""
    unsettled: dict[str, dict[str, str]] = json.loads(UNSETTLED_FILE.read_text(encoding="utf-8"))
    return unsettled


def is_accepted(verdict: Verdict, unsettled: Json) -> bool:
    """True if the proof is not refused and each open step is listed."""
    return not verdict.refusal and all(
        open_step.step in unsettled for open_step in verdict.open_steps
    )


def check_document(document: Json, trusted: Json) -> Verdict:
    """The verdict on a document's last proof, with the laws that it may take on trust."""
    try:
        trusted_document = Document(trusted)
        laws = frozenset((row["kind"], trusted_document.law(row)) for row in trusted["laws"])
        proofs = _ProofChecker(Document(document), laws)
        open_steps = [proofs.check(index) for index in range(len(document["proofs"]))]
        return Verdict("", open_steps[-1])
    except Refused as reason:
        return Verdict(str(reason))
    except MALFORMED as error:
        return Verdict(f"the document is not in the format: {error!r}")


@dataclass(frozen=True)
class _Assumption:
    """Assumption of a proof: its condition or its law, and the variables in them."""

    id: str
    condition: Statement | None
    law: Law | None

    @property
    def as_law(self) -> Law:
        return self.law or Law((), () if self.condition is None else (Clause(self.condition),))

    @property
    def constants(self) -> frozenset[int]:
        sides = () if self.condition is None else self.condition.sides
        return terms.variables_in(sides) | self.as_law.constants


@dataclass(frozen=True)
class _Scope:
    """Scope of a step: laws by name; assumptions, whose variables no step may generalise over."""

    assumptions: Sequence[_Assumption]
    laws: Mapping[str, Law] = field(default_factory=dict)

    @property
    def conditions(self) -> tuple[Clause, ...]:
        return tuple(Clause(a.condition) for a in self.assumptions if a.condition is not None)

    def with_law(self, name: str, law: Law) -> _Scope:
        if name in self.laws:
            raise Refused(f"the name {name!r} is taken")
        return replace(self, laws={**self.laws, name: law})

    def with_premises(self, premises: Iterable[Statement]) -> _Scope:
        scope = self
        for index, premise in enumerate(premises, start=1):
            scope = scope.with_law(f"given {index}", Law((), (Clause(premise),)))
        return scope


@dataclass
class _ProofChecker:
    """The proofs of a document, each checked once, in their order."""

    document: Document
    trusted: frozenset[tuple[str, Law]]
    checked: dict[int, tuple[OpenStep, ...]] = field(default_factory=dict)
    open_steps: list[OpenStep] = field(default_factory=list)
    fixed: frozenset[int] = frozenset()  # variables of which a law that a step used says something

    @cached_property
    def trusted_variables(self) -> frozenset[int]:
        """The variables that trusted laws say something of: a lemma does not vary them."""
        return frozenset[int]().union(*(law.constants for _, law in self.trusted))

    def check(self, index: int) -> tuple[OpenStep, ...]:
        """The open steps of the proof and of its lemmas; refused if another does not follow."""
        row, self.open_steps, law = self.document.data["proofs"][index], [], None
        self.fixed = frozenset()
        scope = _Scope(self._read_assumptions(row))
        for a in scope.assumptions:
            scope = scope.with_law(a.id, a.as_law)
        for step in row["steps"]:
            try:
                law = self._check_step(step, scope)
            except Refused as reason:
                raise Refused(f"step {step['id']!r}: {reason}") from None
            scope = scope.with_law(step["id"], law)
        if law != Law((), (Clause(self.document.statement(row["goal"])),)):
            raise Refused("the last step does not conclude the goal")
        self.checked[index] = tuple(dict.fromkeys(self.open_steps))
        return self.checked[index]

    def _read_assumptions(self, row: Json) -> list[_Assumption]:
        assumptions = []
        for item in row["assumptions"]:
            condition = self.document.statement(item["condition"]) if item["condition"] else None
            law = self.document.law(item["law"]) if item["law"] else None
            assumptions.append(_Assumption(item["id"], condition, law))
        return assumptions

    def _check_step(self, row: Json, scope: _Scope) -> Law:
        premises = tuple(map(self.document.statement, row["given"]))
        clause = Clause(self.document.statement(row["conclusion"]), premises)
        law, method = Law(self.document.bound(row["forall"]), (clause,)), row["method"]
        rows = self.document.data["laws"]
        used_indices = (
            index for index in _law_indices(method) if not rows[index].get("everywhere")
        )
        self.fixed |= frozenset[int]().union(
            *(self._law_at(index).constants for index in used_indices)
        )
        fixed = self.fixed.union(*(a.constants for a in scope.assumptions))
        if not fixed.isdisjoint(law.variables):
            raise Refused("something is assumed of a variable of the step")
        for part, goal, known in self._proof_parts(method, law, scope):
            rests_on = self._check_rule(part, goal, known)
            self.open_steps += [OpenStep(row["id"], rests_on)] if rests_on else []
        return law

    def _check_rule(self, row: Json, goal: Statement, scope: _Scope) -> str:
        """By the facts used: first those by their names, for they may bound indices of others."""
        if row["rule"] not in CHECKED_RULES:
            if row["rule"] not in KERNEL_RULES:
                raise Refused(f"no rule is named {row['rule']!r}")
            return KERNEL
        named, law_uses = [], []
        for use in row["uses"]:
            name = use if isinstance(use, str) else use["law"]
            if isinstance(name, str) and name not in scope.laws:
                raise Refused(f"{name!r} is not at hand")
            named += [scope.laws[use]] if isinstance(use, str) else []
            law_uses += [] if isinstance(use, str) else [use]
        facts = plain_facts = [clause for law in named for clause in at_own_variables(law)]
        try:
            for use in law_uses:
                is_local = isinstance(use["law"], str)
                if not is_local and self.document.data["laws"][use["law"]].get("everywhere"):
                    return KERNEL
                law = scope.laws[use["law"]] if is_local else self._law_at(use["law"])
                if not is_local:
                    self._require_granted(use["law"], scope, named)
                at = [self.document.term(index) for index in use["terms"]]
                facts = [*facts, *instantiate(law, at, named, plain_facts)]
            entail(goal, facts, scope.conditions, row["rule"] == "identity")
        except Unsettled:
            return Z3
        return ""

    def _proof_parts(
        self, row: Json, law: Law, scope: _Scope
    ) -> list[tuple[Json, Statement, _Scope]]:
        """List (row, goal, scope) to prove; for an induction at 0 and, from n, at n + 1."""
        (clause,) = law.clauses
        if row["rule"] != "induction":
            return [(row, clause.conclusion, scope.with_premises(clause.given))]
        (variable,), generalized = (
            self.document.bound([row["over"]]),
            self.document.bound(row["others"]),
        )
        is_natural, varying = ATOMS[variable].head.range == "natural", {variable, *generalized}
        if not is_natural or variable in generalized or not varying.issubset(law.variables):
            raise Refused("induction over what is no natural variable of the step")
        if not row["carries"]:
            if not varying.isdisjoint(terms.variables_in(s for g in clause.given for s in g.sides)):
                raise Refused("a premise speaks of what varies, and is not carried")
            scope, clause = scope.with_premises(clause.given), Clause(clause.conclusion)
        hypothesis = scope.with_law("induction hypothesis", Law(generalized, (clause,)))
        base = clause.at({variable: ()})
        successor = clause.at({variable: terms.add(terms.atom_poly(variable), terms.constant(1))})
        return [
            (row["base"], base.conclusion, scope.with_premises(base.given)),
            (row["step"], successor.conclusion, hypothesis.with_premises(successor.given)),
        ]

    def _law_at(self, index: int) -> Law:
        """The law at an index: a trusted one, or the statement of a checked lemma."""
        row = self.document.data["laws"][index]
        if row["kind"] == "lemma":
            return self._lemma(row)[0]
        law = self.document.law(row)
        if (row["kind"], law) not in self.trusted:
            raise Refused(f"{row['id']!r} is no law that is trusted")
        return law

    def _lemma(self, row: Json) -> tuple[Law, list[_Assumption]]:
        """(law of a lemma for all lengths, assumptions that must be granted for it)."""
        self.open_steps += self.checked[row["proof"]]
        proof = self.document.data["proofs"][row["proof"]]
        lengths, assumed = self.document.bound(row["variables"]), self._read_assumptions(proof)
        is_natural = all(
            ATOMS[n].head.range == "natural" and n not in self.trusted_variables for n in lengths
        )
        varying = [a for a in assumed if not a.constants.isdisjoint(lengths)]
        if not is_natural or any(a.law for a in varying):
            raise Refused("a lemma assumes a law of what varies, or varies what it may not")
        premises = tuple(a.condition for a in varying if a.condition is not None)
        law = Law(lengths, (Clause(self.document.statement(proof["goal"]), premises),))
        return law, [a for a in assumed if a not in varying]

    def _require_granted(self, index: int, scope: _Scope, named: Sequence[Law]) -> None:
        row = self.document.data["laws"][index]
        conditions = {None, *(granted.condition for granted in scope.assumptions)}
        laws = {None, *named, *(granted.law for granted in scope.assumptions)}
        for a in self._lemma(row)[1] if row["kind"] == "lemma" else ():
            if a.condition not in conditions or a.law not in laws:
                raise Refused(f"a lemma's assumption {a.id!r} is not granted")


def _law_indices(row: Json) -> list[int]:
    """Indices of the laws in the document that a method uses."""
    names = [use["law"] for use in row.get("uses", ()) if not isinstance(use, str)]
    parts = [_law_indices(row[part]) for part in ("base", "step") if part in row]
    return [name for name in names if not isinstance(name, str)] + [
        i for part in parts for i in part
    ]
