"""From a SystemSpec to tensors: a batch of systems, their inputs and their certified constants."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import torch

from rnnbounds.impl.arithmetic.activation import activation
from rnnbounds.impl.gradients.constants import Constants
from rnnbounds.impl.models.rnn import RNN
from rnnbounds.properties.systems.cells.batch import Cells
from rnnbounds.properties.systems.cells.build import INWARD, fields
from rnnbounds.properties.systems.cells.constants import of_cells
from rnnbounds.properties.systems.drawing.regimes import Array, input_sequences
from rnnbounds.properties.systems.drawing.written import written_out
from rnnbounds.properties.systems.kind import about, stacked
from rnnbounds.properties.systems.spec import SystemSpec, Values
from rnnbounds.properties.systems.supply.alone import OfMember, alone, handed_on
from rnnbounds.properties.systems.supply.derived import DERIVED
from rnnbounds.properties.systems.supply.members import Members
from rnnbounds.properties.systems.supply.parameters import Parameters
from rnnbounds.properties.systems.unitary.exact import images
from rnnbounds.theory.numbers.interval import Interval

# Pairs of a batch that are kept once built: so many fit into memory with all their balls.
PAIRS = 64


@dataclass(frozen=True)
class Batch(Members):
    """B systems with S input sequences each, their parameters and constants.

    whole: the batch that a pair is of, with its places there: what is certified of it is its own.
    """

    whole: tuple[Batch, int, int] | None = field(default=None, compare=False, repr=False)

    @cached_property
    def parameters(self) -> Parameters:
        """The spec's numbers by the names of the vocabulary; epsilon is a share of S_0/(1 − λ)."""
        return Parameters(self)

    def constant(self, name: str) -> Interval:
        """A certified constant, from whoever supplies it of such systems."""
        key = f"constant {name}"
        if key not in self.cache:
            value = self._supplied(name)
            self.cache[key] = Interval(value, value)
        found: Interval = self.cache[key]
        return found

    def _supplied(self, name: str) -> Array:
        if self.whole is not None:
            of_all, i, s = self.whole
            told = of_all.constant(name).hi
            column = slice(s, s + 1) if told.shape[1] > 1 else slice(None)
            row = slice(i, i + 1) if len(told) > 1 else slice(None)
            return told[row, column]
        if (own := about(self.spec).constant) is not None:
            return own(self, name)
        if self.exact:
            given = [member.get(name, np.inf) for member in self.exact_constants]
            return np.array(given).reshape(-1, 1, 1)
        if self.cells is not None:
            return of_cells(self, name)
        if name in DERIVED:
            return DERIVED[name](self)
        return self.constants[name].detach().cpu().numpy().reshape(-1, 1, 1)

    def pair(self, i: int, s: int) -> Batch:
        """One pair alone, on the CPU. The first few are kept: the forms of a claim are decided on
        the same pairs, which hold their constants and their balls."""
        if (len(self.spec.members), len(self.spec.chosen), self.x.device.type) == (1, 1, "cpu"):
            return self
        key = f"pair {i} {s}"
        if key in self.cache:
            found: Batch = self.cache[key]
            return found
        found = self._alone(i, s)
        if sum(name.startswith("pair ") for name in self.cache) < PAIRS:
            self.cache[key] = found
        return found

    def _alone(self, i: int, s: int) -> Batch:
        if self.x.device.type != "cpu":
            return build(self.spec.alone(self.spec.members[i], s))
        found = Batch(**alone(self, i, s), whole=(self, i, s))
        handed_on(found, self, i, s)
        return found

    @cached_property
    def constants(self) -> Constants:
        """The certified constants, (B,) each, by the names of the vocabulary."""
        if self.whole is None:
            return super().constants
        of_all, i, _ = self.whole
        return OfMember(of_all.constants, slice(i, i + 1))


def build(spec: SystemSpec, device: str = "cpu") -> Batch:
    """The batch that a spec describes; with ``member`` and ``sequence`` set, that pair alone."""
    kind = about(spec)
    if kind.whole is not None:
        return Batch(spec=spec, **kind.whole(spec))
    exact = () if kind.exact is None else tuple(kind.exact(spec, i) for i in spec.members)
    if kind.exact is not None:
        numbers = images(exact)
    elif spec.values is not None:
        numbers = stacked([written_out(spec.values)])
    else:
        assert kind.numbers is not None
        numbers = kind.numbers(spec)
    if spec.values is None and not exact:
        driving = kind.driving(spec, numbers)
        numbers["x"] = input_sequences(spec, numbers["x"], *driving, numbers["C"])
        if spec.sequence is not None:
            chosen = slice(spec.sequence, spec.sequence + 1)
            numbers |= {name: numbers[name][:, chosen] for name in ("x", "h", "h_other")}

    def tensor(name: str, *axes: int) -> torch.Tensor:
        array = np.ascontiguousarray(numbers[name].transpose(0, *axes))
        return torch.from_numpy(array).to(device)

    x, y = tensor("x", 2, 3, 1), tensor("y", 1) if "y" in numbers else None
    if kind.cells is not None:
        x = x * INWARD if spec.values is None else x
        return with_cells(spec, kind.cells(spec, numbers, x, tensor), tensor("C", 1, 2), x, y)

    def cell(suffix: str = "") -> RNN:
        return RNN(
            W=tensor(f"W{suffix}", 1, 2),
            U=tensor(f"U{suffix}", 1, 2),
            b=tensor(f"b{suffix}", 1),
            activation=activation(spec.activation),
        )

    return Batch(
        spec=spec,
        cell=cell(),
        C=tensor("C", 1, 2),
        x=x,
        h=tensor("h", 2, 1),
        h_other=tensor("h_other", 2, 1),
        y=y,
        other=cell("2") if "W2" in numbers else None,
        exact=exact,
    )


def with_cells(
    spec: SystemSpec, cells: Cells, C: torch.Tensor, x: torch.Tensor, y: torch.Tensor | None = None
) -> Batch:
    """A batch of these cells."""
    return Batch(spec=spec, y=y, **fields(cells, C, x))


def explicit(batch: Batch, **fields: object) -> SystemSpec:
    """The spec that writes a batch of one pair out in full; ``fields`` change its other fields."""
    import msgspec

    weights, h, h_other = batch.weights, batch.h, batch.h_other
    if batch.gated is not None:
        h, h_other = batch.gated.raw, batch.gated.raw_other
    values = Values(
        W=weights["W"][0].tolist(),
        U=weights["U"][0].tolist(),
        b=weights["b"][0].tolist(),
        C=batch.C[0].tolist(),
        x=batch.x[0, :, :, 0].tolist(),
        h=h[0, :, 0].tolist(),
        h_other=h_other[0, :, 0].tolist(),
        y=None if batch.y is None else batch.y[0].tolist(),
        W2=None if batch.other is None else batch.other.W[0].tolist(),
        U2=None if batch.other is None else batch.other.U[0].tolist(),
        b2=None if batch.other is None else batch.other.b[0].tolist(),
        b_hh=weights["b_hh"][0].tolist() if "b_hh" in weights else None,
    )
    alone: dict[str, object] = {
        "batch": 1,
        "sequences": 1,
        "member": None,
        "sequence": None,
        "seed": 0,
    }
    return msgspec.structs.replace(batch.spec, values=values, **(alone | fields))
