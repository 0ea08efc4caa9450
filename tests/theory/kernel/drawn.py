"""Trees of sums, products, powers, roots, moduli, maxima, and their values.

Values are balls of many bits. A ball that contains 0 is taken as 0: the trees drawn are small.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import reduce
from typing import TypeAlias

from flint import arb, fmpq
from hypothesis import assume
from hypothesis import strategies as st

from rnnbounds.theory.kernel import algebra, heads, terms

Tree: TypeAlias = tuple[object, ...]  # an operation and what it is of, as it was drawn
MOST = 120  # of the examples drawn
BITS, ALIKE = 4000, arb(2) ** -1500
NAMES = ("x", "y", "z")
x, y, z = (terms.variable(name, "real") for name in NAMES)
A, v = terms.variable("A", "operator"), terms.variable("v", "vector")
NUMBERS = [Fraction(n) for n in (-2, -1, 0, 1, 2, 3, 4)] + [Fraction(1, 2), Fraction(-9, 4)]


def grown(inner: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
    """Operations on smaller trees."""
    many = st.lists(inner, min_size=2, max_size=3).map(tuple)
    joined = st.tuples(st.sampled_from(["+", "*", "max", "min"]), many).map(lambda t: (t[0], *t[1]))
    single = st.tuples(st.sampled_from(["root", "abs"]), inner)
    return joined | single | st.tuples(st.just("^"), inner, st.sampled_from([-2, -1, 0, 1, 2, 3]))


leaves = st.sampled_from(NAMES).map(lambda n: ("name", n)) | st.sampled_from(NUMBERS).map(
    lambda n: ("number", n)
)
trees = st.recursive(leaves, grown, max_leaves=7)
points = st.fixed_dictionaries({name: st.sampled_from(NUMBERS) for name in NAMES})
MAKE: dict[str, Callable[..., terms.Term]] = {
    "+": algebra.plus,
    "*": algebra.times,
    "max": lambda *args: algebra.apply(heads.MAX, *args),
    "min": lambda *args: algebra.apply(heads.MIN, *args),
    "abs": lambda arg: algebra.apply(heads.ABS, arg),
    "root": lambda arg: algebra.power(arg, terms.HALF),
}


def made(tree: Tree) -> terms.Term:
    """The tree by the constructors."""
    match tree:
        case ("name", str(name)):
            return terms.variable(name, "real")
        case ("number", Fraction() as value):
            return terms.number(value)
        case ("^", tuple() as base, int(n)):
            return algebra.power(made(base), terms.number(n))
    kind, *args = tree
    return MAKE[str(kind)](*map(made, args))  # type: ignore[arg-type]


def settled(value: arb) -> arb:
    """0 where it is not distinguished from 0."""
    return arb(0) if value.contains(0) else value


def raised(base: arb, n: int) -> arb:
    """A whole power; 1/0 is 0."""
    if n < 0:
        return arb(0) if base == 0 else settled(1 / base ** (-n))
    return settled(base**n)


def rooted(base: arb) -> arb:
    """The root; 0 of what is negative."""
    return base.sqrt() if base > 0 else arb(0)


def larger(one: arb, two: arb) -> arb:
    """The maximum."""
    return one if one > two else two


OF: dict[str, Callable[..., arb]] = {
    "+": lambda *args: settled(sum(args, arb(0))),
    "*": lambda *args: settled(reduce(lambda p, q: p * q, args, arb(1))),
    "max": lambda *args: reduce(larger, args),
    "min": lambda *args: -reduce(larger, [-arg for arg in args]),
    "abs": abs,
    "root": rooted,
}
HEADS = {heads.SUM: "+", heads.PRODUCT: "*", heads.MAX: "max", heads.MIN: "min", heads.ABS: "abs"}


def exactly(value: Fraction) -> arb:
    """A rational."""
    return arb(fmpq(value.numerator, value.denominator))


def value(tree: Tree, at: Mapping[str, arb]) -> arb:
    """The value of the tree as it was drawn."""
    match tree:
        case ("name", str(name)):
            return at[name]
        case ("number", Fraction() as stated):
            return exactly(stated)
        case ("^", tuple() as base, int(n)):
            return raised(value(base, at), n)
    kind, *args = tree
    return OF[str(kind)](*(value(arg, at) for arg in args))  # type: ignore[arg-type]


def value_of(term: terms.Term, at: Mapping[str, arb]) -> arb:
    """The value of what the constructors made."""
    if term.head is heads.NUMBER:
        return exactly(term.value)
    if term.head.kind == "variable":
        return at[term.head.name]
    if term.head is heads.POWER:
        base, exponent = value_of(term.args[0], at), term.args[1].value
        if exponent.denominator == 1:
            return raised(base, int(exponent))
        assert exponent == Fraction(1, 2)
        return rooted(base)
    return OF[HEADS[term.head]](*(value_of(arg, at) for arg in term.args))


def alike(one: arb, two: arb) -> bool:
    """Whether they are equal, up to so many bits."""
    return bool(abs(one - two) < ALIKE * (1 + abs(one)))


def draw(tree: Tree) -> terms.Term:
    """The term; a power of too many factors is none."""
    try:
        return made(tree)
    except terms.TermError:
        assume(False)
        raise


def numbers(point: Mapping[str, Fraction]) -> dict[str, arb]:
    """The point in balls."""
    return {name: exactly(one) for name, one in point.items()}
