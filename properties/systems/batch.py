"""From a SystemSpec to tensors: a batch of systems, their inputs and their certified constants."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import msgspec

from rnnbounds.properties.systems.drawing.regimes import Array
from rnnbounds.properties.systems.kind import about
from rnnbounds.properties.systems.spec import SystemSpec, Values
from rnnbounds.properties.systems.supply.members import BatchData
from rnnbounds.properties.systems.supply.parameters import Parameters
from rnnbounds.theory.numbers.interval import Interval

# Pairs of a batch that are kept once built: so many fit into memory with all their balls.
PAIRS = 64
Pairs = dict[tuple[int, int], "Batch"]


@dataclass(frozen=True)
class Batch(BatchData):
    """B systems with S input sequences each, their parameters and constants."""

    known: dict[str, Interval] = field(init=False, default_factory=dict, compare=False, repr=False)
    pairs: Pairs = field(init=False, default_factory=dict, compare=False, repr=False)

    @cached_property
    def parameters(self) -> Parameters:
        """The spec's numbers by the names of the vocabulary; epsilon is a share of S_0/(1 − λ)."""
        return Parameters(self)

    def constant(self, name: str) -> Interval:
        """A certified constant, from whoever supplies it of such systems."""
        if name not in self.known:
            value = self._supplied(name)
            self.known[name] = Interval(value, value)
        return self.known[name]

    def _supplied(self, name: str) -> Array:
        if self.whole is None:
            return about(self.spec).route.constant(self, name)
        of_all, i, s = self.whole
        told = of_all.constant(name).hi
        column = slice(s, s + 1) if told.shape[1] > 1 else slice(None)
        row = slice(i, i + 1) if len(told) > 1 else slice(None)
        return told[row, column]

    def pair(self, i: int, s: int) -> Batch:
        """One pair alone, on the CPU. The first few are kept: the forms of a claim are decided on
        the same pairs, which hold their constants and their balls."""
        if (len(self.spec.members), len(self.spec.chosen), self.x.device.type) == (1, 1, "cpu"):
            return self
        if (i, s) in self.pairs:
            return self.pairs[i, s]
        found = self._alone(i, s)
        if len(self.pairs) < PAIRS:
            self.pairs[i, s] = found
        return found

    def _alone(self, i: int, s: int) -> Batch:
        spec, at = self.spec.alone(self.spec.members[i], s), slice(i, i + 1)
        if self.x.device.type != "cpu":
            return build(spec)
        y = None if self.y is None else self.y[at]
        x = self.x[at, :, :, s : s + 1]
        return Batch(spec, self.systems.pair(i, s), self.C[at], x, y, whole=(self, i, s))

    def forget(self) -> None:
        """Let go of all that was measured of these systems, and of their pairs."""
        for kept in (self.cache, self.made, self.known, self.pairs):
            kept.clear()


def build(spec: SystemSpec, device: str = "cpu") -> Batch:
    """The batch that a spec describes; with ``member`` and ``sequence`` set, that pair alone."""
    return Batch(spec, *about(spec).route.parts(spec, device))


def explicit(batch: Batch, **fields: object) -> SystemSpec:
    """The spec that writes a batch of one pair out in full; ``fields`` change its other fields."""
    weights, (h, h_other), other = batch.weights, batch.systems.written, batch.other
    values = Values(
        W=weights["W"][0].tolist(),
        U=weights["U"][0].tolist(),
        b=weights["b"][0].tolist(),
        C=batch.C[0].tolist(),
        x=batch.x[0, :, :, 0].tolist(),
        h=h[0, :, 0].tolist(),
        h_other=h_other[0, :, 0].tolist(),
        y=None if batch.y is None else batch.y[0].tolist(),
        W2=None if other is None else other.W[0].tolist(),
        U2=None if other is None else other.U[0].tolist(),
        b2=None if other is None else other.b[0].tolist(),
        b_hh=weights["b_hh"][0].tolist() if "b_hh" in weights else None,
    )
    alone = {"batch": 1, "sequences": 1, "member": None, "sequence": None, "seed": 0}
    return msgspec.structs.replace(batch.spec, values=values, **(alone | fields))
