"""The activations of vanilla cells in balls, with their slopes, for a checker without torch."""

import math
from collections.abc import Callable
from dataclasses import dataclass

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


@dataclass(frozen=True)
class BallActivation:
    """ρ in balls, and balls that hold inf ρ′, sup |ρ′| and sup |ρ| (infinite if there is none).

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

    def monotone(self, low: arb, high: arb) -> bool:
        """Whether ρ is sure not to turn between the two."""
        if self.turns is None:
            return bool(self.least >= 0)
        first, period = self.turns
        at, end = (((z - first) / period).floor().unique_fmpz() for z in (low, high))
        return at is not None and at == end


def _table() -> dict[str, BallActivation]:
    one, zero, none = arb(1), arb(0), arb("inf")
    root_pi = arb.pi().sqrt()
    steep_gelu = (1 + one.erf()) / 2 + (-one).exp() / root_pi  # at √2; ρ′(z) + ρ′(−z) = 1
    steep_silu = (arb(_TANGENT, 1e-30) + 2) / 4
    return {
        "linear": BallActivation(lambda z: z, one, one, none, 0.0, 0.0, 0.0),
        "rnn-relu": BallActivation(relu, zero, one, none, 0.0, 0.0, 0.0),
        "rnn-leaky-relu": BallActivation(
            lambda z: relu(z) - LEAK * relu(-z), arb(LEAK), one, none, rate=_LEAKY
        ),
        "rnn-tanh": BallActivation(lambda z: z.tanh(), zero, one, one, _FOUR),
        "rnn-sigmoid": BallActivation(sigmoid, zero, one / 4, one, _FOUR, math.inf),
        "rnn-softplus": BallActivation(softplus, zero, one, none, floor=_FOUR),
        "rnn-gelu": BallActivation(gelu, 1 - steep_gelu, steep_gelu, none),
        "rnn-silu": BallActivation(lambda z: z * sigmoid(z), 1 - steep_silu, steep_silu, none),
        "rnn-elu": BallActivation(lambda z: relu(z) + (-relu(-z)).expm1(), zero, one, none, _FOUR),
        "rnn-erf": BallActivation(lambda z: z.erf(), zero, 2 / root_pi, one, _FOUR),
        "rnn-sin": BallActivation(
            lambda z: z.sin(), -one, one, one, _FOUR, turns=(arb.pi() / 2, arb.pi())
        ),
        "rnn-arctan": BallActivation(lambda z: z.atan(), zero, one, arb.pi() / 2, 2 * _FOUR),
    }


with ctx.workprec(_PRECISION):
    BALL_ACTIVATIONS = _table()
