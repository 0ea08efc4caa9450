"""Reading a user's recurrent model: from torch modules, state dicts and weight files.

Weights are data: nothing that is read here can run code, and nothing is believed before its
dtype, shape, storage and values were looked at. The weights are taken exactly as stored.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from impl.cells import CELLS, kind_of
from impl.errors import InputError, NotFiniteError, ShapeError
from impl.files import parse_safetensors, read_file, shown, unpickle
from impl.kind import Kind
from impl.model import LoadedModel

Source = str | os.PathLike[str] | torch.nn.Module | Mapping[str, Tensor]

ROLES = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
_DTYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
_KEY = re.compile(r"(?P<prefix>(?:.+\.)?)(?P<role>(?:weight|bias)_[hi][hir])(?P<layer>_l\d+\w*)?")
_READS = "this version reads linear, vanilla RNN, LSTM and GRU cells"


class UnsupportedModelError(InputError):
    """A recurrent model of a kind that is not read."""

    def __init__(self, found: str) -> None:
        super().__init__(f"{found} is not supported: {_READS} of one layer and one direction")


class WeightsError(InputError):
    """Tensors that are not the weights of one recurrent cell."""


def load_model(source: Source | LoadedModel[Any], cell: str | None = None) -> LoadedModel[Any]:
    """Read the weights of a recurrent cell, one of those in `impl.cells`.

    `source` is a `torch.nn.RNN`, `LSTM` or `GRU`, or the module of one of their cells (or a module
    that holds exactly one of these), a state dict with torch's names (`weight_ih_l0`,
    `weight_hh_l0` and, optionally, `bias_ih_l0`, `bias_hh_l0`; a single cell's without `_l0`; one
    prefix such as "rnn." is allowed), a safetensors file or a file of `torch.save(state_dict)`,
    which is opened with `weights_only=True` alone. `cell` is one of `CELLS`; by default what the
    module or the file says, else what the shape of `weight_hh` says: "rnn-tanh", "lstm" or "gru",
    all of them torch's.
    Raises an InputError of one line for everything that is not such a model.
    """
    if isinstance(source, LoadedModel):
        named = _cell_name(cell, source.name)
        return source if named == source.name else _model(source.weights, named, source.source)
    if isinstance(source, torch.nn.Module):
        weights, stated = _from_module(source)
        return _model(weights, _cell_name(cell, stated, binding=True), type(source).__name__)
    if isinstance(source, Mapping):
        weights = _pick(source, "the state dict")
        return _model(weights, _cell_name(cell, None), "state dict")
    path, told = Path(source), None
    data = read_file(path)
    tensors: Mapping[str, Tensor]
    if data[8:9] == b"{" or path.suffix == ".safetensors":
        tensors, metadata = parse_safetensors(data, path)
        told = metadata.get("cell")
    else:
        tensors = unpickle(data, path)
    weights = _pick(tensors, shown(path))
    return _model(weights, _cell_name(cell, told), str(path))


def _cell_name(asked: str | None, stated: str | None, *, binding: bool = False) -> str | None:
    """The cell that the caller asks for, else what the source states, else None."""
    if asked is None:
        return None if stated is None else _cell_name(stated, None)
    name = "linear" if asked == "rnn-identity" else kind_of(asked).name
    if binding and name != stated:
        raise WeightsError(f"the module is {stated}, not {name}; leave the cell out")
    return name


def _from_module(module: torch.nn.Module) -> tuple[dict[str, Tensor], str]:
    kinds = (torch.nn.RNNBase, torch.nn.RNNCellBase)
    found = [part for part in module.modules() if isinstance(part, kinds)]
    if len(found) != 1:
        raise WeightsError(
            f"{type(module).__name__} holds {len(found)} recurrent modules; pass one torch.nn.RNN"
        )
    part, suffix = found[0], ""
    if isinstance(part, torch.nn.RNNBase):
        if part.num_layers != 1 or part.bidirectional:
            ways = "bidirectional" if part.bidirectional else "of one direction"
            what = {"LSTM": "an LSTM", "GRU": "a GRU"}.get(part.mode, "an RNN")
            raise UnsupportedModelError(f"{what} of {part.num_layers} layers, {ways},")
        if part.proj_size:
            raise UnsupportedModelError(f"an LSTM with proj_size = {part.proj_size}")
        suffix = "_l0"
    stated = [kind.name for kind in CELLS.values() if kind.mode == _mode(part)]
    if not stated:
        raise UnsupportedModelError(f"torch.nn.{type(part).__name__}")
    held = {role: getattr(part, role + suffix, None) for role in ROLES}
    return {role: tensor for role, tensor in held.items() if tensor is not None}, stated[0]


def _mode(part: torch.nn.Module) -> str:
    """Torch's word for what a module computes: RNN_TANH, RNN_RELU, LSTM or GRU."""
    if isinstance(part, torch.nn.RNNCell):
        return f"RNN_{part.nonlinearity.upper()}"
    cells = {torch.nn.LSTMCell: "LSTM", torch.nn.GRUCell: "GRU"}
    found = (mode for cell, mode in cells.items() if isinstance(part, cell))
    return next(found, str(getattr(part, "mode", "")))


