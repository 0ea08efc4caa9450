"""A user's recurrent model as it was read: its weights as stored, and its cell in float64."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

import torch
from torch import Tensor

from rnnbounds.impl.models.digest import digest
from rnnbounds.impl.models.readout import Readout


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
