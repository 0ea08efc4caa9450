"""Scope of one proof step: the assumptions granted and the steps proved so far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import lru_cache

from rnnbounds.theory.axioms.base import AXIOMS
from rnnbounds.theory.kernel import door
from rnnbounds.theory.kernel.algebra import rebuilt
from rnnbounds.theory.kernel.naturals import require_natural
from rnnbounds.theory.kernel.statements import Clause, Law, Statement, require_fitting
from rnnbounds.theory.kernel.terms import Gap, Term
from rnnbounds.theory.language import Assumption, Axiom, Instance, Use
from rnnbounds.theory.language import Law as Told
from rnnbounds.theory.language.vocabulary import VOCABULARY
from rnnbounds.theory.proof.ledger import ProvedLaw


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
        return tuple(Clause(door.goal(c)) for c in conditions if c is not None)

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

    def require_natural(self, number: Term, clauses: tuple[Clause, ...]) -> None:
        """Raise Gap unless the clauses and the claim's conditions make the exponent natural."""
        require_natural(number, (*clauses, *self.conditions))

    def clauses(self, uses: tuple[Use, ...]) -> tuple[Clause, ...]:
        """The used statements, found; plain names first, for they may bound the indices."""
        named = tuple(self._law_named(use) for use in uses if isinstance(use, str))
        # Of a law for all values of its variables that is the instance at these.
        laws = (law.at(law.variables) if law.variables else law.clauses for law in named)
        plain = tuple(clause for clauses in laws for clause in clauses)
        instances = (use for use in uses if isinstance(use, Instance))
        found = [c for instance in instances for c in self._instantiate(instance, named, plain)]
        return (*plain, *found)

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
            if isinstance(instance.law, Axiom) and instance.law not in AXIOMS:
                raise Gap(f"{law.id}: no axiom of the list")
        if len(law.variables) != len(instance.terms):
            wanted = ", ".join(map(str, law.variables))
            raise Gap(f"{instance.name}: it takes ({wanted}), {len(law.variables)} terms")
        terms = tuple(rebuilt(door.term(term), door.definitions()) for term in instance.terms)
        for variable, term in zip(law.variables, terms, strict=True):
            require_fitting(term, variable)
            if variable.head.range == "natural":
                require_natural(term, plain)
        if not isinstance(instance.law, str):
            reason = instance.law.objection(self.assumptions, named)
            if isinstance(instance.law, Axiom):
                reason = _unmet(instance.law, dict(zip(law.variables, terms, strict=True)), named)
            if reason:
                raise Gap(reason)
        return law.at(terms)


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


@lru_cache(maxsize=door.KEPT)
def kernel_law(law: Told) -> Law:
    """The law over terms, of quantities by their definitions."""
    return law.kernel_law if isinstance(law, ProvedLaw) else door.unfolded(law)


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