def _pick(tensors: Mapping[str, Tensor], where: str) -> dict[str, Tensor]:
    """The tensors of the one recurrent cell among the names, by role."""
    groups: dict[str, dict[str, str]] = {}
    seen = list(map(str, tensors))
    for key in seen:
        if match := _KEY.fullmatch(key):
            slot, group = match["role"] + (match["layer"] or "_l0"), match["prefix"]
            if slot in groups.setdefault(group, {}):
                raise WeightsError(f"{where} holds {key} with and without _l0; keep one of them")
            groups[group][slot] = key
    cells = {prefix: group for prefix, group in groups.items() if "weight_hh_l0" in group}
    if not cells:
        names = ", ".join(map(shown, seen[:4])) or "nothing"
        raise WeightsError(f"{where} holds {names}, but no weight_hh_l0; save an RNN's state dict")
    if len(cells) > 1:
        listed = ", ".join(sorted(shown(prefix) or "(none)" for prefix in cells))
        raise WeightsError(f"{where} holds several cells ({listed}); keep the one that is meant")
    group = next(iter(cells.values()))
    wanted = {f"{role}_l0": role for role in ROLES}
    for slot in sorted(group.keys() - wanted.keys()):
        kind = "a projection" if "_hr" in slot else "another layer or direction"
        raise UnsupportedModelError(f"{where} with {shown(group[slot])}, that is {kind},")
    if "weight_ih_l0" not in group:
        raise WeightsError(f"{where} holds no weight_ih_l0; save the RNN's whole state dict")
    return {wanted[slot]: tensors[key] for slot, key in group.items()}


def _model(weights: Mapping[str, Tensor], name: str | None, source: str) -> LoadedModel[Any]:
    for role, tensor in weights.items():
        _check_tensor(role, tensor)
    W, U = weights["weight_hh"], weights["weight_ih"]
    kind = _of_shape(W) if name is None else CELLS[name]
    n = W.shape[-1] if W.ndim == 2 else 0
    rows = kind.gates * n
    if n == 0 or W.shape[0] != rows:
        raise _misfit(W, kind)
    if U.ndim != 2 or U.shape[0] != rows or U.shape[1] == 0:
        raise ShapeError("weight_ih", f"({rows}, d) with d ≥ 1", U)
    for role in ("bias_ih", "bias_hh"):
        if role in weights and weights[role].shape != (rows,):
            raise ShapeError(role, f"({rows},)", weights[role])
    if len({tensor.dtype for tensor in weights.values()}) > 1:
        raise WeightsError("the weights mix dtypes; convert them to one, say with .float()")
    for role, tensor in weights.items():
        if not bool(torch.isfinite(tensor).all()):
            raise NotFiniteError(role)
    stored = {role: weights[role].detach().cpu().clone() for role in ROLES if role in weights}
    exact = {role: tensor.double()[None] for role, tensor in stored.items()}
    zero = torch.zeros(1, rows, dtype=torch.float64)
    b_ih, b_hh = (exact.get(role, zero) for role in ("bias_ih", "bias_hh"))
    if not bool(torch.isfinite(b_ih + b_hh).all()):
        raise NotFiniteError("bias_ih + bias_hh")
    cell = kind.build(exact["weight_hh"], exact["weight_ih"], b_ih, b_hh)
    return LoadedModel(cell, kind.name, str(W.dtype).removeprefix("torch."), stored, source)


def _of_shape(W: Tensor) -> Kind:
    """The kind that a recurrent matrix is by default, the one without gates if it fits none."""
    usual = {kind.gates: kind for kind in CELLS.values() if kind.default}
    gates = W.shape[0] // W.shape[1] if W.ndim == 2 and W.shape[1] else 1
    return usual.get(gates, usual[1])


def _misfit(W: Tensor, kind: Kind) -> InputError:
    """What is wrong with a recurrent matrix that is not one of that kind."""
    blocks = "n" if kind.gates == 1 else f"{kind.gates}n"
    fits = _of_shape(W)
    if W.numel() and fits is not kind and W.shape[0] == fits.gates * W.shape[1]:
        return WeightsError(
            f"weight_hh of shape {tuple(W.shape)} is that of {fits.name}, but {kind.name} has "
            f"({blocks}, n); read it as {fits.name}"
        )
    return ShapeError("weight_hh", f"({blocks}, n) with n ≥ 1", W)


def _check_tensor(role: str, tensor: object) -> None:
    """Refuse, before anything is allocated, what is not a plain array of real floats."""
    if not isinstance(tensor, Tensor):
        raise WeightsError(f"{role} is a {type(tensor).__name__}, not a tensor; save a state dict")
    if tensor.layout != torch.strided or tensor.is_quantized or tensor.device.type == "meta":
        raise WeightsError(f"{role} is no plain dense tensor; convert it with .to_dense() first")
    if tensor.dtype not in _DTYPES:
        raise WeightsError(f"{role} is {tensor.dtype}, not a real float; convert it with .float()")
    if tensor.numel() * tensor.element_size() > tensor.untyped_storage().nbytes():
        raise WeightsError(f"{role} claims more entries than it stores; save a contiguous copy")
