"""The linear readout y = C h + c after a cell: what ε of its outputs asks of the state.

‖C h − C h′‖₂ ≤ ‖C‖₂‖h − h′‖₂, so predictions are within ε where outputs h are within ε/‖C‖₂.
Source: Miller & Hardt, Proposition 3, with L_f = ‖C‖₂.
"""

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from rnnbounds.impl.errors import InputError, NotFiniteError, RangeError, at_least, shown
from rnnbounds.impl.models.loaded import digest
from rnnbounds.impl.numbers.spectra.spectral_norm import certified_norm
from rnnbounds.impl.reading.recognition.recognise import check_tensor


class ReadoutError(InputError):
    """A readout that is not there, or does not read the cell's output."""


@dataclass(frozen=True, eq=False)
class Readout:
    """A readout by the name of its weight C (p, n), as stored."""

    name: str
    weight: Tensor

    @cached_property
    def norm(self) -> float:
        """At least ‖C‖₂."""
        return float(certified_norm(self.weight.double()[None]))

    def within(self, eps: float) -> float:
        """An ε of the output h that keeps predictions within eps; raises RangeError for none."""
        found = math.nextafter(eps / self.norm, 0.0) if self.norm else sys.float_info.max
        if not found > 0:
            raise RangeError("ε", eps, f"larger for a readout with ‖C‖₂ ≤ {at_least(self.norm, 3)}")
        return found

    def to_json(self) -> dict[str, Any]:
        """The record as plain JSON data."""
        sha256 = digest("readout", {self.name: self.weight})
        told = {"tensor": self.name, "outputs": len(self.weight), "norm": self.norm}
        return told | {"sha256": sha256}


def readout_of(tensors: Mapping[str, Tensor], where: str, name: str, n: int) -> Readout:
    """The readout of that name, or with that prefix; raises ReadoutError for what is none."""
    known = {str(key): tensor for key, tensor in tensors.items()}
    full = next((one for one in (f"{name}.weight", name) if one in known), None)
    if full is None:
        wide = [key for key, one in known.items() if getattr(one, "ndim", 0) == 2]
        fitting = [shown(key) for key in wide if known[key].shape[1] == n]
        what = f"{where} holds no readout {shown(name)}.weight"
        raise ReadoutError(f"{what}; matrices with {n} columns are {', '.join(fitting) or 'none'}")
    check_tensor(shown(full), known[full])
    weight = known[full].detach().cpu().clone()
    if weight.ndim != 2 or weight.shape[1] != n or not len(weight):
        what = f"{shown(full)} of shape {tuple(weight.shape)} reads no output of {n} numbers"
        raise ReadoutError(f"{what}; name the linear layer right after the cell")
    if not bool(torch.isfinite(weight).all()):
        raise NotFiniteError(shown(full))
    return Readout(full, weight)
