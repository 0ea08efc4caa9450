"""Attacks on the maximum of a function on the real line, mostly beyond the boxes.

Of sin nothing is known there but its range; and a derivative without a zero says nothing of a
function that jumps, or of one that is not differentiable.
"""

from sympy import (
    Abs,
    Expr,
    Integer,
    Rational,
    acot,
    atan,
    cos,
    exp,
    floor,
    log,
    pi,
    sin,
    sqrt,
    tanh,
)

from falsehoods.attack import Attack, Forgery, ends
from rnnbounds.theory.language import le
from rnnbounds.theory.language.terms.variables import z
from rnnbounds.theory.proof.methods import BallMaximum

FAR = 10**6
REASON, RANGE = "not shown to be smooth", "where 8 <= z: counter-model"


def bounded(function: Expr, bound: Expr, *peaks: Expr, reason: str = REASON) -> Attack:
    """|f| ≤ c, by balls and by the derivative's sign."""
    return ends(le(Abs(function), bound), BallMaximum(peaks), reason)


slow = z**2 / (z**2 + FAR)  # from 0 to 1, with half of the way at 1000
BALLS: dict[str, Attack | Forgery] = {
    "a sine far out": bounded(sin(pi * slow), Rational(1, 1000), reason=RANGE),
    "a sine of the other sign": bounded(-sin(pi * slow), Rational(1, 1000), reason=RANGE),
    "a cosine far out": bounded((1 - cos(2 * pi * slow)) / 2, Rational(1, 1000), reason=RANGE),
    "many periods far out": bounded(sin(4 * pi * slow) / 2, Rational(1, 10), reason=RANGE),
    "a tail that is slow": bounded(slow, Rational(1, 1000), reason=RANGE),
    "a tail on the left": bounded(exp(-z / 8) / 4, Integer(1), reason="where z <= -8: counter"),
    "a bell of no width": bounded(exp(-FAR * (z - 9) ** 2), Rational(1, 2), reason=RANGE),
    "a bell narrower than a float": bounded(
        2 * exp(-(FAR**7) * (z - Rational(1, 3)) ** 2), Integer(1), reason="counter-model"
    ),
    "a bell that no box finds": bounded(
        2 * exp(-(FAR**70) * (z - Rational(1, 3)) ** 2), Integer(1), reason="undecided"
    ),
    "a sine times a power of e": bounded(
        sin(pi * slow) * (1 + exp(-(z**2))), Rational(1, 400), reason=RANGE
    ),
    "a sine inside tanh": bounded(tanh(sin(pi * slow)), Rational(1, 1000), reason=RANGE),
    "an arctangent that jumps": bounded(atan(1 / (z - 9)), Integer(1)),
    "an arctangent that jumps on the left": bounded(atan(1 / (z + 9)), Integer(1)),
    "an arc cotangent that jumps": bounded(acot(z - 9), Rational(3, 5), reason="is on no list"),
    "tanh of a pole": bounded(tanh(1 / (z - 9)), Rational(9, 10)),
    "a floor": bounded(floor(z / 100 + Rational(1, 2)) / 2, Rational(1, 3), reason="is on no list"),
    "a modulus within": bounded(Abs(z - 9) / (1 + z**2), Rational(9, 10), reason="counter-model"),
    "a modulus in a sum": bounded(Abs(z - 9) + z - 9, Integer(1), reason="not known to be"),
    "a logarithm within": bounded(tanh(log((z - 9) ** 2) / 10), Rational(1, 2)),
    "a root within": bounded(atan(sqrt(z - 20)), Integer(1)),
    "a hidden pole": bounded(atan((z**2 + 1) / (z - 9)), Rational(7, 5)),
}
