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

import sympy
from flint import arb, ctx, fmpq, fmpq_mat
from sympy import Expr

from rnnbounds.theory.language import Clause, Statement

BITS = 200
MOST, LONG = 64, 10_000  # of a whole exponent; bits of a rational number
World = Mapping[Any, Any]  # values of symbols, meanings of functions


class NoValueError(ValueError):
    """The term has no value here."""


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
    def inverse(self) -> Op:
        """A⁻¹; 0 if there is none."""
        return Op(self.m.inv() if self.m.det() != 0 else self.m * 0, self.of, self.to)

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
    """√x, rational where it can be; raises NoValueError where x may be negative."""
    if not value >= 0:
        raise NoValueError("the root of what may be negative")
    if isinstance(value, arb):
        return value.sqrt()
    found = fmpq(value.p.isqrt(), value.q.isqrt())
    return found if found * found == value else arb(value).sqrt()


def eigenvalues(symmetric: Op) -> list[arb]:
    """Of a symmetric rational matrix."""
    roots = symmetric.m.charpoly().numer().complex_roots()
    return [value.real for value, times in roots for _ in range(times)]


def larger(one: Any, other: Any) -> Any:
    """The larger number, or a ball of both."""
    if one >= other:
        return one
    return other if one <= other else arb(one).max(arb(other))


def largest(values: list[Any]) -> Any:
    """The largest, 0 of none."""
    return reduce(larger, values or [fmpq(0)])


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


def power(base: Any, exponent: fmpq | arb) -> Any:
    """base^exponent, of real numbers and of square matrices; raises NoValueError."""
    if isinstance(exponent, fmpq) and exponent.q == 1 and abs(exponent) <= MOST:
        n = int(exponent.p)
        if n < 0:
            return power(base.inverse if isinstance(base, Op) else 1 / base, -exponent)
        if isinstance(base, fmpq) and n * max(base.p.bit_length(), base.q.bit_length()) > LONG:
            raise NoValueError("a number that is too long")
        return reduce(mul, [base] * n) if n else fmpq(1)
    if isinstance(exponent, fmpq) and exponent.q == 2:
        return power(root(base), fmpq(exponent.p))
    if base == 0 and exponent > 0:
        return fmpq(0)
    if not base > 0:
        raise NoValueError("a real power of what is not positive")
    return (arb(base).log() * exponent).exp()


def in_balls(function: Callable[[arb], arb]) -> Callable[[Any], arb]:
    """The function of rationals too."""
    return lambda x: function(arb(x))


ANALYTIC = "log exp tanh sinh cosh sin cos atan erf"
CONSTANTS: dict[Expr, Callable[[], arb]] = {
    sympy.pi: arb.pi, sympy.E: arb.const_e, sympy.Catalan: arb.const_catalan,
    sympy.EulerGamma: arb.const_euler,
}  # fmt: skip
ELEMENTARY: dict[Any, Callable[..., Any]] = {
    sympy.Add: lambda *args: reduce(add, args),
    sympy.Mul: lambda *args: reduce(mul, args),
    sympy.Pow: power,
    sympy.Abs: abs,
    sympy.Max: lambda *args: reduce(larger, args),
    sympy.Min: lambda *args: -reduce(larger, [-one for one in args]),
    **{getattr(sympy, name): in_balls(getattr(arb, name)) for name in ANALYTIC.split()},
}


def value(term: Expr, world: World) -> Any:
    """The term's value: a rational, a ball, an operator, or what the world makes of it.

    Raises NoValueError, or what numbers and matrices raise, where there is none.
    """
    if term in world:
        return world[term]
    if term.is_Rational:
        return fmpq(int(term.p), int(term.q))
    if term in CONSTANTS:
        return CONSTANTS[term]()
    meaning = world[term.func] if term.func in world else ELEMENTARY[term.func]
    return meaning(*(value(argument, world) for argument in term.args))


def _ends(statement: Statement, world: World) -> tuple[Any, Any]:
    """Both sides, as balls if one is; of operators the difference and 0."""
    lhs, rhs = value(statement.lhs, world), value(statement.rhs, world)
    if isinstance(lhs, Op) or isinstance(rhs, Op):
        assert statement.relation == "=="
        gap = lhs + -1 * rhs if isinstance(lhs, Op) else rhs + -1 * lhs
        return fmpq(any(x != 0 for line in gap.lines for x in line)), fmpq(0)
    if isinstance(lhs, arb) or isinstance(rhs, arb):
        return arb(lhs), arb(rhs)
    return lhs, rhs


def is_false(statement: Statement, world: World) -> bool:
    """Whether it fails beyond all rounding."""
    lhs, rhs = _ends(statement, world)
    apart = not lhs.overlaps(rhs) if isinstance(lhs, arb) else lhs != rhs
    fails = {"<": lhs >= rhs, "==": apart, "!=": lhs == rhs}
    return bool(fails.get(statement.relation, lhs > rhs))


def is_true(statement: Statement, world: World) -> bool:
    """Whether it holds whatever is rounded."""
    lhs, rhs = _ends(statement, world)
    holds = {"<": lhs < rhs, "==": lhs == rhs, "!=": lhs != rhs}
    return bool(holds.get(statement.relation, lhs <= rhs))


def violated(clause: Clause, world: World) -> bool | None:
    """Whether the conclusion fails; None where a premise does."""
    with ctx.workprec(BITS):
        if any(is_false(premise, world) for premise in clause.given):
            return None
        return is_false(clause.conclusion, world)
