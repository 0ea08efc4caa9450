"""Scope of one proof step: the assumptions granted and the steps proved so far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import lru_cache

from sympy import Symbol

from rnnbounds.theory.axioms.base import AXIOMS
from rnnbounds.theory.kernel import door
from rnnbounds.theory.kernel.algebra import rebuilt
from rnnbounds.theory.kernel.smt import require_natural
from rnnbounds.theory.kernel.statements import Clause, Law, Statement, require_fitting
from rnnbounds.theory.kernel.terms import Gap, Term
from rnnbounds.theory.language import Assumption, Axiom, Instance, Use
from rnnbounds.theory.language import Law as Told
from rnnbounds.theory.language import Statement as Stated
from rnnbounds.theory.language.definitions import Definition
from rnnbounds.theory.language.terms.variables import w, w_other
from rnnbounds.theory.language.vocabulary import VOCABULARY
from rnnbounds.theory.proof.everywhere import WeightSet
from rnnbounds.theory.proof.records import Lemma, Proof, copied

_AXIOMS = frozenset(copied(*AXIOMS))  # nobody else has these


@dataclass(frozen=True)
class StepScope:
    """The scope of a step.

    `fixed` are the variables of which an axiom speaks that a step used.
    `failed` names earlier steps that were not proved, `later` those from this one on.
    """

    assumptions: Mapping[str, Assumption]
    laws: Mapping[str, Law] = field(default_factory=dict)
    fixed: frozenset[Term] = frozenset()
    failed: tuple[str, ...] = ()
    later: tuple[str, ...] = ()

    @property
    def conditions(self) -> tuple[Clause, ...]:
        """The conditions of the assumptions granted."""
        conditions = (assumption.condition for assumption in self.assumptions.values())
        told = (c for c in conditions if c is not None and c.relation != "exists")
        return tuple(Clause(door.goal(c)) for c in told)

    @property
    def constants(self) -> frozenset[Term]:
        """The variables of which something may be assumed: no step may generalise over them."""
        quantities = {door.term(quantity.symbol) for quantity in VOCABULARY.values()}
        assumed = map(assumption_variables, self.assumptions.values())
        return frozenset(quantities.union(self.fixed, *assumed))

    def with_law(self, law: Law, fixed: frozenset[Term] = frozenset()) -> StepScope:
        """Scope with one more law; `fixed` are the variables of which that law's proof speaks."""
        return replace(self, laws={**self.laws, law.id: law}, fixed=self.fixed | fixed)

    def with_hypothesis(self, id: str, statement: Statement) -> StepScope:
        """Scope with one more hypothesis."""
        return self.with_law(Law(id, (), (Clause(statement),)))

    def bare(self) -> StepScope:
        """Scope in which nothing is granted."""
        return StepScope({})

    def clauses(self, uses: tuple[Use, ...]) -> tuple[Clause, ...]:
        """The used statements, found; plain names first, for they may bound the indices."""
        named = tuple(self._law_named(use) for use in uses if isinstance(use, str))
        # Of a law for all values of its variables that is the instance at these.
        laws = (law.at(law.variables) if law.variables else law.clauses for law in named)
        plain = tuple(clause for clauses in laws for clause in clauses)
        instances = (use for use in uses if isinstance(use, Instance))
        found = [c for instance in instances for c in self._instantiate(instance, named, plain)]
        clauses = (*plain, *found)
        if any(s.relation == "exists" for clause in clauses for s in clause.statements):
            raise Gap("what holds on a witness is no fact of all systems; use it nowhere")
        return clauses

    def _law_named(self, name: str) -> Law:
        if name in self.laws:
            return self.laws[name]
        if name not in self.assumptions:
            raise Gap(f"{name!r} is neither granted nor proved{self._absence_reason(name)}")
        return assumption_law(self.assumptions[name])

    def _absence_reason(self, name: str) -> str:
        """Why it is not at hand, if something is known of it."""
        if name in self.failed:
            return ": that step failed"
        if name in self.later[:1]:
            return ": it is this step itself"
        if name in self.later:
            return ": that step comes later; move it before this one"
        close = get_close_matches(name, [*self.assumptions, *self.laws, *self.failed, *self.later])
        return f": misspelt? did you mean {' or '.join(map(repr, close))}?" if close else ""

    def _instantiate(
        self, instance: Instance, named: tuple[Law, ...], plain: tuple[Clause, ...]
    ) -> tuple[Clause, ...]:
        if isinstance(instance.law, str):
            law = self._law_named(instance.law)
        else:
            law = kernel_law(instance.law)
            if isinstance(instance.law, Axiom) and instance.law not in _AXIOMS:
                raise Gap(f"{law.id}: no axiom of the list")
        if len(law.variables) != len(instance.terms):
            wanted = ", ".join(map(str, law.variables))
            raise Gap(f"{instance.name}: it takes ({wanted}), {len(law.variables)} terms")
        terms = tuple(rebuilt(door.term(term), door.definitions()) for term in instance.terms)
        for variable, term in zip(law.variables, terms, strict=True):
            require_fitting(term, variable)
            if variable.head.range == "natural":
                require_natural(term, plain)
        values = dict(zip(law.variables, terms, strict=True))
        if reason := self._objection(instance.law, values, named):
            raise Gap(reason)
        return law.at(terms)

    def _objection(
        self, law: Told | str, values: Mapping[Term, Term], named: tuple[Law, ...]
    ) -> str:
        """Why a step may not use the law at these values of its variables; empty if it may."""
        if isinstance(law, str) or (isinstance(law, Definition) and law.is_registered):
            return ""
        if isinstance(law, Axiom):
            return _unmet(law, values, named)
        if isinstance(law, Lemma):
            return _objection_to_lemma(law, self.assumptions, named)
        return f"{law.id}: no axiom and no definition; prove it, or assume it"


