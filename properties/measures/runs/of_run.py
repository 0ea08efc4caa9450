"""Measures that are a function of the run: one definition, read in every arithmetic.

The program of the system, the one that runs and is certified, gives the run in float64 with a bound
on its own rounding, differentiably, in balls and in rationals.  A vector that vanishes is seen to
vanish in rationals, and where its balls are exact: what is to vanish elsewhere is better carried as
a difference (`properties.measures.runs.gaps`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from flint import arb, fmpq

from rnnbounds.impl.arithmetic.base import Floats, Rows
from rnnbounds.impl.arithmetic.entries.balls import Balls, Columns
from rnnbounds.impl.arithmetic.entries.rationals import Rationals, Ratios
from rnnbounds.impl.numbers.rationals import exactly
from rnnbounds.properties.measures.measure import Measure, only_where, square_of
from rnnbounds.properties.measures.readings.balls import BallPair, length
from rnnbounds.properties.measures.readings.needs import NOTHING, Needs
from rnnbounds.properties.measures.readings.rationals import where_rational
from rnnbounds.properties.measures.readings.slack import norms
from rnnbounds.properties.measures.runs.readings import longest
from rnnbounds.properties.measures.runs.rounded import Rounded, RoundedCells
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.properties.systems.kind import about
from rnnbounds.theory.language.vocabulary import VOCABULARY
from rnnbounds.theory.numbers.interval import Interval

Tensor = torch.Tensor
# A vector of n units in some arithmetic: sums, differences and products by entry are one again.
Units = Any
Defined = Callable[["Run", int], Units]
# Where a pair, and its balls, keep their runs.
OF_RUN = "run of measures that are a function of it"


@dataclass(frozen=True, eq=False)
class Run:
    """A run from ``start`` on inputs x_1 … x_T, x[0] … x[T − 1], over the arithmetic ``made``.

    Runs on the same inputs are made once: ``others`` are known, by the inputs' identities.
    """

    model: Any
    made: Any
    start: Units
    x: Sequence[Units]
    outputs: int
    others: dict[tuple[int, ...], Run] = field(default_factory=dict)

    @property
    def T(self) -> int:
        """How many inputs there are."""
        return len(self.x)

    def step(self, s: Units, x: Units) -> Units:
        """φ(s, x)."""
        return self.model.program(self.made, s, x)

    @cached_property
    def s(self) -> list[Units]:
        """The states s_0 … s_T."""
        found = [self.start]
        for x in self.x:
            found.append(self.step(found[-1], x))
        return found

    @cached_property
    def h(self) -> list[Units]:
        """What the states show, h_0 … h_T; of vanilla networks the states themselves."""
        return [s.part(s.size - self.outputs, s.size) for s in self.s]

    def read(self, h: Units) -> Units:
        """C h."""
        return self.made.affine("C", None, h)

    def under(self, x: Sequence[Units]) -> Run:
        """The run on other inputs."""
        return self.others.setdefault(tuple(map(id, x)), replace(self, x=x))

    def last(self, k: int) -> Run:
        """The run of the truncated model, on the last k inputs alone."""
        return self.under(self.x[self.T - k :])


def of_run(name: str, vector: Defined, needs: Needs = NOTHING) -> Measure:
    """The Euclidean length of ``vector(run, k)``, at each window k if the quantity has windows.

    Decided in rationals where the activation keeps to them.
    """

    def windows(batch: Batch) -> range:
        return range(batch.K + 1 if VOCABULARY[name].windowed else 1)

    def value(batch: Batch) -> Tensor:
        run = floats(batch)
        return torch.stack([norms(vector(run, k).value, 2) for k in windows(batch)], dim=2)

    def enclosure(batch: Batch) -> Interval:
        with torch.no_grad():
            run = rounded(batch)
            found = [longest(vector(run, k)) for k in windows(batch)]
        lo, hi = (np.concatenate([getattr(f, end) for f in found], axis=2) for end in ("lo", "hi"))
        return Interval(lo, hi)

    def ball(pair: BallPair, k: int) -> arb:
        if OF_RUN not in pair.cache:
            pair.cache[OF_RUN] = balls(pair.batch)
        return length(vector(pair.cache[OF_RUN], k).matrix.entries())

    @where_rational
    def square(batch: Batch, k: int) -> fmpq | None:
        if OF_RUN not in batch.cache:
            batch.cache[OF_RUN] = rationals(batch)
        found = vector(batch.cache[OF_RUN], k).matrix.entries()
        return square_of(found)

    read = Measure(name, value=value, enclosure=enclosure, balls=ball, square=square, needs=needs)
    return only_where(runs, read)


def runs(batch: Batch) -> bool:
    """Whether the systems are recurrent ones in floats."""
    return not batch.exact and not about(batch.spec).route.causal


def made(batch: Batch, member: int | None = None) -> tuple[Any, dict[str, Tensor], int]:
    """The model, its parameters with the readout C, of one member if asked, and the units of s."""
    cells = batch.cells
    model = batch.cell if cells is None else cells.cell
    parameters = dict(batch.cell.parameters if cells is None else cells.parameters) | {"C": batch.C}
    if member is not None:
        parameters = {name: part[member] for name, part in parameters.items()}
    return model, parameters, batch.cell.n if cells is None else cells.units


def outputs(batch: Batch) -> int:
    """How many units of the state are shown, its last ones."""
    return batch.systems.n


def rounded(batch: Batch) -> Run:
    """In float64, with bounds on its rounding: (B, N, S)."""
    model, parameters, units = made(batch)
    start = Rounded.exact(batch.x.new_zeros(len(batch.x), units, batch.x.shape[3]))
    x = [Rounded.exact(x) for x in batch.x.unbind(1)]
    return Run(model, RoundedCells(parameters), start, x, outputs(batch))


def floats(batch: Batch) -> Run:
    """In float64, differentiable: (B, S, N)."""
    model, parameters, units = made(batch)
    start = Rows(batch.x.new_zeros(len(batch.x), batch.x.shape[3], units))
    x = [Rows(x.mT) for x in batch.x.unbind(1)]
    return Run(model, Floats(parameters), Rows(start.value), x, outputs(batch))


def balls(batch: Batch) -> Run:
    """Of one pair, at the precision that is current when it is read."""
    model, parameters, units = made(batch, 0)
    start = Columns([[arb(0)] for _ in range(units)])
    x = [Columns([[arb(v)] for v in x]) for x in batch.x[0, :, :, 0].tolist()]
    return Run(model, Balls(parameters), start, x, outputs(batch))


def rationals(batch: Batch) -> Run:
    """Of one pair; its states raise IrrationalError where the step leaves the rationals."""
    model, parameters, units = made(batch, 0)
    start = Ratios([[fmpq(0)] for _ in range(units)])
    x = [Ratios.of(exactly(x)) for x in batch.x[0, :, :, :1]]
    return Run(model, Rationals(parameters), start, x, outputs(batch))
