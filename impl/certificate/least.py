"""The least gain and the least bound on rounding over all norms that certify.

Each norm ‖·‖_* in which the step contracts by λ < 1 on the same states and inputs bounds the same
quantities: ‖h_T − h′_T‖₂ ≤ C L δ/(1 − λ) for runs whose inputs are within δ of one another, and
‖fl(h_T) − h_T‖₂. So the least of these bounds holds, whichever norm has the least k. Of the former
‖g_h‖₂ is one too, where |s_i − s′_i| ≤ g_i δ unit by unit: it is at most that of any maximum norm.
"""

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from msgspec.structs import asdict

from rnnbounds.impl.cells.kind import Analysis
from rnnbounds.impl.format.fields import Bound, Other
from rnnbounds.impl.gradients.rounding import Rounding
from rnnbounds.impl.norms.norm_data import StateNorm
from rnnbounds.impl.numbers.outward import norm_up


@dataclass(frozen=True)
class Least:
    """The least bounds, each with its norm; `best` is the norm of the windows.

    size: the least gain of h. units: those of all units, if the gain is theirs and no norm's.
    """

    best: StateNorm
    gain: StateNorm
    size: float
    units: tuple[float, ...] | None
    rounding: StateNorm
    rounded: Rounding

    def proof(self, system: Analysis) -> dict[str, Any]:
        """The gains of units, or the norms of gain and rounding, each where it is
        another than the best."""
        named = {"gain": self.gain if self.units is None else self.best, "rounding": self.rounding}
        others = {
            name: _other(system, norm) for name, norm in named.items() if norm is not self.best
        }
        units = {} if self.units is None else {"unit_gains": self.units}
        return units | ({"other_norms": others} if others else {})


def least(system: Analysis, norms: Sequence[StateNorm], best: StateNorm, n: int) -> Least:
    """The least gain of n outputs and rounding of the norms that certify, those of the best one if
    it ties, or of the units."""
    certifying = [
        norm
        for norm in norms
        if norm.lam < 1 and math.isfinite(norm.drive) and math.isfinite(norm.equivalence)
    ]
    rounded = {id(norm): system.rounding(norm) for norm in [best, *certifying]}

    def bound(norm: StateNorm) -> float:
        rounding_bound = rounded[id(norm)].bound
        return math.inf if rounding_bound is None else rounding_bound

    candidates = [best, *certifying]  # of equal ones the first is kept, and of any that underflow
    gain = min(candidates, key=lambda norm: max(norm.gain, sys.float_info.min))
    rounding = min(candidates, key=bound)
    size, units = gain.gain, None
    if certifying:
        found = system.unit_gains()
        if (of_units := float(norm_up(found[-n:]))) < size and size > sys.float_info.min:
            size, units = of_units, tuple(found.tolist())
    return Least(best, gain, size, units, rounding, rounded[id(rounding)])


def _other(system: Analysis, norm: StateNorm) -> Other:
    """The norm of another constant as a record states it; layers have their norms with them."""
    stated, layers = norm.stated, system.proof(norm).get("layers")
    told = asdict(stated)
    if layers is not None and stated.weights is not None:
        told["weights"] = [row[0] for row in stated.weights]
    return Other(**told, states=Bound(system.states(norm)), layers=layers)
