"""Statements and clauses over terms, and laws: clauses for all values of some variables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Literal, TypeAlias

from rnnbounds.theory.kernel import heads
from rnnbounds.theory.kernel.algebra import build, power, rebuilt, times, whole_power
from rnnbounds.theory.kernel.terms import HALF, ZERO, Term, TermError, number, within

Relation: TypeAlias = Literal["<=", "<", "==", "!=", "exists"]


@dataclass(frozen=True)
class Statement:
    """lhs relation rhs; `exists` is <= of a named witness."""

    lhs: Term
    relation: Relation
    rhs: Term

    @cached_property
    def sides(self) -> tuple[Term, Term]:
        """Both sides."""
        return self.lhs, self.rhs

    @cached_property
    def variables(self) -> frozenset[Term]:
        """The variables of both sides."""
        return self.lhs.variables | self.rhs.variables

    def replace(self, values: Mapping[Term, Term]) -> Statement:
        """The statement with every key replaced by its value, all at once."""
        return Statement(rebuilt(self.lhs, values), self.relation, rebuilt(self.rhs, values))

    def require_sorted(self) -> None:
        """Raise TermError unless both sides are of one sort, numbers if ordered; 0 is of all."""
        found = {side.sort for side in self.sides if side is not ZERO}
        if len(found) > 1:
            told = " and ".join(f"{side} ({side.sort})" for side in self.sides)
            raise TermError(f"{told} are compared; compare what is of one sort")
        if not found <= {"number"} and self.relation != "==":
            raise TermError(f"{self} compares no numbers; take norms")

    def __str__(self) -> str:
        return f"{self.lhs} {self.relation} {self.rhs}"


@dataclass(frozen=True)
class Clause:
    """If every statement in `given` holds, so does `conclusion`."""

    conclusion: Statement
    given: tuple[Statement, ...] = ()

    @property
    def statements(self) -> tuple[Statement, ...]:
        """The conclusion and the premises."""
        return (self.conclusion, *self.given)

    @property
    def sides(self) -> tuple[Term, ...]:
        """All their sides."""
        return tuple(side for statement in self.statements for side in statement.sides)

    def replace(self, values: Mapping[Term, Term]) -> Clause:
        """The clause with every key replaced by its value."""
        return Clause(self.conclusion.replace(values), tuple(g.replace(values) for g in self.given))

    def where(self, meant: tuple[Statement, ...]) -> Clause:
        """Clause with the premises `meant` added, and simplified by them: x x⁻¹ = 1 if x ≠ 0 is a
        premise, and (√x)² = x if 0 ≤ x is."""
        if not meant:
            return self
        nonzero = frozenset(s.lhs for s in meant if s.relation == "!=")
        roots = frozenset(power(s.rhs, HALF) for s in meant if s.relation == "<=")

        def told(statement: Statement) -> Statement:
            lhs, rhs = (_simplified(side, nonzero, roots) for side in statement.sides)
            return Statement(lhs, statement.relation, rhs)

        return Clause(told(self.conclusion), (*map(told, self.given), *meant))


def _simplified(term: Term, nonzero: frozenset[Term], roots: frozenset[Term]) -> Term:
    """Quotients are not cancelled within functions of reals: an assumption that writes out the same
    argument has them too."""
    if not term.args:
        return term
    outside = term.head.kind != "real" or term.head in (heads.ABS, heads.MAX, heads.MIN)
    args = tuple(_simplified(arg, nonzero if outside else frozenset(), roots) for arg in term.args)
    found = term if args == term.args else build(term.head, args)
    if found.head is heads.PRODUCT:
        exponents: dict[Term, Fraction] = {}
        rest = []
        for factor in found.args:
            base, exponent = whole_power(factor)
            if base in nonzero:
                exponents[base] = exponents.get(base, Fraction(0)) + exponent
            else:
                rest.append(factor)
        found = times(*rest, *(power(base, number(n)) for base, n in exponents.items()))
    if found.head is heads.POWER and found.args[0] in roots and found.args[1].head is heads.NUMBER:
        base, n = found.args[0], found.args[1].value
        if n >= 2:
            return times(power(base.args[0], number(n // 2)), power(base, number(n % 2)))
    return found


@dataclass(frozen=True)
class Law:
    """Clauses that hold for all values of the variables."""

    id: str
    variables: tuple[Term, ...]
    clauses: tuple[Clause, ...]

    def __post_init__(self) -> None:
        for one in self.variables:
            if one.head.kind != "variable":
                raise TermError(f"{one} is no variable, and takes no other values")

    @cached_property
    def constants(self) -> frozenset[Term]:
        """The free variables that it does not range over."""
        free = frozenset(
            v for clause in self.clauses for s in clause.statements for v in s.variables
        )
        return free - set(self.variables)

    def at(self, terms: tuple[Term, ...]) -> tuple[Clause, ...]:
        """The clauses at these terms. Nothing is captured: no term binds a variable.

        A clause is one of values for which quotients and roots have a meaning, in it and in the
        terms.
        """
        values = dict(zip(self.variables, terms, strict=True))
        sides = [side for clause in self.clauses for side in clause.sides]
        meant = (*(s.replace(values) for s in domains(sides)), *domains(terms))
        put = (clause.replace(values) for clause in self.clauses)
        clauses = tuple(clause.where(meant) for clause in put)
        for clause in clauses:
            for statement in clause.statements:
                statement.require_sorted()
        return clauses


def require_fitting(term: Term, over: Term) -> None:
    """Raise TermError unless the term is of the sort of the variable; 0 is of all."""
    wanted, found = over.sort, term.sort
    either = wanted == "either" and found in ("vector", "operator")
    if term is not ZERO and wanted != found and not either:
        kind = "vector or operator" if wanted == "either" else wanted
        raise TermError(f"{term} cannot stand for {over}: {found} for {kind}")


def le(lhs: Term, rhs: Term) -> Statement:
    """`lhs <= rhs`."""
    return Statement(lhs, "<=", rhs)


def lt(lhs: Term, rhs: Term) -> Statement:
    """`lhs < rhs`."""
    return Statement(lhs, "<", rhs)


def eq(lhs: Term, rhs: Term) -> Statement:
    """`lhs == rhs`."""
    return Statement(lhs, "==", rhs)


def ne(lhs: Term, rhs: Term) -> Statement:
    """`lhs != rhs`."""
    return Statement(lhs, "!=", rhs)


def domains(terms: Iterable[Term]) -> tuple[Statement, ...]:
    """Conditions that make quotients and roots in the terms defined; TermError for other powers."""
    found: list[Statement] = []
    powers = {p for term in terms for p in within(term) if p.head is heads.POWER}
    for one in sorted(powers, key=lambda one: one.key):
        base, exponent = one.args
        if exponent.variables:
            continue  # that it is a natural number is asked for apart
        low = base.value if base.head is heads.NUMBER else (base.head.interval or (0, 0))[0]
        if exponent.value < 0 and not (low > 0 or (base.head is heads.NUMBER and low)):
            found.append(ne(base, ZERO))
        if exponent.value.denominator > 1 and not (low > 0 or base is ZERO):
            found.append(le(ZERO, base))
    return tuple(dict.fromkeys(found))
