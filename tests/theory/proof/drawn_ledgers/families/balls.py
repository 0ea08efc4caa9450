"""Bounds of functions on the whole line, by balls within and by a limit and a slope beyond."""

from __future__ import annotations

from collections.abc import Callable

from flint import arb, fmpq
from sympy import Abs, Expr, Integer, Pow, Rational, atan, cos, erf, exp, log, pi, sin, sqrt, tanh

from drawn_ledgers.matrices import NoValueError
from drawn_ledgers.models import Chance
from drawn_ledgers.said import Said
from drawn_ledgers.values import Model
from rnnbounds.theory.language import le
from rnnbounds.theory.language.terms.variables import z
from rnnbounds.theory.proof.methods import BallMaximum

SCALES = tuple(map(Integer, (1, 9, 100, 10**6)))
OUTER: tuple[Callable[[Expr], Expr], ...] = (
    sin, sin, cos, lambda a: a, tanh, atan, erf, lambda a: exp(-(a**2)), lambda a: a / (1 + a**2),
    lambda a: sin(a) / 2, lambda a: tanh(sin(a)),
)  # fmt: skip
INNER: tuple[Callable[[Expr], Expr], ...] = (
    lambda n: pi * z**2 / (z**2 + n), lambda n: pi * z**2 / (z**2 + n), lambda n: z / n,
    lambda n: z - n, lambda n: 1 / (z - n), lambda n: z**2 - n, lambda n: log(z**2 + n) / 10,
    lambda n: sqrt(z**2 + n) / n, lambda n: z * exp(-(z**2)) * n,
)  # fmt: skip
DISGUISED: tuple[Callable[[Expr], Expr], ...] = (
    lambda a: exp(log(a), evaluate=False), lambda a: log(exp(a), evaluate=False),
    lambda a: Pow(sqrt(a), 2, evaluate=False), lambda a: sqrt(a**2, evaluate=False),
)  # fmt: skip
FALLING: tuple[Callable[[Expr], Expr], ...] = (
    tanh, atan, erf, lambda a: exp(-(a**2)), lambda a: a / (1 + a**2), lambda a: 1 / (2 + a**2),
)  # fmt: skip
WITHIN = tuple(fmpq(n, 2) for n in range(-16, 17, 2))
BEYOND = tuple(map(fmpq, (-1000, -100, -21, -10, 9, 12, 20, 1000, 10**4)))


def _largest(model: Model, f: Expr, points: tuple[fmpq, ...]) -> fmpq:
    """The largest |f| that is seen, from below, as a rational with few digits."""
    best = fmpq(0)
    for point in points:
        try:
            value = abs(arb(model.at({z: point}).of(f)))
        except NoValueError:
            continue
        if value.is_finite():
            best = max(
                best, fmpq(int(arb((value.mid() * 1000).floor().mid()).unique_fmpz() or 0), 1000)
            )
    return best


def balls(chance: Chance, model: Model) -> Said:
    """|f| ≤ c, where c is what |f| comes to on [-8, 8], or a little less, or enough."""
    outer, scale = chance.one(OUTER), chance.one(SCALES)
    f = outer(chance.one(INNER)(scale))
    kind = chance.one(range(8))
    if kind > 5:
        f = chance.one(FALLING)(z / scale)
        bound = _largest(model, f, (*WITHIN, *BEYOND)) * 2 + 1
        stated = le(Abs(f, evaluate=False), Rational(int(bound.p), int(bound.q)))
        return Said(stated, (z,), BallMaximum(()), true=True)
    if kind == 0:
        f = f - chance.one((z, z / 2, Integer(1)))
    elif kind == 1:
        f = outer(chance.one(DISGUISED)(z / scale)) - outer(z / scale)
    inside, outside = (_largest(model, f, points) for points in (WITHIN, BEYOND))
    bound = max(inside, outside)
    if chance.one((True, False)) and inside < outside:
        bound = inside + (outside - inside) / chance.one((4, 100))
    else:
        bound = bound * fmpq(9, 10)
    stated = le(Abs(f, evaluate=False), Rational(int(bound.p), int(bound.q)))
    return Said(stated, (z,), BallMaximum(chance.one(((), (), (Integer(0),)))))
