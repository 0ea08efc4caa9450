"""Vanilla networks from their numbers, with a loss or without."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rnnbounds.impl.arithmetic.activation import activation
from rnnbounds.impl.gradients.weight_sets import Region
from rnnbounds.impl.models.rnn import RNN
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.properties.systems.drawing.draws import Array
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.supply.route import (
    BatchParts,
    Numbers,
    Route,
    batch_numbers,
    to_tensor,
)
from rnnbounds.properties.systems.vanilla.constants import PREDICTIONS, network_constant
from rnnbounds.properties.systems.vanilla.network_weights import draw_signals, pair_scales
from rnnbounds.properties.systems.vanilla.networks import Networks


@dataclass(frozen=True, eq=False)
class NetworkRoute(Route):
    """Networks of the float64 weights that are drawn of all members, by name, stacked; with inputs
    and states, if `draw` does not give them, of streams of their own."""

    draw: Numbers

    def build_parts(self, spec: SystemSpec, device: str) -> BatchParts:
        """Networks with second weights where there are some among the numbers."""
        numbers = batch_numbers(
            spec, lambda spec: with_signals(spec, self.draw(spec)), lambda own: (own["W"], own["U"])
        )
        return network_parts(spec, numbers, device)

    def constant(self, batch: Batch, name: str) -> Array:
        """Return a constant of the cell, of a pair of states or of each window."""
        return network_constant(batch, name)


def with_signals(spec: SystemSpec, weights: dict[str, Array]) -> dict[str, Array]:
    """The weights, what is random in x, and pairs of states h, h_other (B, S, n)."""
    if "x" in weights:
        return weights
    x, h, h_other = draw_signals(spec, weights["C"].shape[1])
    h, h_other = pair_scales(spec) * h, pair_scales(spec) * h_other
    h_other[:, 1::2] = -h[:, 1::2]
    return weights | {"x": x, "h": h, "h_other": h_other}


def network_parts(
    spec: SystemSpec, numbers: Mapping[str, Array], device: str = "cpu"
) -> BatchParts:
    """Networks of these numbers."""

    def cell(suffix: str) -> RNN:
        W, U, b = (numbers[name + suffix] for name in "WUb")
        rho = activation(spec.activation)
        return RNN(
            to_tensor(device, W, 1, 2), to_tensor(device, U, 1, 2), to_tensor(device, b, 1), rho
        )

    h, h_other = (to_tensor(device, numbers[name], 2, 1) for name in ("h", "h_other"))
    return BatchParts(
        Networks(cell(""), h, h_other, cell("2") if "W2" in numbers else None),
        to_tensor(device, numbers["C"], 1, 2),
        to_tensor(device, numbers["x"], 2, 3, 1),
        to_tensor(device, numbers["y"], 1) if "y" in numbers else None,
    )


@dataclass(frozen=True, eq=False)
class LossRoute(NetworkRoute):
    """Networks with a loss, and the weights for which the constants of its gradients hold."""

    region_of: Callable[[Batch], Region]
    learning: ClassVar[bool] = True

    def region(self, batch: Batch) -> Region:
        """Return the weights for which constants of gradients hold."""
        return self.region_of(batch)


@dataclass(frozen=True, eq=False)
class TrainingRoute(LossRoute):
    """Networks that are trained by steps c/(βt)."""

    def constant(self, batch: Batch, name: str) -> Array:
        """Return a constant of the network, or what the theorem asks of K_0 and K_1."""
        return PREDICTIONS[name](batch) if name in PREDICTIONS else super().constant(batch, name)

    def step_size(self, batch: Batch) -> Array:
        """α of a share c of 1/β."""
        return batch.step_size


@dataclass(frozen=True, eq=False)
class FixedConstantsRoute(NetworkRoute):
    """Networks whose constants the spec gives: these, and no others."""

    constants_of: Callable[[SystemSpec], Mapping[str, float]]

    def constant(self, batch: Batch, name: str) -> Array:
        """The number given, at each window where there are windows."""
        value = np.full(
            (len(batch.spec.members), 1, 1), self.constants_of(batch.spec).get(name, np.inf)
        )
        return np.repeat(value, batch.K + 1, axis=2) if name == "eps_k" else value
