"""What rules know of functions of reals: ranges, values in rationals and balls, derivatives."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from flint import arb, fmpq

from theory.kernel.algebra import plus, power, times
from theory.kernel.statements import Clause, Statement, le, lt, ne
from theory.kernel.terms import (
    ABS,
    EXPONENTIAL,
    LOG,
    MAX,
    MIN,
    NUMBER,
    ONE,
    POWER,
    PRODUCT,
    REAL_FUNCTIONS,
    SUM,
    ZERO,
    Gap,
    Head,
    Term,
    number,
    variable,
    within,
)
from theory.language.constants import silu_peak

Range = Callable[[Term, Term], tuple[Clause, ...]]
MINUS_ONE = number(-1)
# Enclosures of the constants of statements that have no closed form.
CONSTANTS: dict[str, Callable[[], arb]] = {
    "pi": arb.pi, "E": arb.const_e, "z_silu": silu_peak,
}  # fmt: skip


def ranges(statement: Statement, pi: Term) -> tuple[dict[Term, Term], list[Clause]]:
    """A fresh real for each elementary function in the statement, and the ranges of these."""
    known = _ranges(pi)
    found = {one for side in statement.sides for one in within(side) if one.head in known}
    names = {
        one: variable(one.key, "real", mark=-1) for one in sorted(found, key=lambda one: one.key)
    }
    return names, [c for one, name in names.items() for c in known[one.head](name, *one.args)]


def _ranges(pi: Term) -> dict[Head, Range]:
    half = times(number(Fraction(1, 2)), pi)
    between = {
        "tanh": (MINUS_ONE, ONE, lt), "erf": (MINUS_ONE, ONE, lt), "sin": (MINUS_ONE, ONE, le),
        "cos": (MINUS_ONE, ONE, le), "atan": (times(MINUS_ONE, half), half, lt),
    }  # fmt: skip

    def of(low: Term, high: Term, less: Callable[[Term, Term], Statement]) -> Range:
        return lambda value, _: (Clause(less(low, value)), Clause(less(value, high)))

    found = {REAL_FUNCTIONS[name]: of(*ends) for name, ends in between.items()}
    return found | {REAL_FUNCTIONS["exp"]: _of_exp}


def _of_exp(value: Term, argument: Term) -> tuple[Clause, ...]:
    below = Clause(le(value, ONE), (le(argument, ZERO),))
    above = Clause(le(ONE, value), (le(ZERO, argument),))
    return Clause(lt(ZERO, value)), below, above


def rational(term: Term) -> fmpq | None:
    """The value of a term of rational numbers; None if it is not known to be one."""
    head = term.head
    if head is NUMBER:
        return fmpq(term.value.numerator, term.value.denominator)
    if head not in (SUM, PRODUCT, POWER, ABS, MAX, MIN):
        return None
    found = [rational(arg) for arg in term.args]
    values = [value for value in found if value is not None]
    if len(values) < len(found):
        return None
    if head is POWER:
        base, exponent = values
        if exponent.q != 1 or (base == 0 and exponent < 0):
            return None
        return fmpq(1) * base ** int(exponent.p)
    if head is ABS:
        return abs(values[0])
    if head in (MAX, MIN):
        return max(values) if head is MAX else min(values)
    total = fmpq(0 if head is SUM else 1)
    for value in values:
        total = total + value if head is SUM else total * value
    return total


def ball(term: Term) -> arb:
    """An enclosure of the value of a closed term; raises Gap for functions that are not known."""
    head, args = term.head, [ball(arg) for arg in term.args]
    if head is NUMBER:
        return arb(fmpq(term.value.numerator, term.value.denominator))
    if head in (SUM, PRODUCT):
        total = arb(0 if head is SUM else 1)
        for value in args:
            total = total + value if head is SUM else total * value
        return total
    if head is POWER and not term.args[1].variables and term.args[1].head is NUMBER:
        exponent = term.args[1].value
        if exponent.denominator == 1:
            return args[0] ** int(exponent)
        if exponent == Fraction(1, 2):
            return args[0].sqrt()
    known: dict[Head, Callable[[], arb]] = {
        ABS: lambda: abs(args[0]), LOG: lambda: args[0].log(), EXPONENTIAL: lambda: args[0].exp(),
        REAL_FUNCTIONS["exp"]: lambda: args[0].exp(),
        REAL_FUNCTIONS["tanh"]: lambda: args[0].tanh(),
    }  # fmt: skip
    if head.interval is not None and head.name in CONSTANTS:
        return CONSTANTS[head.name]()
    if head not in known:
        raise Gap(f"the value of {term} is not known")
    return known[head]()


def derivative(term: Term, point: Term, conditions: list[Statement]) -> Term:
    """d/dt of the term; adds where it has a value and is differentiable to the conditions.

    Raises Gap for what is no sum, product, whole power, log or exponential.
    """
    if point not in term.variables:
        return ZERO
    if term is point:
        return ONE
    inner = [derivative(arg, point, conditions) for arg in term.args]
    if term.head is SUM:
        return plus(*inner)
    if term.head is PRODUCT:
        each = enumerate(inner)
        return plus(*(times(*term.args[:i], d, *term.args[i + 1 :]) for i, d in each))
    argument, slope = term.args[0], inner[0]
    if term.head is POWER and term.args[1].head is NUMBER and term.args[1].whole:
        n = term.args[1].value
        if n < 0:
            conditions.append(ne(argument, ZERO))
        return times(number(n), power(argument, number(n - 1)), slope)
    if term.head is LOG:
        conditions.append(lt(ZERO, argument))
        return times(slope, power(argument, MINUS_ONE))
    if term.head == EXPONENTIAL:
        return times(term, slope)
    raise Gap(f"{term} is not known to be differentiable in {point}")
