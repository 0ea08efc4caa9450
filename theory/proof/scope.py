"""What one step of a proof may use: the assumptions granted and the steps proved so far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import lru_cache

from sympy import Expr, Symbol

from theory.axioms.base import AXIOMS
from theory.language import Assumption, Axiom, Clause, Instance, Law, Statement, Use, eq
from theory.language.statement import put
from theory.language.vocabulary import VOCABULARY
from theory.proof.methods import Gap
from theory.proof.methods.base import KEPT
from theory.proof.methods.meaning import (
    clause_sides,
    conditions,
    numeric,
    partial,
    require_exact,
    require_fitting,
    require_plain,
    require_sorted,
    require_total,
    unfolded,
)
from theory.proof.methods.naturals import require_natural
from theory.proof.methods.powers import require_small


@dataclass(frozen=True)
class Known:
    """The scope of a step; `explains` asks for counter-models worth printing.

    `found` are the symbols of which a human step speaks: of one value, it may be, that it finds.
    `failed` names the steps before this one that were not proved, `later` those from this one on.
    """

    assumptions: Mapping[str, Assumption]
    laws: Mapping[str, Law] = field(default_factory=dict)
    explains: bool = True
    found: frozenset[Symbol] = frozenset()
    failed: tuple[str, ...] = ()
    later: tuple[str, ...] = ()

    @property
    def conditions(self) -> tuple[Clause, ...]:
        """The conditions of the assumptions granted."""
        granted = (assumption.condition for assumption in self.assumptions.values())
        return tuple(Clause(unfolded(condition)) for condition in granted if condition is not None)

    @property
    def constants(self) -> frozenset[Symbol]:
        """The symbols of which something may be assumed: no step may generalise over them."""
        quantities = {quantity.symbol for quantity in VOCABULARY.values()}
        assumed = map(constants_of, self.assumptions.values())
        return frozenset(quantities.union(self.found, *assumed))

    def with_law(self, law: Law) -> Known:
        """The same with one more law."""
        return replace(self, laws={**self.laws, law.id: law})

    def with_found(self, law: Law) -> Known:
        """The same with the law of a human step."""
        return replace(self.with_law(law), found=self.found | law.constants)

    def supposing(self, id: str, statement: Statement) -> Known:
        """The same with one more hypothesis."""
        return self.with_law(Law(id, (), (Clause(statement),)))

    def require_natural(self, number: Expr, clauses: tuple[Clause, ...]) -> None:
        """Raise Gap unless the clauses and the claim's conditions make the exponent natural."""
        require_natural(number, (*clauses, *self.conditions))

    def clauses(self, uses: tuple[Use, ...]) -> tuple[Clause, ...]:
        """The used statements, instantiated; plain names first, for they may bound the indices."""
        named = tuple(self._named(use) for use in uses if isinstance(use, str))
        plain = tuple(clause for law in named for clause in law.clauses)
        instances = (use for use in uses if isinstance(use, Instance))
        found = [c for instance in instances for c in self._instantiate(instance, named, plain)]
        clauses = (*plain, *found)
        require_exact(clause_sides(clauses))
        require_sorted(s for clause in clauses for s in (clause.conclusion, *clause.given))
        return clauses

    def _named(self, name: str) -> Law:
        """Its quantities written out, before any domain is asked for."""
        return _unfolded(self._stated(name))

    def _stated(self, name: str) -> Law:
        if name in self.laws:
            return self.laws[name]
        if name not in self.assumptions:
            raise Gap(f"{name!r} is neither granted nor proved{self._absence(name)}")
        assumption = self.assumptions[name]
        if assumption.law is not None:
            return assumption.law
        condition = assumption.condition
        return Law(name, (), () if condition is None else (Clause(condition),))

    def _absence(self, name: str) -> str:
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
        law = self._named(instance.law) if isinstance(instance.law, str) else instance.law
        if law is instance.law and isinstance(law, Axiom) and law not in AXIOMS:
            raise Gap(f"{law.id}: no axiom of the list")
        if len(law.variables) != len(instance.terms):
            wanted = ", ".join(map(str, law.variables))
            raise Gap(f"{instance.name}: it takes ({wanted}), {len(law.variables)} terms")
        stated = _unfolded(law).clauses
        terms = tuple(unfolded(eq(term, term)).lhs for term in instance.terms)
        values = dict(zip(law.variables, terms, strict=True))
        _require_terms(law.variables, stated, terms)
        for variable, term in values.items():
            if variable.is_integer:
                require_natural(term, plain)
        if law is instance.law and (reason := law.objection(values, self.assumptions, named)):
            raise Gap(reason)
        exponents, clauses = _placed(law.variables, stated, terms)
        for exponent in exponents:
            self.require_natural(exponent, plain)
        return clauses


@lru_cache(maxsize=KEPT)
def _require_terms(
    variables: tuple[Symbol, ...], clauses: tuple[Clause, ...], terms: tuple[Expr, ...]
) -> None:
    """Raise Gap unless the terms may be put for the variables."""
    stated = clause_sides(clauses)
    require_plain(variables)
    require_exact(terms)
    for term in terms:
        require_total(term, stated)
    for variable, term in zip(variables, terms, strict=True):
        require_fitting(term, variable)


@lru_cache(maxsize=KEPT)
def _placed(
    variables: tuple[Symbol, ...], clauses: tuple[Clause, ...], terms: tuple[Expr, ...]
) -> tuple[tuple[Expr, ...], tuple[Clause, ...]]:
    """The exponents that must be natural, and the clauses at the terms, where all had a value."""
    values = dict(zip(variables, terms, strict=True))
    powers = partial(clause_sides(clauses))
    require_small(powers, values)
    everywhere = (*powers, *partial(terms))
    exponents = tuple(put(p.exp, values) for p in everywhere if not p.exp.is_number)
    before = tuple(s.replace(values) for s in conditions(numeric(powers)))
    meant = (*before, *conditions(numeric(partial(terms))))
    there = (clause.replace(values) for clause in clauses)
    return exponents, tuple(replace(clause, given=(*clause.given, *meant)) for clause in there)


def constants_of(assumption: Assumption) -> frozenset[Symbol]:
    """The symbols of which the assumption speaks, in the definitions of its quantities too."""
    condition, law = assumption.condition, assumption.law
    symbols = frozenset() if condition is None else unfolded(condition).symbols
    return symbols if law is None else symbols | _unfolded(law).constants


def _unfolded(law: Law) -> Law:
    """The law with each measured quantity replaced by its definition."""
    clauses = (Clause(unfolded(c.conclusion), tuple(map(unfolded, c.given))) for c in law.clauses)
    return Law(law.id, law.variables, tuple(clauses))
