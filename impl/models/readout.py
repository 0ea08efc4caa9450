"""A linear readout y = C h + c after a cell, and the ε of h that keeps y within an ε.

‖y − y′‖₂ ≤ ‖C‖₂‖h − h′‖₂, since c moves y and y′ alike: so y is within ε where h is within ε/‖C‖₂.
Source: Miller & Hardt, Proposition 3, with L_f = ‖C‖₂.
"""

import math
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from torch import Tensor

from rnnbounds.impl.arithmetic.base import Arithmetic, V
from rnnbounds.impl.errors import RangeError, at_least
from rnnbounds.impl.models.digest import digest
from rnnbounds.impl.numbers.spectra.spectral_norm import certified_norm

COLUMNS = re.compile(r"\[([0-9]+):([0-9]+)\]$")  # at the end of a weight's name: those that read h
READOUT = "C h"  # the weight's name in an arithmetic; no cell has such a name


@dataclass(frozen=True, eq=False)
class Readout:
    """The map C h: the full name of C (p, n), which is as stored.

    "head.weight[a:b]" are the columns a … b − 1 of a stored matrix: the others read what is equal
    in both runs, as their last input, and move no difference.
    """

    name: str
    weight: Tensor

    @property
    def stored(self) -> str:
        """The name of the stored matrix, of all its columns."""
        return COLUMNS.sub("", self.name)

    @property
    def outputs(self) -> int:
        """The number of entries of y."""
        return len(self.weight)

    @cached_property
    def norm(self) -> float:
        """At least ‖C‖₂."""
        return float(certified_norm(self.weight.double()[None]))

    @cached_property
    def parameters(self) -> Mapping[str, Tensor]:
        """C (p, n) in float64 for an arithmetic."""
        return {READOUT: self.weight.double()}

    def apart(self, m: Arithmetic[V], a: V, b: V) -> V:
        """C (a − b) over an arithmetic of `parameters`: no rounding of large outputs blurs it."""
        return m.affine(READOUT, None, a - b)

    def within(self, eps: float) -> float:
        """An ε of the output h that keeps y within eps; raises RangeError for none."""
        found = math.nextafter(eps / self.norm, 0.0) if self.norm else sys.float_info.max
        if not found > 0:
            raise RangeError("ε", eps, f"larger for a readout with ‖C‖₂ ≤ {at_least(self.norm, 3)}")
        return found

    def stated(self) -> dict[str, Any]:
        """The readout by its name, its number of outputs and a digest of its numbers."""
        numbers = digest("readout", {self.name: self.weight})
        return {"tensor": self.name, "outputs": self.outputs, "sha256": numbers}

    def to_json(self) -> dict[str, Any]:
        """The record of a certificate: the readout, and its bound on ‖C‖₂."""
        return {**self.stated(), "norm": self.norm}
