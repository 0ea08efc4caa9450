"""Reading a user's recurrent model: from torch modules, state dicts and files.

Weights are data: nothing that is read from a file can run code, and nothing is believed before its
dtype, shape, storage and values were looked at. The weights are taken exactly as stored.
"""

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import torch

from rnnbounds.impl.cells.stacks.stack import PREFIX
from rnnbounds.impl.cells.table import STACK, kind_of
from rnnbounds.impl.errors import InputError, NotFiniteError, shown
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.impl.reading.opened import LayerInfo, Module, Opened
from rnnbounds.impl.reading.pytorch.heads import require_readout
from rnnbounds.impl.reading.pytorch.loops import require_iterated
from rnnbounds.impl.reading.pytorch.modules import LOOP
from rnnbounds.impl.reading.readout import readout_of
from rnnbounds.impl.reading.recognition.directions import DIRECTIONS, recognise_direction
from rnnbounds.impl.reading.recognition.misfit import DirectionsError
from rnnbounds.impl.reading.recognition.recognise import ROOT, Reading, recognise
from rnnbounds.impl.reading.sources import Source as Source
from rnnbounds.impl.reading.sources import open_source


def load_model(
    source: Source | LoadedModel[Any],
    cell: str | None = None,
    *,
    ignore: Collection[str] = (),
    layer: str | None = None,
    readout: str | None = None,
    direction: str | None = None,
) -> LoadedModel[Any]:
    """Read the weights of a recurrent cell, one of those in `impl.cells.table`.

    `source` is a `torch.nn.RNN`, `LSTM` or `GRU` of any number of layers in one direction, or the
    module of one of their cells (or a module that holds exactly one of these), a state dict with
    the names of the cell (torch's `weight_ih_l0`, `weight_hh_l0`, … and, optionally, `bias_ih_l0`,
    `bias_hh_l0`; all of a single cell without `_l0`; one prefix such as "rnn." is allowed), a
    safetensors file, a file of `torch.save` or `torch.jit.save`, of which no code is run, an ONNX
    model, or `package.module:factory`, whose code is run. `cell` is one of `CELLS`, or that with
    "stacked-" before it; it may be left out where the module, the file or names and shapes say it:
    torch's names mean torch's cells, but a state dict of a vanilla RNN does not say its activation.
    Layers make a stack by themselves. `layer` is the part of a bigger model that is meant, as
    "encoder.rnn", or "." for what has no prefix; `impl.reading.layers` lists them. `readout` is the
    linear layer after the cell, as "head", whose outputs ε is then about.
    `direction`, "forward" or "backward", is the cell that is meant of a layer in both directions;
    what is loaded of the backward one reads its inputs in the order in which it runs. Names
    are exact: a tensor under the cell's prefix that the cell does not read is an error, unless
    `ignore` has its full name; what the cell needs cannot be ignored.
    Raises an InputError of one line for everything that is not such a model.
    """
    if isinstance(source, LoadedModel):
        if (layer, readout, direction) != (None, None, None):
            what = "a model that was read is one layer"
            raise InputError(f"{what}; name layer, readout and direction where it is read")
        return _reread(source, _cell_name(cell, source.name), ignore)
    opened = open_source(source)
    told = opened.told(layer)
    named = _cell_name(cell, told.cell, told.binding)
    within = None if layer is None else told.own or layer
    if direction is None:
        found = recognise(told.tensors, opened.where, named, ignore, layer=within)
    elif readout is not None:
        what = "a readout reads both directions"
        raise InputError(f"{what}; leave out the readout, or measure the whole with --as-is")
    else:
        found = recognise_direction(told.tensors, opened.where, named, ignore, within, direction)
    if isinstance(opened, Module):
        opened.refuse_hooks(layer)
    title = f"{opened.title} ({told.note})" if told.note else opened.title
    if direction is not None:
        cell_of_both = _model(found, f"{title} ({direction})")
        return replace(cell_of_both, backward=direction == "backward")
    model = _model(found, title)
    if isinstance(opened, Module) and told.note == LOOP and layer is None:
        require_iterated(opened.module, told.own or ROOT, model)
    return _with_readout(model, opened, told, readout)


def load_cells(
    source: Source | LoadedModel[Any],
    cell: str | None = None,
    *,
    ignore: Collection[str] = (),
    layer: str | None = None,
    readout: str | None = None,
) -> dict[str | None, LoadedModel[Any]]:
    """The cell of a model by None, or both of a layer in both directions by direction.

    Arguments and errors as in `load_model`.
    """
    opened = source if isinstance(source, LoadedModel) else open_source(source)
    told: dict[str, Any] = {"ignore": ignore, "layer": layer, "readout": readout}
    try:
        return {None: load_model(opened, cell, **told)}
    except DirectionsError:
        return {one: load_model(opened, cell, **told, direction=one) for one in DIRECTIONS}


def _with_readout(
    model: LoadedModel[Any], opened: Opened, told: LayerInfo, readout: str | None
) -> LoadedModel[Any]:
    """The model with the readout that is asked about, if one is."""
    if readout is None:
        return model
    f = readout_of(told.tensors, opened.where, readout, model.n)
    if isinstance(opened, Module):
        require_readout(opened.module, f)
    names = {f.name, f.stored}
    unread = tuple(one for one in model.unread if one not in names)
    return replace(model, readout=f, unread=unread)


def _reread(model: LoadedModel[Any], name: str | None, ignore: Collection[str]) -> LoadedModel[Any]:
    """Reinterpret the weights as another cell, or without some that are ignored."""
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
    return replace(_model(found, model.source), readout=model.readout, backward=model.backward)


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
        raise InputError(f"{binding} is {shown(stated)}, not {name}; leave the cell out")
    return name


def _family(name: str) -> str:
    """The cell of a stack and of a projection."""
    return name.removeprefix(PREFIX).removesuffix("-projected")


def _model(found: Reading, source: str) -> LoadedModel[Any]:
    """The model of weights that fit their kind."""
    kind, weights = found.kind, found.weights
    if len({tensor.dtype for tensor in weights.values()}) > 1:
        raise InputError("the weights mix dtypes; convert them to one, say with .float()")
    stored = {role: tensor.detach().cpu().resolve_neg().clone() for role, tensor in weights.items()}
    for role, tensor in stored.items():
        if not bool(torch.isfinite(tensor).all()):
            raise NotFiniteError(role)
    cell = kind.cell_of(stored)
    dtype = str(next(iter(stored.values())).dtype).removeprefix("torch.")
    return LoadedModel(
        cell, kind.name, dtype, stored, source,
        tensors=found.tensors, ignored=found.ignored, unread=found.unread,
    )  # fmt: skip
