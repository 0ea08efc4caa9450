"""The laws behind the independence of tanh units, tried on random lists of lines, exactly.

A list is given by whole numbers: P_i = θ_i + p x_1 + q x_2, its ℤ-basis is x_1, x_2, and its lines
have the slopes p + 5 q.  What is constant is seen at points, to 40 digits.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from random import Random
from typing import Any

import mpmath
import numpy as np
import pytest
from flint import fmpz_mat
from sympy import Abs, Add, Expr, Mul, Pow

from rnnbounds.theory.axioms.analytic import (
    AX,
    BASIS,
    DIFFERENTIALS,
    EMPTY,
    FEWER,
    HOMOMORPHISM,
    LARGEST,
    NO_LONELY_POLE,
    SUBSTITUTION,
    TANH_ALGEBRAIC,
    TANH_POLES,
    TRANSCENDENCE,
    P,
    X,
    Y,
    Z,
)
from rnnbounds.theory.language import Axiom, Statement
from rnnbounds.theory.language.terms.variables import A, a, b, c, v, y, z

MOST = 4
POINTS = [(mpmath.mpf(p) / 7, mpmath.mpf(q) / 11) for p, q in ((1, 2), (-3, 5), (4, -1), (9, 9))]


class Listed:
    """θ_i + p_i x_1 + q_i x_2, or tanh of it."""

    def __init__(self, rows: list[tuple[int, ...]], bent: bool = False) -> None:
        self.rows, self.bent = rows, bent

    def combined(self, weights: Any) -> Any:
        """Σ c_i P_i at the points."""
        one = mpmath.tanh if self.bent else mpmath.mpf
        parts = list(zip(weights, self.rows, strict=False))
        return np.array(
            [
                mpmath.fsum(rational(w) * one(mpmath.mpf(t) / 2 + p * x + q * r)
                            for w, (t, p, q) in parts)
                for x, r in POINTS
            ]
        )  # fmt: skip


def rational(number: Fraction) -> Any:
    """To many digits."""
    return mpmath.mpf(number.numerator) / number.denominator


def size(value: Any) -> Fraction:
    """The norm of a vector, or of values at points: how far they vary."""
    if isinstance(value[0], mpmath.mpf):
        return Fraction(int(max(value) - min(value) > mpmath.mpf(10) ** -40))
    return Fraction(max(map(abs, value)))


def coordinate(place: int) -> np.ndarray:
    """A unit vector; 0 beyond the last."""
    return np.array([Fraction(int(i == place)) for i in range(MOST)])


def steepest(lines: Listed, weights: np.ndarray) -> np.ndarray:
    """The unit vector of the largest slope that has a weight."""
    used = [i for i in range(MOST) if weights[i] != 0]
    return coordinate(max(used, key=lambda i: abs(slope(lines, coordinate(i))), default=MOST))


def slope(lines: Listed, unit: np.ndarray) -> Fraction:
    """g of a line."""
    return sum(
        (u * (p + 5 * q) for u, (_, p, q) in zip(unit, lines.rows, strict=False)), Fraction(0)
    )


def offset(lines: Listed, unit: np.ndarray) -> Fraction:
    """θ of a line."""
    return sum(
        (u * Fraction(t, 2) for u, (t, *_) in zip(unit, lines.rows, strict=False)), Fraction(0)
    )


def pole(lines: Listed, unit: np.ndarray, y: Fraction, z: Fraction) -> Fraction:
    """1 at an odd multiple of iπ/2."""
    real, turns = offset(lines, unit) + slope(lines, unit) * y, slope(lines, unit) * z
    return Fraction(int(real == 0 and turns.denominator == 1 and turns % 2 == 1))


def partner(lines: Listed, weights: np.ndarray, unit: np.ndarray, *at: Fraction) -> np.ndarray:
    """Another one with a pole there."""
    others = (coordinate(i) for i in range(MOST) if weights[i] != 0)
    found = (o for o in others if (o != unit).any() and pole(lines, o, *at) == 1)
    return next(found, coordinate(MOST))


MEANING = {
    "norm": size,
    "gain": size,
    "support": lambda w: Fraction(int(np.count_nonzero(w))),
    "inner": lambda p, q: Fraction((p * q).sum()),
    "unit": lambda u: Fraction(int(sorted(u) == sorted(coordinate(0)))),
    "tangents": lambda one: Listed(one.rows, bent=True),
    # Along one direction, x_2 = 5 x_1, as the slopes have it.
    "lines": lambda one, basis: Listed([(t, p + 5 * q, 0) for t, p, q in one.rows]),
    "generated": lambda one, basis: Fraction(1),
    "independent": lambda basis: Fraction(1),
    "exponentials": lambda basis: basis,
    "transcendence": lambda basis: Fraction(2),
    "count": lambda basis: Fraction(2),
    "slope": slope, "offset": offset, "pole": pole, "partner": partner, "steepest": steepest,
}  # fmt: skip


def value(term: Expr, env: dict[Expr, Any]) -> Any:
    """The term, with a meaning for each of its functions."""
    if term in env:
        return env[term]
    if term.is_Rational:
        return Fraction(int(term.p), int(term.q))
    if isinstance(term, Add):
        return sum((value(part, env) for part in term.args[1:]), value(term.args[0], env))
    if isinstance(term, Pow):
        return value(term.base, env) ** int(term.exp)
    if isinstance(term, Abs):
        return abs(value(term.args[0], env))
    if isinstance(term, Mul):
        scalars, operators = term.args_cnc()
        factor = prod((value(one, env) for one in scalars), start=Fraction(1))
        if not operators:
            return factor
        *first, last = (value(one, env) for one in operators)
        found = last * factor
        for one in first:
            found = one.combined(found) if isinstance(one, Listed) else one @ found
        return found
    return MEANING[type(term).__name__](*(value(part, env) for part in term.args))


def holds(statement: Statement, env: dict[Expr, Any]) -> bool:
    """Whether it is so."""
    left, right = (value(side, env) for side in (statement.lhs, statement.rhs))
    known = {"<=": left <= right, "==": left == right, "!=": left != right}
    return bool(known[statement.relation])


def drawn(random: Random) -> dict[Expr, Any]:
    """Few lines, many of them equal up to the sign, weights that often cancel, and a point."""
    rows: list[tuple[int, ...]] = []
    for _ in range(random.choice((0, 1, MOST, MOST))):
        fresh = tuple(random.choice(of) for of in ((0, 0, 1), (0, 1, 1, 3), (0, 0, 1)))
        known = random.choice([*rows, *rows, fresh])
        sign = random.choice((1, 1, -1))
        rows.append(tuple(sign * one for one in known))
    some = Listed(rows)
    lines = MEANING["lines"](some, None)
    units = [coordinate(random.randrange(MOST + 1)) for _ in range(3)]
    weights = random.choice(
        (units[0] - units[1], units[0] + units[1], units[0], units[1] * random.randrange(-2, 3),
         units[0] - 2 * units[1] + units[2])
    )  # fmt: skip
    steep = slope(lines, units[0])
    near = (-offset(lines, units[0]) / steep, 1 / steep) if steep else (Fraction(1), Fraction(0))
    number = Fraction(random.choice((1, -1, 0, 2)))
    return {
        P: some, Y: [0, 0], A: np.array([[Fraction(random.randrange(-2, 3)) for _ in range(MOST)]]),
        a: units[0], b: units[1], c: weights, v: units[2],
        y: near[0], z: near[1] if random.random() < 0.5 else number,
    }  # fmt: skip


def met_and_true(axiom: Axiom, tries: Iterable[dict[Expr, Any]]) -> None:
    """Each clause is met often, and its conclusion then holds."""
    met = Counter[int]()
    for env in tries:
        for index, clause in enumerate(axiom.clauses):
            if all(holds(premise, env) for premise in clause.given):
                met[index] += 1
                assert holds(clause.conclusion, env), (clause, env)
    assert len(met) == len(axiom.clauses)
    assert min(met.values()) >= 5


@pytest.mark.slow
@pytest.mark.parametrize(
    "axiom",
    [EMPTY, FEWER, LARGEST, SUBSTITUTION, HOMOMORPHISM, TANH_POLES, NO_LONELY_POLE],
    ids=lambda axiom: axiom.text[:24],
)
def test_a_law_holds_of_lines(axiom: Axiom) -> None:
    """Each clause is met often, and its conclusion then holds; sizes 0 and 1 are among them."""
    with mpmath.workdps(60):
        random = Random(0)
        met_and_true(axiom, (drawn(random) for _ in range(400)))


@dataclass(frozen=True)
class Field:
    """Lines m·x, and exponentials of such lines, of whole m: a list of generators over ℂ."""

    lines: list[list[int]]
    powers: list[list[int]]

    def rank(self) -> Fraction:
        """The degree of transcendence: lines are linear in x, exponentials multiply."""
        return Fraction(sum(fmpz_mat(part).rank() for part in (self.lines, self.powers) if part))


def within(some: Field, other: Field) -> Fraction:
    """Whether generators are algebraic over others; of lines alone, whether they are spanned."""
    both = Field([*some.lines, *other.lines], [*some.powers, *other.powers])
    return Fraction(int(both.rank() == other.rank()))


def reduced(*parts: Field) -> Field:
    """A ℤ-basis of what lines generate, by Hermite's normal form."""
    lines = [line for part in parts for line in part.lines]
    rows = fmpz_mat(lines).hnf().tolist() if lines else []
    return Field([[int(x) for x in row] for row in rows if any(row)], [])


