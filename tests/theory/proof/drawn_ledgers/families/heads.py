"""Heads of SymPy's that bind a variable, jump, or evaluate when they are made."""

from __future__ import annotations

from collections.abc import Callable

from sympy import (
    Abs,
    Derivative,
    Expr,
    Integer,
    Integral,
    Max,
    Mod,
    Piecewise,
    Product,
    Sum,
    Symbol,
    acos,
    asin,
    atanh,
    binomial,
    ceiling,
    conjugate,
    factorial,
    floor,
    gamma,
    im,
    re,
    sign,
    sinh,
    tan,
    zeta,
)

from drawn_ledgers.models import Chance, lam
from drawn_ledgers.said import Said, method, premises
from drawn_ledgers.values import Model
from rnnbounds.theory.language import Statement, at, eq, le
from rnnbounds.theory.language.terms.variables import j, m, y, z
from rnnbounds.theory.proof import Step
from rnnbounds.theory.proof.methods import Elementary, Exact, Identity, Smt

BODIES: tuple[Callable[[Expr, Expr], Expr], ...] = (
    lambda bound, other: bound * other,
    lambda bound, other: bound + other,
    lambda bound, other: other,
    lambda bound, other: other**2 + bound,
    lambda bound, other: 1 + bound * other,
)
Binder = Callable[[Expr, Symbol], Expr]
COUNTING: tuple[Binder, ...] = (
    lambda body, bound: Sum(body, (bound, 0, bound)),
    lambda body, bound: Sum(body, (bound, 0, 2)),
    lambda body, bound: Product(body, (bound, 1, bound)),
    lambda body, bound: Sum(body, (bound, 1, bound)) + bound,
    lambda body, bound: Sum(body, (bound, 1, 0)) + bound,
)
MEASURING: tuple[Binder, ...] = (
    lambda body, bound: Integral(body, (bound, 0, bound)),
    lambda body, bound: Integral(body, (bound, 0, 1)),
    lambda body, bound: Derivative(body, bound, evaluate=False),
    lambda body, bound: bound * Integral(body, (bound, -1, bound)),
)


def binders(chance: Chance, model: Model) -> Said:
    """A rule for a variable that is bound, or is not; a law at the variable that another binds."""
    counts = chance.one((True, False))
    bound, other = (j, m) if counts else (z, y)
    make, body = chance.one(COUNTING if counts else MEASURING), chance.one(BODIES)
    left, right = make(body(bound, other), bound), make(body(bound, bound), bound)
    if chance.one((True, False)):
        given = (eq(other, bound),)
        by = method(chance, Identity)(*premises(given))
        return Said(Statement(left, "==", right), (bound, other), by, given)
    first = Step("b", eq(left, left), Identity(), (bound, other), location="drawn")
    return Said(eq(left, right), (bound,), Smt(at("b", bound, bound)), before=(first,))


SHAPES: tuple[Callable[[Expr, Expr], tuple[Expr, Expr]], ...] = (
    lambda a, b: (floor(-a), -floor(a)),
    lambda a, b: (floor(a + b), floor(a) + floor(b)),
    lambda a, b: (ceiling(a), floor(a) + 1),
    lambda a, b: (Mod(a, 1), Integer(0)),
    lambda a, b: (sign(a) ** 2, Integer(1)),
    lambda a, b: (Piecewise((a, a > b), (b, True)), a),
    lambda a, b: (Piecewise((a, a > 0), (0, True)), Max(a, b)),
    lambda a, b: (Piecewise((1, a < b), (0, True)), Integer(1)),
    lambda a, b: (re(a) + im(a), a + 1),
    lambda a, b: (conjugate(a) * b, Abs(a) * b),
    lambda a, b: (factorial(a), a * factorial(a - 1)),
    lambda a, b: (binomial(a, b), binomial(a, a - b)),
    lambda a, b: (tan(a) * a, a),
    lambda a, b: (gamma(a + 1), gamma(a)),
    lambda a, b: (asin(a) + acos(a), a),
    lambda a, b: (atanh(a) ** 2, a**2),
    lambda a, b: (sinh(a), sinh(b)),
    lambda a, b: (zeta(a), zeta(b)),
    lambda a, b: (Max(a, b, 0), Max(a, b)),
    lambda a, b: (Abs(a) * Abs(b), a * b),
)


def shapes(chance: Chance, model: Model) -> Said:
    """Near identities of heads of all kinds."""
    a, b = chance.one((y, z, lam, j, y + z, -y)), chance.one((z, Integer(0), j, y / 2))
    left, right = chance.one(SHAPES)(a, b)
    stated = chance.one((eq, eq, le))(left, right)
    known = {lam}
    forall = tuple(sorted(stated.symbols - known, key=str))
    return Said(stated, forall, method(chance, chance.one((Identity, Smt, Elementary, Exact)))())
