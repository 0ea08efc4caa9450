"""Terms of the kernel: typed trees, one object for each, compared by structure.

A term has a sort: number, vector, operator, or either of the last two. Constructors bring sums and
products to one form by the laws of a ring alone: sums and products are flat, like terms are added,
rationals are multiplied, numbers are moved before vectors, x x is x². Nothing is cancelled, no
function is evaluated, no power is taken apart. Every term denotes a value for all values of its
variables: a quotient by 0, the root or the logarithm of what is negative, and the power by what is
no natural number are 0 by convention, which no rule and no law uses: `domains` says where a value
is theirs, and a step shows that it is.

Beyond rings a norm is 0 at 0 and the same of v and −v, λ^0 is 1, log 1 and tanh 0 are 0, tanh is
odd, and the like. Of powers with an exponent
that is no number nothing is built in: λ^a λ^b stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import groupby
from functools import cached_property, reduce
from math import comb, isqrt, prod
from typing import Literal, TypeAlias
from weakref import WeakValueDictionary

Sort: TypeAlias = Literal["number", "vector", "operator", "either"]
Range: TypeAlias = Literal["real", "natural", "vector", "operator", "either"]
MOST_TERMS = 20_000  # of an expanded expression
MOST_FACTORS = 1_000  # of a power of a number


class Gap(Exception):  # noqa: N818 - not an error of the program: the step does not follow
    """The step does not follow; the message says why, with a counter-model where there is one."""


class TermError(Gap):
    """What is no term, or one too large; the message says why."""


@dataclass(frozen=True)
class Head:
    """What stands at the root of a term.

    kind: `number`, `variable`, `sum`, `product`, `power`, or a function by what it returns:
    `scalar`, `norm`, `vector`, `operator`. least: a lower bound on all values of a variable.
    stored: arguments are names of values in float64, no expressions. interval: rational bounds of a
    constant with no closed form.
    """

    name: str
    kind: str
    range: Range = "real"
    least: int | None = None
    stored: bool = False
    interval: tuple[Fraction, Fraction] | None = None
    mark: int = 0  # tells variables of one name apart


NUMBER, SUM, PRODUCT, POWER = (
    Head(kind, kind) for kind in ("number", "sum", "product", "power")
)
# Functions of reals that statements are written in; of all but the first three nothing is known
# but what laws say, and what `elementary` and `exact` know.
REAL_FUNCTIONS = {
    name: Head(name, "scalar", mark=-1)
    for name in ("abs", "max", "min", "log", "tanh", "exp", "sin", "cos", "atan", "erf")
}
TRANSPOSE, EXPONENTIAL = Head("transpose", "operator"), Head("exponential", "scalar")
# Odd and even functions, and the values that are built in: f(0) but log 1.
_ODD = {REAL_FUNCTIONS[name] for name in ("tanh", "sin", "atan", "erf")}
_VALUES = {REAL_FUNCTIONS["exp"]: (0, 1), REAL_FUNCTIONS["cos"]: (0, 1), REAL_FUNCTIONS["log"]: (1, 0)}
ABS, MAX, MIN, LOG = (REAL_FUNCTIONS[name] for name in ("abs", "max", "min", "log"))


def is_formal(head: Head) -> bool:
    """Whether it is a scalar of which nothing is known but what laws say."""
    return head.kind == "scalar" and head.mark >= 0


@dataclass(frozen=True, eq=False, repr=False)
class Term:
    """A head on its arguments; of a number its value. Equal terms are one object."""

    head: Head
    args: tuple[Term, ...] = ()
    value: Fraction = Fraction(0)
    __weakref__: object = field(init=False, repr=False, compare=False)

    @cached_property
    def key(self) -> str:
        """The term in one line, by which terms are ordered."""
        head = self.head
        if head is NUMBER:
            return str(self.value)
        if not self.args:
            return f"{head.name}'{head.mark}" if head.mark else head.name
        if head is POWER:
            return f"({self.args[0].key})^({self.args[1].key})"
        name = {SUM: "+", PRODUCT: "*"}.get(head, head.name)
        return f"{name}({', '.join(arg.key for arg in self.args)})"

    def __repr__(self) -> str:
        return shown(self)

    @cached_property
    def sort(self) -> Sort:
        """The sort; raises TermError where what is added or multiplied has none."""
        head = self.head
        if head.kind in ("number", "scalar", "norm"):
            for arg in self.args:
                _ = arg.sort
            return "number"
        if head.kind == "variable":
            return "number" if head.range in ("real", "natural") else head.range
        if head is SUM:
            found = {arg.sort for arg in self.args}
            if len(found) > 1:
                raise TermError(f"{self} adds {' and '.join(sorted(found))}")
            return found.pop()
        if head is PRODUCT:
            return _sort_of_product(self)
        if head is POWER:
            base = self.args[0].sort
            if base not in ("number", "operator") or self.args[1].sort != "number":
                raise TermError(f"{self} is a power of a {base}")
            return base
        for arg in self.args:
            _ = arg.sort
        return "vector" if head.kind == "vector" else "operator"

    @cached_property
    def commutes(self) -> bool:
        """Whether it is a number, as far as its root says."""
        head = self.head
        if head in (SUM, PRODUCT, POWER):
            return all(arg.commutes for arg in self.args)
        return head.kind in ("number", "scalar", "norm") or head.range in ("real", "natural") and (
            head.kind == "variable"
        )

    @cached_property
    def variables(self) -> frozenset[Term]:
        """The variables in it: no term binds any."""
        if self.head.kind == "variable":
            return frozenset((self,))
        return frozenset[Term]().union(*(arg.variables for arg in self.args))

    @cached_property
    def whole(self) -> bool:
        """Whether all its values are integers, by its form."""
        head = self.head
        if head is NUMBER:
            return self.value.denominator == 1
        if head.kind == "variable":
            return head.range == "natural"
        return head in (SUM, PRODUCT) and all(arg.whole for arg in self.args)


_ALL: WeakValueDictionary[tuple[Head, tuple[Term, ...], Fraction], Term] = WeakValueDictionary()


def _make(head: Head, args: tuple[Term, ...] = (), value: Fraction = Fraction(0)) -> Term:
    key = (head, args, value)
    found = _ALL.get(key)
    if found is None:
        found = _ALL.setdefault(key, Term(head, args, value))
    return found


def number(value: Fraction | int) -> Term:
    """A rational number."""
    return _make(NUMBER, (), Fraction(value))


ZERO, ONE, HALF = number(0), number(1), number(Fraction(1, 2))


def variable(name: str, over: Range, least: int | None = None, mark: int = 0) -> Term:
    """A variable over the reals, the naturals, all vectors or operators."""
    return _make(Head(name, "variable", over, least, mark=mark))


def constant(name: str, interval: tuple[Fraction, Fraction]) -> Term:
    """A real number with no closed form, between rational bounds."""
    return _make(Head(name, "scalar", interval=interval))


def apply(head: Head, *args: Term) -> Term:
    """A function at its arguments, which are expanded, so that equal ones are equal trees."""
    args = tuple(map(expanded, args))
    if head.stored and not all(_is_stored(arg) for arg in args):
        raise TermError(f"an argument of {head.name} is computed, not stored; name it")
    if head.kind == "norm":
        (arg,) = args
        if arg is ZERO:
            return ZERO
        if _leads_negative(arg):
            args = (expanded(times(number(-1), arg)),)
    if head in (MAX, MIN):
        flat = {a for arg in args for a in (arg.args if arg.head is head else (arg,))}
        args = tuple(sorted(flat, key=_key))
        if len(args) == 1:
            return args[0]
    if head is ABS and args[0].head is NUMBER:
        return number(abs(args[0].value))
    at, value = _VALUES.get(head, (0, 0))
    if (head in _VALUES or head in _ODD) and args[0] is number(at):
        return number(value)
    if (head is ABS or head in _ODD) and _leads_negative(args[0]):
        turned = _make(head, (expanded(times(number(-1), args[0])),))
        return turned if head is ABS else times(number(-1), turned)
    return _make(head, args)


def plus(*terms: Term) -> Term:
    """The sum."""
    found: dict[Term, Fraction] = {}
    for term in terms:
        for part in term.args if term.head is SUM else (term,):
            factor, rest = split(part)
            found[rest] = found.get(rest, Fraction(0)) + factor
    parts = [_scaled(factor, rest) for rest, factor in found.items() if factor]
    if not parts:
        return ZERO
    return parts[0] if len(parts) == 1 else _make(SUM, tuple(sorted(parts, key=_key)))


def times(*terms: Term) -> Term:
    """The product: a rational, then numbers, then vectors and operators in their order."""
    factor, numbers, others = Fraction(1), [], []
    for term in terms:
        for part in term.args if term.head is PRODUCT else (term,):
            if part.head is NUMBER:
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
    """base^exponent; of rational numbers and whole exponents the value."""
    if exponent is ONE:
        return base
    if exponent is ZERO:
        return ONE
    if base is ONE:
        return ONE
    if exponent.head is NUMBER and exponent.value.denominator == 1:
        n = int(exponent.value)
        if base.head is NUMBER and (base.value or n > 0):
            if abs(n) > MOST_FACTORS:
                raise TermError(f"a power of {n} factors; the limit is {MOST_FACTORS}")
            return number(base.value**n)
        if base.head is POWER and base.args[1].head is NUMBER and n > 0:
            inner = base.args[1].value
            if inner.denominator == 1:
                return power(base.args[0], number(inner * n))
            if n > 1 and base.args[0].head is NUMBER and base.args[0].value >= 0:  # (√2)² is 2
                return times(power(base.args[0], number(n // 2)), power(base, number(n % 2)))
        if base.head is PRODUCT and base.commutes:
            return times(*(power(arg, exponent) for arg in base.args))
    if exponent.head is NUMBER and exponent.value == Fraction(1, 2):
        factor, rest = split(base)
        root = Fraction(isqrt(max(factor.numerator, 0)), isqrt(factor.denominator))
        if base.head is NUMBER and root * root == factor:
            return number(root)
        if rest is not ONE and factor > 0 and factor != 1:  # √(2z) is √2 √z
            return times(power(number(factor), exponent), power(rest, exponent))
    return _make(POWER, (base, exponent))


def minus(first: Term, second: Term) -> Term:
    """The difference."""
    return plus(first, times(number(-1), second))


def split(term: Term) -> tuple[Fraction, Term]:
    """A rational factor and the rest, which has none."""
    if term.head is NUMBER:
        return term.value, ONE
    if term.head is PRODUCT and term.args[0].head is NUMBER:
        rest = term.args[1:]
        return term.args[0].value, rest[0] if len(rest) == 1 else _make(PRODUCT, rest)
    return Fraction(1), term


def _scaled(factor: Fraction, rest: Term) -> Term:
    if rest is ONE:
        return number(factor)
    if factor == 1:
        return rest
    if rest.head is SUM:
        return plus(*(_scaled(factor * own, part) for own, part in map(split, rest.args)))
    own, bare = split(rest)
    if own != 1:
        return _scaled(factor * own, bare)
    parts = rest.args if rest.head is PRODUCT else (rest,)
    return _make(PRODUCT, (number(factor), *parts))


def _product(parts: list[Term]) -> Term:
    factors = [part for part in parts if part.head is NUMBER]
    rest = tuple(part for part in parts if part.head is not NUMBER)
    bare = ONE if not rest else rest[0] if len(rest) == 1 else _make(PRODUCT, rest)
    return _scaled(prod((f.value for f in factors), start=Fraction(1)), bare)


def _gathered(numbers: Iterable[Term]) -> Iterator[Term]:
    """Equal bases once, by the sign of whole exponents: x x² is x³, and x x⁻¹ is left alone."""
    found: dict[tuple[Term, bool], Fraction] = {}
    for term in numbers:
        base, exponent = whole_power(term)
        at = (base, exponent > 0)
        found[at] = found.get(at, Fraction(0)) + exponent
    parts = [power(base, number(exponent)) for (base, _), exponent in found.items()]
    yield from sorted(parts, key=_key)


def whole_power(term: Term) -> tuple[Term, Fraction]:
    """Base and exponent; of all but whole powers the term itself and 1."""
    if term.head is POWER and term.args[1].head is NUMBER and term.args[1].whole:
        return term.args[0], term.args[1].value
    return term, Fraction(1)


def _repeated(others: list[Term]) -> Iterator[Term]:
    """Neighbours that are equal as one power of an operator."""
    for base, found in groupby(map(whole_power, others), key=lambda pair: pair[0]):
        yield power(base, number(sum((exponent for _, exponent in found), Fraction(0))))


def expanded(term: Term) -> Term:
    """The term with products of sums written out at its top, powers of sums left alone; what
    stands in functions is so already."""
    if term.head is SUM:
        return plus(*map(expanded, term.args))
    if term.head is not PRODUCT or all(arg.head is not SUM for arg in term.args):
        return term
    if prod(len(arg.args) if arg.head is SUM else 1 for arg in term.args) > MOST_TERMS:
        raise TermError(f"{term} has more than {MOST_TERMS} terms when expanded")
    rows: list[tuple[Term, ...]] = [()]
    for arg in term.args:
        parts = arg.args if arg.head is SUM else (arg,)
        rows = [(*row, part) for row in rows for part in parts]
    return expanded(plus(*(times(*row) for row in rows)))


def fully_expanded(term: Term) -> Term:
    """The same with whole powers of sums written out too."""
    if term.head is POWER and term.args[0].head is SUM and term.args[1].whole:
        n = int(term.args[1].value) if term.args[1].head is NUMBER else 0
        if n > 0:
            base = fully_expanded(term.args[0])
            count = len(base.args) if base.head is SUM else 1
            if comb(n + count - 1, n) > MOST_TERMS:
                raise TermError(f"{term} has more than {MOST_TERMS} terms when expanded")
            return reduce(lambda one, two: expanded(times(one, two)), [base] * n)
    if term.head in (SUM, PRODUCT):
        join = plus if term.head is SUM else times
        return expanded(join(*map(fully_expanded, term.args)))
    return term


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
    if head is SUM:
        return plus(*args)
    if head is PRODUCT:
        return times(*args)
    return power(*args) if head is POWER else apply(head, *args)


def within(term: Term) -> Iterator[Term]:
    """The term and all its parts, each once."""
    seen: set[Term] = set()
    left = [term]
    while left:
        one = left.pop()
        if one not in seen:
            seen.add(one)
            left += one.args
            yield one


def symbolic_powers(terms: Iterable[Term]) -> tuple[Term, ...]:
    """All powers whose exponent is no number."""
    found = {p for t in terms for p in within(t) if p.head is POWER and p.args[1].variables}
    return tuple(sorted(found, key=_key))


def _sort_of_product(term: Term) -> Sort:
    others = [arg for arg in term.args if arg.sort != "number"]
    for arg in others[:-1]:
        if arg.sort != "operator":
            raise TermError(f"{arg} in {term} is no operator, and takes nothing")
    return others[-1].sort if others else "number"


def _is_stored(term: Term) -> bool:
    return term.head not in (SUM, PRODUCT, POWER)


def _leads_negative(term: Term) -> bool:
    """Whether the first of the terms of a sum, whatever their signs, has a negative factor."""
    parts = term.args if term.head is SUM else (term,)
    factor, _ = min((split(part) for part in parts), key=lambda pair: pair[1].key)
    return factor < 0


def _key(term: Term) -> str:
    return term.key


def shown(term: Term) -> str:
    """The term as it is typed: `T - k`, `S_0*lam**k/(1 - lam)`, `sqrt(z)`."""
    head = term.head
    if head is SUM:
        parts = sorted(term.args, key=lambda part: split(part)[0] < 0)  # what is added first
        first, *rest = map(shown, parts)
        return first + "".join(f" - {p[1:]}" if p[0] == "-" else f" + {p}" for p in rest)
    if head is PRODUCT:
        return _shown_product(term)
    if head is POWER:
        base, exponent = term.args
        if exponent is HALF:
            return f"sqrt({shown(base)})"
        if exponent.head is NUMBER and exponent.value < 0:
            return _shown_product(term)
        return f"{_factor(base, POWER)}**{_factor(exponent, POWER)}"
    if not term.args:
        return str(term.value) if head is NUMBER else head.name
    return f"{head.name}({', '.join(map(shown, term.args))})"


def _shown_product(term: Term) -> str:
    factor, rest = split(term)
    parts = rest.args if rest.head is PRODUCT else (rest,)
    above, below = [], []
    for part in parts:
        base, exponent = whole_power(part)
        if exponent < 0:
            below.append(_factor(power(base, number(-exponent))))
        elif part is not ONE:
            above.append(_factor(part))
    if abs(factor.numerator) != 1 or not above:
        above.insert(0, str(abs(factor.numerator)))
    if factor.denominator != 1:
        below.insert(0, str(factor.denominator))
    sign, top, bottom = "-" if factor < 0 else "", "*".join(above), "*".join(below)
    if not bottom:
        return f"{sign}{top}"
    return f"{sign}{top}/{bottom}" if len(below) == 1 else f"{sign}{top}/({bottom})"


def _factor(term: Term, within: Head = PRODUCT) -> str:
    """The term in parentheses where it needs some."""
    compound = {PRODUCT: (SUM,), POWER: (SUM, PRODUCT, POWER)}[within]
    negative = term.head is NUMBER and (term.value < 0 or term.value.denominator > 1)
    return f"({shown(term)})" if term.head in compound or negative else shown(term)
