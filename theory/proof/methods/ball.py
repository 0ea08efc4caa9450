"""The maximum of |f| over the real line by ball arithmetic: exact, and for all z.

Around each peak, where |f| takes the bound, f' vanishes exactly and f'' has the sign that makes f
fall off on both sides.  On the rest of [-radius, radius] boxes are split until the second-order
Taylor form f(m) + f'(m) (z - m) + f''(box) (z - m)²/2 stays below the bound.  On the tails f' keeps
its sign, so that f lies between its value at the end and its limit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import ClassVar

from flint import arb, ctx
from sympy import (
    Abs,
    Add,
    Dummy,
    Expr,
    I,
    Integer,
    Mul,
    NumberSymbol,
    PolynomialError,
    Pow,
    Rational,
    Symbol,
    atan,
    cancel,
    cos,
    erf,
    exp,
    factor_list,
    floor,
    fraction,
    limit,
    log,
    oo,
    preorder_traversal,
    sin,
    tanh,
    together,
)

from theory.errors import InputError, MachineError
from theory.language import Clause, Statement, Use, le, lt
from theory.language.printing import statement_text
from theory.language.terms.variables import z
from theory.numbers.evaluate import ball
from theory.proof.methods.base import Gap, Method, Scope, use_name
from theory.proof.methods.powers import multiplied
from theory.proof.methods.rewriting import equations
from theory.proof.methods.smt import entail

PRECISION = 128
MOST_BOXES = 2_000
PARTS = 4  # of the reach around a peak, on either side


# Analytic on the whole line, where denominators and arguments of logarithms are positive.
POLYNOMIAL = (Symbol, Rational, NumberSymbol, Add, Mul, Pow)
SMOOTH = (*POLYNOMIAL, exp, log, tanh, atan, erf, sin, cos)


def is_polynomial(expression: Expr) -> bool:
    """Whether it is a polynomial with real coefficients."""
    nodes = tuple(preorder_traversal(expression))
    powers = (node for node in nodes if isinstance(node, Pow) and node.free_symbols)
    return all(isinstance(node, POLYNOMIAL) for node in nodes) and all(
        power.exp.is_Integer and power.exp > 0 for power in powers
    )


@cache
def _limit(function: Expr, point: Expr) -> Expr:
    # As one fraction of powers of e: of hyperbolic functions SymPy finds it four times as slowly.
    return limit(cancel(together(function.rewrite(exp))), z, point)


@dataclass(frozen=True)
class BallMaximum(Method):
    """|f(z)| <= c for all real z; `hypotheses` are equations that hold at the peaks."""

    peaks: tuple[Expr, ...]
    hypotheses: tuple[Use, ...] = ()
    radius: int = 8
    reach: float = 0.125

    name: ClassVar[str] = "ball maximum"

    @property
    def uses(self) -> tuple[Use, ...]:
        """The equations."""
        return self.hypotheses

    def reduced(self) -> Iterator[tuple[str, Method]]:
        """Leave out each equation."""
        for use in self.hypotheses:
            rest = tuple(other for other in self.hypotheses if other != use)
            yield use_name(use), replace(self, hypotheses=rest)

    def prove(self, goal: Statement, scope: Scope) -> str:
        """Prove |f(z)| <= c."""
        function = goal.lhs.replace(Abs, lambda inside: inside)
        is_modulus = goal.lhs.is_nonnegative and multiplied(function**2 - goal.lhs**2) == 0
        if goal.symbols == {z}:
            _require_smooth(function)
        if goal.relation != "<=" or not is_modulus or goal.symbols != {z}:
            raise Gap(f"{statement_text(goal)} does not bound |f(z)|")
        rules = equations(scope.clauses(self.hypotheses))
        search = _Search(function, goal.rhs, rules, scope)
        try:
            with ctx.workprec(PRECISION):
                for peak in self.peaks:
                    search.peak(peak, self.reach)
                boxes = search.compact(self.radius, self.peaks, self.reach)
                search.tail(Integer(self.radius))
                search.tail(Integer(-self.radius))
        except MachineError:
            raise
        except (InputError, NotImplementedError, PolynomialError) as error:
            raise Gap(f"undecided: {error}") from error
        return f"{len(self.peaks)} peaks, {boxes} boxes, monotone beyond |z| = {self.radius}"


def _require_smooth(function: Expr) -> None:
    """Raise Gap unless the function has a value and all derivatives on the whole line."""
    for node in preorder_traversal(function):
        whole = isinstance(node, Pow) and node.exp.is_Integer
        defined = not isinstance(node, Pow | log) or node.args[0].is_positive
        if not isinstance(node, SMOOTH) or not (defined or (whole and node.exp > 0)):
            raise Gap(f"{node} is not known to be smooth")


class _Search:
    """One function, its first two derivatives and the bound."""

    def __init__(self, function: Expr, bound: Expr, rules: dict[Expr, Expr], scope: Scope) -> None:
        self.function, self.bound, self.rules, self.scope = function, bound, rules, scope
        self.first, self.second = function.diff(z), function.diff(z, 2)

    def peak(self, peak: Expr, reach: float) -> None:
        """|f| <= c within reach of the peak."""
        if self._reduced(self.first.subs(z, peak)) != 0:
            raise Gap(f"the derivative is not shown to vanish at z = {peak}")
        value = self.function.subs(z, peak)
        sign = 1 if ball(value, {}) > 0 else -1
        self._require_at_most(sign * value, f"z = {peak}")
        for part in range(-PARTS, PARTS):
            box = ball(peak, {}) + arb((part + 0.5) * reach / PARTS, reach / PARTS)
            if not sign * self._at(self.second, box) < 0:
                raise Gap(f"the second derivative keeps no sign around z = {peak}")
            if not sign * self._at(self.function, box) > -self._limit:
                raise Gap(f"the other sign is not excluded around z = {peak}")

    def compact(self, radius: int, peaks: tuple[Expr, ...], reach: float) -> int:
        """|f| <= c on [-radius, radius] but within reach of the peaks; the number of boxes."""
        centres = [ball(peak, {}) for peak in peaks]
        boxes = [(0.0, float(radius))]
        count = 0
        while boxes:
            middle, half = boxes.pop()
            count += 1
            if count > MOST_BOXES:
                raise Gap(f"undecided after {MOST_BOXES} boxes, near z = {middle}")
            if any(abs(middle - centre) + half <= reach for centre in centres):
                continue
            if self._taylor(middle, half) <= self._limit:
                continue
            if abs(self._at(self.function, arb(middle))) > self._limit:
                raise Gap(f"counter-model: |f(z)| > {self.bound} at z = {middle}")
            boxes += [(middle - half / 2, half / 2), (middle + half / 2, half / 2)]
        return count

    def tail(self, end: Expr) -> None:
        """|f| <= c beyond the end: f is monotone there, between f(end) and its limit."""
        self._require_constant_sign(self.first, end)
        far = _limit(self.function, end * oo)
        for value, where in ((self.function.subs(z, end), f"z = {end}"), (far, f"z -> {end * oo}")):
            self._require_at_most(value, where)
            self._require_at_most(-value, where)

    @property
    def _limit(self) -> arb:
        return ball(self.bound, {})

    def _at(self, expression: Expr, box: arb) -> arb:
        return ball(expression, {z.name: box})

    def _taylor(self, middle: float, half: float) -> arb:
        """|f| on the box."""
        centre, offset = arb(middle), arb(0, half)
        slope, curvature = self._at(self.first, centre), self._at(self.second, centre + offset)
        return abs(
            self._at(self.function, centre) + slope * offset + curvature * offset * offset / 2
        )

    def _reduced(self, value: Expr) -> Expr:
        """Normal form, the hypotheses applied."""
        return cancel(together(value.xreplace(self.rules)))

    def _require_at_most(self, value: Expr, where: str) -> None:
        if self._reduced(value - self.bound) == 0:
            return
        number = ball(value, {}) if value.is_finite is not False else arb("inf")
        if not number <= self._limit:
            word = "counter-model" if number > self._limit else "undecided"
            raise Gap(f"{word}: f = {number.str(8)} against {self.bound} at {where}")

    def _require_constant_sign(self, derivative: Expr, end: Expr) -> None:
        """f' has one sign beyond the end: its factors are numbers, powers of e, or polynomials.

        Polynomials are factored with positive leading coefficients, so that far out they are > 0.
        """
        x, grown = Dummy("x", real=True), Dummy("E", positive=True)  # e^{x/2}
        side = Integer(1) if end > 0 else Integer(-1)
        outward = derivative.rewrite(exp).subs(z, side * x)
        names = {}
        for power in outward.atoms(exp):
            if not is_polynomial(power.args[0]):
                raise Gap(f"{power} is not known to be positive")
            times = 2 * power.args[0] / x
            names[power] = grown**times if times.is_Integer else Dummy("G", positive=True)
        least = floor(exp(abs(end) / 2))
        facts = (Clause(le(abs(end), x)), Clause(le(least, grown)))
        if outward.has(I):
            raise Gap(f"{outward} is no real number")
        for part in fraction(together(outward.xreplace(names))):
            for factor, _ in [] if part.is_number else factor_list(part)[1]:
                if not factor.is_positive and not factor.is_number:
                    entail(lt(Integer(0), factor), facts, self.scope)
