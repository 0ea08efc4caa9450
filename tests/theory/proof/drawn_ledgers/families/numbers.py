"""Identities and inequalities of reals: true ones, ones that fail at an edge, perturbed ones."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from sympy import (
    Abs,
    Add,
    E,
    Expr,
    Integer,
    Max,
    Min,
    Mul,
    Pow,
    Rational,
    Symbol,
    atan,
    cos,
    erf,
    exp,
    log,
    pi,
    sin,
    sqrt,
    tanh,
)

from drawn_ledgers.models import S_0, Model, lam, steps, values
from drawn_ledgers.said import Said, method
from rnnbounds.theory.language import Statement
from rnnbounds.theory.language.terms.variables import j, m, y, z
from rnnbounds.theory.language.terms.vectors import exponential
from rnnbounds.theory.proof.methods import Smt

NUMBERS = (*map(Integer, (-2, -1, 0, 1, 2, 3)), Rational(1, 2), Rational(-1, 3))
ATOMS: tuple[Expr, ...] = (y, z, y, z, lam, S_0, j, values(0), *map(Integer, (-1, 1, 2)))
ONE_PLACE: tuple[Callable[[Expr], Expr], ...] = (
    Abs, sqrt, log, exp, tanh, sin, cos, atan, erf, exponential, lambda a: a**2, lambda a: 1 / a,
    lambda a: a**j, lambda a: exp(log(a), evaluate=False), lambda a: Pow(a, -1, evaluate=False),
    lambda a: Pow(sqrt(a), 2, evaluate=False), lambda a: log(exp(a), evaluate=False),
    lambda a: sqrt(a**2, evaluate=False),
)  # fmt: skip
TWO_PLACES: tuple[Callable[[Expr, Expr], Expr], ...] = (
    lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b, lambda a, b: a / b, Max, Min,
    lambda a, b: Mul(a, b, evaluate=False), lambda a, b: Add(a, b, evaluate=False),
)  # fmt: skip
Pair = tuple[Expr, Expr]
# Of all a and b; those with quotients where these have a value.
TRUE: tuple[Callable[[Expr, Expr], Pair], ...] = (
    lambda a, b: ((a + b) ** 2, a**2 + 2 * a * b + b**2),
    lambda a, b: ((a + b) * (a - b), a**2 - b**2),
    lambda a, b: (a * (b + 1) - b * (a + 1), a - b),
    lambda a, b: ((a - b) ** 3, a**3 - 3 * a**2 * b + 3 * a * b**2 - b**3),
    lambda a, b: (a / (1 + b**2) + a * b**2 / (1 + b**2), a),
    lambda a, b: (sqrt(1 + a**2) ** 2 + b, 1 + a**2 + b),
    lambda a, b: (a**j * a * b, a ** (j + 1) * b),
    lambda a, b: (Abs(a - b), Abs(b - a)),
    lambda a, b: (Max(a, b) + Min(a, b), a + b),
    lambda a, b: (exp(a) * b - exp(a), exp(a) * (b - 1)),
)
NEAR: tuple[Callable[[Expr, Expr], Pair], ...] = (
    lambda a, b: (log(2 * a), log(2) + log(a)),
    lambda a, b: (log(3 * a) * b, (log(3) + log(a)) * b),
    lambda a, b: (log(a * b), log(a) + log(b)),
    lambda a, b: (log(a / 2), log(a) - log(2)),
    lambda a, b: (log(a**2), 2 * log(a)),
    lambda a, b: (exp(log(a), evaluate=False), a),
    lambda a, b: (sqrt(a**2, evaluate=False), a),
    lambda a, b: (sqrt(Abs(a * b)), sqrt(Abs(a)) * sqrt(b)),
    lambda a, b: (Mul(a, Pow(a, -1, evaluate=False), evaluate=False), Integer(1)),
    lambda a, b: (Mul(a, b, Pow(a, -1, evaluate=False), evaluate=False), b),
    lambda a, b: (Abs(a + b), Abs(a) + Abs(b)),
    lambda a, b: ((a + b) ** 2, a**2 + b**2),
    lambda a, b: (Max(a, b), a),
    lambda a, b: (Max(2 * a, a), 2 * a),
    lambda a, b: (exp(a + b), exp(a) + exp(b)),
    lambda a, b: (exp(a * b), exp(a) ** 2),
    lambda a, b: (a**j * a**m, a ** (j * m)),
    lambda a, b: ((a * b) ** j, a * b**j),
    lambda a, b: (Pow(0, j, evaluate=False) * a, Integer(0)),
    lambda a, b: (Integer(-1) ** j * a, a),
    lambda a, b: (a ** (j - m) * a**m, a**j),
    lambda a, b: (a**b * a, a ** (b + 1)),
    lambda a, b: (Pow(E, log(a), evaluate=False), a),
    lambda a, b: (tanh(2 * a), 2 * tanh(a)),
    lambda a, b: (sin(a + pi / 2), cos(a) + b),
    lambda a, b: (cos(pi * j) * a, a),
    lambda a, b: (tanh(a) * cos(b), tanh(a)),
)


def term(chance: Random, depth: int) -> Expr:
    """A term of reals."""
    kind = chance.choice(range(6)) if depth else 0
    if kind < 2:
        return chance.choice(ATOMS)
    if kind < 4:
        return chance.choice(ONE_PLACE)(term(chance, depth - 1))
    return chance.choice(TWO_PLACES)(term(chance, depth - 1), term(chance, depth - 1))


def variables(*statements: Statement) -> tuple[Symbol, ...]:
    """The free symbols that are no constants of the model."""
    found = {one for statement in statements for one in statement.symbols}
    return tuple(
        sorted(found - {lam, S_0, steps}, key=lambda one: (one.name, str(one.assumptions0)))
    )


def perturbed(chance: Random, pair: Pair) -> Pair:
    """One side a little different."""
    left, right = pair
    kind = chance.choice(range(6))
    if kind == 0:
        return left, right + chance.choice((1, -1, Rational(1, 1000)))
    if kind == 1:
        return left, right * chance.choice((2, -1, 0, Rational(999, 1000)))
    if kind == 2:
        return left, right.xreplace({chance.choice((y, z)): chance.choice((z, y, lam, Integer(0)))})
    if kind == 3:
        return left, -right
    if kind == 4:
        return left + chance.choice((y, lam, j)), right
    return left, right.xreplace({chance.choice(NUMBERS): chance.choice(NUMBERS)})


def identities(chance: Random, model: Model) -> Said:
    """Equations of two terms a and b."""
    depth = chance.choice((0, 0, 1))
    a, b = term(chance, depth), term(chance, depth)
    kind = chance.choice(range(5))
    pair = chance.choice(NEAR if kind in (1, 2, 3) else TRUE)(a, b)
    if kind > 2:
        pair = perturbed(chance, pair)
    relation = chance.choice(("==", "==", "==", "==", "<=", "<") if kind else ("==", "==", "<="))
    stated = Statement(pair[0], relation, pair[1])
    return Said(stated, variables(stated), method(chance, Smt)(), true=kind == 0)
