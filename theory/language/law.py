"""Laws that proof steps may use, and their instances at given terms.

A law is a schema.  Its variables say what they range over: a non-commutative symbol over vectors
and operators, an integer symbol over the natural numbers, any other symbol over the reals.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from sympy import Expr, Symbol, sympify

from rnnbounds.theory.language.statement import Statement


@dataclass(frozen=True)
class Clause:
    """If every statement in `given` holds, so does `conclusion`."""

    conclusion: Statement
    given: tuple[Statement, ...] = ()

    def replace(self, values: Mapping[Expr, Expr]) -> Clause:
        """The clause with every key replaced by its value."""
        return Clause(self.conclusion.replace(values), tuple(g.replace(values) for g in self.given))

    @property
    def symbols(self) -> frozenset[Symbol]:
        """Free symbols of the conclusion and of the premises."""
        return self.conclusion.symbols.union(*(premise.symbols for premise in self.given))


@dataclass(frozen=True)
class Law:
    """Clauses that hold for all values of the variables."""

    id: str
    variables: tuple[Symbol, ...]
    clauses: tuple[Clause, ...]

    def at(self, *terms: Expr) -> Instance:
        """The law at the given terms, one for each variable."""
        return Instance(self, tuple(sympify(term) for term in terms))

    @property
    def constants(self) -> frozenset[Symbol]:
        """Free symbols of the clauses that the law does not quantify over."""
        free = frozenset(symbol for clause in self.clauses for symbol in clause.symbols)
        return free - set(self.variables)


@dataclass(frozen=True)
class Axiom(Law):
    """A textbook lemma, taken without proof.

    `requires` are laws (a Lipschitz condition, say) which a law used in the same step must state
    word for word, once the axiom's variables have their values.
    """

    text: str = ""
    source: str = ""
    requires: tuple[Law, ...] = ()


@dataclass(frozen=True)
class Instance:
    """A law at terms; a law given by name is an assumption's or an earlier step's."""

    law: Law | str
    terms: tuple[Expr, ...]

    @property
    def name(self) -> str:
        """Text of the use in a ledger: the law's name with its terms in brackets."""
        law = self.law if isinstance(self.law, str) else self.law.id
        return f"{law}[{', '.join(map(str, self.terms))}]"


Use: TypeAlias = str | Instance


def at(name: str, *terms: Expr) -> Instance:
    """The assumption or earlier step of this name, at the given terms."""
    return Instance(name, tuple(sympify(term) for term in terms))


def law(id: str, variables: tuple[Symbol, ...], *clauses: Statement | Clause) -> Law:
    """Build a law for all values of the variables from statements and clauses."""
    return Law(id, variables, tuple(c if isinstance(c, Clause) else Clause(c) for c in clauses))


def axioms_in(module: Mapping[str, object]) -> tuple[Axiom, ...]:
    """All axioms among the names of a module, in the order of their definitions."""
    return tuple(each for each in module.values() if isinstance(each, Axiom))


@dataclass(frozen=True)
class Assumption:
    """Assumption of a claim.

    `condition`, over the vocabulary, is tested on each system: unless it is certain, the check
    is vacuous.  `law` states a property that holds by construction, for use in ledgers.

    All else is a *hypothesis*: it describes the system or the method, relates numbers, or says that
    a constant of the claim is at least what it bounds. An `inclusion` says that a set which the
    program computes, and which the statement does not mention, contains what it should (the image
    of an invariant box), or that an object exists. The attack tests it, no step derives it.
    """

    id: str
    text: str
    condition: Statement | None = None
    law: Law | None = None
    inclusion: bool = False

    @property
    def label(self) -> str:
        """Label of the assumption in print: "assumed" or "assumed inclusion"."""
        return "assumed inclusion" if self.inclusion else "assumed"


@dataclass(frozen=True)
class AssumptionText:
    """Assumption for all values of the variables; its condition is tested on a system."""

    id: str
    text: str
    forall: tuple[Symbol, ...] = ()
    condition: Statement | None = None
    inclusion: bool = False

    def that(self, *clauses: Statement | Clause) -> Assumption:
        """Assumption with these clauses as its law, which ledgers use by its name."""
        assumed_law = law(self.id, self.forall, *clauses)
        return Assumption(self.id, self.text, self.condition, assumed_law, self.inclusion)


assume = AssumptionText
