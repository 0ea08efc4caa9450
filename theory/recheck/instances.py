"""A law at terms, under the premise that all has a value there, which cancels quotients."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from rnnbounds.theory.recheck import terms
from rnnbounds.theory.recheck.reading import Clause, Law, Statement
from rnnbounds.theory.recheck.solver import Facts, require_natural
from rnnbounds.theory.recheck.terms import ATOMS, INVERSE, ROOT, Head, Poly, Refused


def domain_conditions(polys: Sequence[Poly]) -> list[Statement]:
    """Conditions under which quotients and roots in the polynomials are defined."""
    conditions = []
    for number in terms.partial_atoms(polys, INVERSE, ROOT):
        (inner,), inner_atom = ATOMS[number].args, terms.single_atom(ATOMS[number].args[0])
        interval = ATOMS[inner_atom].head.interval if inner_atom is not None else None
        if not (interval and interval[0] > 0) and (terms.constant_value(inner) or 0) <= 0:
            is_quotient = ATOMS[number].head is INVERSE
            conditions.append(
                Statement(inner, "!=", ()) if is_quotient else Statement((), "<=", inner)
            )
    return conditions


def instantiate(law: Law, at: Sequence[Poly], named: Sequence[Law], facts: Facts) -> list[Clause]:
    """The law at these terms, under the premise that all has a value there."""
    values = dict(zip(law.variables, at, strict=True))
    for variable, term in values.items():
        expected, actual = terms.sort_of(variable), terms.sort(term)
        if actual not in (None, expected) and (expected != "either" or actual == "number"):
            raise Refused(f"{terms.poly_key(term)} is no {expected}")
        if ATOMS[variable].head.range == "natural":
            require_natural(term, facts)
    for required in law.requires:
        substituted = [values[one] for one in required.constants if one in values]
        requirement = Law(
            required.variables, tuple(clause.at(values) for clause in required.clauses)
        )
        if requirement not in named or not terms.variables_in(substituted).isdisjoint(
            required.variables
        ):
            raise Refused("nothing used states what the law requires")
    sides = [side for clause in law.clauses for side in clause.sides]
    domain = [*(one.at(values) for one in domain_conditions(sides)), *domain_conditions(at)]
    return [_with_domain(one.at(values), tuple(dict.fromkeys(domain))) for one in law.clauses]


def at_own_variables(law: Law) -> list[Clause]:
    """The law's clauses at its own variables."""
    return instantiate(law, [terms.atom_poly(number) for number in law.variables], (), ())


def _with_domain(clause: Clause, domain: tuple[Statement, ...]) -> Clause:
    """Under the premises that give a value, and so with x/x as 1 and (√x)² as x."""
    nonzero_or_root = {
        (condition.lhs or condition.rhs, INVERSE if condition.relation == "!=" else ROOT)
        for condition in domain
    }

    def put(condition: Statement) -> Statement:
        lhs, rhs = (_cancel_quotients(side, nonzero_or_root) for side in condition.sides)
        return Statement(lhs, condition.relation, rhs)

    return Clause(put(clause.conclusion), (*map(put, clause.given), *domain)) if domain else clause


def _cancel_quotients(poly: Poly, granted: set[tuple[Poly, Head]]) -> Poly:
    def cancel_inside(number: int) -> Poly:
        head, args = ATOMS[number].head, ATOMS[number].args
        opaque = head.mark < 0 and head.name not in ("abs", "max", "min")
        inner_granted = {poly for poly in granted if poly[1] is ROOT or not opaque}
        cancelled_args = (_cancel_quotients(arg, inner_granted) for arg in args)
        return terms.apply_head(head, *cancelled_args) if args else terms.atom_poly(number)

    terms_left = []
    for (numbers, word), factor in terms.map_atoms(poly, cancel_inside):
        powers, factors = dict(numbers), [terms.constant(factor)]
        for number in terms.partial_atoms([terms.atom_poly(n) for n in powers], INVERSE, ROOT):
            (inner,), base = ATOMS[number].args, terms.single_atom(ATOMS[number].args[0])
            is_granted = (inner, ATOMS[number].head) in granted or (
                terms.constant_value(inner) or 0
            ) > 0
            if number not in powers or not is_granted:
                continue
            if ATOMS[number].head is ROOT:
                factors += [inner] * (powers[number] // 2)
                powers[number] %= 2
            elif base in powers:
                common = min(powers[base], powers[number])
                powers[base], powers[number] = powers[base] - common, powers[number] - common
        remaining = tuple((number, exponent) for number, exponent in powers.items() if exponent)
        terms_left.append(terms.times(*factors, (((remaining, word), Fraction(1)),)))
    return terms.add(*terms_left)
