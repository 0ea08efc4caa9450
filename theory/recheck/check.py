"""The check of a document: every step follows from what it uses, and the last one is the goal."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

from rnnbounds.theory.recheck import terms
from rnnbounds.theory.recheck.instances import by_name, instance
from rnnbounds.theory.recheck.reading import Clause, Document, Law, Statement
from rnnbounds.theory.recheck.solver import Unsettled, entail
from rnnbounds.theory.recheck.terms import ATOMS, Refused

Json: TypeAlias = Mapping[str, Any]
KEPT = Path(__file__).with_name("unsettled.json")
KERNEL, Z3 = "the kernel alone", "z3 alone"
DIRECT = ("smt", "ranges and smt", "identity")
KNOWN = ("words", "exact", "monotone", "ball maximum", "cases")
MALFORMED = KeyError, IndexError, TypeError, ValueError, AttributeError, ZeroDivisionError


@dataclass(frozen=True)
class Open:
    """A step, of the proof or of a lemma, that this checker does not settle; what it rests on."""

    step: str
    rests: str


@dataclass(frozen=True)
class Verdict:
    """`refused` says why the proof is none; it is empty if all steps but the open ones follow."""

    refused: str
    open: tuple[Open, ...] = ()


def kept() -> dict[str, dict[str, str]]:
    """Of each shipped form the open steps, and what each rests on."""
    found: dict[str, dict[str, str]] = json.loads(KEPT.read_text(encoding="utf-8"))
    return found


def stands(verdict: Verdict, listed: Json) -> bool:
    """True if the proof is not refused and each open step is listed."""
    return not verdict.refused and all(one.step in listed for one in verdict.open)


def check(document: Json, trusted: Json) -> Verdict:
    """The verdict on a document's last proof, with the laws that it may take on trust."""
    try:
        listed = Document(trusted)
        laws = frozenset((row["kind"], listed.law(row)) for row in trusted["laws"])
        proofs = _Proofs(Document(document), laws)
        found = [proofs.check(index) for index in range(len(document["proofs"]))]
        return Verdict("", found[-1])
    except Refused as reason:
        return Verdict(str(reason))
    except MALFORMED as error:
        return Verdict(f"the document is not in the format: {error!r}")


@dataclass(frozen=True)
class _Assumed:
    """Assumption of a proof: its condition or its law, and the variables in them."""

    id: str
    condition: Statement | None
    law: Law | None

    @property
    def stated(self) -> Law:
        return self.law or Law((), () if self.condition is None else (Clause(self.condition),))

    @property
    def constants(self) -> frozenset[int]:
        sides = () if self.condition is None else self.condition.sides
        return terms.variables(sides) | self.stated.constants


@dataclass(frozen=True)
class _Scope:
    """Scope of a step: laws by name; assumptions, whose variables no step may generalise over."""

    assumed: Sequence[_Assumed]
    laws: Mapping[str, Law] = field(default_factory=dict)

    @property
    def conditions(self) -> tuple[Clause, ...]:
        return tuple(Clause(one.condition) for one in self.assumed if one.condition is not None)

    def having(self, name: str, law: Law) -> _Scope:
        if name in self.laws:
            raise Refused(f"the name {name!r} is taken")
        return replace(self, laws={**self.laws, name: law})

    def supposing(self, given: Iterable[Statement]) -> _Scope:
        found = self
        for index, one in enumerate(given, start=1):
            found = found.having(f"given {index}", Law((), (Clause(one),)))
        return found


