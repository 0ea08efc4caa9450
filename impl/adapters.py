"""Reading a user's recurrent model: from torch modules, state dicts and weight files.

Weights are data: nothing that is read here can run code, and nothing is believed before its
dtype, shape, storage and values were looked at. The weights are taken exactly as stored.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from impl.cells import CELLS, STACK, kind_of
from impl.errors import NotFiniteError
from impl.files import parse_safetensors, read_file, shown, unpickle
from impl.kind import Kind
from impl.model import LoadedModel
from impl.recognition import UnsupportedModelError, WeightsError, recognise
from impl.stack import PREFIX

ROLES = ("weight_hh", "weight_ih", "weight_hr", "bias_ih", "bias_hh")
Source = str | os.PathLike[str] | torch.nn.Module | Mapping[str, Tensor]


def load_model(source: Source | LoadedModel[Any], cell: str | None = None) -> LoadedModel[Any]:
    """Read the weights of a recurrent cell, one of those in `impl.cells`.

    `source` is a `torch.nn.RNN`, `LSTM` or `GRU` of any number of layers in one direction, or the
    module of one of their cells (or a module that holds exactly one of these), a state dict with
    the names of the cell (torch's `weight_ih_l0`, `weight_hh_l0`, … and, optionally, `bias_ih_l0`,
    `bias_hh_l0`; a single cell's without `_l0`; one prefix such as "rnn." is allowed), a
    safetensors file or a file of `torch.save(state_dict)`, which is opened with
    `weights_only=True` alone. `cell` is one of `CELLS`, or that with "stacked-" before it; by
    default what the module or the file says, else what names and shapes say: "rnn-tanh", "lstm" or
    "gru" of torch's. Layers of them make a stack by themselves.
    Raises an InputError of one line for everything that is not such a model.
    """
    if isinstance(source, LoadedModel):
        named, suffix = _cell_name(cell, source.name), kind_of(source.name).suffix
        if named == source.name:
            return source
        kept = {name + suffix: tensor for name, tensor in source.weights.items()}
        return _model(*recognise(kept, "the model", named), source.source)
    if isinstance(source, torch.nn.Module):
        held, stated = _from_module(source)
        named = _cell_name(cell, stated, binding=True)
        return _model(*recognise(held, "the module", named), type(source).__name__)
    if isinstance(source, Mapping):
        return _model(*recognise(source, "the state dict", _cell_name(cell, None)), "state dict")
    path, told = Path(source), None
    data = read_file(path)
    tensors: Mapping[str, Tensor]
    if data[8:9] == b"{" or path.suffix == ".safetensors":
        tensors, metadata = parse_safetensors(data, path)
        told = metadata.get("cell")
    else:
        tensors = unpickle(data, path)
    return _model(*recognise(tensors, shown(path), _cell_name(cell, told)), str(path))


def _cell_name(asked: str | None, stated: str | None, *, binding: bool = False) -> str | None:
    """The cell that the caller asks for, else what the source states, else None."""
    if asked is None:
        return None if stated is None else _cell_name(stated, None)
    if asked == STACK:
        return STACK if stated is None else PREFIX + stated.removeprefix(PREFIX)
    name = "linear" if asked == "rnn-identity" else kind_of(asked).name
    if binding and name.removeprefix(PREFIX) != stated:
        raise WeightsError(f"the module is {stated}, not {name}; leave the cell out")
    return name


def _from_module(module: torch.nn.Module) -> tuple[dict[str, Tensor], str]:
    kinds = (torch.nn.RNNBase, torch.nn.RNNCellBase)
    found = [part for part in module.modules() if isinstance(part, kinds)]
    if len(found) != 1:
        raise WeightsError(
            f"{type(module).__name__} holds {len(found)} recurrent modules; pass one torch.nn.RNN"
        )
    part, ends = found[0], [""]
    if isinstance(part, torch.nn.RNNBase):
        if part.bidirectional:
            what = {"LSTM": "an LSTM", "GRU": "a GRU"}.get(part.mode, "an RNN")
            raise UnsupportedModelError(f"{what} that is bidirectional")
        ends = [f"_l{l}" for l in range(part.num_layers)]
    stated = [kind.name for kind in CELLS.values() if kind.mode == _mode(part)]
    if not stated:
        raise UnsupportedModelError(f"torch.nn.{type(part).__name__}")
    names = [role + end for end in ends for role in ROLES]
    held = {name: getattr(part, name, None) for name in names}
    return {name: tensor for name, tensor in held.items() if tensor is not None}, stated[0]


def _mode(part: torch.nn.Module) -> str:
    """Torch's word for what a module computes: RNN_TANH, RNN_RELU, LSTM or GRU."""
    if isinstance(part, torch.nn.RNNCell):
        return f"RNN_{part.nonlinearity.upper()}"
    cells = {torch.nn.LSTMCell: "LSTM", torch.nn.GRUCell: "GRU"}
    found = (mode for cell, mode in cells.items() if isinstance(part, cell))
    return next(found, str(getattr(part, "mode", "")))


def _model(kind: Kind, weights: Mapping[str, Tensor], source: str) -> LoadedModel[Any]:
    """The model of weights that fit their kind."""
    if len({tensor.dtype for tensor in weights.values()}) > 1:
        raise WeightsError("the weights mix dtypes; convert them to one, say with .float()")
    for role, tensor in weights.items():
        if not bool(torch.isfinite(tensor).all()):
            raise NotFiniteError(role)
    stored = {role: tensor.detach().cpu().clone() for role, tensor in weights.items()}
    cell = kind.build({role: tensor.double()[None] for role, tensor in stored.items()})
    dtype = next(iter(stored.values())).dtype
    return LoadedModel(cell, kind.name, str(dtype).removeprefix("torch."), stored, source)
