"""Reading a user's recurrent model: from torch modules, state dicts and files.

Weights are data: nothing that is read from a file can run code, and nothing is believed before its
dtype, shape, storage and values were looked at. The weights are taken exactly as stored.

The recurrent layers that a model has, each with the cell that it is or why it is not read.

Cells of torch's in a loop of a module's own: is the module that cell, iterated by itself?

A loop may do anything between two steps, h = 0.99 h + 0.01 cell(x, h) for one. So the module itself
is answered only where its forward pass of drawn inputs is what the cell gives from the zero state.
"""

import sys
from collections.abc import Collection, Iterator
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from rnnbounds.impl.cells.runs import Runner
from rnnbounds.impl.cells.stacks.stack import PREFIX
from rnnbounds.impl.cells.table import STACK, kind_of
from rnnbounds.impl.errors import InputError, NotFiniteError, shown
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.impl.models.surroundings import spread_work, untouched
from rnnbounds.impl.reading.opened import Opened
from rnnbounds.impl.reading.pytorch.modules import LOOP, refuse_hooks
from rnnbounds.impl.reading.readout import readout_of, require_readout
from rnnbounds.impl.reading.recognition.fit import Fit
from rnnbounds.impl.reading.recognition.misfit import DirectionsError
from rnnbounds.impl.reading.recognition.recognise import (
    DIRECTIONS,
    ROOT,
    recognise,
    recurrent_prefixes,
)
from rnnbounds.impl.reading.sources import Source as Source
from rnnbounds.impl.reading.sources import open_source

_N, _T = 3, 7  # drawn sequences, inputs of each
_RELATIVE = 1e-3  # far above what rounds differently, in all but half precision


def require_iterated(module: torch.nn.Module, path: str, model: LoadedModel[Any]) -> None:
    """Raise InputError unless the forward pass of a module on drawn inputs, (N, T, d) or
    (T, N, d), gives the outputs of its cell at all times, or after the last input."""
    stored = next(iter(model.weights.values()))
    by = torch.Generator().manual_seed(0)
    x = torch.randn(_N, _T, model.d, generator=by, dtype=torch.float64).to(stored.dtype)
    runner = Runner.of(model)
    s, h = runner.zero(_N), []
    with torch.no_grad(), untouched(module):
        for t in range(_T):
            s = runner.step(s, x[None, :, t].double())
            h.append(s[0, :, -model.n :])
        wanted = torch.stack(h, dim=1)  # (N, T, n)
        if any(_alike(out, wanted) for out in _outputs(module, x)):
            return
    where = shown(path)
    raise InputError(
        f"{type(module).__name__} runs its cell ({where}) in a loop of its own, which drawn inputs "
        f"do not show to be that cell iterated by itself; say --layer {where} for the cell alone, "
        f"or measure the module with --as-is"
    )


def _outputs(module: torch.nn.Module, x: Tensor) -> Iterator[Tensor]:
    """The outputs of the module on x (N, T, d), sequences first, where it takes it at all."""
    for swapped in (False, True):
        with suppress(Exception, SystemExit), redirect_stdout(sys.stderr):
            found = module(x.transpose(0, 1) if swapped else x)
            found = found[0] if isinstance(found, tuple | list) else found
            if isinstance(found, Tensor):
                yield found.transpose(0, 1) if swapped and found.dim() == 3 else found


def _alike(found: Tensor, wanted: Tensor) -> bool:
    """True if outputs are those of the cell: of all times, or of the last."""
    asked = {wanted.shape: wanted, wanted[:, -1].shape: wanted[:, -1]}.get(found.shape)
    if asked is None:
        return False
    return torch.allclose(found.double(), asked, rtol=_RELATIVE, atol=_RELATIVE)


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
    "encoder.rnn", or "." for what has no prefix; `layers` lists them. `readout` is the linear layer
    after the cell, as "head", whose outputs ε is then about.
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
    told = opened.of(layer)
    named = _cell_name(cell, told.cell, told.binding)
    if direction is not None and readout is not None:
        what = "a readout reads both directions"
        raise InputError(f"{what}; leave out the readout, or measure the whole with --as-is")
    within = None if layer is None else told.own or layer
    found = recognise(
        told.tensors, told.where, named, ignore, layer=within, direction=direction
    )  # fmt: skip
    if told.module is not None:
        refuse_hooks(told.module, told.own or ROOT)
    notes = "".join(f" ({note})" for note in (told.note, direction) if note)
    model = replace(_model(found, told.title + notes), backward=direction == "backward")
    if told.module is not None and told.note == LOOP and layer is None and direction is None:
        require_iterated(told.module, told.own or ROOT, model)
    return model if readout is None else _with_readout(model, told, readout)


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


