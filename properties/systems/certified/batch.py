"""A batch of real models with their certificates, and pairs of states of the set that they state."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import torch

from impl.arithmetic.slopes import compare
from impl.boxes.invariance import Held
from impl.cells.table import kind_of
from impl.certificate.certify import Certificate
from impl.certificate.refute import ALL
from impl.norms.comparison import Comparison
from impl.reading.model import LoadedModel
from properties.systems.cells.batch import Cells
from properties.systems.cells.build import INWARD, fields
from properties.systems.certified.models import certified
from properties.systems.drawing.regimes import (
    Array,
    generator,
    input_draws,
    input_sequences,
    loss_draws,
    normal,
)
from properties.systems.spec import SystemSpec

Tensor = torch.Tensor
TINY = 2.0**-16  # of states about which a cell is nearly linear


@dataclass(frozen=True, eq=False)
class Certified(Cells):
    """Cells that are the models of these certificates, with the weights as they are stored."""

    models: tuple[LoadedModel[Any], ...] = ()
    certificates: tuple[Certificate, ...] = ()
    parts: dict[str, Tensor] = field(default_factory=dict)

    @property
    def parameters(self) -> dict[str, Tensor]:
        """The weights as stored, in float64: each bias by itself."""
        return self.parts

    @cached_property
    def held(self) -> Held:
        """The box, infinite where the certificate speaks of all states."""
        if hasattr(self.cell, "held"):
            told: Held = self.cell.held(self.B_x[:, None])
        else:
            free = torch.full_like(self.raw[:, :, 0], torch.inf)
            told = Held(free, free, free, torch.zeros(len(free), dtype=torch.bool))
        everywhere = torch.tensor([c.states.startswith(ALL) for c in self.certificates])
        return Held(
            torch.where(everywhere[:, None], torch.inf, told.box),
            torch.where(everywhere[:, None], torch.inf, told.proposed),
            told.moved,
            told.refused,
        )

    @cached_property
    def comparison(self) -> Comparison:
        """How far inputs move each unit, of vanilla cells too."""
        if hasattr(self.cell, "compared"):
            found: Comparison = self.cell.compared(self.box, self.B_x[:, None])
            return found
        return compare(self.cell.program, self.parameters, self.box, self.B_x[:, None], self.cell.d)


def certified_batch(spec: SystemSpec) -> dict[str, Any]:
    """The fields of a batch of models of one kind, with inputs that reach the bound but for what
    rounding them to the model's dtype takes."""
    pairs = [certified(spec, member) for member in spec.members]
    models = tuple(model for model, _ in pairs)
    parts = {
        role: torch.stack([model.weights[role].double() for model in models])
        for role in models[0].weights
    }
    drawn = [
        numbers(spec, member, model) for member, model in zip(spec.members, models, strict=True)
    ]
    stacked = {name: np.stack([one[name] for one in drawn]) for name in drawn[0]}
    n = stacked["C"].shape[2]
    W = np.broadcast_to(np.eye(n) / 2, (len(models), n, n))
    x = input_sequences(spec, stacked["x"], W, np.ones((len(models), n, spec.d)), stacked["C"])
    here = slice(None) if spec.sequence is None else slice(spec.sequence, spec.sequence + 1)

    def tensor(array: Array, *axes: int) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(array.transpose(0, *axes)))

    dtype = getattr(torch, spec.dtype)
    shrink = min(INWARD, 1 - 2 * torch.finfo(dtype).eps) if spec.dtype != "float64" else INWARD
    inputs = (tensor(x[:, here], 2, 3, 1) * shrink).to(dtype).double()
    cells = Certified(
        kind_of(spec.cell).build(parts),
        spec.cell,
        torch.full((len(models),), spec.scale, dtype=torch.float64),
        tensor(stacked["h"][:, here], 2, 1),
        tensor(stacked["h_other"][:, here], 2, 1),
        models,
        tuple(certificate for _, certificate in pairs),
        parts,
    )
    return fields(cells, tensor(stacked["C"], 1, 2), inputs) | {"y": tensor(stacked["y"], 1)}


def numbers(spec: SystemSpec, member: int, model: LoadedModel[Any]) -> dict[str, Array]:
    """The readout, the target, what is random in the inputs, and pairs of states (S, N): at random,
    along the diagonal near zero, and at corners of any box."""
    kind = kind_of(spec.cell)
    states = kind.layout(model.weights).sizes(model.weights).state
    readout = normal(generator(spec, member, stream=1), min(model.n, 2), model.n)
    found = loss_draws(spec, member, readout)
    rng = generator(spec, member, stream=2)
    found["x"] = input_draws(spec, rng, len(found["C"]))
    h, h_other = normal(rng, spec.sequences, states), normal(rng, spec.sequences, states)
    h[1::3] = TINY
    h_other[1::3] = -TINY
    h[2::3], h_other[2::3] = 64 * np.sign(h[2::3]), -64 * np.sign(h[2::3])
    return found | {"h": h, "h_other": h_other}
