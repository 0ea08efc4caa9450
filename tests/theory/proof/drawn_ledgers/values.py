"""The value of what is stated, by walking SymPy's tree: rationals, balls, matrices.

Nothing of SymPy's or of the kernel's is called but the fields of trees, so that no error of theirs
is made twice. A logarithm of what is not positive is a number that the model chooses: rules must be
sound whatever it is. A quotient by 0 and the root of what is negative have no value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import TypeAlias

import sympy
from flint import arb, fmpq
from sympy import Basic, Expr

from drawn_ledgers.matrices import Matrix, NoValueError, Number, largest, root
from rnnbounds.theory.language import Statement
from rnnbounds.theory.language.constants import silu_peak_ball

Value: TypeAlias = Number | Matrix
MOST = 64  # of a whole exponent
BITS = 10_000  # of a rational number
CONSTANTS: dict[Expr, Callable[[], arb]] = {
    sympy.pi: arb.pi, sympy.E: arb.const_e, sympy.Catalan: arb.const_catalan,
    sympy.EulerGamma: arb.const_euler,
}  # fmt: skip
ANALYTIC = {
    sympy.tanh: arb.tanh, sympy.sin: arb.sin, sympy.cos: arb.cos, sympy.atan: arb.atan,
    sympy.erf: arb.erf, sympy.exp: arb.exp, sympy.sinh: arb.sinh, sympy.cosh: arb.cosh,
}  # fmt: skip


@dataclass(frozen=True)
class Model:
    """What free symbols and formal functions stand for."""

    symbols: Mapping[Expr, Value]
    functions: Mapping[type[Basic], Callable[..., Value]]
    log_outside: Number
    defined: Mapping[Expr, Expr]

    def at(self, values: Mapping[Expr, Value]) -> Model:
        """The same with values for some symbols more."""
        return Model({**self.symbols, **values}, self.functions, self.log_outside, self.defined)

    def of(self, term: Expr) -> Value:
        """The value of the term; raises NoValueError."""
        if isinstance(term, sympy.Rational):
            return fmpq(int(term.p), int(term.q))
        if isinstance(term, sympy.Symbol):
            return self._symbol(term)
        if isinstance(term, sympy.NumberSymbol):
            return CONSTANTS.get(term, silu_peak_ball)()
        if term.func in self.functions:
            return self.functions[term.func](*map(self.of, term.args))
        if term.func in HEADS:
            return HEADS[term.func](self, term)
        if term.func in ANALYTIC:
            return ANALYTIC[term.func](arb(_number(self.of(term.args[0]))))
        raise NoValueError(f"{term.func}")

    def _symbol(self, symbol: Expr) -> Value:
        if symbol in self.symbols:
            return self.symbols[symbol]
        if symbol in self.defined:
            return self.of(self.defined[symbol])
        raise NoValueError(f"no value for {symbol}")

    def refutes(self, statement: Statement) -> bool:
        """Whether the statement is certainly false; raises NoValueError where it has no value."""
        lhs, rhs = self.of(statement.lhs), self.of(statement.rhs)
        if isinstance(lhs, Matrix) or isinstance(rhs, Matrix):
            return statement.relation == "==" and _apart(lhs, rhs)
        fails = {"<=": lhs > rhs, "<": lhs >= rhs, "==": lhs != rhs, "exists": lhs > rhs}
        return bool(fails.get(statement.relation, _same(lhs, rhs)))

    def grants(self, statement: Statement) -> bool:
        """Whether the statement is certainly true."""
        lhs, rhs = self.of(statement.lhs), self.of(statement.rhs)
        if isinstance(lhs, Matrix) or isinstance(rhs, Matrix):
            return statement.relation == "==" and not _apart(lhs, rhs)
        holds = {"<=": lhs <= rhs, "<": lhs < rhs, "!=": lhs != rhs, "exists": lhs <= rhs}
        return bool(holds.get(statement.relation, _same(lhs, rhs)))


def _same(lhs: Number, rhs: Number) -> bool:
    return isinstance(lhs, fmpq) and isinstance(rhs, fmpq) and lhs == rhs


def _apart(lhs: Value, rhs: Value) -> bool:
    """Whether two matrices, one of which may be the number 0, differ."""
    pair = (lhs, rhs)
    found = [one for one in pair if isinstance(one, Matrix)]
    if len(found) == 1:
        if any(one != 0 for one in pair if not isinstance(one, Matrix)):
            raise NoValueError("a number against a matrix")
        return any(one != 0 for one in found[0].entries)
    difference = found[0] + found[1].scaled(fmpq(-1))
    return any(one != 0 for one in difference.entries)


def _number(value: Value) -> Number:
    if isinstance(value, Matrix):
        raise NoValueError("a matrix where a number is needed")
    return value


def added(one: Value, other: Value) -> Value:
    """The sum; the number 0 is of every size."""
    if isinstance(one, Matrix) != isinstance(other, Matrix):
        number, matrix = (other, one) if isinstance(one, Matrix) else (one, other)
        if number != 0:
            raise NoValueError("a number added to a matrix")
        return matrix
    return one + other  # type: ignore[operator]


def multiplied(one: Value, other: Value) -> Value:
    """The product, in its order."""
    match one, other:
        case Matrix(), Matrix():
            return one @ other
        case Matrix(), _:
            return one.scaled(other)  # type: ignore[arg-type]
        case _, Matrix():
            return other.scaled(one)
    return one * other  # type: ignore[operator]


def raised(base: Value, exponent: Number) -> Value:
    """base^exponent, of real numbers and of square matrices."""
    whole = isinstance(exponent, fmpq) and exponent.q == 1
    if whole and abs(exponent) <= MOST:
        n = int(exponent.p)
        if n < 0:
            if isinstance(base, Matrix):
                return raised(base.inverse, fmpq(-n))
            if not base != 0:
                raise NoValueError("a quotient by 0")
            return raised(1 / base, fmpq(-n))
        if isinstance(base, Matrix) and not (n and base.shape[0] == base.shape[1]):
            raise NoValueError("a power of a matrix")
        if isinstance(base, fmpq) and n * max(base.p.bit_length(), base.q.bit_length()) > BITS:
            raise NoValueError("a number that is too long")
        return reduce(multiplied, [base] * n) if n else fmpq(1)
    number = _number(base)
    if isinstance(exponent, fmpq) and exponent.q == 2:
        return raised(root(number), fmpq(exponent.p))
    if number == 0 and exponent > 0:
        return fmpq(0)
    if not number > 0:
        raise NoValueError("a real power of what is not positive")
    return (arb(number).log() * exponent).exp()


def _log(model: Model, term: Expr) -> Value:
    argument = _number(model.of(term.args[0]))
    if argument <= 0:
        return model.log_outside
    if not argument > 0:
        raise NoValueError("log of what may be 0")
    return fmpq(0) if argument == 1 else arb(argument).log()


def _each(join: Callable[..., Value]) -> Callable[[Model, Expr], Value]:
    return lambda model, term: join(*map(model.of, term.args))


HEADS: dict[type[Basic], Callable[[Model, Expr], Value]] = {
    sympy.Add: lambda model, term: reduce(added, map(model.of, term.args)),
    sympy.Mul: lambda model, term: reduce(multiplied, map(model.of, term.args)),
    sympy.Pow: _each(lambda base, exponent: raised(base, _number(exponent))),
    sympy.log: _log,
    sympy.Abs: _each(lambda one: abs(_number(one))),
    sympy.Max: _each(lambda *args: largest(tuple(map(_number, args)))),
    sympy.Min: _each(lambda *args: -largest(tuple(-_number(arg) for arg in args))),
}  # fmt: skip
