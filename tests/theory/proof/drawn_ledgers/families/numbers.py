"""Identities and inequalities of reals: true ones, ones that fail at an edge, perturbed ones."""

from __future__ import annotations

from collections.abc import Callable

from sympy import (
    Abs,
    Add,
    Dummy,
    E,
    Expr,
    Float,
    I,
    Integer,
    Max,
    Min,
    Mul,
    Pow,
    Rational,
    Symbol,
    acosh,
    asin,
    atan,
    cos,
    erf,
    exp,
    log,
    nan,
    oo,
    pi,
    sin,
    sqrt,
    tanh,
    zoo,
)

from drawn_ledgers.matrices import NoValueError
from drawn_ledgers.models import S_0, Chance, lam, some, steps, values
from drawn_ledgers.said import Said, method, premises
from drawn_ledgers.values import Model
from rnnbounds.theory.language import Statement, at, eq, le, lt, ne
from rnnbounds.theory.language.terms.variables import j, m, y, z
from rnnbounds.theory.language.terms.vectors import exponential
from rnnbounds.theory.proof import Step
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
PARTIAL: tuple[Callable[[Expr], Expr], ...] = (
    log, log, sqrt, lambda a: a ** Rational(3, 2), lambda a: log(a) + log(2), lambda a: 1 / a,
    lambda a: sqrt(a) * sqrt(a - 1), lambda a: log(a**2), lambda a: a**a, lambda a: acosh(a),
    lambda a: asin(2 * a), lambda a: exp(log(a), evaluate=False), lambda a: a ** Rational(1, 3),
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
STRANGE: tuple[Expr, ...] = (
    I, oo, -oo, nan, Float(1e16), Float(0.1), Symbol("y"), Symbol("p", positive=True),
    Dummy("y", real=True), Symbol("y", integer=True), Symbol("lam", real=True),
    Symbol("q", commutative=False), I**2 + 1, sqrt(2) ** 3,
)  # fmt: skip

# No exponents: SymPy would compute the powers.
LONG = (Integer(10) ** 40, Rational(1, 10**40), -(Integer(7) ** 90))


def term(chance: Chance, depth: int) -> Expr:
    """A term of reals."""
    kind = chance.one(range(6)) if depth else 0
    if kind < 2:
        return chance.one(STRANGE if not chance.one(range(40)) else ATOMS)
    if kind < 4:
        return chance.one(ONE_PLACE)(term(chance, depth - 1))
    return chance.one(TWO_PLACES)(term(chance, depth - 1), term(chance, depth - 1))


def variables(*statements: Statement) -> tuple[Symbol, ...]:
    """The free symbols that are no constants of the model."""
    found = {one for statement in statements for one in statement.symbols}
    return tuple(
        sorted(found - {lam, S_0, steps}, key=lambda one: (one.name, str(one.assumptions0)))
    )


def perturbed(chance: Chance, pair: Pair) -> Pair:
    """One side a little different."""
    left, right = pair
    kind = chance.one(range(6))
    if kind == 0:
        return left, right + chance.one((1, -1, Rational(1, 1000)))
    if kind == 1:
        return left, right * chance.one((2, -1, 0, Rational(999, 1000)))
    if kind == 2:
        return left, right.xreplace({chance.one((y, z)): chance.one((z, y, lam, Integer(0)))})
    if kind == 3:
        return left, -right
    if kind == 4:
        return left + chance.one((y, lam, j)), right
    return left, right.xreplace({chance.one(NUMBERS): chance.one(NUMBERS)})


def identities(chance: Chance, model: Model) -> Said:
    """Equations of two terms a and b."""
    depth = chance.one((0, 0, 1))
    a, b = term(chance, depth), term(chance, depth)
    kind = chance.one(range(5))
    pair = chance.one(NEAR if kind in (1, 2, 3) else TRUE)(a, b)
    if kind > 2:
        pair = perturbed(chance, pair)
    relation = chance.one(("==", "==", "==", "==", "<=", "<") if kind else ("==", "==", "<="))
    stated = Statement(pair[0], relation, pair[1])
    return Said(stated, variables(stated), method(chance, Smt)(), true=kind == 0)


def inequalities(chance: Chance, model: Model) -> Said:
    """Polynomial inequalities, some with premises."""
    a, b = term(chance, chance.one((0, 0, 1))), term(chance, 0)
    true = (
        (le(2 * a * b, a**2 + b**2), ()),
        (le(0, a**2 + Abs(b)), ()),
        (le(a, Max(a, b)), ()),
        (le(a**2, b**2), (le(0, a), le(a, b))),
        (lt(0, a * b), (lt(0, a), lt(0, b))),
        (ne(a, b), (lt(a, b),)),
        (le(Abs(a + b), Abs(a) + Abs(b)), ()),
        (lt(a, a + 1 / b), (lt(0, b),)),
        (le(0, sqrt(b) * a), (le(0, a), le(0, b))),
        (eq(a, b), (le(a, b), le(b, a))),
    )
    stated, given = chance.one(true)
    kind = chance.one(range(5))
    if kind:
        pair = perturbed(chance, (stated.lhs, stated.rhs)) if kind < 4 else (stated.rhs, stated.lhs)
        stated = Statement(pair[0], stated.relation, pair[1])
        given = some(chance, given, 2) if given else ()
    by = method(chance, Smt)(*premises(given))
    return Said(stated, variables(stated, *given), by, given, kind == 0)


def elementary(chance: Chance, model: Model) -> Said:
    """Ranges of functions, beside what they do not give."""
    a, b = term(chance, 1), term(chance, 0)
    true = (
        lt(tanh(a), 1), lt(-1, tanh(a)), le(sin(a) * cos(b), 1), lt(0, exp(a)), lt(erf(a), 2),
        lt(atan(a), 2), lt(tanh(a) ** 2, 1), le(sin(a) ** 2, 1), lt(exp(a), exp(a) + 1 + b**2),
    )  # fmt: skip
    stated, kind = chance.one(true), chance.one(range(4))
    if kind == 1:
        stated = lt(stated.lhs, stated.rhs - chance.one((Rational(1, 2), 1, 2)))
    elif kind == 2:
        stated = chance.one((lt(tanh(a), tanh(b)), le(1, exp(a)), lt(0, log(a)), le(a, sin(a))))
    elif kind == 3:
        stated = le(*perturbed(chance, (stated.lhs, stated.rhs)))
    return Said(stated, variables(stated), method(chance, Smt)(), true=kind == 0)


def rewritten(chance: Chance, model: Model) -> Said | None:
    """f(y), where y is a number: the value that SymPy has for it, or another."""
    number = chance.one(NUMBERS)
    f = chance.one(PARTIAL)(y + chance.one((0, 0, 1, -1)))
    f = f ** chance.one((1, 2, 2)) if chance.one((True, True, False)) else f * term(chance, 1)
    value = f.xreplace({y: number})
    if value.free_symbols & {z, j} or value.has(oo, nan, zoo, I) or y not in f.free_symbols:
        value = chance.one(NUMBERS)
    if not chance.one(range(3)):
        value = value + chance.one((1, -1))
    stated = chance.one((eq, eq, le))(f, value)
    given = (eq(y, number),)
    return Said(stated, variables(stated, *given), method(chance, Smt)("given 1"), given)


def closed(chance: Chance, model: Model) -> Said:
    """Numbers compared."""
    numbers = {one: chance.one(NUMBERS) for one in (y, z, lam, S_0, values(0))} | {j: Integer(2)}
    left, right = (term(chance, 2).xreplace(numbers) for _ in range(2))
    stated = Statement(left, chance.one(("<=", "<", "==", "!=")), right)
    return Said(stated, variables(stated), Smt(), true=_holds(model, stated))


def _holds(model: Model, stated: Statement) -> bool:
    try:
        return model.grants(stated)
    except NoValueError:
        return False


def strange(chance: Chance, model: Model) -> Said:
    """A true law of reals, at what is no real number, or has a symbol's name."""
    law = chance.one((le(0, y**2), lt(y, y + 1), le(y, Abs(y)), lt(0, exp(y)), eq(y - y + z, z)))
    first = Step("b", law, Smt(), (y, z), location="drawn")
    at_term = chance.one((*STRANGE, *LONG, term(chance, 1)))
    stated = chance.one((law.replace({y: at_term}), lt(at_term, at_term), le(1, at_term * 0)))
    known = tuple(one for one in variables(stated) if one in (y, z, j, m))
    return Said(stated, known, Smt(at("b", at_term, z)), before=(first,))
