"""An exact constant that has no closed form."""

from typing import Any

from flint import arb, ctx
from mpmath import libmp
from sympy import Expr, Integer, NumberSymbol, Rational
from sympy.core.singleton import Singleton


class SiluPeak(NumberSymbol, metaclass=Singleton):
    """The zero z_* = 2.3993... of z tanh(z/2) - 2 in [2, 3], where SiLU is steepest."""

    is_real = True
    is_positive = True
    is_negative = False
    is_number = True
    __slots__ = ()

    def _as_mpf_val(self, precision: int) -> Any:
        with ctx.workprec(precision + 20):
            mantissa, exponent = silu_peak_ball().mid().man_exp()
        return libmp.from_man_exp(int(mantissa), int(exponent), precision)

    def approximation_interval(self, number_cls: type[Expr]) -> tuple[Expr, Expr] | None:
        """Rational bounds."""
        if issubclass(number_cls, Integer):
            return Integer(2), Integer(3)
        return Rational(239, 100), Rational(240, 100)

    def _sympystr(self, _: Any) -> str:
        return "z_silu"

    def _latex(self, _: Any) -> str:
        return "z_{*}"


SILU_PEAK = SiluPeak()


def silu_peak_ball() -> arb:
    """z_* at the current precision, by the interval Newton method.

    g = z tanh(z/2) - 2 has g(2) < 0 < g(3) and g' = tanh(z/2) + z (1 - tanh²(z/2))/2 > 0, so that
    it has one zero in [2, 3], and every Newton image of a ball around that zero contains it.
    """
    ball = arb(2.5, 0.5)
    while True:
        middle = ball.mid()
        slope = (ball / 2).tanh() + ball * (1 - (ball / 2).tanh() * (ball / 2).tanh()) / 2
        newton_image = middle - (middle * (middle / 2).tanh() - 2) / slope
        intersection = newton_image.intersection(ball)
        if intersection.rad() >= ball.rad() / 2:
            return intersection
        ball = intersection
