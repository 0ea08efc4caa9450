"""Models: numbers, sequences and matrices that symbols and formal functions stand for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import mul
from random import Random
from typing import Any, TypeVar

import sympy
from flint import arb, fmpq
from sympy import Expr
from term_values import (
    Op,
    World,
    column,
    diagonal,
    eigenvalues,
    is_false,
    is_true,
    op,
    power,
    row_sums,
    spectral,
    value,
)

from rnnbounds.theory.language import Statement, symbols
from rnnbounds.theory.language.functions import RealPower
from rnnbounds.theory.language.terms import unitary, variables
from rnnbounds.theory.language.terms import vectors as formal
from rnnbounds.theory.language.terms.vectors import Scalar, function

T = TypeVar("T")
lam, S_0, steps, k = symbols("lam S_0 T k")
x, eye = variables.x, variables.eye
W, V, R = (variables.operator(name) for name in "WVR")
none = variables.operator("none")  # the zero operator on states
u, v = (variables.vector(name) for name in ("u_0", "v_0"))
values = function("values", Scalar)  # a sequence
# What the evaluation raises of a term without a value: 1/0, the root of −1, sizes that do not fit.
NO_VALUE = (ArithmeticError, AssertionError, KeyError, TypeError, ValueError)


@dataclass(frozen=True)
class Model:
    """What free symbols and formal functions stand for."""

    world: World

    def at(self, values: Mapping[Any, Any]) -> Model:
        """The same with values for some symbols more."""
        return Model({**self.world, **values})

    def of(self, term: Expr) -> Any:
        """The value of the term; raises one of NO_VALUE."""
        return value(term, self.world)

    def refutes(self, statement: Statement) -> bool:
        """Whether the statement is certainly false; raises one of NO_VALUE."""
        return is_false(statement, self.world)

    def grants(self, statement: Statement) -> bool:
        """Whether the statement is certainly true; raises one of NO_VALUE."""
        return is_true(statement, self.world)


def matrix(*rows: tuple[int, ...], width: int | None = None) -> Op:
    """The operator of these rows."""
    return op(list(rows), len(rows), len(rows[0]) if width is None else width)


def identity(size: int) -> Op:
    """The identity matrix."""
    return diagonal([1] * size)


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
    1: (column([0]), column([1]), column([-2])),
    2: (column([0, 0]), column([3, 4]), column([1, -1]), column([0, -1])),
}
OPERATORS = {
    1: tuple(matrix((n,)) for n in (0, 1, -1, 2)),
    2: (
        matrix((0, 0), (0, 0)), identity(2), matrix((0, 1), (0, 0)), matrix((0, 1), (1, 0)),
        matrix((1, 0), (0, 0)), matrix((-1, 0), (0, 2)), matrix((0, -1), (1, 0)),
        matrix((3, 4), (0, 0)),
    ),
}  # fmt: skip
OBLONG = (matrix(width=2), matrix((1, 2)), matrix((), ()), matrix(width=0), matrix((2,)))


def model(chance: Random) -> Model:
    """States have one entry or two; one operator has any shape, 0 × 0 among them."""
    size = chance.choice((1, 2))
    world: dict[Any, Any] = {
        **FUNCTIONS, lam: chance.choice(NUMBERS), S_0: chance.choice(NUMBERS), eye: identity(size),
        steps: fmpq(chance.choice(range(4))), k: fmpq(chance.choice(range(4))),
        R: chance.choice(OBLONG), none: OPERATORS[size][0],
    }  # fmt: skip
    world |= {one: chance.choice(OPERATORS[size]) for one in (W, V)}
    world |= {one: chance.choice(VECTORS[size]) for one in (u, v, x)}
    sequence, outside = chance.choice(SEQUENCES), fmpq(chance.choice((0, 5, -3)))
    world[values] = lambda n: sequence(whole(n))
    # Rules must be sound whatever the logarithm of what is not positive is.
    world[sympy.log] = lambda z: outside if z <= 0 else fmpq(0) if z == 1 else arb(z).log()
    return Model(world)


def whole(number: Any) -> int:
    """A natural number, small enough to count to."""
    if not isinstance(number, fmpq) or number.q != 1 or not 0 <= number <= 64:
        raise ValueError("no natural number")
    return int(number.p)


def _of(measure: Callable[[Op], Any]) -> Callable[[Any], Any]:
    """Of operators; what is 0 is a vector of no entries."""

    def measured(found: Any) -> Any:
        assert isinstance(found, Op) or found == 0, "a number where a matrix is needed"
        return measure(found if isinstance(found, Op) else column([]))

    return measured


def _inner(one: Any, other: Any) -> Any:
    left, right = (_of(lambda found: found.m.entries())(each) for each in (one, other))
    assert not (left and right) or len(left) == len(right), "sizes that do not fit"
    return sum(map(mul, left, right), fmpq(0))


def _rows(found: Op) -> fmpq:
    """Their number, the last ones that are 0 not counted."""
    return fmpq(max((i for i, line in enumerate(found.lines, 1) if any(line)), default=0))


def _phi(state: Any, entry: Any) -> Any:
    """h/2 + x."""
    return state * fmpq(1, 2) + entry


def _entry(sequence: Op, t: fmpq) -> Op:
    return sequence * fmpq(whole(t) % 3 - 1)


def _state(sequence: Op, start: fmpq, number: fmpq) -> Any:
    found: Any = fmpq(0)
    for t in range(whole(number)):
        found = _phi(found, _entry(sequence, fmpq(whole(start) + t + 1)))
    return found


def _least(found: Op) -> Any:
    assert found.m == found.m.transpose(), "no symmetric matrix"
    return min(eigenvalues(found), key=float)


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    formal.norm: _of(spectral),
    formal.gain: _of(lambda one: spectral(op(one.lines[:1], len(one.lines[:1]), one.m.ncols()))),
    formal.max_norm: _of(row_sums), formal.weighted: _of(row_sums), formal.least: _of(_least),
    formal.transpose: _of(lambda one: one.transposed), formal.inner: _inner,
    formal.phi: _phi, formal.entry: _entry, formal.state: _state,
    unitary.power: lambda A, of, n: power(A, n) * of if n else of,
    unitary.identity: lambda n: identity(whole(n)),
    unitary.rank: _of(lambda one: fmpq(one.m.rank())), unitary.rows: _of(_rows),
    unitary.part: lambda of, i: _of(lambda one: one.entry(whole(i)))(of), RealPower: power,
    formal.exponential: lambda z: fmpq(1) if z == 0 else arb(z).exp(),
}  # fmt: skip
