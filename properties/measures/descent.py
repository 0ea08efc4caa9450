"""Projected gradient descent of cells on the full and on the truncated loss, side by side.

w_{t+1} = Π(w_t − α_t ∇p(w_t)) over the Ω of `properties.systems.cells.batch`: in each parameter the
radial projection onto a ball about where it starts. What is computed strays by at most e_{t+1} ≤ (1
+ α_t β) e_t + r_t, with β uniform on Ω, where r_t is α_t times the gradient's error, the rounding
of w_t − α_t ∇p, and the distance from the exact projection; infinite outside Ω. Source: Miller &
Hardt, Proposition 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch

from rnnbounds.impl.arithmetic.derivatives.dual_numbers import Dual, DualArithmetic
from rnnbounds.impl.gradients.loss import Loss
from rnnbounds.impl.gradients.loss import loss as make_loss
from rnnbounds.impl.norms.readout_norms import absolute_difference
from rnnbounds.impl.numbers.outward import UNIT, add_up, mul_up, norm_up, underflow
from rnnbounds.properties.measures.slack import zero_full_window
from rnnbounds.properties.read.float_carrier import FLOATS
from rnnbounds.properties.read.numbers.norms import around, vector_lengths
from rnnbounds.properties.read.numbers.rounded import ROUND_UP, Rounded, RoundedCells
from rnnbounds.properties.read.numbers.seeds import RoundedDirections
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.properties.systems.cells.batch import omega_of_cells, require_cells
from rnnbounds.theory.numbers.interval import Interval

Tensor = torch.Tensor
Weights = dict[str, Tensor]
# What is projected lands inside by this share of the radius, and is off by less than four of it.
INWARD = 2.0**-40
# Below it products may underflow.
SMALLEST = 2.0**-500


@dataclass(frozen=True, eq=False)
class DescentBatch:
    """A batch with S sequences as (K + 2) B S systems of one: the full ones, then each window's."""

    batch: Batch

    def repeat(self, part: Tensor) -> Tensor:
        """Repeat a tensor (B, …) of the batch's systems for all (K + 2) B S runs."""
        repeated = part.repeat_interleave(self.batch.x.shape[3], dim=0)
        return repeated.repeat(self.batch.K + 2, *[1] * (part.ndim - 1))

    @cached_property
    def initial_weights(self) -> Weights:
        """w_1."""
        return {
            name: self.repeat(part) for name, part in require_cells(self.batch).parameters.items()
        }

    @cached_property
    def radii(self) -> Weights:
        """The radii of Ω by parameter, (M,) each."""
        return {name: self.repeat(part) for name, part in omega_of_cells(self.batch).radii.items()}

    @cached_property
    def x(self) -> Tensor:
        """The inputs, (M, T, d, 1)."""
        x = self.batch.x.permute(0, 3, 1, 2).flatten(0, 1)[..., None]
        return x.repeat(self.batch.K + 2, 1, 1, 1)

    @cached_property
    def start_times(self) -> Tensor:
        """Time of each run until which its state is held at zero, (M, 1, 1)."""
        windows = torch.arange(self.batch.K + 1, device=self.batch.x.device)
        times = torch.cat([torch.zeros_like(windows[:1]), self.batch.spec.T - windows])
        return times.repeat_interleave(len(self.x) // len(times))[:, None, None]

    @cached_property
    def loss(self) -> Loss:
        """The loss on the last state of every run."""
        batch, y = self.batch, self.batch.y
        return make_loss(
            batch.spec.loss, self.repeat(batch.C), None if y is None else self.repeat(y)
        )

    def gradient(self, weights: Weights) -> Rounded:
        """∇p at these weights, (M, P)."""
        cells: Any = require_cells(self.batch)
        seeds: Any = RoundedDirections(weights, 0, 0, tuple(weights))
        arithmetic = DualArithmetic(RoundedCells(weights), seeds)

        state = seeds.still(self.x.new_zeros(len(self.x), cells.units, 1))
        for t, x in enumerate(self.x.unbind(1)):
            state, is_running = (
                cells.cell.program(arithmetic, state, seeds.still(x)),
                self.start_times <= t,
            )
            state = Dual(
                state.value.zero_unless(is_running),
                state.tangent.zero_unless(is_running[..., None]),
            )
        h, D = (part.part(part.size - cells.n, part.size) for part in (state.value, state.tangent))
        found: Rounded = FLOATS.times(FLOATS.row(FLOATS.gradient(self.loss, h), 0), D)[:, 0, 0]
        return found

    def project(self, name: str, y: Tensor) -> tuple[Tensor, Tensor]:
        """Π y of a block, certainly in Ω or nearly so, and at most how far that is from it."""
        start, radius = self.initial_weights[name], self.radii[name]
        size = norm_up(absolute_difference(y, start).flatten(1))
        is_inside = size <= radius
        shape = (-1, *[1] * (y.ndim - 1))
        factor = torch.where(radius == 0, 0.0, radius * (1 - INWARD) / size)
        scaled = start + (y - start) * factor.reshape(shape)
        scaled = torch.where((radius == 0).reshape(shape), start, scaled)
        largest_norm = add_up(norm_up(start.flatten(1)), radius)
        distance = add_up(mul_up(4 * INWARD, radius), mul_up(4 * UNIT, largest_norm))
        distance = torch.where((factor > SMALLEST) & (radius > SMALLEST), distance, torch.inf)
        distance = torch.where(is_inside | (radius == 0), 0.0, distance)
        return torch.where(is_inside.reshape(shape), y, scaled), distance

    def is_in_omega(self, weights: Weights) -> Tensor:
        """Mask the runs (M,) whose weights certainly lie in Ω."""
        checks = [
            norm_up(absolute_difference(part, self.initial_weights[name]).flatten(1))
            <= self.radii[name]
            for name, part in weights.items()
        ]
        return torch.stack(checks).all(0)

    def step(self, weights: Weights, rate: Tensor) -> tuple[Weights, Tensor]:
        """One step of sizes (M,), and r_t."""
        gradient = self.gradient(weights)
        # Its own error, and that of the rounded rate
        error = add_up(
            ROUND_UP * norm_up(gradient.error), mul_up(2 * UNIT, norm_up(gradient.value))
        )
        error, moved, at = mul_up(rate, error), {}, 0
        for name, part in weights.items():
            size = part[0].numel()
            slope = gradient.value[:, at : at + size].reshape(part.shape)
            at += size
            step = rate.reshape(-1, *[1] * (part.ndim - 1)) * slope
            y = part - step
            rounded_sum = torch.where(slope == 0, 0.0, y)
            lengths = add_up(norm_up(step.flatten(1)), norm_up(rounded_sum.flatten(1)))
            underflow_loss = underflow(mul_up(rate, norm_up(slope.flatten(1))))
            moved[name], distance = self.project(name, y)
            error = add_up(
                error, add_up(distance, add_up(mul_up(2 * UNIT, lengths), underflow_loss))
            )
        return moved, error

    @cached_property
    def descents(self) -> list[tuple[Weights, Tensor]]:
        """w_1 … w_{N+1} of all with their errors, (M,) each."""
        spec, weights = self.batch.spec, self.initial_weights
        growth, alpha = (
            self.repeat(self.batch.x.new_tensor(constants).flatten())
            for constants in (self.batch.constant("beta").hi, self.batch.step_size)
        )
        iterates = [(weights, torch.zeros_like(alpha))]
        for t in range(1, spec.steps + 1):
            rate = alpha / t
            error = iterates[-1][1]
            propagated = mul_up(add_up(1.0, mul_up(ROUND_UP * rate, growth)), error)
            weights, step_error = self.step(weights, rate)
            total = add_up(torch.where(error == 0, 0.0, propagated), step_error)
            total = torch.where(self.is_in_omega(weights), total, torch.inf)
            iterates.append((weights, total.nan_to_num(torch.inf, torch.inf)))
        return iterates


def w_gap(batch: Batch) -> Interval:
    """‖w_{N+1} − ŵ_{N+1}‖ at every window, (B, S, K+1)."""
    with torch.no_grad():
        weights, error = DescentBatch(batch).descents[-1]
        flat = torch.cat([part.flatten(1) for part in weights.values()], dim=1)
        shape = (batch.K + 2, len(batch.x), -1)
        weights_by_run, errors = flat.reshape(*shape, flat.shape[1]), error.reshape(shape)
        # Differences, with the windows as columns
        gaps = Rounded.exact(weights_by_run[:1]) - Rounded.exact(weights_by_run[1:])
        value, norm_error = vector_lengths(gaps, 3)
        total_error = add_up(add_up(errors[:1], errors[1:]), norm_error)
        ends = (zero_full_window(batch, part.permute(1, 2, 0)) for part in (value, total_error))
        return around(*ends)
