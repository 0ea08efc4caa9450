"""A source that was opened: its tensors, what it says of the cells in it, and what of it runs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor


@dataclass(frozen=True, eq=False)
class Opened:
    """Tensors by full names, and what the source says of the cell that is meant.

    where: what messages call the source. title: what certificates call it. cell: the cell that it
    says it holds; binding: what says so, if that is more than a hint. runs: what can be run as it
    is. parts: the layers that it says it has, None if names alone can tell. choose: the source for
    one layer, or its only one, where the source itself knows which tensors are whose: then `own` is
    that layer, and `note` what a certificate has to say of it.
    """

    where: str
    title: str
    tensors: Mapping[str, Tensor] = field(default_factory=dict)
    cell: str | None = None
    binding: str | None = None
    runs: Callable[..., object] | None = None
    parts: tuple[str, ...] | None = None
    choose: "Callable[[str | None], Opened] | None" = None
    own: str | None = None
    note: str = ""

    def of(self, layer: str | None) -> "Opened":
        """The source with the tensors of that layer, or of the only one; raises InputError."""
        return self if self.choose is None else self.choose(layer)

    @property
    def module(self) -> torch.nn.Module | None:
        """The torch module that runs, unless it is TorchScript, whose parts say nothing."""
        plain = isinstance(self.runs, torch.nn.Module)
        return self.runs if plain and not isinstance(self.runs, torch.jit.ScriptModule) else None  # type: ignore[return-value]
