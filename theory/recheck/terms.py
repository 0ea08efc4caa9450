"""Terms as polynomials: sums of words, with rational factors, in atoms that are numbered here.

A monomial has powers of number atoms and a word of vector and operator atoms. All that is built in
holds for all values of the variables, with 1/0 = 0, and √x = 0 for x < 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import isqrt
from typing import TypeAlias

Monomial: TypeAlias = tuple[tuple[tuple[int, int], ...], tuple[int, ...]]
Poly: TypeAlias = tuple[tuple[Monomial, Fraction], ...]
MOST = 20_000  # terms of a polynomial
EMPTY: Monomial = (), ()
ODD = ("tanh", "sin", "atan", "erf")


class Refused(Exception):  # noqa: N818 - a verdict on the proof
    """The proof is no proof; the message says why."""


@dataclass(frozen=True)
class Head:
    """A function or a variable; of a negative mark, a function of reals that the format defines."""

    name: str
    kind: str
    range: str = "real"
    least: int | None = None
    stored: bool = False
    interval: tuple[Fraction, Fraction] | None = None
    mark: int = 0


@dataclass(frozen=True)
class Atom:
    """A head at its arguments."""

    head: Head
    args: tuple[Poly, ...] = ()


INVERSE, ROOT, POWER = (Head(name, name) for name in ("inverse", "root", "power"))
ATOMS: list[Atom] = []
_NUMBERS: dict[Atom, int] = {}


def atom(head: Head, *args: Poly) -> Poly:
    """The atom as a polynomial."""
    one = Atom(head, args)
    if one not in _NUMBERS:
        for arg in args:
            sort(arg)
        _NUMBERS[one] = len(ATOMS)
        ATOMS.append(one)
    return of_number(_NUMBERS[one])


def of_number(number: int) -> Poly:
    """The atom of this number."""
    plain = sort_of(number) == "number"
    return (((((number, 1),), ()) if plain else ((), (number,)), Fraction(1)),)


def const(value: Fraction | int) -> Poly:
    """A rational number."""
    return ((EMPTY, Fraction(value)),) if value else ()


def value(one: Poly) -> Fraction | None:
    """The number that it is; None if it is none."""
    if one and (len(one) > 1 or one[0][0] != EMPTY):
        return None
    return one[0][1] if one else Fraction(0)


def single(one: Poly) -> int | None:
    """The number of the atom that it is; None if it is none."""
    top = [number for (numbers, word), _ in one for number in (*dict(numbers), *word)]
    return top[0] if len(top) == 1 and one == of_number(top[0]) else None


def add(*polys: Poly) -> Poly:
    """The sum."""
    found: dict[Monomial, Fraction] = {}
    for monomial, factor in (part for one in polys for part in one):
        found[monomial] = found.get(monomial, Fraction(0)) + factor
    return tuple(sorted((monomial, factor) for monomial, factor in found.items() if factor))


def times(*polys: Poly) -> Poly:
    """The product, in this order."""
    total = const(1)
    for one in polys:
        if len(total) * len(one) > MOST:
            raise Refused(f"a product of more than {MOST} terms")
        total = add(*(((_joined(m, n), c * d),) for m, c in total for n, d in one))
    return total


def _joined(first: Monomial, second: Monomial) -> Monomial:
    powers = dict(first[0])
    for number, exponent in second[0]:
        powers[number] = powers.get(number, 0) + exponent
    return tuple(sorted(powers.items())), first[1] + second[1]


def minus(first: Poly, second: Poly) -> Poly:
    """The difference."""
    return add(first, times(const(-1), second))


def power(base: Poly, exponent: Poly) -> Poly:
    """base^e: by a number, which is natural, -1, 1/2 or made of these; else an atom."""
    number = value(exponent)
    if number is None:
        return atom(POWER, base, exponent) if base != const(1) else base
    if number.denominator > 2 or abs(number) > MOST:
        raise Refused(f"the power by {number} is none of the format's")
    if number.denominator == 2:
        return power(_root(base), const(number.numerator))
    known = value(base)
    if known is not None and (known or number >= 0):
        return const(known ** int(number))
    return times(*[base if number > 0 else _inverse(base)] * abs(int(number)))


def _inverse(one: Poly) -> Poly:
    if not one:
        return atom(INVERSE, one)
    factor = const(1 / leading(one))
    if len(one) > 1:
        return times(factor, atom(INVERSE, times(factor, one)))
    parts = (times(*[atom(INVERSE, of_number(n))] * e) for n, e in one[0][0][0])
    return times(factor, *parts)


def _root(one: Poly) -> Poly:
    number = value(one)
    if number is not None and number >= 0:
        exact = Fraction(isqrt(number.numerator), isqrt(number.denominator))
        return const(exact) if exact**2 == number else atom(ROOT, one)
    return atom(ROOT, one)


def apply(head: Head, *args: Poly) -> Poly:
    """A function at its arguments; of v and -v a norm is the same, and 0 at 0."""
    if head in (INVERSE, ROOT):
        return _inverse(*args) if head is INVERSE else _root(*args)
    if head is POWER:
        number = value(args[1])
        if number is not None and (number.denominator > 1 or number < 0):
            raise Refused(f"the exponent of {key(args[0])} becomes {number}")
        return power(*args)
    if head.stored and any(single(arg) is None and value(arg) is None for arg in args):
        raise Refused(f"an argument of {head.name} is computed, not stored")
    odd = head.mark < 0 and head.name in ODD
    if head.mark < 0 and args[0] == {"log": const(1), "exp": (), "cos": ()}.get(head.name):
        return () if head.name == "log" else const(1)
    if (odd or head.kind == "norm") and not args[0]:
        return ()
    if (odd or head.kind == "norm") and leading(args[0]) < 0:
        turned = atom(head, times(const(-1), args[0]))
        return times(const(-1), turned) if odd else turned
    return atom(head, *args)


@cache
def sort_of(number: int) -> str:
    """The sort of an atom."""
    head, args = ATOMS[number].head, ATOMS[number].args
    if head is POWER:
        return sort(args[0]) or "number"
    found = head.range if head.kind == "variable" else head.kind
    return found if found in ("vector", "operator", "either") else "number"


@cache
def sort(one: Poly) -> str | None:
    """The sort, None of 0; refused where sorts are mixed, or no operator takes something."""
    found = {sort_of(word[-1]) if word else "number" for (_, word), _ in one}
    taking = {sort_of(number) for (_, word), _ in one for number in word[:-1]}
    if len(found) > 1 or taking - {"operator"}:
        raise Refused(f"{key(one)} has no sort")
    return found.pop() if found else None


@cache
def key(one: Poly) -> str:
    """The polynomial in one line, the same whatever was read before."""
    return " + ".join(sorted(f"{factor}*{monomial_key(m)}" for m, factor in one)) or "0"


@cache
def monomial_key(monomial: Monomial) -> str:
    """The monomial in one line."""
    numbers = sorted(f"{atom_key(number)}^{exponent}" for number, exponent in monomial[0])
    return ".".join([*numbers, *map(atom_key, monomial[1])])


@cache
def atom_key(number: int) -> str:
    """The atom in one line."""
    head, args = ATOMS[number].head, ATOMS[number].args
    mark = f"'{head.range[0]}{head.mark}" if head.kind == "variable" else f"'{head.mark}"
    return f"{head.name}{mark}({', '.join(map(key, args))})"


def leading(one: Poly) -> Fraction:
    """The factor of the monomial that comes first, whatever the factors are."""
    return min(one, key=lambda part: monomial_key(part[0]))[1]


@cache
def within(one: Poly) -> frozenset[int]:
    """All atoms in it, at any depth."""
    top = {n for (numbers, word), _ in one for n in (*dict(numbers), *word)}
    return frozenset(top).union(*(within(arg) for number in top for arg in ATOMS[number].args))


def variables(polys: Iterable[Poly]) -> frozenset[int]:
    """The variables in them."""
    found = frozenset[int]().union(*map(within, polys))
    return frozenset(number for number in found if ATOMS[number].head.kind == "variable")


def partial(polys: Iterable[Poly], *heads: Head) -> list[int]:
    """Their quotients, roots and symbolic powers, at any depth, in the order of their keys."""
    found = frozenset[int]().union(*map(within, polys))
    wanted = heads or (INVERSE, ROOT, POWER)
    return sorted((n for n in found if ATOMS[n].head in wanted), key=atom_key)


def mapped(one: Poly, change: Callable[[int], Poly]) -> Poly:
    """The polynomial with each atom at its top changed."""
    total = []
    for (numbers, word), factor in one:
        powers = [change(number) for number, exponent in numbers for _ in range(exponent)]
        total.append(times(const(factor), *powers, *map(change, word)))
    return add(*total)


def replaced(one: Poly, values: Mapping[int, Poly]) -> Poly:
    """The polynomial with each atom replaced by its value, all at once, from the outside in."""
    if within(one).isdisjoint(values):
        return one

    def put(number: int) -> Poly:
        if number in values or not ATOMS[number].args:
            return values.get(number, of_number(number))
        return apply(ATOMS[number].head, *(replaced(arg, values) for arg in ATOMS[number].args))

    return mapped(one, put)
