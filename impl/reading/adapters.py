"""Reading a user's recurrent model: from torch modules, state dicts and weight files.

Weights are data: nothing that is read here can run code, and nothing is believed before its
dtype, shape, storage and values were looked at. The weights are taken exactly as stored.
"""

import os
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from impl.cells.stacks.stack import PREFIX
from impl.cells.table import STACK, kind_of
from impl.errors import NotFiniteError, shown
from impl.models.loaded import LoadedModel
from impl.reading.files import parse_safetensors, read_file, unpickle
from impl.reading.misfit import WeightsError
from impl.reading.recognition import Reading, recognise
from impl.reading.torch_modules import module_tensors, refuse_hooks

_OURS = "rnnbounds/"  # formats of files that were written with their cell

Source = str | os.PathLike[str] | torch.nn.Module | Mapping[str, Tensor]


def load_model(
    source: Source | LoadedModel[Any], cell: str | None = None, *, ignore: Collection[str] = ()
) -> LoadedModel[Any]:
    """Read the weights of a recurrent cell, one of those in `impl.cells.table`.

    `source` is a `torch.nn.RNN`, `LSTM` or `GRU` of any number of layers in one direction, or the
    module of one of their cells (or a module that holds exactly one of these), a state dict with
    the names of the cell (torch's `weight_ih_l0`, `weight_hh_l0`, … and, optionally, `bias_ih_l0`,
    `bias_hh_l0`; all of a single cell without `_l0`; one prefix such as "rnn." is allowed), a
    safetensors file or a file of `torch.save(state_dict)`, which is opened with
    `weights_only=True` alone. `cell` is one of `CELLS`, or that with "stacked-" before it; it may
    be left out where the module, the file or names and shapes say it: torch's names mean torch's
    cells, but a state dict of a vanilla RNN does not say its activation. Layers make a stack by
    themselves. Names are exact: a tensor under the cell's prefix that the cell does not read is an
    error, unless `ignore` has its full name; what the cell needs cannot be ignored.
    Raises an InputError of one line for everything that is not such a model.
    """
    if isinstance(source, LoadedModel):
        return _reread(source, _cell_name(cell, source.name), ignore)
    if isinstance(source, torch.nn.Module):
        held, stated = module_tensors(source)
        named = _cell_name(cell, stated, binding="the module")
        found = recognise(held, "the module", named, ignore)
        refuse_hooks(source)  # after weights that are stored in parts, which hooks put together
        return _model(found, type(source).__name__)
    if isinstance(source, Mapping):
        found = recognise(source, "the state dict", _cell_name(cell, None), ignore)
        return _model(found, "state dict")
    path, told, binding = Path(source), None, None
    data = read_file(path)
    tensors: Mapping[str, Tensor]
    if data[8:9] == b"{" or path.suffix == ".safetensors":
        tensors, metadata = parse_safetensors(data, path)
        told = metadata.get("cell")
        if metadata.get("format", "").startswith(_OURS):
            binding = "the file"
    else:
        tensors = unpickle(data, path)
    found = recognise(tensors, shown(path), _cell_name(cell, told, binding), ignore)
    return _model(found, str(path))


def _reread(model: LoadedModel[Any], name: str | None, ignore: Collection[str]) -> LoadedModel[Any]:
    """The same weights as another cell, or without some that are ignored."""
    if name == model.name and not ignore:
        return model
    end = kind_of(model.name).suffix
    kept = {role + end: tensor for role, tensor in model.weights.items()}
    found = recognise(kept, "the model", name, ignore)
    before = {role + end: full for role, full in model.tensors.items()}
    found = replace(
        found,
        tensors={role: before.get(full, full) for role, full in found.tensors.items()},
        ignored=(*model.ignored, *(before.get(full, full) for full in found.ignored)),
        unread=model.unread,
    )
    return _model(found, model.source)


def _cell_name(asked: str | None, stated: str | None, binding: str | None = None) -> str | None:
    """The cell that the caller asks for, else what the source states, else None.

    binding: what the source is called, if what it states is more than a hint.
    """
    if asked is None:
        return None if stated is None else _cell_name(stated, None)
    if asked == STACK:
        return STACK if stated is None else PREFIX + stated.removeprefix(PREFIX)
    name = "linear" if asked == "rnn-identity" else kind_of(asked).name
    if binding and stated is not None and _family(name) != _family(stated):
        raise WeightsError(f"{binding} is {shown(stated)}, not {name}; leave the cell out")
    return name


def _family(name: str) -> str:
    """The cell of a stack and of a projection."""
    return name.removeprefix(PREFIX).removesuffix("-projected")


def _model(found: Reading, source: str) -> LoadedModel[Any]:
    """The model of weights that fit their kind."""
    kind, weights = found.kind, found.weights
    if len({tensor.dtype for tensor in weights.values()}) > 1:
        raise WeightsError("the weights mix dtypes; convert them to one, say with .float()")
    for role, tensor in weights.items():
        if not bool(torch.isfinite(tensor).all()):
            raise NotFiniteError(role)
    stored = {role: tensor.detach().cpu().resolve_neg().clone() for role, tensor in weights.items()}
    cell = kind.build({role: tensor.double()[None] for role, tensor in stored.items()})
    dtype = str(next(iter(stored.values())).dtype).removeprefix("torch.")
    return LoadedModel(
        cell, kind.name, dtype, stored, source,
        tensors=found.tensors, ignored=found.ignored, unread=found.unread,
    )  # fmt: skip
