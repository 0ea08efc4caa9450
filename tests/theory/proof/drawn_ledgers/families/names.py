"""Names: variables that are none, terms that are written alike."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from sympy import (
    Abs,
    Dummy,
    Expr,
    Integer,
    Rational,
    Symbol,
    atan,
    cos,
    erf,
    exp,
    log,
    pi,
    sin,
    tanh,
)

from drawn_ledgers.models import S_0, Model, R, V, W, eye, lam, u, values
from drawn_ledgers.said import Said, method
from rnnbounds.theory.axioms.base import LEAST_EIGENVALUE
from rnnbounds.theory.axioms.unitary import IDENTITY_NORM
from rnnbounds.theory.language import Statement, at, eq, le, lt
from rnnbounds.theory.language.terms.variables import a, b, operator, z
from rnnbounds.theory.language.terms.vectors import least, norm, transpose
from rnnbounds.theory.proof import Step
from rnnbounds.theory.proof.methods import Smt, Words

# Symbols that print alike, of reals, of naturals, of vectors and of operators.
ALIKE: tuple[tuple[Expr, ...], ...] = (
    *(
        (
            Symbol(name, real=True),
            Symbol(name, integer=True),
            Dummy(name, real=True),
            Symbol(f"{name}'1", real=True),
            Dummy(name, integer=True),
            norm(Symbol(name, commutative=False)),
            norm(operator(name)),
        )
        for name in ("y", "j", "drawn_name", "tanh(y)")
    ),
    (lam, Symbol("lam", real=True), Dummy("lam", real=True), Symbol("lam", integer=True)),
)
WRITTEN: tuple[Callable[[Expr], Expr], ...] = (
    tanh, exp, sin, cos, atan, erf, log, Abs, lambda p: p, lambda p: 2**p, lambda p: p**2, values,
)  # fmt: skip


def alike(chance: Random, model: Model) -> Said:
    """A function at two symbols, most of them of one name, and of another sort."""
    pair = tuple(chance.choice(chance.choice(ALIKE[:1] + ALIKE)) for _ in range(2))
    same = chance.choice(ALIKE)
    if chance.choice(range(5)):
        pair = chance.choice(same), chance.choice(same)
    write = chance.choice(WRITTEN)
    stated = chance.choice((eq, eq, le, lt))(write(pair[0]), write(pair[1]))
    forall = tuple(sorted(stated.symbols, key=lambda one: (str(one), str(one.assumptions0))))
    return Said(stated, forall, method(chance, Smt)())


# What is true of one number, or of one operator.
CLOSED: tuple[tuple[Statement, type, Expr], ...] = (
    (lt(3, pi), Smt, pi), (lt(pi, 4), Smt, pi), (le(0, 1), Smt, Integer(0)),
    (le(0, 1), Smt, Integer(1)), (lt(1, 2), Smt, Integer(2)), (le(0, norm(u)), Smt, norm(u)),
    (lt(tanh(S_0), 1), Smt, tanh(S_0)), (le(0, Abs(values(0))), Smt, Abs(values(0))),
    (eq(norm(W - W), 0), Smt, Integer(0)), (le(-lam, S_0), Smt, -lam), (le(0, lam), Smt, lam),
    (lt(0, exp(values(0))), Smt, exp(values(0))), (le(-S_0, lam), Smt, lam),
    (le(norm(u), norm(u) + S_0), Smt, norm(u) + S_0), (le(0, S_0 * lam), Smt, S_0 * lam),
    (lt(tanh(lam), 2), Smt, Integer(2)), (eq(norm(2 * W), norm(-2 * W)), Words, Integer(2)),
)  # fmt: skip
PUT: tuple[Expr, ...] = (lam, lam - 1, Integer(-1), -S_0, values(0), Integer(0), Rational(7, 2))


def quantified(chance: Random, model: Model) -> Said:
    """What is true of one number, for all values of it."""
    truth, by, over = chance.choice(CLOSED)
    term = chance.choice(PUT) * chance.choice((1, 1, 2, Rational(-1, 3)))
    first = Step("b", truth, by(), (over,), location="drawn")
    stated = truth.replace({over: term})
    return Said(stated, (), Smt(at("b", term)), before=(first,))


ONE = (
    (eq(norm(eye), 1), Smt(IDENTITY_NORM.at())),
    (eq(transpose(eye), eye), Words(IDENTITY_NORM.at())),
    (eq(least(z * eye), z), Smt(LEAST_EIGENVALUE.at(0, z))),
    (le(norm(eye) * norm(a), norm(a)), Smt(IDENTITY_NORM.at())),
)
OTHERS = (V, W, R, Integer(0), transpose(W))


def constants(chance: Random, model: Model) -> Said:
    """What an axiom says of the identity, for all operators, a step or two later."""
    truth, by = chance.choice(ONE)
    over = tuple(sorted(truth.symbols - {eye}, key=str))
    steps = [Step("b", truth, by, over, location="drawn")]
    again = type(by)(chance.choice(("b", at("b", *over))))
    forall = chance.choice(((*over, eye), (*over, eye), over))
    steps.append(Step("c", truth, again, forall, location="drawn"))
    other = chance.choice(OTHERS)
    terms = (*over, other) if eye in forall else (*over, *((b,) if not over else ()))
    return Said(truth.replace({eye: other}), over, type(by)(at("c", *terms)), before=tuple(steps))
