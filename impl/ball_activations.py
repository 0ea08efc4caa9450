"""The activations of vanilla cells in balls, with their slopes, for a checker without torch."""

from collections.abc import Callable
from dataclasses import dataclass

from flint import arb, ctx

from impl import balls
from impl.balls import LEAK

_TANGENT = "2.3993572805154676678327396972823"  # the root of z tanh(z/2) = 2, to 10⁻³⁰
_PRECISION = 256


@dataclass(frozen=True)
class BallActivation:
    """ρ in balls, and balls that hold inf ρ′, sup |ρ′| and sup |ρ| (infinite if there is none)."""

    function: Callable[[arb], arb]
    least: arb
    slope: arb
    bound: arb


def _table() -> dict[str, BallActivation]:
    one, zero, none = arb(1), arb(0), arb("inf")
    root_pi = arb.pi().sqrt()
    gelu = (1 + one.erf()) / 2 + (-one).exp() / root_pi  # at √2; ρ′(z) + ρ′(−z) = 1
    silu = (arb(_TANGENT, 1e-30) + 2) / 4
    return {
        "linear": BallActivation(lambda z: z, one, one, none),
        "rnn-relu": BallActivation(balls.relu, zero, one, none),
        "rnn-leaky-relu": BallActivation(balls.leaky_relu, arb(LEAK), one, none),
        "rnn-tanh": BallActivation(lambda z: z.tanh(), zero, one, one),
        "rnn-sigmoid": BallActivation(balls.sigmoid, zero, one / 4, one),
        "rnn-softplus": BallActivation(balls.softplus, zero, one, none),
        "rnn-gelu": BallActivation(balls.gelu, 1 - gelu, gelu, none),
        "rnn-silu": BallActivation(balls.silu, 1 - silu, silu, none),
        "rnn-elu": BallActivation(balls.elu, zero, one, none),
        "rnn-erf": BallActivation(lambda z: z.erf(), zero, 2 / root_pi, one),
        "rnn-sin": BallActivation(lambda z: z.sin(), -one, one, one),
        "rnn-arctan": BallActivation(lambda z: z.atan(), zero, one, arb.pi() / 2),
    }


with ctx.workprec(_PRECISION):
    BALL_ACTIVATIONS = _table()
