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
MAX_TERMS = 20_000  # terms of a polynomial
EMPTY_MONOMIAL: Monomial = (), ()
ODD_FUNCTIONS = ("tanh", "sin", "atan", "erf")


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
    """Function or variable applied to its arguments: an indeterminate of polynomials."""

    head: Head
    args: tuple[Poly, ...] = ()


INVERSE, ROOT, POWER = (Head(name, name) for name in ("inverse", "root", "power"))
ATOMS: list[Atom] = []
_NUMBERS: dict[Atom, int] = {}


def atom(head: Head, *args: Poly) -> Poly:
    """The polynomial that is the atom head(args)."""
    new_atom = Atom(head, args)
    if new_atom not in _NUMBERS:
        for arg in args:
            sort(arg)
        _NUMBERS[new_atom] = len(ATOMS)
        ATOMS.append(new_atom)
    return atom_poly(_NUMBERS[new_atom])


def atom_poly(number: int) -> Poly:
    """The polynomial that is the atom of this number."""
    is_number = sort_of(number) == "number"
    return (((((number, 1),), ()) if is_number else ((), (number,)), Fraction(1)),)


def constant(value: Fraction | int) -> Poly:
    """The constant polynomial of a rational number."""
    return ((EMPTY_MONOMIAL, Fraction(value)),) if value else ()


def constant_value(poly: Poly) -> Fraction | None:
    """The rational number that the polynomial is; None if it is not constant."""
    if poly and (len(poly) > 1 or poly[0][0] != EMPTY_MONOMIAL):
        return None
    return poly[0][1] if poly else Fraction(0)


def single_atom(poly: Poly) -> int | None:
    """Number of the atom that the polynomial is; None if it is no single atom."""
    atom_numbers = [number for (numbers, word), _ in poly for number in (*dict(numbers), *word)]
    return (
        atom_numbers[0] if len(atom_numbers) == 1 and poly == atom_poly(atom_numbers[0]) else None
    )


def add(*polys: Poly) -> Poly:
    """Sum of polynomials."""
    factors: dict[Monomial, Fraction] = {}
    for monomial, factor in (part for poly in polys for part in poly):
        factors[monomial] = factors.get(monomial, Fraction(0)) + factor
    return tuple(sorted((monomial, factor) for monomial, factor in factors.items() if factor))


def times(*polys: Poly) -> Poly:
    """Product of polynomials, in this order."""
    product = constant(1)
    for poly in polys:
        if len(product) * len(poly) > MAX_TERMS:
            raise Refused(f"a product of more than {MAX_TERMS} terms")
        product = add(*(((_multiply_monomials(m, n), c * d),) for m, c in product for n, d in poly))
    return product


def _multiply_monomials(first: Monomial, second: Monomial) -> Monomial:
    powers = dict(first[0])
    for number, exponent in second[0]:
        powers[number] = powers.get(number, 0) + exponent
    return tuple(sorted(powers.items())), first[1] + second[1]


def subtract(first: Poly, second: Poly) -> Poly:
    """The polynomial first − second."""
    return add(first, times(constant(-1), second))


def power(base: Poly, exponent: Poly) -> Poly:
    """base^e: by a number, which is natural, -1, 1/2 or made of these; else an atom."""
    number = constant_value(exponent)
    if number is None:
        return atom(POWER, base, exponent) if base != constant(1) else base
    if number.denominator > 2 or abs(number) > MAX_TERMS:
        raise Refused(f"the power by {number} is none of the format's")
    if number.denominator == 2:
        return power(_root(base), constant(number.numerator))
    known_base = constant_value(base)
    if known_base is not None and (known_base or number >= 0):
        return constant(known_base ** int(number))
    return times(*[base if number > 0 else _inverse(base)] * abs(int(number)))


def _inverse(poly: Poly) -> Poly:
    if not poly:
        return atom(INVERSE, poly)
    factor = constant(1 / leading_factor(poly))
    if len(poly) > 1:
        return times(factor, atom(INVERSE, times(factor, poly)))
    parts = (times(*[atom(INVERSE, atom_poly(n))] * e) for n, e in poly[0][0][0])
    return times(factor, *parts)


def _root(poly: Poly) -> Poly:
    number = constant_value(poly)
    if number is not None and number >= 0:
        root = Fraction(isqrt(number.numerator), isqrt(number.denominator))
        return constant(root) if root**2 == number else atom(ROOT, poly)
    return atom(ROOT, poly)


