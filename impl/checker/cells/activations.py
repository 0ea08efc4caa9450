"""The activations of cells in balls, with their slopes, at points and over intervals."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Any

from flint import arb, ctx

LEAK = 0.01  # torch's default negative slope of the leaky ReLU, as a float64
_TANGENT = "2.3993572805154676678327396972823"  # the root of z tanh(z/2) = 2, to 10⁻³⁰
_PRECISION = 256
_UNIT, _TINY = 2.0**-53, 2.0**-1000
_FOUR = 4 * _UNIT  # roundings, the usual error of torch's functions relative to their scale
_LEAKY = LEAK * _UNIT * (1 + _UNIT)


def relu(z: arb) -> arb:
    """max(z, 0); a ball that meets 0 ends there, unlike in flint's own maximum."""
    if z >= 0:
        return z
    return arb(0) if z < 0 else arb(0).union(z.upper())


def sigmoid(z: arb) -> arb:
    """1/(1 + e⁻ᶻ)."""
    if z < 0:
        e = z.exp()
        return e / (1 + e)
    return 1 / (1 + (-z).exp())


def softplus(z: arb) -> arb:
    """log(1 + eᶻ)."""
    return z + (-z).exp().log1p() if z > 0 else z.exp().log1p()


def gelu(z: arb) -> arb:
    """z Φ(z)."""
    return z * (-z / arb(2).sqrt()).erfc() / 2


def gelu_slope(z: arb) -> arb:
    """Φ(z) + z φ(z), which turns at ±√2 alone."""
    return (-z / arb(2).sqrt()).erfc() / 2 + z * (-z * z / 2).exp() / (2 * arb.pi()).sqrt()


def lowest(function: Callable[[arb], arb], slope: Callable[[arb], arb], near: str) -> arb:
    """At most min ρ, of a ρ that falls to one point within 10⁻¹² of `near` and rises from there."""
    at, off = arb(near), arb(1e-12)
    if not slope(at - off) < 0 < slope(at + off):
        raise ArithmeticError(f"{near} is not where the function turns; report this")
    return (function(at) - off * abs(slope(arb(near, 1e-12)))).lower()


def silu_slope(z: arb) -> arb:
    """σ(z)(1 + z σ(−z)), which turns where |z| tanh(|z|/2) = 2 alone."""
    return sigmoid(z) * (1 + z * sigmoid(-z))


@dataclass(frozen=True)
class BallActivation:
    """ρ in balls, and balls that hold inf ρ′, sup |ρ′| and sup |ρ| (infinite if there is none).

    dip: at most min ρ, where ρ falls to one point and rises from there; None for others.

    slope_at: |ρ′| for a ρ′ that is the larger the nearer to 0 its argument is, or the greater it is
    (`rises`); hills: |ρ′| is monotone between −a, 0 and a for one of them, where it is 1 − L and L.
    The float64 function is taken to be off by at most min(cap, rate |z|) + floor, per unit; see
    `impl.arithmetic.activation`. turns: (a, p), where ρ turns at a + pℤ and nowhere else.
    """

    function: Callable[[arb], arb]
    least: arb
    slope: arb
    bound: arb
    cap: float = math.inf
    rate: float = _FOUR
    floor: float = _TINY
    turns: tuple[arb, arb] | None = None
    slope_at: Callable[[arb], arb] | None = None
    rises: bool = False
    hills: arb | None = None
    dip: arb | None = None

    def monotone(self, low: arb, high: arb) -> bool:
        """True if ρ is proved monotone on [low, high]."""
        if self.turns is None:
            return bool(self.least >= 0)
        first, period = self.turns
        at, end = (((z - first) / period).floor().unique_fmpz() for z in (low, high))
        return at is not None and at == end

    def image(self, low: arb, high: arb) -> tuple[arb, arb]:
        """Enclose ρ([low, high]): by end values, its minimum, or its slope from the middle."""
        if self.monotone(low, high):
            found = [self.function(low), self.function(high)]
            return self._held(found[0].min(found[1]), found[0].max(found[1]))
        if self.dip is not None:
            ends = self.function(low), self.function(high)
            return self._dipping(low, high, ends[0].max(ends[1]))
        reach = abs(self.slope) * (high - low) / 2
        middle = self.function((low + high) / 2)
        if not (middle.is_finite() and reach.is_finite()):
            return -self.bound, self.bound
        return self._held(middle - reach, middle + reach)

    def _dipping(self, low: arb, high: arb, top: arb) -> tuple[arb, arb]:
        """The largest value is at an end; the least is above min ρ, and what slopes leave of it."""
        if not top.is_finite():
            return -self.bound, self.bound
        least = self.function((low + high) / 2) - abs(self.slope) * (high - low) / 2
        dip = arb(self.dip)
        return (least if least >= dip else dip), top

    def _held(self, low: arb, high: arb) -> tuple[arb, arb]:
        """Ends that are not known to be within the bound are the bound itself, without a radius:
        what saturates stays in a box of that side."""
        low = low if low >= -self.bound else -self.bound
        return low, high if high <= self.bound else self.bound

    def steepest(self, low: arb, high: arb) -> arb:
        """At least |ρ′| between the two, exactly where it is smooth; what is not known to be within
        sup |ρ′| is that bound itself, without a radius, as a softplus's slope of 1 far out."""
        found = self._steepest(low, high)
        return found if found <= self.slope else self.slope

    def _steepest(self, low: arb, high: arb) -> arb:
        if self.slope_at is None or not high.is_finite():
            return self.slope
        if self.rises:
            return self.slope_at(high)
        if not low.is_finite():
            return self.slope
        if self.turns is not None:
            return self._of_sine(low, high)
        if self.hills is not None:
            ends = abs(self.slope_at(low)).max(abs(self.slope_at(high)))
            tops = ((self.hills, self.slope), (-self.hills, abs(1 - self.slope)))
            over = [size for top, size in tops if not (top < low or top > high)]
            return reduce(arb.max, over, ends)
        if low > 0 or high < 0:
            return self.slope_at(abs(low).min(abs(high)))
        return self.slope

    def _of_sine(self, low: arb, high: arb) -> arb:
        at, end = ((z / arb.pi()).ceil().unique_fmpz() for z in (low, high))
        if at is None or at != end:  # |cos| is 1 in between
            return self.slope
        return abs(low.cos()).max(abs(high.cos()))