def _unmet(axiom: Axiom, values: Mapping[Term, Term], named: tuple[Law, ...]) -> str:
    """Message on a requirement of the axiom that no law used by name states; empty if none."""
    stated = {(law.variables, law.clauses) for law in named}
    for requirement in map(door.law, axiom.requires):
        put = (values[variable] for variable in requirement.constants if variable in values)
        if any(not term.variables.isdisjoint(requirement.variables) for term in put):
            return f"{axiom.id}: a term names a variable of what it requires"
        clauses = tuple(clause.replace(values) for clause in requirement.clauses)
        if (requirement.variables, clauses) not in stated:
            return f"{axiom.id}: nothing used states what it requires"
    return ""


def law_of(law: Told) -> Law:
    """The law over terms, of quantities by their definitions; of a lemma the goal that was proved,
    for all values of its variables, in its user's quantities."""
    if not isinstance(law, Lemma):
        return door.unfolded(law)
    premises = (_premise(law, assumption) for assumption in law.assumptions)
    clause = Clause(door.goal(law.goal), tuple(p for p in premises if p is not None))
    found = Law(law.id, tuple(map(door.term, law.lengths)), (clause,))
    return found if law.weight_set is None else law.weight_set.law(found)


kernel_law = lru_cache(maxsize=door.KEPT)(law_of)  # of records that nobody else has


def assumption_law(assumption: Assumption) -> Law:
    """Law by which a step uses an assumption: its own law, or its condition."""
    if assumption.law is not None:
        return kernel_law(assumption.law)
    condition = assumption.condition
    return Law(assumption.id, (), () if condition is None else (Clause(door.goal(condition)),))


def assumption_variables(assumption: Assumption) -> frozenset[Term]:
    """The variables of which the assumption speaks, in the definitions of its quantities too."""
    condition, law = assumption.condition, assumption.law
    variables = frozenset() if condition is None else door.goal(condition).variables
    return variables if law is None else variables | kernel_law(law).constants


def _premise(lemma: Lemma, assumption: Assumption) -> Statement | None:
    """The assumption's condition, if it speaks of what varies: then it is to be shown."""
    if assumption.law is not None or not _varies(lemma, assumption):
        return None
    return None if assumption.condition is None else door.goal(assumption.condition)


def _varies(lemma: Lemma, assumption: Assumption) -> bool:
    """True if the assumption contains a variable length, if only in a definition."""
    return not assumption_variables(assumption).isdisjoint(map(door.term, lemma.lengths))


def _objection_to_lemma(
    lemma: Lemma, granted: Mapping[str, Assumption], named: tuple[Law, ...]
) -> str:
    """A variable that is no length, an assumption not granted, or what is not computed of it; that
    its ledger is proved is seen to where a step that uses it is run."""
    known = {door.term(q.symbol) for q in VOCABULARY.values() if q.lower == 0}
    for variable in map(door.term, lemma.lengths):
        if not variable.whole or variable not in known:
            return f"{lemma.id}: {variable} cannot vary"
    if lemma.weight_set is not None:
        if w not in lemma.variables:
            return f"{lemma.id}: it says nothing of the weights"
        if objection := lemma.weight_set.objection(lemma.assumptions, lemma.goal):
            return f"{lemma.id}: {objection}"
    facts = {replace(law, id="") for law in named}
    for assumption in lemma.assumptions:
        if _premise(lemma, assumption) is None and (
            _varies(lemma, assumption) or not _is_granted(lemma, assumption, granted, facts)
        ):
            return f"{lemma.id}: {assumption.id!r} is neither granted nor proved"
    computed = not lemma.clauses and tuple(map(door.term, lemma.variables))
    return "" if computed == kernel_law(lemma).variables else f"{lemma.id} is not proved"


def _is_granted(
    lemma: Lemma, assumption: Assumption, granted: Mapping[str, Assumption], facts: set[Law]
) -> bool:
    """True if the assumption's condition is granted, and its law granted or stated."""
    weights, condition = lemma.weight_set, assumption.condition
    if weights is None and granted.get(assumption.id) == assumption:
        return True
    conditions = {door.goal(a.condition) for a in granted.values() if a.condition is not None}
    goal = None if condition is None else door.goal(condition)
    law = None if assumption.law is None else door.unfolded(assumption.law)
    if weights is not None:
        goal = None if goal is None else weights.statement(goal)
        law = None if law is None else weights.law(law)
    return (goal is None or goal in conditions) and (law is None or replace(law, id="") in facts)


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
    weights = (w, w_other)[: len(law_of(draft).variables) - len(variables)]
    return replace(draft, variables=(*weights, *variables))