def _with_readout(model: LoadedModel[Any], opened: Opened, readout: str) -> LoadedModel[Any]:
    """The model with the readout that is asked about."""
    f = readout_of(opened.tensors, opened.where, readout, model.n)
    if opened.module is not None:
        require_readout(opened.module, f)
    names = {f.name, f.stored}
    unread = tuple(one for one in model.unread if one not in names)
    return replace(model, readout=f, unread=unread)


def _reread(model: LoadedModel[Any], name: str | None, ignore: Collection[str]) -> LoadedModel[Any]:
    """Reinterpret the weights as another cell, or without some that are ignored."""
    if name == model.name and not ignore:
        spread_work(model.weights.values())
        return model
    end = kind_of(model.name).suffix
    kept = {role + end: tensor for role, tensor in model.weights.items()}
    found = recognise(kept, "the model", name, ignore)
    before = {role + end: full for role, full in model.tensors.items()}
    return replace(
        _model(found, model.source),
        tensors={role: before.get(full, full) for role, full in found.tensors.items()},
        ignored=(*model.ignored, *(before.get(full, full) for full in found.ignored)),
        unread=model.unread, readout=model.readout, backward=model.backward,
    )  # fmt: skip


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


def _model(found: Fit, source: str) -> LoadedModel[Any]:
    """The model of weights that fit their kind."""
    kind, weights = found.kind, found.weights
    if len({tensor.dtype for tensor in weights.values()}) > 1:
        raise InputError("the weights mix dtypes; convert them to one, say with .float()")
    stored = {role: tensor.detach().cpu().resolve_neg().clone() for role, tensor in weights.items()}
    for role, tensor in stored.items():
        if not bool(torch.isfinite(tensor).all()):
            raise NotFiniteError(role)
    spread_work(stored.values())
    cell = kind.cell_of(stored)
    dtype = str(next(iter(stored.values())).dtype).removeprefix("torch.")
    return LoadedModel(
        cell, kind.name, dtype, stored, source,
        tensors=found.tensors, ignored=found.ignored, unread=found.elsewhere,
    )  # fmt: skip


@dataclass(frozen=True)
class Layer:
    """One recurrent layer, or a stack of such, by its prefix; "." has none.

    cell: its kind, None if it is not read as it stands, for that `reason`. n, d, states: the sizes
    of its output, of its input and of its state. direction: which of a layer in both directions,
    that has two. source: what certificates call it, where only a part of the layer is read.
    """

    name: str
    cell: str | None = None
    n: int | None = None
    d: int | None = None
    states: int | None = None
    dtype: str | None = None
    source: str | None = None
    reason: str | None = None
    direction: str | None = None


def layers(source: Source, cell: str | None = None) -> tuple[Layer, ...]:
    """All layers of a source as `load_model` takes it, read with `cell` where one is named.

    Raises an InputError for what is no model at all.

    >>> [layer.name for layer in layers("checkpoint.pt")]
    """
    opened = open_source(source)
    named = opened.parts
    if not named:  # raises for none, and says what there is instead
        names = [str(key) for key in opened.of(None).tensors]
        named = tuple(prefix[:-1] or ROOT for prefix in recurrent_prefixes(names))
    return tuple(layer for name in named for layer in _layers(opened, name, cell))


def _layers(opened: Opened, name: str, cell: str | None) -> list[Layer]:
    """The layer, or its two cells if it reads its inputs in both directions."""
    try:
        models = load_cells(opened, cell, layer=name)
    except InputError as error:
        return [Layer(name, reason=str(error))]
    found = []
    for direction, model in models.items():
        states = kind_of(model.name).layout(model.weights).sizes(model.weights).state
        title = model.source.removesuffix(f" ({direction})")
        source = None if title == opened.title else title
        sizes = model.n, model.d, states
        found.append(Layer(name, model.name, *sizes, model.dtype, source, direction=direction))
    return found