def spanned(some: Field, other: Field) -> Fraction:
    """Whether lines are sums of whole multiples of others."""
    return Fraction(int(reduced(some, other).lines == reduced(other).lines))


OF_FIELDS = {
    "analytic": lambda one: Fraction(1),
    "count": lambda one: Fraction(len(one.lines)),
    "rank": lambda one: one.rank(),
    "differentials": lambda one: one,
    "independent": lambda one: Fraction(int(one.rank() == len(one.lines))),
    "exponentials": lambda one: Field([], one.lines),
    "tangents": lambda one: Field([], one.lines),
    "beside": lambda p, q: Field([*p.lines, *q.lines], [*p.powers, *q.powers]),
    "transcendence": lambda one: one.rank(),
    "algebraic": within, "generated": spanned, "basis": reduced,
}  # fmt: skip


def drawn_fields(random: Random) -> dict[Expr, Any]:
    """Lists of lines, and of lines beside exponentials."""
    lists = [
        [[random.randrange(-2, 3) for _ in range(3)] for _ in range(random.randrange(4))]
        for _ in range(4)
    ]
    env: dict[Expr, Any] = {
        one: Field(lines, []) for one, lines in zip((P, X, Y), lists, strict=False)
    }
    env[Z] = Field([], [*lists[3], *lists[2]] if random.random() < 0.5 else lists[3])
    return env


@pytest.mark.parametrize(
    "axiom", [AX, BASIS, DIFFERENTIALS, TRANSCENDENCE, TANH_ALGEBRAIC], ids=lambda axiom: axiom.id
)
def test_a_law_of_fields_holds_of_lines_and_their_exponentials(
    axiom: Axiom, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ax's bound is met with equality there; none of the lists, and all, may be empty."""
    for name, meaning in OF_FIELDS.items():
        monkeypatch.setitem(MEANING, name, meaning)
    random = Random(1)
    met_and_true(axiom, (drawn_fields(random) for _ in range(300)))
