"""A source that was opened: its tensors, and what it says of the cells of its layers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from rnnbounds.impl.reading.pytorch.modules import module_tensors, recurrent_parts, refuse_hooks
from rnnbounds.impl.reading.recognition.joined import joined_names


@dataclass(frozen=True, eq=False)
class LayerInfo:
    """Tensors by full names, and what the source says of the cell that is meant.

    binding: what the source is called, if what it says is more than a hint. own: the layer, where
    the source itself knows which tensors are its.
    """

    tensors: Mapping[str, Tensor]
    cell: str | None = None
    binding: str | None = None
    own: str | None = None


class Opened(Protocol):
    """A source that was opened. where: what messages call it. title: what a certificate does."""

    @property
    def where(self) -> str:
        """The source in messages."""

    @property
    def title(self) -> str:
        """The source in certificates."""

    def told(self, layer: str | None) -> LayerInfo:
        """Read the tensors of that layer, or of the only one, with hints; raises InputError."""

    def layers(self) -> list[str] | None:
        """The layers that it says it has; None if names alone can tell."""


@dataclass(frozen=True, eq=False)
class Weights:
    """A state dict, by itself or in a file."""

    tensors: Mapping[str, Tensor]
    where: str
    title: str
    cell: str | None = None
    binding: str | None = None

    def told(self, layer: str | None) -> LayerInfo:
        """Return all tensors and hints, whichever the layer."""
        return LayerInfo(joined_names(self.tensors), self.cell, self.binding)

    def layers(self) -> list[str] | None:
        """Return None: the layers of a state dict follow from its names."""
        return None


@dataclass(frozen=True, eq=False)
class Module:
    """A torch module."""

    module: torch.nn.Module
    title: str
    where: str = "the module"

    def told(self, layer: str | None) -> LayerInfo:
        """Its tensors, with the values of those of one recurrent part."""
        held, cell, path = module_tensors(self.module, layer)
        return LayerInfo(held, cell, self.where, path or ".")

    def layers(self) -> list[str] | None:
        """Its recurrent parts."""
        return [path or "." for path, _ in recurrent_parts(self.module)]

    def refuse_hooks(self, layer: str | None) -> None:
        """Raise WeightsError if what the part computes is not known, since it has hooks."""
        refuse_hooks(self.module, layer)
