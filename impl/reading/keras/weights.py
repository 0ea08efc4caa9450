"""Files of weights without a configuration: the layers that their groups and names tell.

A recurrent layer has a recurrent kernel (n, g n), whose gates are counted: g = 1, 3 or 4. Keras 3
keeps it in a group cell/vars, Keras 2 lists its name. Activations are not stored; neither is what
feeds what.
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
    listed = file.texts("", "layer_names")
    if listed is not None:
        return ModelConfig((tuple(_older(file, listed)),))
    found = tuple(_layers(file, "", (), [_MOST]))
    if not found and not file.has("layers"):
        raise InputError("the HDF5 file is not one of Keras; save weights by torch's names")
    return ModelConfig((found,))


def _older(file: Hdf5, listed: list[str]) -> Iterator[LayerConfig]:
    """The layers of Keras 2, which lists the names of their weights."""
    for layer in listed:
        names = [name.split("/") for name in file.texts(layer, "weight_names") or ()]
        roles = {parts[-1].removesuffix(":0") for parts in names}
        cells = [parts for parts in names if parts[-1].startswith("recurrent_kernel")]
        kinds = [_kind(file, "/".join((layer, *parts))) for parts in cells]
        settings: dict[str, Any] = {}
        if len(kinds) > 1 and any(part.startswith("forward_") for part in cells[0]):
            kind, inner = "Bidirectional", {"class_name": kinds[0], "config": {}}
            settings = {"layer": inner}
        elif len(kinds) > 1 and all("stacked_rnn_cells" in parts for parts in cells):
            kind, settings = "RNN", _stacked(kinds, [parts[-2] for parts in cells])
        elif len(kinds) > 1:
            what = f"{shown(layer)} holds several recurrent layers without their configuration"
            raise InputError(f"{what}; {_WHOLE}")
        elif kinds:
            kind = kinds[0]
        elif roles == {"embeddings"}:
            kind = "Embedding"
        elif "kernel" in roles <= {"kernel", "bias"} and len(names) == len(roles):
            kernel = next(parts for parts in names if parts[-1].startswith("kernel"))
            kind = "Dense" if file.tensor("/".join((layer, *kernel))).ndim == 2 else "Conv"
        else:
            continue
        yield LayerConfig((layer,), "", kind, settings, (), 0)


def _stacked(kinds: list[str], names: list[str]) -> dict[str, Any]:
    """The configuration of an RNN around several cells."""
    cells = [
        {"class_name": f"{kind}Cell", "config": {"name": name}}
        for kind, name in zip(kinds, names, strict=True)
    ]
    return {"cell": {"class_name": "StackedRNNCells", "config": {"cells": cells}}}


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
            return _kind(file, f"{path}/cell/vars/1"), {}
        ordered = sorted(file.names(cells), key=_number)
        kinds = [_kind(file, f"{cells}/{one}/vars/1") for one in ordered]
        return "RNN", _stacked(kinds, ordered)
    table = _TABLES.get(re.sub(r"_\d+$", "", path.rpartition("/")[2]))
    return (table, {}) if table and "vars" in held else None


def _number(name: str) -> int:
    """The number that Keras appends to the name of a class: gru_cell -> 0, gru_cell_2 -> 2."""
    return int(name.rpartition("_")[2]) if re.search(r"_\d+$", name) else 0


def _kind(file: Hdf5, path: str) -> str:
    """The class of a cell, by how many gates its recurrent kernel has."""
    shape = tuple(file.tensor(path).shape)
    columns = {len(gates): kind for kind, gates in GATES.items()}
    gates, rest = divmod(shape[1], shape[0]) if len(shape) == 2 and shape[0] else (0, 0)
    if rest or gates not in columns:
        what = f"the HDF5 object {shown(path)} of shape {shape} is no recurrent kernel of Keras"
        raise InputError(f"{what}; {_WHOLE}")
    return columns[gates]
