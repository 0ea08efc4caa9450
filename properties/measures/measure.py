"""A measured quantity: a name of the vocabulary, bound to what is seen on a system.

A measure has up to six readings. ``value`` is a differentiable float64 reading of a whole batch
and ``error`` a rigorous bound on |reading − truth|; together, or as an ``enclosure``, they enclose
the truth. ``balls`` reads one pair at any precision, ``square`` gives the exact square where it is
rational, ``cap`` a rational bound of the square that holds whatever the inputs are, and ``at_most``
decides an exact comparison where it can. Shapes are (B, S, K+1) with k,
else (B, S, 1). Where the systems are cells of any kind, ``of_cells`` has the readings. ``needs`` is
what reading it asks of an attack.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
import torch
from flint import arb, fmpq

from rnnbounds.properties.measures.readings.balls import BallPair, ball_pair
from rnnbounds.properties.measures.readings.needs import NOTHING, Needs
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.properties.systems.unitary.exact import square
from rnnbounds.theory.language.vocabulary import VOCABULARY
from rnnbounds.theory.numbers.interval import Interval

Tensor = torch.Tensor
T = TypeVar("T")
Value = Callable[[Batch], Tensor]
Error = Callable[[Batch, Tensor], Tensor]


@dataclass(frozen=True)
class OfCells:
    """The readings of a quantity on cells of any kind."""

    enclosure: Callable[[Batch], Interval]
    balls: Callable[[BallPair, int], arb] | None = None


@dataclass(frozen=True)
class Measure:
    """One measured quantity."""

    name: str
    value: Callable[[Batch], Tensor] | None = None
    error: Callable[[Batch, Tensor], Tensor] | None = None
    enclosure: Callable[[Batch], Interval] | None = None
    balls: Callable[[BallPair, int], arb] | None = None
    square: Callable[[Batch, int], fmpq | None] | None = None
    at_most: Callable[[Batch, fmpq, int], bool | None] | None = None
    cap: Callable[[Batch, int], fmpq | None] | None = None
    of_cells: OfCells | None = None
    needs: Needs = NOTHING

    def needing(self, needs: Needs) -> Measure:
        """The same measure, with what it asks of an attack."""
        return replace(self, needs=needs)

    def enclose(self, batch: Batch) -> Interval:
        """Float64 enclosures over the batch; [nan, nan] where only the referee can read it."""
        if batch.cells is not None and self.of_cells is not None:
            return self.of_cells.enclosure(batch)
        if self.enclosure is not None:
            return self.enclosure(batch)
        if self.value is None or self.error is None:
            return blank(batch)
        with torch.no_grad():
            value = self.value(batch)
            return around(value, self.error(batch, value))

    def ball(self, pair: Batch, k: int, precision: int) -> arb:
        """A ball of one pair at one window; NaN where there is no reading."""
        balls = self.balls if pair.cells is None or self.of_cells is None else self.of_cells.balls
        if balls is None:
            return arb("nan")
        read, key = ball_pair(pair, precision), f"{self.name} at {k}"
        if key not in read.cache:
            read.cache[key] = balls(read, k)
        found: arb = read.cache[key]
        return found

    def exact_square(self, pair: Batch, k: int, precision: int) -> fmpq | None:
        """The square, if it is known to be rational: from rational states or a ball that is 0."""
        apart = pair.cells is not None and self.of_cells is not None
        key = f"square of {self.name} at {k}"
        if key not in pair.cache:
            pair.cache[key] = None if self.square is None or apart else self.square(pair, k)
        found: fmpq | None = pair.cache[key]
        if found is None and self.ball(pair, k, precision).is_zero():
            return fmpq(0)
        return found


def blank(batch: Batch, windows: int = 1) -> Interval:
    """[nan, nan] of each pair, at so many windows: nothing is read."""
    nothing = np.full((batch.cell.batch, batch.x.shape[3], windows), np.nan)
    return Interval(nothing, nothing)


def only_where(has: Callable[[Batch], bool], measure: Measure) -> Measure:
    """The measure, with nothing to be read off systems that have no such quantity."""
    read, balls = measure.enclosure, measure.balls
    assert read is not None

    def enclosure(batch: Batch) -> Interval:
        windows = batch.K + 1 if VOCABULARY[measure.name].windowed else 1
        return read(batch) if has(batch) else blank(batch, windows)

    def ball(pair: BallPair, k: int) -> arb:
        return balls(pair, k) if balls is not None and has(pair.batch) else arb("nan")

    def exact(read: Callable[..., T | None] | None) -> Callable[..., T | None] | None:
        return None if read is None else lambda b, *more: read(b, *more) if has(b) else None

    return replace(
        measure, enclosure=enclosure, balls=ball, square=exact(measure.square),
        at_most=exact(measure.at_most), cap=exact(measure.cap),
    )  # fmt: skip


def around(value: Tensor, error: Tensor) -> Interval:
    """value ± error, rounded outward and cut at 0 (norms are ≥ 0); exact where error is 0."""
    v, e = value.detach().cpu().numpy(), error.detach().cpu().numpy()
    exact = e == 0
    with np.errstate(invalid="ignore"):
        low, high = v - e, v + e
    for end, beyond in ((low, -np.inf), (high, np.inf)):
        np.nextafter(end, beyond, out=end)
        if exact.any():
            np.copyto(end, v, where=exact)
    return Interval(np.maximum(low, 0.0, out=low), high)


def square_of(vector: list[fmpq] | None) -> fmpq | None:
    """‖v‖₂², if v is there."""
    return None if vector is None else square(vector)
