"""A user's recurrent model as it was read: its weights as stored, and its cell in float64.

SHA-256 of weights, which ties a certificate to a model.

A linear readout y = C h + c after a cell, and the ε of h that keeps y within an ε.

‖y − y′‖₂ ≤ ‖C‖₂‖h − h′‖₂, since c moves y and y′ alike: so y is within ε where h is within ε/‖C‖₂.
Source: Miller & Hardt, Proposition 3, with L_f = ‖C‖₂.
"""

import hashlib
import math
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic, Protocol, TypeVar

import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.base import Arithmetic, V
from rnnbounds.impl.errors import RangeError, at_least
from rnnbounds.impl.numbers.spectra.spectral_norm import certified_norm


def digest(name: str, weights: Mapping[str, Tensor]) -> str:
    """SHA-256 over a cell's name and, in a fixed order, its weights' roles, dtypes and bytes."""
    sha = hashlib.sha256(name.encode())
    for role in sorted(weights):
        part = weights[role].detach().cpu().contiguous()
        sha.update(f"|{role}|{part.dtype}|{tuple(part.shape)}|".encode())
        sha.update(part.flatten().view(torch.uint8).numpy().tobytes())
    return sha.hexdigest()


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

    def to_dict(self) -> dict[str, Any]:
        """The record of a certificate: the readout, and its bound on ‖C‖₂."""
        return {**self.stated(), "norm": self.norm}


class Cell(Protocol):
    """A batch of recurrent cells in float64."""

    @property
    def n(self) -> int:
        """The size of the output h."""

    @property
    def d(self) -> int:
        """The size of the input."""

    def step(self, s: Tensor, x: Tensor) -> Tensor:
        """One step of M columns a system: states (B, size, M), inputs (B, d, M) -> states."""


C = TypeVar("C", bound=Cell)


@dataclass(frozen=True, eq=False)
class LoadedModel(Generic[C]):
    """A recurrent cell as stored, s_t = φ(s_{t−1}, x_t) in real arithmetic.

    `weights` holds torch's names without the layer (`weight_ih` (g n, d), `weight_hh` (g n, n),
    `bias_ih`, `bias_hh` (g n,) where present, for g gates) in the stored dtype; `cell` the same as
    a batch of one in float64. The conversion is exact, but the sum `cell.b` of the two biases of a
    vanilla cell may be rounded: what is certified takes both. `tensors` has the full names in the
    source by role, `ignored` those that the caller said to leave out of the cell, `unread` those of
    tensors elsewhere, which have another prefix. `readout` is the map after the cell that ε is
    asked of, if any. `backward`: true for the cell of a layer in both directions that runs from the
    last input to the first.
    """

    cell: C
    name: str
    dtype: str
    weights: Mapping[str, Tensor]
    source: str
    tensors: Mapping[str, str] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    readout: Readout | None = None
    backward: bool = False

    @property
    def n(self) -> int:
        """The size of the output h."""
        return self.cell.n

    @property
    def d(self) -> int:
        """The size of the input."""
        return self.cell.d

    def bias(self, role: str) -> list[float]:
        """`bias_ih` or `bias_hh` exactly, zeros where the model has none."""
        part = self.weights.get(role)
        values = torch.zeros(len(self.weights["weight_hh"])) if part is None else part
        return [float(value) for value in values.double().tolist()]

    @property
    def digest(self) -> str:
        """SHA-256 of the cell's name and of its weights, which ties a certificate to a model."""
        return digest(self.name, self.weights)
