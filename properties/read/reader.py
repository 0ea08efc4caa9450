"""Read a term on a system: ``read(term, world)``, in the carrier of the world.

A world says what symbols, functions and norms are on one system, or on a batch of them. Values are
kept there by their nodes, so that what several terms share is computed once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import reduce
from typing import Any

from rnnbounds.properties.read.ground_terms import Term
from rnnbounds.properties.read.numbers.gaps import Difference
from rnnbounds.properties.read.plan import NUMBER_HEADS, SIZE_HEADS, PlanStep, plan_step

Value = Any  # a vector, an operator or a number of the carrier, a pair of them, or ZERO


class AbsentError(Exception):
    """The system has nothing of that name, or it cannot be known in this carrier."""


class Zero:
    """The zero of every space."""

    @property
    def gap(self) -> Zero:
        """The difference of two zeros."""
        return self


class Identity:
    """The identity of every space."""


ZERO, IDENTITY = Zero(), Identity()


class World(ABC):
    """Values of a term's parts on one system."""

    def __init__(self) -> None:
        self.values: dict[Term, Value] = {}

    @abstractmethod
    def leaf(self, head: str, *arguments: Term) -> Value:
        """A symbol, or a function whose arguments are numbers and names; raises AbsentError."""

    @abstractmethod
    def apply(self, head: str, known: Sequence[Term], values: Sequence[Value]) -> Value:
        """A function of vectors, or what becomes of both of a pair."""

    @abstractmethod
    def times(self, A: Value, v: Value) -> Value:
        """The product of an operator and a vector or an operator, or of numbers."""

    @abstractmethod
    def size(self, head: str, term: Term, value: Value) -> Value:
        """A norm or a rank of a value, whose term says of which space it is."""

    @abstractmethod
    def number_function(self, head: str, known: Sequence[Term], values: Sequence[Value]) -> Value:
        """A power, whose exponent is known, a modulus, or the largest of numbers."""

    @abstractmethod
    def number(self, value: Any) -> Value:
        """A rational number other than 0."""

    def range_square(self, term: Term) -> Any:
        """The square of what no norm of a state exceeds; None where nothing is known."""
        return None


def read(term: Term, world: World) -> Value:
    """The value of a ground term; raises AbsentError where the system has none."""
    values, stack = world.values, [term]
    while stack:
        node = stack[-1]
        if node in values:
            stack.pop()
            continue
        step = plan_step(node)
        missing = [other for other in step.operands if other not in values]
        if missing:
            stack += missing
        else:
            values[node] = compute_step(step, world, node)
    return values[term]


def compute_step(step: PlanStep, world: World, node: Term) -> Value:
    """The value of a node whose parts are known."""
    operation, values = step.operation, [world.values[other] for other in step.operands]
    match operation:
        case "number":
            return world.number(node) if node else ZERO
        case "same":
            return values[0]
        case "apart":
            return values[0].gap
        case "sum":
            return reduce(add_values, values)
        case "product":
            return reduce(lambda v, A: multiply(world, A, v), reversed(values))
        case "still":
            return ZERO if values[0] is ZERO else Difference(values[0], ZERO)
        case "begun":
            return ZERO if values[0] is ZERO else Difference(values[0], values[0])
        case "ended":
            return ZERO if values[0] is ZERO else Difference(ZERO, negate(values[0]))
        case "pair":
            return Difference(values[0], subtract_values(*values))
        case "leaf":
            return world.leaf(node[0], *node[1:])
    if operation in SIZE_HEADS:
        return world.size(operation, step.parameters[0], values[0])
    if operation in NUMBER_HEADS:
        numbers = [world.number(0) if value is ZERO else value for value in values]
        return world.number_function(operation, step.parameters, numbers)
    return world.apply(operation, step.parameters, values)


def add_values(one: Value, two: Value) -> Value:
    """The sum, of pairs too."""
    if one is ZERO or two is ZERO:
        return two if one is ZERO else one
    if one is IDENTITY or two is IDENTITY:
        return add_identity(two if one is IDENTITY else one)
    if isinstance(one, Difference):
        return Difference(add_values(one.value, two.value), add_values(one.gap, two.gap))
    return one + two


def add_identity(A: Value) -> Value:
    """I + A of a matrix of balls or rationals."""
    rows = enumerate(A.units)
    return type(A)([[a + int(i == j) for j, a in enumerate(row)] for i, row in rows])


def negate(value: Value) -> Value:
    """Negate a value, ZERO included."""
    return value if value is ZERO else -value


def subtract_values(one: Value, two: Value) -> Value:
    """The difference."""
    return add_values(one, negate(two))


def multiply(world: World, A: Value, v: Value) -> Value:
    """A v; of pairs δ(A v) = δA v + A′ δv."""
    if A is ZERO or v is ZERO:
        return ZERO
    if A is IDENTITY or v is IDENTITY:
        return v if A is IDENTITY else A
    if not isinstance(A, Difference) and not isinstance(v, Difference):
        return world.times(A, v)
    if not isinstance(A, Difference):
        A = Difference(A, ZERO)
    other = subtract_values(A.value, A.gap)
    moved = add_values(multiply(world, A.gap, v.value), multiply(world, other, v.gap))
    return Difference(multiply(world, A.value, v.value), moved)