def apply_head(head: Head, *args: Poly) -> Poly:
    """A function at its arguments; of v and -v a norm is the same, and 0 at 0."""
    if head in (INVERSE, ROOT):
        return _inverse(*args) if head is INVERSE else _root(*args)
    if head is POWER:
        number = constant_value(args[1])
        if number is not None and (number.denominator > 1 or number < 0):
            raise Refused(f"the exponent of {poly_key(args[0])} becomes {number}")
        return power(*args)
    if head.stored and any(
        single_atom(arg) is None and constant_value(arg) is None for arg in args
    ):
        raise Refused(f"an argument of {head.name} is computed, not stored")
    is_odd = head.mark < 0 and head.name in ODD_FUNCTIONS
    if head.mark < 0 and args[0] == {"log": constant(1), "exp": (), "cos": ()}.get(head.name):
        return () if head.name == "log" else constant(1)
    if (is_odd or head.kind == "norm") and not args[0]:
        return ()
    if (is_odd or head.kind == "norm") and leading_factor(args[0]) < 0:
        negated = atom(head, times(constant(-1), args[0]))
        return times(constant(-1), negated) if is_odd else negated
    return atom(head, *args)


@cache
def sort_of(number: int) -> str:
    """Sort of an atom: number, vector, operator or either."""
    head, args = ATOMS[number].head, ATOMS[number].args
    if head is POWER:
        return sort(args[0]) or "number"
    sort_name = head.range if head.kind == "variable" else head.kind
    return sort_name if sort_name in ("vector", "operator", "either") else "number"


@cache
def sort(poly: Poly) -> str | None:
    """The sort, None of 0; refused where sorts are mixed, or no operator takes something."""
    sorts = {sort_of(word[-1]) if word else "number" for (_, word), _ in poly}
    operator_sorts = {sort_of(number) for (_, word), _ in poly for number in word[:-1]}
    if len(sorts) > 1 or operator_sorts - {"operator"}:
        raise Refused(f"{poly_key(poly)} has no sort")
    return sorts.pop() if sorts else None


@cache
def poly_key(poly: Poly) -> str:
    """Text of a polynomial, independent of how atoms are numbered."""
    return " + ".join(sorted(f"{factor}*{monomial_key(m)}" for m, factor in poly)) or "0"


@cache
def monomial_key(monomial: Monomial) -> str:
    """Text of a monomial, independent of how atoms are numbered."""
    numbers = sorted(f"{atom_key(number)}^{exponent}" for number, exponent in monomial[0])
    return ".".join([*numbers, *map(atom_key, monomial[1])])


@cache
def atom_key(number: int) -> str:
    """Text of an atom, independent of how atoms are numbered."""
    head, args = ATOMS[number].head, ATOMS[number].args
    mark = f"'{head.range[0]}{head.mark}" if head.kind == "variable" else f"'{head.mark}"
    return f"{head.name}{mark}({', '.join(map(poly_key, args))})"


def leading_factor(poly: Poly) -> Fraction:
    """The factor of the monomial that comes first, whatever the factors are."""
    return min(poly, key=lambda part: monomial_key(part[0]))[1]


@cache
def atoms_in(poly: Poly) -> frozenset[int]:
    """Numbers of all atoms in the polynomial, at any depth."""
    top_numbers = {n for (numbers, word), _ in poly for n in (*dict(numbers), *word)}
    return frozenset(top_numbers).union(
        *(atoms_in(arg) for number in top_numbers for arg in ATOMS[number].args)
    )


def variables_in(polys: Iterable[Poly]) -> frozenset[int]:
    """Numbers of the variables in the polynomials, at any depth."""
    numbers = frozenset[int]().union(*map(atoms_in, polys))
    return frozenset(number for number in numbers if ATOMS[number].head.kind == "variable")


def partial_atoms(polys: Iterable[Poly], *heads: Head) -> list[int]:
    """Their quotients, roots and symbolic powers, at any depth, in the order of their keys."""
    numbers = frozenset[int]().union(*map(atoms_in, polys))
    sought_heads = heads or (INVERSE, ROOT, POWER)
    return sorted((n for n in numbers if ATOMS[n].head in sought_heads), key=atom_key)


def map_atoms(poly: Poly, change: Callable[[int], Poly]) -> Poly:
    """The polynomial with each atom at its top changed."""
    mapped_terms = []
    for (numbers, word), factor in poly:
        powers = [change(number) for number, exponent in numbers for _ in range(exponent)]
        mapped_terms.append(times(constant(factor), *powers, *map(change, word)))
    return add(*mapped_terms)


def substitute(poly: Poly, values: Mapping[int, Poly]) -> Poly:
    """The polynomial with each atom replaced by its value, all at once, from the outside in."""
    if atoms_in(poly).isdisjoint(values):
        return poly

    def substitute_atom(number: int) -> Poly:
        if number in values or not ATOMS[number].args:
            return values.get(number, atom_poly(number))
        return apply_head(
            ATOMS[number].head, *(substitute(arg, values) for arg in ATOMS[number].args)
        )

    return map_atoms(poly, substitute_atom)
