"""How steep the stages of a readout are on a ball ‖h‖₂ ≤ B of its inputs.

The first linear layer takes the ball to c_i ± ‖C_i‖₂B, others their intervals, unit by unit. An
activation's slopes on [low, high] are those at an end where ρ′ is monotone, or monotone on either
side of 0. A normalisation is as steep as 1/s for the least s = √(‖c‖₂²/n + e) of the ball, by
intervals of the c_i, each of which is then at most √n of its s.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch

from rnnbounds.impl.arithmetic.activation import Activation
from rnnbounds.impl.arithmetic.interval_arithmetic import IntervalArithmetic, IntervalVector
from rnnbounds.impl.arithmetic.intervals import Interval, function_bounds
from rnnbounds.impl.models.normalisation import Normalisation
from rnnbounds.impl.models.readout import CLEAR, Linear, Readout
from rnnbounds.impl.norms.chains import Averaged, Range, averaged
from rnnbounds.impl.numbers.ball_functions import upper_bound
from rnnbounds.impl.numbers.outward import UNIT, div_up, mul_up

HILLS = ("tanh", "sigmoid", "erf", "arctan")  # whose slope is the larger the nearer to 0
RISING = ("relu", "leaky-relu", "softplus", "elu")  # whose slope increases


@dataclass(frozen=True, eq=False)
class Reached:
    """The Lipschitz constant of a readout on ‖h‖₂ ≤ radius."""

    radius: float
    bound: Averaged

    @classmethod
    def within(cls, readout: Readout, radius: float) -> "Reached | None":
        """That of a readout, None if it is no less than the one of all h."""
        ranged = math.isfinite(radius) and any(not isinstance(s, Linear) for s in readout.stages)
        bound = averaged(readout.blocks, [*ranges_on_ball(readout, radius)]) if ranged else None
        return cls(radius, bound) if bound and bound.norm < readout.norm * CLEAR else None

    def to_json(self) -> dict[str, Any]:
        """As plain JSON data."""
        return {"radius": self.radius, **self.bound.to_json()}


def ranges_on_ball(readout: Readout, B: float) -> Iterator[Range]:
    """The slopes of each activation and normalisation in turn, unit by unit or for all units."""
    m = IntervalArithmetic({name: part[None] for name, part in readout.parameters.items()})
    ball = torch.tensor([B], dtype=torch.float64)
    n = next(iter(readout.linear.values())).weight.shape[1]  # the stages before keep the number
    v = IntervalVector(Interval.symmetric(ball.expand(1, n)), radius=ball)
    for i, stage in enumerate(readout.stages):
        if isinstance(stage, Linear):
            v = m.affine(f"C_{i} h", f"C_{i} h bias", v)
        elif isinstance(stage, Activation):
            yield slopes_on(stage, v.range)
            v = m.activate(stage.name, v)
        else:
            steep, size = _normalised(stage, m, f"C_{i} h", v)
            yield torch.zeros(1, dtype=torch.float64), steep
            v = IntervalVector(size)


def slopes_on(rho: Activation, v: Interval) -> Range:
    """At most and at least ρ′ on intervals (1, n): (n,) each."""
    high = function_bounds(rho.name).slope(v)[0]
    if rho.name not in (*HILLS, *RISING):
        return torch.full_like(high, rho.least), high
    at = v.low if rho.name in RISING else torch.maximum(v.high, -v.low)
    low = -upper_bound(lambda z: -rho.ball_derivative(z), at)[0]
    return low.clamp(min=rho.least) + 0.0, high  # no −0 in records


def _normalised(
    stage: Normalisation, m: IntervalArithmetic, at: str, v: IntervalVector
) -> tuple[torch.Tensor, Interval]:
    """At least 1/s, (1,), and y."""
    u, scale = stage.centred(m, at, v)
    least = u.range.least_magnitude
    total = (least * least).sum(1) / (stage.n * scale * scale)
    s = (total * (1 - (stage.n + 8) * UNIT) + stage.eps).sqrt() * (1 - 8 * UNIT)
    steep = torch.minimum(div_up(1.0, s), torch.tensor(stage.steepest))
    size = mul_up(div_up(u.range.magnitude, scale), steep).clamp(max=math.sqrt(stage.n) * 1.001)
    y = Interval.symmetric(size)
    if stage.weight is not None:
        y = Interval.symmetric(mul_up(stage.weight[1].double().abs(), size))
    if stage.bias is not None:
        y = y + Interval(*(stage.bias[1].double()[None],) * 2)
    return steep, y
