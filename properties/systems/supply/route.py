"""From a spec to tensors, and what is certified of them: one way for each family of systems."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import ClassVar, NamedTuple

import numpy as np
import torch

from rnnbounds.impl.gradients.weight_sets import Region
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.properties.systems.cells.batch import Cells
from rnnbounds.properties.systems.drawing.draws import Array, make_inputs
from rnnbounds.properties.systems.drawing.explicit import explicit_arrays
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.supply.parameters import PARAMETER_READERS
from rnnbounds.properties.systems.vanilla.networks import Networks

Tensor = torch.Tensor
Numbers = Callable[[SystemSpec], dict[str, Array]]


class BatchParts(NamedTuple):
    """The systems of a batch, their readout C (B, p, n), inputs x (B, T, d, S) and targets y."""

    systems: Networks | Cells
    C: Tensor
    x: Tensor
    y: Tensor | None = None


class Route(ABC):
    """A family of systems.

    rational: whether they are decided in rationals. causal: whether they are feed-forward models.
    learning: whether there is a loss, and certified gradients. max_size: systems and sequences that
    one example has at most, where a system costs much.
    parameters: the names of all parameters.
    """

    rational: ClassVar[bool] = False
    causal: ClassVar[bool] = False
    learning: ClassVar[bool] = False
    max_size: ClassVar[tuple[int, int] | None] = None
    parameters: ClassVar[Collection[str]] = PARAMETER_READERS

    @abstractmethod
    def build_parts(self, spec: SystemSpec, device: str) -> BatchParts:
        """The systems that a spec describes, the chosen sequences of each."""

    @abstractmethod
    def constant(self, batch: Batch, name: str) -> Array:
        """A certified constant, (B, 1, 1), (B, S, 1) of each pair or (B, 1, K+1) of each window;
        infinite where nothing is known."""

    def region(self, batch: Batch) -> Region | None:
        """The weights for which the constants of gradients hold; None of systems without a loss."""
        return None

    def forgotten_bound(self, batch: Batch) -> Array:
        """Bound the norm of the state forgotten by a run of any length: S_0/(1 − λ), (B, 1, 1)."""
        return batch.constant("S_0").hi / (1 - batch.constant("lam").hi)

    def step_size(self, batch: Batch) -> Array:
        """α, (1, 1, 1), or (B, 1, 1) where it is a share of what is certified."""
        return np.full((1, 1, 1), batch.spec.alpha)

    def parameter(self, batch: Batch, name: str) -> Array:
        """A number of the spec, along (batch, sequence, window); NaN of what other families add."""
        return PARAMETER_READERS[name](batch)

    def display_name(self, spec: SystemSpec) -> str:
        """Name a system in explanations, by its activation."""
        return spec.activation


def stack_numbers(members: Sequence[Mapping[str, Array]]) -> dict[str, Array]:
    """The numbers of a batch, from those of each member."""
    return {name: np.stack([member[name] for member in members]) for name in members[0]}


def draw_each_member(draw: Callable[[SystemSpec, int], dict[str, Array]]) -> Numbers:
    """The numbers of a batch whose members are drawn one by one."""
    return lambda spec: stack_numbers([draw(spec, member) for member in spec.members])


def to_tensor(device: str, array: Array, *axes: int) -> Tensor:
    """An array as a tensor of that device, its axes but the first in this order."""
    return torch.from_numpy(np.ascontiguousarray(array.transpose(0, *axes))).to(device)


def batch_numbers(
    spec: SystemSpec,
    draw: Numbers,
    driving_matrices: Callable[[Mapping[str, Array]], tuple[Array, Array]],
) -> dict[str, Array]:
    """The numbers of a batch by name, those that a spec writes out or those that are drawn, with
    inputs x (B, S, T, d) of its regime and the chosen sequences alone.

    driving: the W and U that resonant inputs are made for.
    """
    if spec.values is not None:
        return stack_numbers([explicit_arrays(spec.values)])
    numbers = draw(spec)
    numbers["x"] = make_inputs(spec, numbers["x"], *driving_matrices(numbers), numbers["C"])
    chosen = slice(spec.sequence_range.start, spec.sequence_range.stop)
    return numbers | {name: numbers[name][:, chosen] for name in ("x", "h", "h_other")}