@dataclass
class _Proofs:
    """The proofs of a document, each checked once, in their order."""

    read: Document
    trusted: frozenset[tuple[str, Law]]
    checked: dict[int, tuple[Open, ...]] = field(default_factory=dict)
    open: list[Open] = field(default_factory=list)
    found: frozenset[int] = frozenset()  # variables of which a law that a step used says something

    @cached_property
    def taken(self) -> frozenset[int]:
        """The variables that trusted laws say something of: a lemma does not vary them."""
        return frozenset[int]().union(*(law.constants for _, law in self.trusted))

    def check(self, index: int) -> tuple[Open, ...]:
        """The open steps of the proof and of its lemmas; refused if another does not follow."""
        row, self.open, law = self.read.data["proofs"][index], [], None
        self.found = frozenset()
        scope = _Scope(self._assumed(row))
        for one in scope.assumed:
            scope = scope.having(one.id, one.stated)
        for step in row["steps"]:
            try:
                law = self._step(step, scope)
            except Refused as reason:
                raise Refused(f"step {step['id']!r}: {reason}") from None
            scope = scope.having(step["id"], law)
        if law != Law((), (Clause(self.read.statement(row["goal"])),)):
            raise Refused("the last step does not conclude the goal")
        self.checked[index] = tuple(dict.fromkeys(self.open))
        return self.checked[index]

    def _assumed(self, row: Json) -> list[_Assumed]:
        found = []
        for one in row["assumptions"]:
            condition = self.read.statement(one["condition"]) if one["condition"] else None
            law = self.read.law(one["law"]) if one["law"] else None
            found.append(_Assumed(one["id"], condition, law))
        return found

    def _step(self, row: Json, scope: _Scope) -> Law:
        given = tuple(map(self.read.statement, row["given"]))
        clause = Clause(self.read.statement(row["conclusion"]), given)
        law, method = Law(self.read.bound(row["forall"]), (clause,)), row["method"]
        rows = self.read.data["laws"]
        used = (index for index in _laws_used(method) if not rows[index].get("everywhere"))
        self.found |= frozenset[int]().union(*(self._law(index).constants for index in used))
        assumed = self.found.union(*(one.constants for one in scope.assumed))
        if not assumed.isdisjoint(law.variables):
            raise Refused("something is assumed of a variable of the step")
        for part, goal, known in self._parts(method, law, scope):
            rests = self._direct(part, goal, known)
            self.open += [Open(row["id"], rests)] if rests else []
        return law

    def _direct(self, row: Json, goal: Statement, scope: _Scope) -> str:
        """By the facts used: first those by their names, for they may bound indices of others."""
        if row["rule"] not in DIRECT:
            if row["rule"] not in KNOWN:
                raise Refused(f"no rule is named {row['rule']!r}")
            return KERNEL
        named, laws = [], []
        for use in row["uses"]:
            name = use if isinstance(use, str) else use["law"]
            if isinstance(name, str) and name not in scope.laws:
                raise Refused(f"{name!r} is not at hand")
            named += [scope.laws[use]] if isinstance(use, str) else []
            laws += [] if isinstance(use, str) else [use]
        found = plain = [clause for law in named for clause in by_name(law)]
        try:
            for use in laws:
                own = isinstance(use["law"], str)
                if not own and self.read.data["laws"][use["law"]].get("everywhere"):
                    return KERNEL
                law = scope.laws[use["law"]] if own else self._law(use["law"])
                if not own:
                    self._require_granted(use["law"], scope, named)
                at = [self.read.term(index) for index in use["terms"]]
                found = [*found, *instance(law, at, named, plain)]
            entail(goal, found, scope.conditions, row["rule"] == "identity")
        except Unsettled:
            return Z3
        return ""

    def _parts(self, row: Json, law: Law, scope: _Scope) -> list[tuple[Json, Statement, _Scope]]:
        """List (row, goal, scope) to prove; for an induction at 0 and, from n, at n + 1."""
        (clause,) = law.clauses
        if row["rule"] != "induction":
            return [(row, clause.conclusion, scope.supposing(clause.given))]
        (over,), others = self.read.bound([row["over"]]), self.read.bound(row["others"])
        natural, moving = ATOMS[over].head.range == "natural", {over, *others}
        if not natural or over in others or not moving.issubset(law.variables):
            raise Refused("induction over what is no natural variable of the step")
        if not row["carries"]:
            if not moving.isdisjoint(terms.variables(s for g in clause.given for s in g.sides)):
                raise Refused("a premise speaks of what varies, and is not carried")
            scope, clause = scope.supposing(clause.given), Clause(clause.conclusion)
        hypothesis = scope.having("induction hypothesis", Law(others, (clause,)))
        first = clause.at({over: ()})
        after = clause.at({over: terms.add(terms.of_number(over), terms.const(1))})
        return [
            (row["base"], first.conclusion, scope.supposing(first.given)),
            (row["step"], after.conclusion, hypothesis.supposing(after.given)),
        ]

    def _law(self, index: int) -> Law:
        """A law that is trusted, or what a lemma says."""
        row = self.read.data["laws"][index]
        if row["kind"] == "lemma":
            return self._lemma(row)[0]
        law = self.read.law(row)
        if (row["kind"], law) not in self.trusted:
            raise Refused(f"{row['id']!r} is no law that is trusted")
        return law

    def _lemma(self, row: Json) -> tuple[Law, list[_Assumed]]:
        """(law of a lemma for all lengths, assumptions that must be granted for it)."""
        self.open += self.checked[row["proof"]]
        proof = self.read.data["proofs"][row["proof"]]
        lengths, assumed = self.read.bound(row["variables"]), self._assumed(proof)
        natural = all(ATOMS[n].head.range == "natural" and n not in self.taken for n in lengths)
        moving = [one for one in assumed if not one.constants.isdisjoint(lengths)]
        if not natural or any(one.law for one in moving):
            raise Refused("a lemma assumes a law of what varies, or varies what it may not")
        premises = tuple(one.condition for one in moving if one.condition is not None)
        law = Law(lengths, (Clause(self.read.statement(proof["goal"]), premises),))
        return law, [one for one in assumed if one not in moving]

    def _require_granted(self, index: int, scope: _Scope, named: Sequence[Law]) -> None:
        row = self.read.data["laws"][index]
        conditions = {None, *(granted.condition for granted in scope.assumed)}
        laws = {None, *named, *(granted.law for granted in scope.assumed)}
        for one in self._lemma(row)[1] if row["kind"] == "lemma" else ():
            if one.condition not in conditions or one.law not in laws:
                raise Refused(f"a lemma's assumption {one.id!r} is not granted")


def _laws_used(row: Json) -> list[int]:
    """The indices of the laws that a method uses."""
    own = [use["law"] for use in row.get("uses", ()) if not isinstance(use, str)]
    parts = [_laws_used(row[part]) for part in ("base", "step") if part in row]
    return [one for one in own if not isinstance(one, str)] + [i for part in parts for i in part]