def _table() -> dict[str, BallActivation]:
    one, zero, none = arb(1), arb(0), arb("inf")
    root_pi = arb.pi().sqrt()
    steep_gelu = (1 + one.erf()) / 2 + (-one).exp() / root_pi  # at √2; ρ′(z) + ρ′(−z) = 1
    steep_silu = (arb(_TANGENT, 1e-30) + 2) / 4
    flat: dict[str, Any] = {"slope_at": lambda z: arb(int(not z <= 0)), "rises": True}
    bent: dict[str, Any] = {"slope_at": lambda z: arb(LEAK) if z <= 0 else arb(1), "rises": True}
    return {
        "linear": BallActivation(lambda z: z, one, one, none, 0.0, 0.0, 0.0),
        "rnn-relu": BallActivation(relu, zero, one, none, 0.0, 0.0, 0.0, **flat),
        "rnn-leaky-relu": BallActivation(
            lambda z: relu(z) - LEAK * relu(-z), arb(LEAK), one, none, rate=_LEAKY, **bent
        ),
        "rnn-tanh": BallActivation(
            lambda z: z.tanh(), zero, one, one, _FOUR, slope_at=lambda z: 1 / z.cosh() ** 2
        ),
        "rnn-sigmoid": BallActivation(
            sigmoid, zero, one / 4, one, _FOUR, math.inf,
            slope_at=lambda z: sigmoid(z) * sigmoid(-z),
        ),
        "rnn-softplus": BallActivation(
            softplus, zero, one, none, floor=_FOUR, slope_at=sigmoid, rises=True
        ),
        "rnn-gelu": BallActivation(
            gelu, 1 - steep_gelu, steep_gelu, none, slope_at=gelu_slope, hills=arb(2).sqrt(),
            dip=lowest(gelu, gelu_slope, "-0.751791524694"),
        ),
        "rnn-silu": BallActivation(
            lambda z: z * sigmoid(z), 1 - steep_silu, steep_silu, none,
            slope_at=silu_slope, hills=arb(_TANGENT, 1e-30),
            dip=lowest(lambda z: z * sigmoid(z), silu_slope, "-1.278464542761"),
        ),
        "rnn-elu": BallActivation(
            lambda z: relu(z) + (-relu(-z)).expm1(), zero, one, none, _FOUR,
            slope_at=lambda z: (-relu(-z)).exp(), rises=True,
        ),
        "rnn-erf": BallActivation(
            lambda z: z.erf(), zero, 2 / root_pi, one, _FOUR,
            slope_at=lambda z: 2 * (-z * z).exp() / arb.pi().sqrt(),
        ),
        "rnn-sin": BallActivation(
            lambda z: z.sin(), -one, one, one, _FOUR, turns=(arb.pi() / 2, arb.pi()),
            slope_at=lambda z: z.cos(),
        ),
        "rnn-arctan": BallActivation(
            lambda z: z.atan(), zero, one, arb.pi() / 2, 2 * _FOUR,
            slope_at=lambda z: 1 / (1 + z * z),
        ),
    }  # fmt: skip


with ctx.workprec(_PRECISION):
    BALL_ACTIVATIONS = _table()
