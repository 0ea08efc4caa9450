"""The steps from h and from h' of one pair, in balls or in rationals.

What differs between the two is exactly 0 where h − h' or W(h − h') is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from flint import arb, arb_mat, fmpq

from rnnbounds.impl.arithmetic.activation import Activation
from rnnbounds.impl.arithmetic.entries.rationals import known
from rnnbounds.impl.numbers.spectra.exact_norm import ball_norm
from rnnbounds.properties.measures.readings.adjoints import Matrix, Run, Vector, change, flat
from rnnbounds.properties.measures.readings.balls import BallPair, length
from rnnbounds.properties.measures.readings.gradients import (
    ball_run,
    rational_run,
    run_of,
    slopes_above,
)
from rnnbounds.properties.measures.readings.rationals import Square, where_rational
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.properties.systems.unitary.exact import square


@dataclass(frozen=True)
class Single:
    """One pair of states and the input x_1 that both of them see."""

    run: Run
    h: Matrix
    other: Matrix

    @classmethod
    def of(cls, run: Run, batch: Batch) -> Single:
        """The pair of states of a batch of one, in the arithmetic of its run."""
        pair = (batch.h[0, :, 0].tolist(), batch.h_other[0, :, 0].tolist())
        return cls(run, *(run.arithmetic.column(h) for h in pair))

    @cached_property
    def before(self) -> Vector:
        """W h + U x_1 + b."""
        cell = self.run.cell
        return flat(cell.W * self.h + cell.U * self.run.inputs[0] + cell.b)

    @cached_property
    def slopes(self) -> Vector:
        """ρ′ at h."""
        return [self.run.arithmetic.slope(z) for z in self.before]

    @cached_property
    def bent(self) -> Vector:
        """ρ′ at h minus ρ′ at h'."""
        shift = flat(self.run.cell.W * (self.h - self.other))
        return change(self.run.arithmetic.slope, self.slopes, self.before, shift)

    def columns(self, h: Matrix, size: float) -> Vector:
        """The trained parts of [h x_1 1], the last two times ``size``."""
        number = self.run.arithmetic.number(size)
        return self.run.columns(h, number * self.run.inputs[0], number)

    def weights(self) -> list[Vector]:
        """The rows d_i (h, x, 1) of ∂_wφ(h, x)."""
        seen = self.columns(self.h, 1.0)
        return [[s * v for v in seen] for s in self.slopes]

    def weights_gap(self) -> list[Vector]:
        """The rows (d_i − d'_i)(h', x, 1) + d_i (h − h', 0, 0)."""
        there, moved = self.columns(self.other, 1.0), self.columns(self.h - self.other, 0.0)
        return [
            [c * v + s * m for v, m in zip(there, moved, strict=True)]
            for c, s in zip(self.bent, self.slopes, strict=True)
        ]

    def loss(self) -> list[Vector]:
        """∇p(h)."""
        return [self.run.arithmetic.gradient(flat(self.h))]

    def loss_gap(self) -> list[Vector]:
        """∇p(h) − ∇p(h')."""
        gradient = self.run.arithmetic.gradient
        pairs = zip(gradient(flat(self.h)), gradient(flat(self.other)), strict=True)
        return [[p - q for p, q in pairs]]


Rows = Callable[[Single], list[Vector]]


def longest_ball(rows: Rows) -> Callable[[BallPair, int], arb]:
    """max_i ‖row_i‖₂ in balls; k plays no part."""

    def read(pair: BallPair, k: int) -> arb:
        found = arb(0)
        for row in rows(Single.of(ball_run(pair), pair.batch)):
            found = found.max(length(row))
        return found

    return read


def longest_square(rows: Rows) -> Square:
    """max_i ‖row_i‖₂² in rationals, where nothing leaves them."""

    @where_rational
    def read(batch: Batch, k: int) -> fmpq | None:
        run = rational_run(batch)
        return None if run is None else longest(rows(Single.of(run, batch)))

    return read


def longest(rows: list[Vector]) -> fmpq:
    """max_i ‖row_i‖₂²."""
    return max(square(row) for row in rows)


@dataclass(frozen=True)
class Steepest(Single):
    """The same in rationals, with upper bounds of |ρ′| where that is irrational; changes of ρ′ are
    exact all the same."""

    rho: Activation

    @classmethod
    def at(cls, batch: Batch) -> Steepest:
        """The pair of states of a batch of one."""
        rho = batch.cell.activation
        single = Single.of(run_of(slopes_above(rho), batch), batch)
        return cls(single.run, single.h, single.other, rho)

    @cached_property
    def bent(self) -> Vector:
        """ρ′ at h minus ρ′ at h'; raises IrrationalError where a slope that changes is no ratio."""
        shift = flat(self.run.cell.W * (self.h - self.other))
        slope = known(self.rho.name, self.rho.rational_slope)
        moved = [a if s == 0 else slope(a) for a, s in zip(self.before, shift, strict=True)]
        return change(slope, moved, self.before, shift)


def steepest_square(rows: Rows) -> Square:
    """The same of rows that grow with the slopes |d_i|, whatever the loss.

    Slopes that are not rational count by upper bounds; the longest row must do without one.
    """

    @where_rational
    def read(batch: Batch, k: int) -> fmpq | None:
        single = Steepest.at(batch)
        lengths = [square(row) for row in rows(single)]
        top = max(range(len(lengths)), key=lengths.__getitem__)
        exact = single.rho.rational_slope(single.before[top]) is not None
        return lengths[top] if exact else None

    return read


def dphi_h_gap_ball(pair: BallPair, k: int) -> arb:
    """‖(D − D')W‖₂ in balls."""
    run = ball_run(pair)
    bent: list[Any] = Single.of(run, pair.batch).bent
    rows = run.cell.W.tolist()
    return ball_norm(arb_mat([[c * w for w in row] for c, row in zip(bent, rows, strict=True)]))
