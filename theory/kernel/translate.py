"""From statements to a closed text in SMT-LIB, over the reals.

Norms are non-negative reals, symbolic powers and functions are fresh reals. A quotient is
multiplied out: 1/d is a fresh v with v·d = 1, and d ≠ 0 becomes an obligation; division is never
used. A root is a fresh r ≥ 0 with r² = x and the obligation x ≥ 0. λ^{t+2} is λ^t λ² where t is the
least exponent that occurs, which has to be a natural number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import TypeAlias

from rnnbounds.theory.kernel import heads, terms
from rnnbounds.theory.kernel.algebra import minus, parts_of, plus, power
from rnnbounds.theory.kernel.functions import ranges
from rnnbounds.theory.kernel.statements import Clause, Statement
from rnnbounds.theory.kernel.terms import Gap, Term, number

Formula: TypeAlias = str
MOST_FACTORS = 64  # of one power: it is multiplied out


@dataclass(frozen=True)
class Obligation:
    """Once the condition is shown, which is `text`, a quotient or a root has its meaning."""

    condition: Formula
    text: str
    meaning: tuple[Formula, ...]


class Translation:
    """The atoms of the statements, and the constraints that define them.

    `ranges` hold always, and so does what is `told` of elementary functions; an obligation gives
    meaning to a quotient or a root. `exponents` are those of the atoms: what must be natural.
    """

    def __init__(self, statements: Iterable[Statement]) -> None:
        self.atoms: dict[Term, Formula] = {}
        self.ranges: list[Formula] = []
        self.told: list[Formula] = []
        self.obligations: list[Obligation] = []
        self._least: dict[tuple[Term, Term], int] = {}
        for one in terms.symbolic_powers(side for s in statements for side in s.sides):
            rest, whole = _split_exponent(one)
            key = one.args[0], rest
            self._least[key] = min(self._least.get(key, whole), whole)

    @property
    def exponents(self) -> tuple[Term, ...]:
        """The least exponents of each base."""
        return tuple(plus(rest, number(least)) for (_, rest), least in self._least.items())

    @property
    def plain(self) -> list[tuple[Term, Formula]]:
        """All terms but quotients and roots, which follow from others, with their unknowns."""
        return [
            (term, atom) for term, atom in self.atoms.items()
            if term.head is not heads.POWER or term.args[1].variables
        ]  # fmt: skip

    def text(self, formulas: Iterable[Formula]) -> str:
        """The closed text that asks whether numbers meet the formulas."""
        constants = (f"(declare-const {atom} Real)" for atom in self.atoms.values())
        asserted = (f"(assert {formula})" for formula in formulas)
        return "\n".join(["(set-logic QF_NRA)", *constants, *asserted, "(check-sat)", ""])

    def clause(self, clause: Clause) -> Formula:
        """given ⟹ conclusion."""
        parts = [*map(self.formula, clause.given), self.formula(clause.conclusion)]
        return f"(=> {' '.join(parts)})" if clause.given else parts[0]

    def formula(self, statement: Statement) -> Formula:
        """The statement over the reals; a strict inequality of integers gains 1."""
        lhs, rhs = map(self.real, statement.sides)
        if statement.relation in ("<=", "exists"):
            return f"(<= {lhs} {rhs})"
        if statement.relation == "<":
            whole = all(side.whole for side in statement.sides)
            return f"(<= (+ {lhs} 1.0) {rhs})" if whole else f"(< {lhs} {rhs})"
        return f"(= {lhs} {rhs})" if statement.relation == "==" else negation(f"(= {lhs} {rhs})")

    def real(self, term: Term) -> Formula:
        """The term as a real number."""
        head = term.head
        if head is heads.NUMBER:
            return _number(term.value)
        if not term.commutes:
            raise Gap(f"the vector {term} stands where a number is needed")
        if head is heads.SUM:
            return f"(+ {' '.join(map(self.real, term.args))})"
        if head is heads.PRODUCT:
            return f"(* {' '.join(map(self.real, term.args))})"
        if head is heads.POWER:
            return self._power(*term.args)
        if head is heads.ABS:
            inner = self.real(term.args[0])
            return f"(let ((?v {inner})) (ite (>= ?v 0.0) ?v (- ?v)))"
        if head in (heads.MAX, heads.MIN):
            return _fold(">=" if head is heads.MAX else "<=", [*map(self.real, term.args)])
        return self._atom(term)

    def _atom(self, term: Term, make: Callable[[Formula], None] | None = None) -> Formula:
        if term in self.atoms:
            return self.atoms[term]
        atom = f"a{len(self.atoms)}"
        self.atoms[term] = atom
        if make:
            make(atom)
        least = 0 if term.head.kind == "norm" else term.head.least
        if least is not None:
            self.ranges.append(f"(>= {atom} {least}.0)")
        if term.head.interval is not None:  # π, e, …
            low, high = map(_number, term.head.interval)
            self.ranges += [f"(>= {atom} {low})", f"(<= {atom} {high})"]
        self.told += map(self.clause, ranges(term))
        return atom

    def _power(self, base: Term, exponent: Term) -> Formula:
        if exponent.variables:
            rest, whole = _split_exponent(power(base, exponent))
            least = self._least[base, rest]
            atom = self._atom(power(base, plus(rest, number(least))))
            more = whole - least
            return f"(* {atom} {_multiplied(self.real(base), more)})" if more else atom
        if exponent is terms.HALF:
            return self._root(base)
        if exponent.value.denominator > 1:
            raise Gap(f"the power {power(base, exponent)} has no translation")
        n = int(exponent.value)
        return _multiplied(self.real(base), n) if n > 0 else self._inverse(power(base, number(-n)))

    def _inverse(self, term: Term) -> Formula:
        divisor = self.real(term)

        def define(atom: Formula) -> None:
            condition, meaning = negation(f"(= {divisor} 0.0)"), f"(= (* {atom} {divisor}) 1.0)"
            self.obligations.append(Obligation(condition, f"{term} != 0", (meaning,)))

        return self._atom(power(term, number(-1)), define)

    def _root(self, term: Term) -> Formula:
        radicand = self.real(term)

        def define(atom: Formula) -> None:
            meaning = f"(= (* {atom} {atom}) {radicand})", f"(>= {atom} 0.0)"
            self.obligations.append(Obligation(f"(>= {radicand} 0.0)", f"{term} >= 0", meaning))

        return self._atom(power(term, terms.HALF), define)


def negation(formula: Formula) -> Formula:
    """Not the formula."""
    return f"(not {formula})"


def _split_exponent(power: Term) -> tuple[Term, int]:
    """The exponent as a symbolic part and an integer."""
    exponent = power.args[1]
    numbers = (part.value for part in parts_of(exponent) if part.head is heads.NUMBER)
    whole = floor(sum(numbers, Fraction(0)))
    return minus(exponent, number(whole)), whole


def _number(value: Fraction) -> Formula:
    top, bottom = abs(value.numerator), value.denominator
    size = f"{top}.0" if bottom == 1 else f"(/ {top}.0 {bottom}.0)"
    return f"(- {size})" if value < 0 else size


def _multiplied(factor: Formula, times: int) -> Formula:
    if times > MOST_FACTORS:
        raise Gap(f"a power of {times} factors is not multiplied out; the limit is {MOST_FACTORS}")
    return factor if times == 1 else f"(let ((?f {factor})) (*{' ?f' * times}))"


def _fold(sign: str, values: list[Formula]) -> Formula:
    best = values[0]
    for value in values[1:]:
        best = f"(let ((?b {best}) (?v {value})) (ite ({sign} ?v ?b) ?v ?b))"
    return best
