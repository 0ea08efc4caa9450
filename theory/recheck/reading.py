"""A document in the format `rnnbounds-proof`, read term by term; what does not fit is refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias

from rnnbounds.theory.recheck import terms
from rnnbounds.theory.recheck.terms import Head, Poly, Refused

FORMAT, VERSION = "rnnbounds-proof", 1
RELATIONS = ("<=", "<", "==", "!=", "exists")
KINDS = ("variable", "sum", "product", "power", "scalar", "norm", "vector", "operator")
UNARY_FUNCTIONS = ("abs", "log", "tanh", "exp", "sin", "cos", "atan", "erf")  # functions of reals
RANGES = ("real", "natural", "vector", "operator", "either")
AtomValues: TypeAlias = Mapping[int, Poly]


@dataclass(frozen=True)
class Statement:
    """lhs relation rhs, of one sort, and of numbers but for equations."""

    lhs: Poly
    relation: str
    rhs: Poly

    def __post_init__(self) -> None:
        if self.relation not in RELATIONS or len(self.sorts) > 1:
            raise Refused(f"{self} compares {' and '.join(sorted(self.sorts))}")
        if self.compares_vectors and self.relation != "==":
            raise Refused(f"{self} compares no numbers")

    @property
    def sides(self) -> tuple[Poly, Poly]:
        """(lhs, rhs)."""
        return self.lhs, self.rhs

    @cached_property
    def sorts(self) -> set[str]:
        """The sorts of both sides; 0 has none."""
        return {sort for side in self.sides if (sort := terms.sort(side))}

    @property
    def compares_vectors(self) -> bool:
        """True if a side of the statement is a vector or an operator."""
        return bool(self.sorts - {"number"})

    def at(self, values: AtomValues) -> Statement:
        """Substitute values for atoms."""
        lhs, rhs = (terms.substitute(side, values) for side in self.sides)
        return Statement(lhs, self.relation, rhs)

    def __str__(self) -> str:
        return f"{terms.poly_key(self.lhs)} {self.relation} {terms.poly_key(self.rhs)}"


@dataclass(frozen=True)
class Clause:
    """If the premises hold, so does the conclusion."""

    conclusion: Statement
    given: tuple[Statement, ...] = ()

    @property
    def sides(self) -> tuple[Poly, ...]:
        """Sides of the conclusion and of the premises."""
        return tuple(
            side for statement in (self.conclusion, *self.given) for side in statement.sides
        )

    def at(self, values: AtomValues) -> Clause:
        """Substitute values for atoms."""
        return Clause(
            self.conclusion.at(values), tuple(premise.at(values) for premise in self.given)
        )


@dataclass(frozen=True)
class Law:
    """Clauses for all values of the variables; of an axiom, what it requires."""

    variables: tuple[int, ...]
    clauses: tuple[Clause, ...]
    requires: tuple[Law, ...] = ()

    @cached_property
    def constants(self) -> frozenset[int]:
        """Variables of the clauses that the law does not bind."""
        sides = (side for clause in self.clauses for side in clause.sides)
        needed = (one.constants for one in self.requires)
        return terms.variables_in(sides).union(*needed) - set(self.variables)


class Document:
    """Reader of a document's tables of heads, terms, statements and laws."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        if (data["format"], data["version"]) != (FORMAT, VERSION):
            raise Refused(f"no document of format {FORMAT} {VERSION}")
        self.data = data
        self._heads = [_parse_head(**row) for row in data["heads"]]
        self._terms: list[Poly] = []
        for row in data["terms"]:
            self._terms.append(self._build_term(*row))

    def term(self, index: int) -> Poly:
        """The term at an index of the table; refused if it is not read yet."""
        if not 0 <= index < len(self._terms):
            raise Refused(f"there is no term {index} before its use")
        return self._terms[index]

    def bound(self, indices: Sequence[int]) -> tuple[int, ...]:
        """Variables that a law or a step ranges over: all values of a sort, each variable once."""
        numbers = [number for index in indices for number in (terms.single_atom(self.term(index)),)]
        for number in numbers:
            head = terms.ATOMS[number].head if number is not None else Head("", "")
            least = 0 if head.range == "natural" else None
            if head.kind != "variable" or head.least != least or numbers.count(number) > 1:
                raise Refused(f"{head.name!r} is no variable of a law")
        return tuple(number for number in numbers if number is not None)

    def _build_term(self, head: int | str, *args: int) -> Poly:
        if isinstance(head, str):
            return terms.constant(Fraction(head))
        head_found, polys = self._heads[head], tuple(map(self.term, args))
        if head_found.kind in ("sum", "product"):
            return terms.add(*polys) if head_found.kind == "sum" else terms.times(*polys)
        if head_found.kind == "power":
            base, exponent = polys
            number = terms.constant_value(exponent)
            natural = number is None or (number.denominator == 1 and number >= 0)
            if {terms.sort(base)} - {None, "number", "operator" if natural else None}:
                raise Refused(f"{terms.poly_key(base)} has no such power")
            return terms.power(base, exponent)
        is_unary = head_found.kind == "norm" or (
            head_found.mark < 0 and head_found.name in UNARY_FUNCTIONS
        )
        is_constant = head_found.kind == "variable" or head_found.interval is not None
        if (
            (is_unary and len(polys) != 1)
            or (is_constant and polys)
            or (head_found.mark < 0 and not polys)
        ):
            raise Refused(f"{head_found.name} does not take {len(polys)} arguments")
        if head_found.mark < 0 and {terms.sort(arg) for arg in polys} - {None, "number"}:
            raise Refused(f"{head_found.name} takes numbers")
        return terms.apply_head(head_found, *polys)

    def statement(self, row: tuple[int, str, int]) -> Statement:
        """The statement of a row (lhs index, relation, rhs index)."""
        return Statement(self.term(row[0]), row[1], self.term(row[2]))

    def law(self, row: Mapping[str, Any]) -> Law:
        """A law's variables and clauses, and what it requires."""
        clauses = tuple(
            Clause(self.statement(item["conclusion"]), tuple(map(self.statement, item["given"])))
            for item in row["clauses"]
        )
        required = tuple(map(self.law, row.get("requires", ())))
        return Law(self.bound(row["variables"]), clauses, required)


def _parse_head(interval: Sequence[str] | None, **row: Any) -> Head:
    low, high = map(Fraction, interval or (0, 0))
    head = Head(**row, interval=(low, high) if interval else None)
    is_valid = head.mark >= 0 or (
        head.kind == "scalar" and head.name in (*UNARY_FUNCTIONS, "max", "min")
    )
    is_valid = is_valid and (head.range != "natural" or head.least is not None)
    if head.kind not in KINDS or head.range not in RANGES or not is_valid or low > high:
        raise Refused(f"{head.name} is no head of the format")
    return head
