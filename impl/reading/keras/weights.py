"""Files of weights of Keras 3 without a configuration: the layers that the tree of groups tells.

A group with cell/vars is a recurrent layer, whose gates are counted: its recurrent kernel is
(n, g n) with g = 1, 3 or 4. Activations are not stored; neither is what feeds what.
"""

import re
from collections.abc import Iterator
from typing import Any

from rnnbounds.impl.errors import InputError, shown
from rnnbounds.impl.reading.keras.cells import GATES
from rnnbounds.impl.reading.keras.config import LayerConfig, ModelConfig
from rnnbounds.impl.reading.keras.hdf5 import Hdf5

_DEEPEST = 24  # groups in one another: a file may link a group into itself
_MOST = 2**12  # groups
_TABLES = {"dense": "Dense", "embedding": "Embedding"}
_WHOLE = "save the whole model, as model.save('m.keras')"


def configuration_of(file: Hdf5) -> ModelConfig:
    """The layers of a file of weights, each by itself; raises InputError for another file."""
    if file.has("layer_names") or file.texts("", "layer_names") is not None:
        raise InputError(f"the file holds weights of Keras 2 without their configuration; {_WHOLE}")
    found = tuple(_layers(file, "", (), [_MOST]))
    if not found and not file.has("layers"):
        raise InputError("the HDF5 file is not one of Keras; save weights by torch's names")
    return ModelConfig((found,))


def _layers(
    file: Hdf5, path: str, names: tuple[str, ...], left: list[int]
) -> Iterator[LayerConfig]:
    """The layers in a group and below it; `left`: how many groups may still be opened."""
    left[0] -= 1
    if left[0] < 0 or path.count("/") > _DEEPEST:
        raise InputError(f"the groups of the file nest too deep or are too many; {_WHOLE}")
    held = file.names(path)
    found = _settings(file, path, held)
    if found is not None:
        kind, settings = found
        yield LayerConfig(names, path, kind, settings, (), 0)
        return
    for name in held:
        if name not in ("vars", "cell", "optimizer", "seed_generator"):
            below = f"{path}/{name}" if path else name
            yield from _layers(file, below, _named(file, below, names), left)


def _named(file: Hdf5, path: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """The names of a group: its user's if it is a layer of a list, else that of the attribute."""
    parent, _, own = path.rpartition("/")
    if own == "layers":
        return names
    if parent.rpartition("/")[2] == "layers" and file.has(f"{path}/vars"):
        own = (file.texts(f"{path}/vars", "name") or [own])[0]
    return (*names, own)


def _settings(file: Hdf5, path: str, held: list[str]) -> tuple[str, dict[str, Any]] | None:
    """The class of a layer and what its weights tell of its configuration; None for no layer."""
    if "forward_layer" in held:
        kind = _settings(file, f"{path}/forward_layer", file.names(f"{path}/forward_layer"))
        return kind and ("Bidirectional", {"layer": {"class_name": kind[0], "config": kind[1]}})
    if "cell" in held:
        cells = f"{path}/cell/cells"
        if not file.has(cells):
            return _kind(file, f"{path}/cell"), {}
        ordered = sorted(
            file.names(cells), key=lambda one: int((re.findall(r"\d+$", one) or [0])[0])
        )
        held_cells = [
            {"class_name": f"{_kind(file, f'{cells}/{one}')}Cell", "config": {"name": one}}
            for one in ordered
        ]
        stacked = {"class_name": "StackedRNNCells", "config": {"cells": held_cells}}
        return "RNN", {"cell": stacked}
    table = _TABLES.get(re.sub(r"_\d+$", "", path.rpartition("/")[2]))
    return (table, {}) if table and "vars" in held else None


def _kind(file: Hdf5, path: str) -> str:
    """The class of a cell, by how many gates its recurrent kernel has."""
    shape = file.tensor(f"{path}/vars/1").shape
    columns = {len(gates): kind for kind, gates in GATES.items()}
    gates, rest = divmod(shape[1], shape[0]) if len(shape) == 2 and shape[0] else (0, 0)
    if rest or gates not in columns:
        what = (
            f"the HDF5 object {shown(path)} is no cell of Keras: a kernel of shape {tuple(shape)}"
        )
        raise InputError(f"{what}; {_WHOLE}")
    return columns[gates]
