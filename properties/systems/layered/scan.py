"""One unit of a scan, s⁺ = a(x) s + b(x), in dyadic rationals: the decays of today's cells.

    minGRU  a = 1 − z,   minLSTM  a = f/(f + i),   selective  a = (1 − z)^p,

with gates z, f, i = hs(w x + c), where hs is the hard sigmoid clip(½ + z/4, 0, 1), log-concave as
the sigmoid is; of a selective scan exp(−p softplus z) = (1 − σ(z))^p.
Source: Feng et al., Were RNNs All We Needed?; Gu & Dao, Mamba.
"""

from __future__ import annotations

from dataclasses import dataclass

from flint import fmpq

from rnnbounds.properties.systems.layered.dyadic import ONE, ZERO, bounded_inputs
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.unitary.exact import (
    ExactMember,
    Table,
    Vector,
    member_random,
    rational,
    recurrence_tables,
    upper_float,
)

LEAST_GATE = fmpq(1, 64)  # of minLSTM's gates, which are divided by


@dataclass(frozen=True)
class Gate:
    """hs(w x + c), or ``lower_clip`` where that is less."""

    w: fmpq
    c: fmpq
    lower_clip: fmpq = ZERO

    def __call__(self, x: fmpq) -> fmpq:
        """Clip (w x + c)/4 + ½ to [lower_clip, 1]."""
        return min(max((self.w * x + self.c) / 4 + fmpq(1, 2), self.lower_clip), ONE)

    @property
    def kinks(self) -> list[fmpq]:
        """Inputs at which the gate begins to be clipped; empty if w = 0."""
        if self.w == 0:
            return []
        return [((end - fmpq(1, 2)) * 4 - self.c) / self.w for end in (self.lower_clip, ONE)]


@dataclass(frozen=True, eq=False)
class Scan(ExactMember):
    """The gates and the power of the decay, u and v of what is new, u x + v; |x_t| ≤ B."""

    spec: SystemSpec
    gates: tuple[Gate, Gate]
    power: int
    u: fmpq
    v: fmpq
    x: list[list[Vector]]

    def tables(self) -> dict[str, Table]:
        """The unit at rest as a linear system."""
        return recurrence_tables([[self.decay(ZERO)]], [[self.u]], (self.v,), self.x)

    def constants(self) -> dict[str, float]:
        """ā: between kinks a decay is monotone in the input, a quotient of linear functions too."""
        B = rational(self.spec.scale)
        kinks = [x for gate in self.gates for x in gate.kinks if -B <= x <= B]
        largest = upper_float(max(self.decay(x) for x in (-B, B, *kinks)))
        return {"decay_max": largest, "lam": largest}

    def parameters(self) -> dict[str, float]:
        """Flag ``log_concave``: 1.0 if log a is concave, else 0.0."""
        return {"log_concave": float(self.spec.regime != "min-lstm")}

    def decay(self, x: fmpq) -> fmpq:
        """a(x)."""
        first, second = (gate(x) for gate in self.gates)
        if self.spec.regime == "min-lstm":
            return first / (first + second)
        return (1 - first) ** self.power


def scan_member(spec: SystemSpec, member: int) -> Scan:
    """The member of a ``scan`` spec: its gates move with the input by up to 2 ``lam`` times it."""
    draw = member_random(spec, member, "system")
    steep, least = rational(spec.lam), LEAST_GATE if spec.regime == "min-lstm" else ZERO
    one, two = (
        Gate(steep * fmpq(draw.randint(-8, 8), 4), fmpq(draw.randint(-8, 8), 4), least)
        for _ in range(2)
    )
    u, v = (fmpq(draw.randint(-8, 8), 8) for _ in range(2))
    power = draw.choice((1, 2, 3)) if spec.regime == "selective" else 1
    return Scan(spec, (one, two), power, u, rational(spec.bias) * v, bounded_inputs(spec, member))
