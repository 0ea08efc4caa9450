"""The numbers behind the unitary equivalent: how large states grow, and how far rounding carries.

For h_t = ReLU(W h_{t−1} + U x_t + b) with λ ≥ ‖W‖₂, λ < 1, ‖x_t‖ ≤ B and S ≥ ‖U‖₂B + ‖ReLU(b)‖,

    ‖h_t‖ ≤ B_h = max(‖h_{−1}‖, S/(1 − λ)).

A machine that sums N terms in any order at unit roundoff u, γ = Nu/(1 − Nu), is off in one step by
at most ε(r) = γ(‖W‖_F r + ‖U‖_F B + ‖|b_ih| + |b_hh|‖) + η from states of norm ≤ r, with η for
underflow. So its states stay below the B̂ for which λB̂ + S + ε(B̂) = B̂, and drift by at most
ε(B̂)/(1 − λ) at all times. A further unit that reads them by the row w stays off for good if its
bias b₂ satisfies

    ‖w‖ B̂ (1 + γ) + η ≤ |b₂| (1 − γ),

whatever way its sum is rounded. All in ball arithmetic, free of torch, for the maker and for the
checker alike. Sources: Emami et al., Theorem 3.1; Higham, Accuracy and Stability, Section 3.
"""

from dataclasses import dataclass

from flint import arb

from rnnbounds.impl.checker.definite import float_above, larger

PRECISION = 256
# Unit roundoff, least normal and greatest number of the dtypes that a model may have.
DTYPES = {
    "float16": (2.0**-11, 2.0**-14, 65504.0),
    "bfloat16": (2.0**-8, 2.0**-126, (2 - 2.0**-7) * 2.0**127),
    "float32": (2.0**-24, 2.0**-126, (2 - 2.0**-23) * 2.0**127),
    "float64": (2.0**-53, 2.0**-1022, (2 - 2.0**-52) * 2.0**1023),
}


@dataclass(frozen=True)
class System:
    """Upper bounds on one network: λ, S, ‖W‖_F, ‖U‖_F B, ‖|b_ih| + |b_hh|‖ and ‖h_{−1}‖."""

    lam: float | arb
    drive: float | arb
    weight: float | arb
    inputs: float | arb
    bias: float | arb
    initial: float | arb


@dataclass(frozen=True)
class Machine:
    """N terms a sum, n units, unit roundoff, least normal and greatest number."""

    terms: int
    units: int
    roundoff: float = 2.0**-53
    tiny: float = 2.0**-1022
    largest: float = 2.0**1023

    @property
    def gamma(self) -> arb:
        """γ = Nu/(1 − Nu); infinite where that says nothing."""
        part = arb(self.terms) * arb(self.roundoff)
        return part / (1 - part) if part < 0.5 else arb.pos_inf()

    @property
    def underflow(self) -> arb:
        """Bound on the underflow error of one sum."""
        return arb(self.terms) * arb(self.tiny)

    @property
    def eta(self) -> arb:
        """Bound on the underflow error of one step."""
        return self.underflow * self.units


def state_bound(system: System) -> arb:
    """B_h = max(‖h_{−1}‖, S/(1 − λ)); NaN unless λ < 1."""
    gap = 1 - arb(system.lam)
    return larger(arb(system.initial), arb(system.drive) / gap) if gap > 0 else arb.nan()


def computed_bound(system: System, machine: Machine) -> arb:
    """B̂, a bound on the computed states; NaN where rounding may undo the contraction."""
    gamma = machine.gamma
    gap = 1 - arb(system.lam) - gamma * arb(system.weight)
    if not gap > 0:
        return arb.nan()
    pushed = arb(system.drive) + gamma * (arb(system.inputs) + arb(system.bias)) + machine.eta
    return larger(arb(system.initial), pushed / gap)


def drift(system: System, machine: Machine, states: arb) -> arb:
    """ε(B̂)/(1 − λ) ≥ ‖ĥ_t − h_t‖ at all times, for B̂ = ``states``; NaN where sums may overflow."""
    sums = arb(system.weight) * states + arb(system.inputs) + arb(system.bias)
    if not sums * 2 < arb(machine.largest):
        return arb.nan()
    return (machine.gamma * sums + machine.eta) / (1 - arb(system.lam))


def slack(machine: Machine) -> tuple[float, float]:
    """(a, c) for which |b₂| ≥ a‖w‖B̂ + c keeps a unit off: (1 + γ)/(1 − γ) and η/(1 − γ)."""
    gamma = machine.gamma
    return float_above((1 + gamma) / (1 - gamma)), float_above(machine.underflow / (1 - gamma))


def stays_off(row: arb, states: arb, bias: arb, machine: Machine | None) -> bool:
    """True if ‖w‖ ≤ ``row`` and b₂ = ``bias`` force a unit to 0: exactly, or in floats."""
    if machine is None:
        return bool(row * states <= -bias)
    gamma = machine.gamma
    return bool(row * states * (1 + gamma) + machine.underflow <= -bias * (1 - gamma))
