"""The least gain and the least bound on rounding over all norms that certify.

Each norm ‖·‖_* in which the step contracts by λ < 1 on the same states and inputs bounds the same
quantities: ‖h_T − h′_T‖₂ ≤ C L δ/(1 − λ) for runs whose inputs are within δ of one another, and
‖fl(h_T) − h_T‖₂. So the least of these bounds holds, whichever norm has the least k.
"""

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rnnbounds.impl.cells.kind import Analysis
from rnnbounds.impl.gradients.rounding import Rounding
from rnnbounds.impl.norms.norm_data import StateNorm
from rnnbounds.impl.numbers.json_values import finite_or_none


@dataclass(frozen=True)
class Least:
    """The least bounds, each with its norm; `best` is the norm of the windows."""

    best: StateNorm
    gain: StateNorm
    rounding: StateNorm
    rounded: Rounding

    def proof(self, system: Analysis) -> dict[str, Any]:
        """The norms of gain and rounding as JSON data, each where it is another than the best."""
        named = {"gain": self.gain, "rounding": self.rounding}
        others = {
            name: norm.to_json()
            | {
                "B_h": finite_or_none(system.states(norm)),
                "layers": system.proof(norm).get("layers"),
            }
            for name, norm in named.items()
            if norm is not self.best
        }
        for norm in others.values():
            if norm["layers"] is not None:  # which have their norms with them
                norm["weights"] = [row[0] for row in norm["weights"]]
        return {"other_norms": others} if others else {}


def least(system: Analysis, norms: Sequence[StateNorm], best: StateNorm) -> Least:
    """The least gain and rounding of the norms that certify, those of the best one if it ties."""
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
    return Least(best, gain, rounding, rounded[id(rounding)])
