"""Models: numbers, sequences and matrices that symbols and formal functions stand for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import mul
from random import Random
from typing import TypeVar

from flint import arb, fmpq
from sympy import Expr

from drawn_ledgers.matrices import (
    Matrix,
    NoValueError,
    identity,
    operator,
    vector,
)
from drawn_ledgers.values import Model, Value, added, multiplied, raised
from rnnbounds.theory.language import symbols
from rnnbounds.theory.language.functions import RealPower
from rnnbounds.theory.language.terms import unitary, variables
from rnnbounds.theory.language.terms import vectors as formal
from rnnbounds.theory.language.terms.networks import feasible
from rnnbounds.theory.language.terms.vectors import Scalar, function
from rnnbounds.theory.language.vocabulary import DEFINITIONS

T = TypeVar("T")
lam, S_0, steps, k = symbols("lam S_0 T k")
x, eye, w = variables.x, variables.eye, variables.w
W, V, R = (variables.operator(name) for name in "WVR")
none = variables.operator("none")  # the zero operator on states
u, v = (variables.vector(name) for name in ("u_0", "v_0"))
values = function("values", Scalar)  # a sequence
CONSTANTS = (W, V, R, none, u, v)


def some(chance: Random, options: Sequence[T], most: int) -> tuple[T, ...]:
    """At most so many of them, in their order."""
    found = {chance.choice(range(len(options))) for _ in range(chance.choice(range(most + 1)))}
    return tuple(options[i] for i in sorted(found))


NUMBERS = [fmpq(n) for n in (0, 1, 2, 3)] + [fmpq(1, 2)]
SEQUENCES: tuple[Callable[[int], fmpq], ...] = (
    lambda n: fmpq(-1), lambda n: fmpq(n), lambda n: fmpq(1 - 2 * n), lambda n: fmpq(0),
    lambda n: fmpq((-1) ** (n % 2)), lambda n: fmpq(1, 1 + n),
)  # fmt: skip
VECTORS = {
    1: (vector(0), vector(1), vector(-2)),
    2: (vector(0, 0), vector(3, 4), vector(1, -1), vector(0, -1)),
}
OPERATORS = {
    1: tuple(operator((n,)) for n in (0, 1, -1, 2)),
    2: (
        operator((0, 0), (0, 0)), identity(2), operator((0, 1), (0, 0)), operator((0, 1), (1, 0)),
        operator((1, 0), (0, 0)), operator((-1, 0), (0, 2)), operator((0, -1), (1, 0)),
        operator((3, 4), (0, 0)),
    ),
}  # fmt: skip
OBLONG = (operator(width=2), operator((1, 2)), operator((), ()), operator(width=0), operator((2,)))


def model(chance: Random) -> Model:
    """States have one entry or two; one operator has any shape, 0 × 0 among them."""
    size = chance.choice((1, 2))
    chosen: dict[Expr, Value] = {
        lam: chance.choice(NUMBERS), S_0: chance.choice(NUMBERS), eye: identity(size),
        steps: fmpq(chance.choice(range(4))), k: fmpq(chance.choice(range(4))),
        R: chance.choice(OBLONG), none: OPERATORS[size][0],
    }  # fmt: skip
    chosen |= {one: chance.choice(OPERATORS[size]) for one in (W, V)}
    chosen |= {one: chance.choice(VECTORS[size]) for one in (u, v, x, w)}
    sequence = chance.choice(SEQUENCES)
    functions = {**FUNCTIONS, values: lambda n: sequence(int(whole(n).p))}
    return Model(chosen, functions, fmpq(chance.choice((0, 5, -3))), DEFINITIONS)


def whole(value: Value) -> fmpq:
    """A natural number, small enough to count to."""
    if not isinstance(value, fmpq) or value.q != 1 or not 0 <= value <= 64:
        raise NoValueError("no natural number")
    return value


def _matrix(value: Value) -> Matrix:
    """What is 0 is a vector of no entries."""
    if isinstance(value, Matrix):
        return value
    if value == 0:
        return vector()
    raise NoValueError("a number where a matrix is needed")


def _of(measure: Callable[[Matrix], Value]) -> Callable[[Value], Value]:
    return lambda value: measure(_matrix(value))


def _row_sums(value: Matrix) -> Value:
    return max((sum(map(abs, row), fmpq(0)) for row in value.value.table()), default=fmpq(0))


def _first_row(value: Matrix) -> Value:
    rows = value.value.table()[:1]
    return operator(*rows, width=value.shape[1]).spectral


def _inner(one: Value, other: Value) -> Value:
    left, right = _matrix(one).entries, _matrix(other).entries
    if len(left) != len(right) and left and right:
        raise NoValueError("sizes that do not fit")
    return sum(map(mul, left, right), fmpq(0))


def _rows(value: Matrix) -> Value:
    """Their number, the last ones that are 0 not counted."""
    found = (i for i, row in enumerate(value.value.table(), 1) if any(row))
    return fmpq(max(found, default=0))


def _phi(state: Value, entry: Value, *weights: Value) -> Value:
    """h/2 + x, and the weights."""
    found = added(multiplied(fmpq(1, 2), state), entry)
    return added(found, weights[0]) if weights else found


def _entry(sequence: Value, t: Value) -> Value:
    return multiplied(fmpq(int(whole(t).p) % 3 - 1), sequence)


def _state(sequence: Value, start: Value, number: Value, *weights: Value) -> Value:
    found: Value = fmpq(0)
    for t in range(int(whole(number).p)):
        found = _phi(found, _entry(sequence, whole(start) + t + 1), *weights)
    return found


def _power(matrix: Value, of: Value, n: Value) -> Value:
    return multiplied(raised(matrix, whole(n)), of) if whole(n) else of


def _part(of: Value, i: Value) -> Value:
    entries = _matrix(of).entries
    n = int(whole(i).p)
    return entries[n] if n < len(entries) else fmpq(0)


FUNCTIONS: dict[type, Callable[..., Value]] = {
    formal.norm: _of(lambda one: one.spectral), formal.gain: _of(_first_row),
    formal.max_norm: _of(_row_sums), formal.weighted: _of(_row_sums),
    formal.frobenius: _of(lambda one: sum((p * p for p in one.entries), fmpq(0))),
    formal.least: _of(lambda one: one.least),
    formal.transpose: _of(lambda one: one.transposed),
    formal.inner: _inner,
    formal.exponential: lambda one: fmpq(1) if one == 0 else arb(one).exp(),
    formal.phi: _phi, formal.entry: _entry, formal.state: _state, unitary.power: _power,
    unitary.identity: lambda n: identity(int(whole(n).p)),
    unitary.rank: _of(lambda one: fmpq(one.value.rank())), unitary.part: _part,
    unitary.rows: _of(_rows),
    RealPower: raised, feasible: lambda _: fmpq(1),
}  # fmt: skip
