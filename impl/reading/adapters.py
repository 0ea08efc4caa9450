"""Reading a user's recurrent model: from torch modules, state dicts and files.

Weights are data: nothing that is read from a file can run code, and nothing is believed before its
dtype, shape, storage and values were looked at. The weights are taken exactly as stored.
"""

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Any, TypeVar

import torch

from rnnbounds.impl.cells.stacks.stack import PREFIX
from rnnbounds.impl.cells.table import STACK, kind_of
from rnnbounds.impl.errors import NotFiniteError, UnknownNameError, shown
from rnnbounds.impl.models.bidirectional import DIRECTIONS, Directions, LoadedBidirectional
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.impl.reading.opened import LayerInfo, Module, Opened
from rnnbounds.impl.reading.pytorch.heads import require_readout
from rnnbounds.impl.reading.readout import readout_of
from rnnbounds.impl.reading.recognition.bidirectional import ReadingBoth, recognise_both
from rnnbounds.impl.reading.recognition.misfit import WeightsError
from rnnbounds.impl.reading.recognition.recognise import Reading, recognise
from rnnbounds.impl.reading.sources import Source as Source
from rnnbounds.impl.reading.sources import open_source

M = TypeVar("M", bound=LoadedModel[Any] | LoadedBidirectional)


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
    linear layer after the cell, as "head", whose outputs ε is then about, or a chain of linear
    layers and activations, as "a,tanh,b".
    `direction`, "forward" or "reverse", reads that one of a layer in both directions. Names
    are exact: a tensor under the cell's prefix that the cell does not read is an error, unless
    `ignore` has its full name; what the cell needs cannot be ignored.
    Raises an InputError of one line for everything that is not such a model.
    """
    if isinstance(source, LoadedModel):
        if layer is not None or readout is not None:
            what = "a model that was read is one layer"
            raise WeightsError(f"{what}; name layer and readout where it is read")
        return _reread(source, _cell_name(cell, source.name), ignore)
    if direction is not None:
        return _one_direction(open_source(source), cell, ignore, layer, readout, direction)
    return read(open_source(source), cell, ignore, layer, readout)


def load_both(
    source: Source | LoadedModel[Any] | LoadedBidirectional,
    cell: str | None = None,
    *,
    ignore: Collection[str] = (),
    layer: str | None = None,
    readout: str | None = None,
    direction: str | None = None,
) -> LoadedModel[Any] | LoadedBidirectional:
    """Read a recurrent model in one direction or in both; arguments and errors as in `load_model`.

    A source whose weights have torch's names of both directions is a `LoadedBidirectional`, unless
    `direction` asks for one of them.
    """
    if isinstance(source, LoadedBidirectional):
        if (cell, layer, readout, direction) != (None,) * 4 or ignore:
            what = "a model in both directions that was read"
            raise WeightsError(f"{what} is as it is; name cell, layer and the like where it is")
        return source
    if isinstance(source, LoadedModel) or direction is not None:
        return load_model(
            source, cell, ignore=ignore, layer=layer, readout=readout, direction=direction
        )
    return read_any(open_source(source), cell, ignore, layer, readout)


def read_any(
    opened: Opened,
    cell: str | None,
    ignore: Collection[str],
    layer: str | None,
    readout: str | None = None,
) -> LoadedModel[Any] | LoadedBidirectional:
    """Read a recurrent model in one direction or in both from an opened source."""
    told = opened.told(layer)
    both = _read_both(opened, told, cell, ignore, layer, readout)
    return both or _read_cell(opened, told, cell, ignore, layer, readout)


def _read_both(
    opened: Opened,
    told: LayerInfo,
    cell: str | None,
    ignore: Collection[str],
    layer: str | None,
    readout: str | None = None,
) -> LoadedBidirectional | None:
    """Read a model in both directions from a layer of a source, None if it has one direction."""
    named, within = _meant(told, cell, layer)
    found = recognise_both(told.tensors, opened.where, named, ignore, within)
    if found is None:
        return None
    if isinstance(opened, Module):
        opened.refuse_hooks(layer)
    names = [full for layer in found.layers for one in layer for full in one.tensors.values()]
    return _with_readout(_both(found, _title(opened, told, names)), opened, told, readout)


def _both(found: ReadingBoth, title: str) -> LoadedBidirectional:
    """The model of layers that fit."""
    layers = tuple(Directions(*(_model(cell, title) for cell in both)) for both in found.layers)
    if len({cell.dtype for both in layers for cell in both}) > 1:
        raise WeightsError("the weights mix dtypes; convert them to one, say with .float()")
    return LoadedBidirectional(layers, title, found.ignored, found.unread)


def _one_direction(
    opened: Opened,
    cell: str | None,
    ignore: Collection[str],
    layer: str | None,
    readout: str | None,
    direction: str,
) -> LoadedModel[Any]:
    """The cell of one direction of a layer; raises WeightsError for a stack, whose second layer
    reads both, and InputError for other words."""
    if direction not in DIRECTIONS:
        raise UnknownNameError("direction", direction, DIRECTIONS)
    both = _read_both(opened, opened.told(layer), cell, ignore, layer)
    if both is None:
        what = f"{opened.where} has one direction only"
        raise WeightsError(f"{what}; leave out the direction")
    if len(both.layers) > 1:
        what = f"{opened.where} has {len(both.layers)} layers, of which the second reads both"
        raise WeightsError(f"{what} directions; leave out the direction")
    if readout is not None:
        what = "a readout reads both directions"
        raise WeightsError(f"{what}; leave out the readout or the direction")
    model: LoadedModel[Any] = getattr(both.layers[0], direction)
    other = set(both.tensors.values()) - set(model.tensors.values())
    return replace(model, ignored=both.ignored, unread=tuple(sorted({*both.unread, *other})))


def read(
    opened: Opened,
    cell: str | None,
    ignore: Collection[str],
    layer: str | None,
    readout: str | None = None,
) -> LoadedModel[Any]:
    """Read a recurrent cell from an opened source, as `load_model` does."""
    return _read_cell(opened, opened.told(layer), cell, ignore, layer, readout)


def _read_cell(
    opened: Opened,
    told: LayerInfo,
    cell: str | None,
    ignore: Collection[str],
    layer: str | None,
    readout: str | None,
) -> LoadedModel[Any]:
    """Read a recurrent cell from a layer of a source."""
    named, within = _meant(told, cell, layer)
    found = recognise(told.tensors, opened.where, named, ignore, layer=within)
    if isinstance(opened, Module):
        opened.refuse_hooks(
            layer
        )  # after weights that are stored in parts, which hooks put together
    model = _model(found, _title(opened, told, found.tensors.values()))
    return _with_readout(model, opened, told, readout)


def _meant(told: LayerInfo, cell: str | None, layer: str | None) -> tuple[str | None, str | None]:
    """The cell that is asked for or stated, and the layer by its name among the tensors."""
    within = None if layer is None else told.own or layer
    return _cell_name(cell, told.cell, told.binding), within


def _with_readout(model: M, opened: Opened, told: LayerInfo, readout: str | None) -> M:
    """The model with the readout that is asked about, if one is."""
    if readout is None:
        return model
    f = readout_of(told.tensors, opened.where, readout, model.n)
    if isinstance(opened, Module):
        require_readout(opened.module, f)
    names = {f.name, f.stored}
    unread = tuple(one for one in model.unread if one not in names)
    title = _title(opened, told, [*model.tensors.values(), *sorted(names)])
    return replace(model, readout=f, unread=unread, source=title)


def _title(opened: Opened, told: LayerInfo, names: Iterable[str]) -> str:
    """The title of a layer, or of its source, with what has to be said of the tensors that are
    read."""
    title = told.title or opened.title
    notes = dict.fromkeys(note for name in names for note in told.notes.get(name, ()))
    return f"{title} ({'; '.join(notes)})" if notes else title


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
    return replace(_model(found, model.source), readout=model.readout)


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
