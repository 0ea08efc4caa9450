"""Constructors of terms, which bring sums and products to one form by the laws of a ring alone.

Sums and products are flat, like terms are added, rationals are multiplied, numbers are moved before
vectors, x x² is x³. Nothing is cancelled: x x⁻¹ stays. Beyond rings a norm is 0 at 0 and the same
of v and −v, λ^0 is 1, √(2z) is √2 √z, log 1 and tanh 0 are 0, tanh is odd, and the like. Of powers
with an exponent that is no number nothing is built in: λ^a λ^b stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import groupby
from math import isqrt, prod

from rnnbounds.theory.kernel import heads
from rnnbounds.theory.kernel.heads import Head
from rnnbounds.theory.kernel.terms import HALF, ONE, ZERO, Term, TermError, key, make, number

MOST_TERMS = 20_000  # of an expanded expression
MOST_FACTORS = 1_000  # of a power of a number


def apply(head: Head, *args: Term) -> Term:
    """A function at its arguments, which are expanded, so that equal ones are equal trees."""
    if len(args) != 1 and (head.is_of_one or head.kind == "norm"):
        raise TermError(f"{head.name} is a function of one term, not of {len(args)}")
    args = tuple(map(expanded, args))
    if head.kind == "norm":
        (arg,) = args
        if arg is ZERO:
            return ZERO
        if _leads_negative(arg):
            args = (expanded(times(number(-1), arg)),)
    if head in (heads.MAX, heads.MIN):
        flat = {a for arg in args for a in (arg.args if arg.head is head else (arg,))}
        args = tuple(sorted(flat, key=key))
        if len(args) == 1:
            return args[0]
    if head is heads.ABS and args[0].head is heads.NUMBER:
        return number(abs(args[0].value))
    if head.value is not None and args[0] is number(head.value[0]):
        return number(head.value[1])
    if (head is heads.ABS or head.is_odd) and _leads_negative(args[0]):
        turned = make(head, (expanded(times(number(-1), args[0])),))
        return turned if head is heads.ABS else times(number(-1), turned)
    return make(head, args)


def plus(*terms: Term) -> Term:
    """The sum."""
    found: dict[Term, Fraction] = {}
    for term in terms:
        for part in parts_of(term):
            factor, rest = split(part)
            found[rest] = found.get(rest, Fraction(0)) + factor
    parts = [_scaled(factor, rest) for rest, factor in found.items() if factor]
    if not parts:
        return ZERO
    return parts[0] if len(parts) == 1 else make(heads.SUM, tuple(sorted(parts, key=key)))


def times(*terms: Term) -> Term:
    """The product: a rational, then numbers, then vectors and operators in their order."""
    factor, numbers, others = Fraction(1), [], []
    for term in terms:
        for part in term.args if term.head is heads.PRODUCT else (term,):
            if part.head is heads.NUMBER:
                factor *= part.value
            elif part.commutes:
                numbers.append(part)
            else:
                others.append(part)
    if factor == 0:
        return ZERO
    rest = _product([*_gathered(numbers), *_repeated(others)])
    return _scaled(factor, rest)


def power(base: Term, exponent: Term) -> Term:
    """base^exponent; of rational numbers and whole exponents the value, of operators by a natural
    number above 0: an operator has no inverse but what a law calls so."""
    if not (
        base.commutes or (exponent.head is heads.NUMBER and exponent.whole and exponent.value > 0)
    ):
        raise TermError(f"{make(heads.POWER, (base, exponent))}: the power of an operator is none")
    if exponent.head is not heads.NUMBER:
        if not exponent.whole:
            raise TermError(f"{exponent} is not shown to be a natural number")
        return ONE if base is ONE else make(heads.POWER, (base, exponent))
    value = exponent.value
    if value.denominator > 2:
        raise TermError(f"the power {make(heads.POWER, (base, exponent))} has no translation")
    if value.denominator == 2:
        return _root(base) if exponent is HALF else power(_root(base), number(value.numerator))
    return _whole(base, int(value))


def _whole(base: Term, n: int) -> Term:
    if n in (0, 1) or base is ONE:
        return base if n else ONE
    if base.head is heads.NUMBER and (base.value or n > 0):
        if abs(n) > MOST_FACTORS:
            raise TermError(f"a power of {base} with more than {MOST_FACTORS} factors")
        return number(base.value**n)
    if base.head is heads.POWER and base.args[1].head is heads.NUMBER and n > 0:
        root, inner = base.args[0], base.args[1].value
        if inner.denominator == 1:
            return power(root, number(inner * n))
        if n > 1 and root.head is heads.NUMBER and root.value >= 0:  # (√2)² is 2
            return times(power(root, number(n // 2)), power(base, number(n % 2)))
    if base.head is heads.PRODUCT and base.commutes:
        return times(*(power(arg, number(n)) for arg in base.args))
    return make(heads.POWER, (base, number(n)))


def _root(base: Term) -> Term:
    factor, rest = split(base)
    root = Fraction(isqrt(max(factor.numerator, 0)), isqrt(factor.denominator))
    if base.head is heads.NUMBER and root * root == factor:
        return number(root)
    if rest is not ONE and factor > 0 and factor != 1:  # √(2z) is √2 √z
        return times(_root(number(factor)), _root(rest))
    return make(heads.POWER, (base, HALF))


def minus(first: Term, second: Term) -> Term:
    """The difference."""
    return plus(first, times(number(-1), second))


def split(term: Term) -> tuple[Fraction, Term]:
    """A rational factor and the rest, which has none."""
    if term.head is heads.NUMBER:
        return term.value, ONE
    if term.head is heads.PRODUCT and term.args[0].head is heads.NUMBER:
        rest = term.args[1:]
        return term.args[0].value, rest[0] if len(rest) == 1 else make(heads.PRODUCT, rest)
    return Fraction(1), term


def _scaled(factor: Fraction, rest: Term) -> Term:
    if rest is ONE:
        return number(factor)
    if factor == 1:
        return rest
    if rest.head is heads.SUM:
        return plus(*(_scaled(factor * own, part) for own, part in map(split, rest.args)))
    own, bare = split(rest)
    if own != 1:
        return _scaled(factor * own, bare)
    parts = rest.args if rest.head is heads.PRODUCT else (rest,)
    return make(heads.PRODUCT, (number(factor), *parts))


def _product(parts: list[Term]) -> Term:
    factors = [part for part in parts if part.head is heads.NUMBER]
    rest = tuple(part for part in parts if part.head is not heads.NUMBER)
    bare = ONE if not rest else rest[0] if len(rest) == 1 else make(heads.PRODUCT, rest)
    return _scaled(prod((f.value for f in factors), start=Fraction(1)), bare)


def _gathered(numbers: Iterable[Term]) -> Iterator[Term]:
    """Equal bases once, by the sign of whole exponents: x x² is x³, and x x⁻¹ is left alone."""
    found: dict[tuple[Term, bool], Fraction] = {}
    for term in numbers:
        base, exponent = whole_power(term)
        at = (base, exponent > 0)
        found[at] = found.get(at, Fraction(0)) + exponent
    parts = [power(base, number(exponent)) for (base, _), exponent in found.items()]
    yield from sorted(parts, key=key)


def whole_power(term: Term) -> tuple[Term, Fraction]:
    """Base and exponent; of all but whole powers the term itself and 1."""
    if term.head is heads.POWER and term.args[1].head is heads.NUMBER and term.args[1].whole:
        return term.args[0], term.args[1].value
    return term, Fraction(1)


def _repeated(others: list[Term]) -> Iterator[Term]:
    """Neighbours that are equal as one power of an operator."""
    for base, found in groupby(map(whole_power, others), key=lambda pair: pair[0]):
        yield power(base, number(sum((exponent for _, exponent in found), Fraction(0))))


def expanded(term: Term) -> Term:
    """The term with products of sums written out at its top, powers of sums left alone; what
    stands in functions is so already."""
    if term.head is heads.SUM:
        return plus(*map(expanded, term.args))
    if term.head is not heads.PRODUCT or all(arg.head is not heads.SUM for arg in term.args):
        return term
    return _multiplied(map(expanded, term.args), term)


def fully_expanded(term: Term) -> Term:
    """Expand products of sums and whole powers of sums at the top of a term."""
    if term.head is heads.SUM:
        return plus(*map(fully_expanded, term.args))
    if term.head is heads.PRODUCT:
        return _multiplied(map(fully_expanded, term.args), term)
    base, n = whole_power(term)
    if base.head is heads.SUM and n > 1:
        return _multiplied([fully_expanded(base)] * int(n), term)
    return term


def _multiplied(factors: Iterable[Term], term: Term) -> Term:
    """The product of expanded factors, written out."""
    total = ONE
    for factor in factors:
        rows, parts = parts_of(total), parts_of(factor)
        if len(rows) * len(parts) > MOST_TERMS:
            raise TermError(f"{term} has more than {MOST_TERMS} terms when expanded")
        total = plus(*(times(row, part) for row in rows for part in parts))
    return total


def parts_of(term: Term) -> tuple[Term, ...]:
    """Summands of a term; the term itself if it is no sum."""
    return term.args if term.head is heads.SUM else (term,)


def rebuilt(term: Term, values: Mapping[Term, Term]) -> Term:
    """The term with each key replaced by its value, all at once, from the outside in."""
    done: dict[Term, Term] = {}

    def put(one: Term) -> Term:
        if one in values:
            return values[one]
        if not one.args:
            return one
        if one not in done:
            args = tuple(map(put, one.args))
            same = all(new is old for new, old in zip(args, one.args, strict=True))
            done[one] = one if same else build(one.head, args)
        return done[one]

    return put(term) if values else term


def build(head: Head, args: tuple[Term, ...]) -> Term:
    """The head on these arguments, by its constructor."""
    if head is heads.SUM:
        return plus(*args)
    if head is heads.PRODUCT:
        return times(*args)
    return power(*args) if head is heads.POWER else apply(head, *args)


def _leads_negative(term: Term) -> bool:
    """True if the first summand, in term order without coefficients, has a negative coefficient."""
    factor, _ = min(map(split, parts_of(term)), key=lambda pair: pair[1].key)
    return factor < 0
