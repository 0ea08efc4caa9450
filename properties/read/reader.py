"""Read a term on a system: ``read(term, world)``, in the carrier of the world.

A world says what symbols, functions and norms are on one system, or on a batch of them. Values are
kept there by their nodes, so that what several terms share is computed once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Sequence
from functools import reduce
from typing import Any

from rnnbounds.properties.read.columns import columns_form, join_operands, split_columns
from rnnbounds.properties.read.ground_terms import Term
from rnnbounds.properties.read.numbers.gaps import Difference
from rnnbounds.properties.read.plan import (
    ARGUMENT_COUNTS,
    GAP,
    NUMBER_HEADS,
    SIZE_HEADS,
    PlanStep,
    Space,
    plan_step,
)

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
# What is computed of all nodes at once, once nothing before it is ready; the rest node by node.
TOGETHER = (*ARGUMENT_COUNTS, "sum", "product", *SIZE_HEADS)
RANKS = {operation: rank for rank, operation in enumerate(TOGETHER, 1)}


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
    def size(self, head: str, space: Space, value: Value) -> Value:
        """A norm or a rank of a value of that space (`read.plan`)."""

    @abstractmethod
    def number_function(self, head: str, known: Sequence[Term], values: Sequence[Value]) -> Value:
        """A power, whose exponent is known, a modulus, or the largest of numbers."""

    @abstractmethod
    def number(self, value: Any) -> Value:
        """A rational number other than 0."""

    def takes_columns(self, operation: str) -> bool:
        """True if the world computes that operation of several nodes at once, as columns of one."""
        return operation in RANKS

    def range_square(self, term: Term) -> Any:
        """The square of what no norm of a state exceeds; None where nothing is known."""
        return None


def read(term: Term, world: World) -> Value:
    """The value of a ground term; raises AbsentError where the system has none."""
    return read_all([term], world)[0]


def read_all(terms: Sequence[Term], world: World) -> list[Value]:
    """The values of ground terms, those of one operation at once: of all windows, for instance.

    Runs that start at different times so take their steps together, each in columns of its own.
    """
    values, missing_counts = world.values, dict[Term, int]()
    users, ready = defaultdict[Term, list[Term]](list), defaultdict[int, list[Term]](list)
    stack = [term for term in terms if term not in values]
    while stack:
        node = stack.pop()
        if node in missing_counts:
            continue
        step = plan_step(node)
        missing = {operand for operand in step.operands if operand not in values}
        missing_counts[node] = len(missing)
        stack += missing
        for operand in missing:
            users[operand].append(node)
        if not missing:
            ready[RANKS.get(step.operation, 0)].append(node)
    while ready:
        nodes = ready.pop(min(ready))
        for node, value in zip(nodes, compute_steps(nodes, world), strict=True):
            values[node] = value
            for user in users.pop(node, ()):
                missing_counts[user] -= 1
                if not missing_counts[user]:
                    ready[RANKS.get(plan_step(user).operation, 0)].append(user)
    return [values[term] for term in terms]


def compute_steps(nodes: Sequence[Term], world: World) -> list[Value]:
    """The values of nodes whose parts are known; those of one form as columns of one."""
    steps = list(map(plan_step, nodes))
    operands = [[known_value(operand, world) for operand in step.operands] for step in steps]
    if len(nodes) == 1:
        return [compute_step(steps[0], world, operands[0])]
    groups: dict[Any, dict[Any, list[int]]] = {}
    for i, (step, parts) in enumerate(zip(steps, operands, strict=True)):
        is_joined = world.takes_columns(step.operation)
        form = (step[:2], *map(columns_form, parts)) if is_joined else (i,)
        groups.setdefault(form, {}).setdefault(tuple(map(id, parts)), []).append(i)
    found: list[Value] = [None] * len(nodes)
    for lanes in groups.values():
        first = [places[0] for places in lanes.values()]
        parts = join_operands([operands[i] for i in first])
        value = compute_step(steps[first[0]], world, parts)
        for places, part in zip(lanes.values(), split_columns(value, len(lanes)), strict=True):
            for i in places:
                found[i] = part
    return found


def known_value(node: Term, world: World) -> Value:
    """The value of a node; that of a pair with the first value that all pairs of it share."""
    value = world.values[node]
    if isinstance(value, Difference) and node[0] == GAP and node[1] in world.values:
        return Difference(world.values[node[1]], value.gap)
    return value


def compute_step(step: PlanStep, world: World, values: Sequence[Value]) -> Value:
    """The value of an operation on values."""
    operation = step.operation
    match operation:
        case "number":
            return world.number(step.parameters[0]) if step.parameters[0] else ZERO
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
            head, *arguments = step.parameters[0]
            return world.leaf(head, *arguments)
    if operation in SIZE_HEADS:
        return world.size(operation, step.parameters, values[0])
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
