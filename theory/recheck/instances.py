"""A law at terms, under the premise that all has a value there, which cancels quotients."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from rnnbounds.theory.recheck import terms
from rnnbounds.theory.recheck.reading import Clause, Law, Statement
from rnnbounds.theory.recheck.solver import Facts, require_natural
from rnnbounds.theory.recheck.terms import ATOMS, INVERSE, ROOT, Head, Poly, Refused


def domains(polys: Sequence[Poly]) -> list[Statement]:
    """Conditions under which quotients and roots in the polynomials are defined."""
    found = []
    for number in terms.partial(polys, INVERSE, ROOT):
        (inner,), one = ATOMS[number].args, terms.single(ATOMS[number].args[0])
        interval = ATOMS[one].head.interval if one is not None else None
        if not (interval and interval[0] > 0) and (terms.value(inner) or 0) <= 0:
            nonzero = ATOMS[number].head is INVERSE
            found.append(Statement(inner, "!=", ()) if nonzero else Statement((), "<=", inner))
    return found


def instance(law: Law, at: Sequence[Poly], named: Sequence[Law], facts: Facts) -> list[Clause]:
    """The law at these terms, under the premise that all has a value there."""
    values = dict(zip(law.variables, at, strict=True))
    for variable, term in values.items():
        wanted, found = terms.sort_of(variable), terms.sort(term)
        if found not in (None, wanted) and (wanted != "either" or found == "number"):
            raise Refused(f"{terms.key(term)} is no {wanted}")
        if ATOMS[variable].head.range == "natural":
            require_natural(term, facts)
    for needed in law.requires:
        put = [values[one] for one in needed.constants if one in values]
        stated = Law(needed.variables, tuple(clause.at(values) for clause in needed.clauses))
        if stated not in named or not terms.variables(put).isdisjoint(needed.variables):
            raise Refused("nothing used states what the law requires")
    sides = [side for clause in law.clauses for side in clause.sides]
    domain = [*(one.at(values) for one in domains(sides)), *domains(at)]
    return [_meaningful(one.at(values), tuple(dict.fromkeys(domain))) for one in law.clauses]


def by_name(law: Law) -> list[Clause]:
    """The law at its own variables."""
    return instance(law, [terms.of_number(one) for one in law.variables], (), ())


def _meaningful(clause: Clause, domain: tuple[Statement, ...]) -> Clause:
    """Under the premises that give a value, and so with x/x as 1 and (√x)² as x."""
    known = {(one.lhs or one.rhs, INVERSE if one.relation == "!=" else ROOT) for one in domain}

    def put(one: Statement) -> Statement:
        lhs, rhs = (_cancelled(side, known) for side in one.sides)
        return Statement(lhs, one.relation, rhs)

    return Clause(put(clause.conclusion), (*map(put, clause.given), *domain)) if domain else clause


def _cancelled(one: Poly, known: set[tuple[Poly, Head]]) -> Poly:
    def inside(number: int) -> Poly:
        head, args = ATOMS[number].head, ATOMS[number].args
        opaque = head.mark < 0 and head.name not in ("abs", "max", "min")
        own = {one for one in known if one[1] is ROOT or not opaque}
        put = (_cancelled(arg, own) for arg in args)
        return terms.apply(head, *put) if args else terms.of_number(number)

    total = []
    for (numbers, word), factor in terms.mapped(one, inside):
        powers, more = dict(numbers), [terms.const(factor)]
        for number in terms.partial([terms.of_number(n) for n in powers], INVERSE, ROOT):
            (inner,), base = ATOMS[number].args, terms.single(ATOMS[number].args[0])
            stated = (inner, ATOMS[number].head) in known or (terms.value(inner) or 0) > 0
            if number not in powers or not stated:
                continue
            if ATOMS[number].head is ROOT:
                more += [inner] * (powers[number] // 2)
                powers[number] %= 2
            elif base in powers:
                both = min(powers[base], powers[number])
                powers[base], powers[number] = powers[base] - both, powers[number] - both
        left = tuple((number, exponent) for number, exponent in powers.items() if exponent)
        total.append(terms.times(*more, (((left, word), Fraction(1)),)))
    return terms.add(*total)
