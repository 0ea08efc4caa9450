"""A source that was opened: its tensors, and what it says of the cells of its layers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor

from rnnbounds.impl.errors import InputError, shown
from rnnbounds.impl.reading.pytorch.modules import (
    class_name,
    meant,
    module_tensors,
    recurrent_parts,
    refuse_hooks,
)

_COMPILED = "torch._dynamo.eval_frame.OptimizedModule"


@dataclass(frozen=True, eq=False)
class LayerInfo:
    """Tensors by full names, and what the source says of the cell that is meant.

    binding: what the source is called, if what it says is more than a hint. own: the layer, where
    the source itself knows which tensors are its. note: what a certificate has to say of the layer.
    """

    tensors: Mapping[str, Tensor]
    cell: str | None = None
    binding: str | None = None
    own: str | None = None
    note: str = ""


@runtime_checkable
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
        return LayerInfo(self.tensors, self.cell, self.binding)

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
        held = module_tensors(self.module, layer)
        return LayerInfo(held.tensors, held.cell, self.where, held.path or ".", held.note)

    def layers(self) -> list[str] | None:
        """Its recurrent parts."""
        return [path or "." for path, _ in recurrent_parts(self.module)]

    def refuse_hooks(self, layer: str | None) -> None:
        """Raise InputError if what the part computes is not known, since it has hooks or is in a
        module that has."""
        refuse_hooks(self.module, meant(self.module, layer)[0])


@dataclass(frozen=True, eq=False)
class Function:
    """A callable that is no module: it has no tensors to read, and is only run."""

    call: Callable[..., object]
    title: str

    @property
    def where(self) -> str:
        """The source in messages."""
        return shown(self.title)

    def told(self, layer: str | None) -> LayerInfo:
        """Raise InputError: a function has no weights."""
        remedy = "pass a module or a file; measure alone runs a function as it is"
        raise InputError(f"{self.where} is a function without weights; {remedy}")

    def layers(self) -> list[str]:
        """Return []: a function says of no layer."""
        return []


@dataclass(frozen=True, eq=False)
class Scripted:
    """TorchScript, which does not say what its parts compute: read by the names of its weights."""

    module: torch.jit.ScriptModule
    title: str
    where: str = "the module"

    def told(self, layer: str | None) -> LayerInfo:
        """Return all tensors, whichever the layer; raises InputError where they are constants."""
        if not (tensors := self.module.state_dict()):
            remedy = "pass the module as it was before torch.jit.freeze"
            raise InputError(f"{self.where} is frozen TorchScript without a state dict; {remedy}")
        return Weights(tensors, self.where, self.title).told(layer)

    def layers(self) -> list[str] | None:
        """Return None: the layers follow from the names."""
        return None


Runnable = Module | Function | Scripted  # what can be run as it is


def open_module(module: torch.nn.Module, title: str | None = None) -> Module | Scripted:
    """A module, without what distributes or compiles it."""
    while isinstance(inner := getattr(module, _inner(module), None), torch.nn.Module):
        module = inner
    if isinstance(module, torch.jit.ScriptModule):
        named = f"{title or module.original_name} (TorchScript: its weights by their names)"
        return Scripted(module, named)
    return Module(module, title or type(module).__name__)


def _inner(module: torch.nn.Module) -> str:
    """The attribute that holds the module in a wrapper of torch's, "" for any other module."""
    if isinstance(module, torch.nn.DataParallel | torch.nn.parallel.DistributedDataParallel):
        return "module"
    return "_orig_mod" if class_name(module) == _COMPILED else ""
