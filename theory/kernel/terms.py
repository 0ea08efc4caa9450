"""Terms of the kernel: typed trees, one object for each, compared by structure.

A term has a sort: number, vector, operator, or either of the last two. Every term denotes a value
for all values of its variables: a quotient by 0, the root or the logarithm of what is negative, and
the power by what is no natural number are 0 by convention, which no rule and no law uses:
`theory.kernel.statements.domains` says where a value is theirs, and a step shows that it is. No
term binds a variable. `theory.kernel.algebra` makes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from operator import attrgetter
from typing import Literal, TypeAlias
from weakref import WeakValueDictionary

from rnnbounds.theory.kernel import heads
from rnnbounds.theory.kernel.heads import Head, Range

MOST_BITS = 14_000  # of a numerator or denominator: Python writes 4300 digits

Sort: TypeAlias = Literal["number", "vector", "operator", "either"]


class Gap(Exception):  # noqa: N818 - not an error of the program: the step does not follow
    """The step does not follow; the message says why, with a counter-model where there is one."""


class TermError(Gap):
    """Malformed or oversized term; the message gives the reason."""


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
        if head is heads.NUMBER:
            return str(self.value)
        if not self.args:
            return f"{head.name}'{head.mark}" if head.mark else head.name
        if head is heads.POWER:
            return f"({self.args[0].key})^({self.args[1].key})"
        name = {heads.SUM: "+", heads.PRODUCT: "*"}.get(head, head.name)
        return f"{name}({', '.join(arg.key for arg in self.args)})"

    def __repr__(self) -> str:
        return _PRINTERS[-1](self)

    @cached_property
    def sort(self) -> Sort:
        """The sort; raises TermError where what is added or multiplied has none."""
        head = self.head
        if head.kind in heads.NUMBERS:
            found = {arg.sort for arg in self.args}
            if head.is_of_numbers and not found <= {"number"}:
                raise TermError(f"{self} is a function of a number; take a norm or an entry")
            return "number"
        if head.kind == "variable":
            return _SORTS[head.range]
        if head is heads.SUM:
            found = {arg.sort for arg in self.args}
            if len(found) > 1:
                raise TermError(f"{self} adds {' and '.join(sorted(found))}")
            return found.pop()
        if head is heads.PRODUCT:
            return _sort_of_product(self)
        if head is heads.POWER:
            base, exponent = (arg.sort for arg in self.args)
            if base not in ("number", "operator"):
                raise TermError(f"{self} is a power of a {base}")
            if exponent != "number":
                raise TermError(f"{self} is a power by a {exponent}")
            return base
        for arg in self.args:
            _ = arg.sort
        return "vector" if head.kind == "vector" else "operator"

    @cached_property
    def commutes(self) -> bool:
        """True if the term is a number (so commutes), judged by its heads."""
        head = self.head
        if head in (heads.SUM, heads.PRODUCT, heads.POWER):
            return all(arg.commutes for arg in self.args)
        return head.kind in heads.NUMBERS or (
            head.range in ("real", "natural") and (head.kind == "variable")
        )

    @cached_property
    def variables(self) -> frozenset[Term]:
        """The variables in it: no term binds any."""
        if self.head.kind == "variable":
            return frozenset((self,))
        return frozenset[Term]().union(*(arg.variables for arg in self.args))

    @cached_property
    def whole(self) -> bool:
        """True if the form of the term shows that all its values are integers."""
        head = self.head
        if head is heads.NUMBER:
            return self.value.denominator == 1
        if head.kind == "variable":
            return head.range == "natural"
        return head in (heads.SUM, heads.PRODUCT) and all(arg.whole for arg in self.args)


Printer: TypeAlias = Callable[[Term], str]
_PRINTERS: list[Printer] = [attrgetter("key")]


def prints(printer: Printer) -> Printer:
    """Make the function, which reads terms by the algebra on them, print all terms."""
    _PRINTERS.append(printer)
    return printer


_SORTS: dict[Range, Sort] = {
    "real": "number", "natural": "number", "vector": "vector", "operator": "operator",
    "either": "either",
}  # fmt: skip
_ALL: WeakValueDictionary[tuple[Head, tuple[Term, ...], Fraction], Term] = WeakValueDictionary()


def make(head: Head, args: tuple[Term, ...] = (), value: Fraction = Fraction(0)) -> Term:
    """The one term of this head, these arguments, this value, brought to no form."""
    key = (head, args, value)
    found = _ALL.get(key)
    if found is None:
        found = _ALL.setdefault(key, Term(head, args, value))
    return found


def number(value: Fraction | int) -> Term:
    """A rational number; raises TermError for one that is too long to be written."""
    found = Fraction(value)
    if max(found.numerator.bit_length(), found.denominator.bit_length()) > MOST_BITS:
        raise TermError(f"a number of more than {MOST_BITS} bits")
    return make(heads.NUMBER, (), found)


ZERO, ONE, HALF = number(0), number(1), number(Fraction(1, 2))
key = attrgetter("key")  # by which terms are ordered


def variable(name: str, over: Range, least: int | None = None, mark: int = 0) -> Term:
    """A variable over the reals, the naturals, all vectors or operators."""
    return make(Head(name, "variable", over, least, mark=mark))


def constant(name: str, interval: tuple[Fraction, Fraction]) -> Term:
    """A real number with no closed form, between rational bounds."""
    return make(Head(name, "scalar", interval=interval))


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
    found = {p for t in terms for p in within(t) if p.head is heads.POWER and p.args[1].variables}
    return tuple(sorted(found, key=key))


def _sort_of_product(term: Term) -> Sort:
    others = [arg for arg in term.args if arg.sort != "number"]
    for arg in others[:-1]:
        if arg.sort != "operator":
            raise TermError(f"{arg} in {term} is no operator, and takes nothing")
    return others[-1].sort if others else "number"
