"""Places of the weights of a layer in a Keras file: by paths in Keras 3, by names in an .h5.

A `.keras` and a `.weights.h5` keep the variables of a layer by their numbers, in groups that follow
its attributes: layers/lstm/cell/vars/{0, 1, 2}. A whole model's .h5 keeps those of a layer of the
outermost model in one group and lists their names, as enc/lstm_cell/kernel, which in Keras 2 end in
":0".
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from torch import Tensor

from rnnbounds.impl.reading.keras.config import KerasError, LayerConfig
from rnnbounds.impl.reading.keras.hdf5 import Hdf5

_MOST = 2**10  # groups in a layer
_AGAIN = "save the whole model again with Keras"


@dataclass(frozen=True)
class Place:
    """A cell or an inner layer of a layer: its path below it, and what its names have in an .h5, as
    a whole part, or as the start of one if it ends in "_"; no marks are in all names."""

    path: str
    marks: tuple[str, ...] = ()

    def has(self, names: Sequence[str]) -> bool:
        """True if one of the parts of a name has a mark."""
        return not self.marks or any(
            name == mark or (mark.endswith("_") and name.startswith(mark))
            for name in names
            for mark in self.marks
        )


class Stored(Protocol):
    """The weights in a file; version: of the Keras that wrote it, "" if it does not say."""

    @property
    def version(self) -> str:
        """The version of Keras."""

    def weights(self, layer: LayerConfig, place: Place, roles: Sequence[str]) -> dict[str, Tensor]:
        """The tensors of these roles, or the first of them; raises KerasError for others."""

    def is_recurrent(self, layer: LayerConfig) -> bool:
        """True if a layer keeps weights as a recurrent one does."""


@dataclass(frozen=True, eq=False)
class StoredByPath:
    """A tree of Keras 3 (and of the .keras files of Keras 2.15); named: layers have their names."""

    file: Hdf5
    named: bool = True
    version: str = ""

    def weights(self, layer: LayerConfig, place: Place, roles: Sequence[str]) -> dict[str, Tensor]:
        """Read vars/0, vars/1, … in the order of the roles."""
        self._check_name(layer)
        group = "/".join(filter(None, (layer.path, place.path, "vars")))
        names = self.file.names(group) if self.file.has(group) else []
        if sorted(names) != [str(i) for i in range(len(names))] or len(names) > len(roles):
            what = f"keeps {', '.join(names)}, not {', '.join(roles)}"
            raise KerasError(layer.name, what, _AGAIN)
        return {
            role: self.file.tensor(f"{group}/{i}") for i, role in enumerate(roles[: len(names)])
        }

    def is_recurrent(self, layer: LayerConfig) -> bool:
        """True if a cell is stored in the layer or below it, or if that is not soon known."""
        groups, seen = [layer.path] if self.file.has(layer.path) else [], 0
        while groups and seen < _MOST:
            group, seen = groups.pop(), seen + 1
            groups += [f"{group}/{name}" for name in self.file.names(group)]
            if any(one.endswith("/cell") for one in groups):
                return True
        return bool(groups)

    def _check_name(self, layer: LayerConfig) -> None:
        """Raise KerasError if the file calls the layer otherwise, as far as it has names."""
        group = f"{layer.path}/vars"
        if not self.file.has(group):
            raise KerasError(layer.name, f"has no weights in {layer.path}", _AGAIN)
        named = self.file.texts(group, "name")
        if self.named and named and named != [layer.names[-1]]:
            raise KerasError(layer.name, f"has the weights of {named[0]} in its place", _AGAIN)


@dataclass(frozen=True, eq=False)
class StoredByName:
    """The group `model_weights` of a whole model."""

    file: Hdf5
    root: str
    version: str = ""

    def weights(self, layer: LayerConfig, place: Place, roles: Sequence[str]) -> dict[str, Tensor]:
        """Read those whose names end in a role, of which each layer has one."""
        found: dict[str, Tensor] = {}
        for name in self._names(layer):
            parts = name.split("/")
            if place.has(parts):
                role = parts[-1].removesuffix(":0")
                if role not in roles or role in found:
                    raise KerasError(layer.name, f"keeps {name} beside its weights", _AGAIN)
                found[role] = self.file.tensor(f"{self.root}/{layer.names[0]}/{name}")
        return found

    def is_recurrent(self, layer: LayerConfig) -> bool:
        """True if a recurrent kernel is stored."""
        return any("recurrent_kernel" in name for name in self._names(layer))

    def _names(self, layer: LayerConfig) -> list[str]:
        """The names of the weights of a layer, in its group those with its own name if that is the
        group of a model that holds it."""
        group = f"{self.root}/{layer.names[0]}"
        names = self.file.texts(group, "weight_names") if self.file.has(group) else None
        if names is None:
            raise KerasError(layer.name, f"has no weights in {group}", _AGAIN)
        inner = layer.names[1:]
        return [name for name in names if set(inner[-1:]) <= set(name.split("/")[:-1])]
