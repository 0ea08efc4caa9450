"""Formal terms and laws at numbers: exact rationals, and 200-bit balls where there are roots.

A vector is a column.  An operator knows the spaces between which it acts: "S", the states, with the
weighted maximum norm, or "E", all others, with the Euclidean one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from itertools import product
from operator import add, mul
from typing import Any

from flint import arb, ctx, fmpq, fmpq_mat
from sympy import Abs, Expr, Pow, log, tanh

from rnnbounds.theory.language import Clause, Statement

BITS = 200
World = Mapping[Any, Any]  # values of symbols, meanings of functions


@dataclass(frozen=True)
class Op:
    """A rational matrix from one space to another."""

    m: fmpq_mat
    to: str = "E"
    of: str = "E"

    def __add__(self, other: Op | fmpq) -> Op:
        if not isinstance(other, Op):
            assert other == 0, "a number is added to an operator"
            return self
        return Op(self.m + other.m, self.to, self.of)

    __radd__ = __add__

    def __mul__(self, other: Op | fmpq) -> Op:
        if not isinstance(other, Op):
            return Op(self.m * other, self.to, self.of)
        return Op(self.m * other.m, self.to, other.of)

    def __rmul__(self, number: fmpq) -> Op:
        return Op(self.m * number, self.to, self.of)

    @property
    def transposed(self) -> Op:
        """Aᵀ."""
        return Op(self.m.transpose(), self.of, self.to)

    @property
    def lines(self) -> list[list[fmpq]]:
        """The rows."""
        return [[self.m[r, c] for c in range(self.m.ncols())] for r in range(self.m.nrows())]

    def entry(self, i: int) -> fmpq:
        """The i-th entry of a vector, 0 beyond the last."""
        return self.m[i, 0] if i < self.m.nrows() else fmpq(0)


def op(lines: list[list[Any]], rows: int, columns: int, to: str = "E", of: str = "E") -> Op:
    """The operator with these rows, of which there may be none."""
    return Op(fmpq_mat(rows, columns, [fmpq(x) for line in lines for x in line]), to, of)


def column(entries: list[Any], to: str = "E") -> Op:
    """A vector."""
    return op([[x] for x in entries], len(entries), 1, to)


def diagonal(entries: list[Any], to: str = "E") -> Op:
    """A diagonal matrix."""
    size = len(entries)
    lines = [[entries[r] if r == c else 0 for c in range(size)] for r in range(size)]
    return op(lines, size, size, to, to)


def root(value: fmpq | arb) -> fmpq | arb:
    """√x, exactly where x is 0."""
    return fmpq(0) if value == 0 else arb(value).sqrt()


def eigenvalues(symmetric: Op) -> list[arb]:
    """Of a symmetric rational matrix."""
    roots = symmetric.m.charpoly().numer().complex_roots()
    return [value.real for value, times in roots for _ in range(times)]


def largest(values: list[Any]) -> Any:
    """The largest, 0 of none."""
    return reduce(lambda p, q: p.max(q) if isinstance(p, arb) else max(p, q), values or [fmpq(0)])


def spectral(value: Op) -> Any:
    """‖A‖₂."""
    if value.m == value.m * 0:
        return fmpq(0)
    return largest(eigenvalues(value.transposed * value)).sqrt()


def row_sums(value: Op) -> fmpq:
    """The maximum norm."""
    return largest([sum(map(abs, line), fmpq(0)) for line in value.lines])


def induced(value: Op, weights: list[fmpq]) -> Any:
    """The norm from space to space: max |x_i|/v_i of states, the Euclidean one of others."""
    if value.of == "S":
        corners = product((-1, 1), repeat=value.m.ncols())
        ends = [[fmpq(s) * w for s, w in zip(c, weights, strict=False)] for c in corners]
        return largest([arb(induced(value * column(end), weights)) for end in ends])
    if value.to == "S":
        lines = [op([line], 1, len(line)) for line in value.lines]
        return largest([arb(spectral(line)) / w for line, w in zip(lines, weights, strict=False)])
    return spectral(value)


def value(term: Expr, world: World) -> Any:
    """The term's value: a rational, a ball, an operator, or what the world makes of it."""
    if term in world:
        return world[term]
    if term.is_Rational:
        return fmpq(int(term.p), int(term.q))
    if term.func in world:
        meaning: Callable[..., Any] = world[term.func]
        return meaning(*(value(argument, world) for argument in term.args))
    if isinstance(term, Pow):
        base = value(term.base, world)
        exponent = value(term.exp, world)
        if exponent == fmpq(1, 2):
            return root(base)
        power = reduce(mul, [base] * abs(int(exponent))) if exponent != 0 else fmpq(1)
        return 1 / power if exponent < 0 else power
    values = [value(argument, world) for argument in term.args]
    if term.is_Add:
        return reduce(add, values)
    if term.is_Mul:
        return reduce(mul, values)
    elementary: dict[Any, Callable[[Any], Any]] = {
        Abs: abs,
        tanh: lambda x: arb(x).tanh(),
        log: lambda x: arb(x).log(),
    }
    return elementary[term.func](*values)


def is_false(statement: Statement, world: World) -> bool:
    """Whether it fails beyond all rounding."""
    lhs, rhs = value(statement.lhs, world), value(statement.rhs, world)
    if isinstance(lhs, Op) or isinstance(rhs, Op):
        assert statement.relation == "=="
        gap = lhs + -1 * rhs if isinstance(lhs, Op) else rhs
        return any(x != 0 for line in gap.lines for x in line)
    if isinstance(lhs, arb) or isinstance(rhs, arb):
        lhs, rhs = arb(lhs), arb(rhs)
    if statement.relation == "!=":
        return bool(lhs == rhs)
    if statement.relation == "==":
        return not lhs.overlaps(rhs) if isinstance(lhs, arb) else bool(lhs != rhs)
    return bool(lhs > rhs if statement.relation == "<=" else lhs >= rhs)


def violated(clause: Clause, world: World) -> bool | None:
    """Whether the conclusion fails; None where a premise does."""
    with ctx.workprec(BITS):
        if any(is_false(premise, world) for premise in clause.given):
            return None
        return is_false(clause.conclusion, world)
