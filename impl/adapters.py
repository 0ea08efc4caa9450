"""Reading a user's recurrent model: from torch modules, state dicts and weight files.

Weights are data: nothing that is read here can run code, and nothing is believed before its
dtype, shape, storage and values were looked at. The weights are taken exactly as stored.
"""

import hashlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from impl.activation import ACTIVATIONS
from impl.errors import InputError, NotFiniteError, ShapeError, UnknownNameError
from impl.files import parse_safetensors, read_file, shown, unpickle
from impl.rnn import RNN

Source = str | os.PathLike[str] | torch.nn.Module | Mapping[str, Tensor]

ROLES = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
CELLS = ("linear", *(f"rnn-{name}" for name in ACTIVATIONS if name != "identity"))
_DTYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
_KEY = re.compile(r"(?P<prefix>(?:.+\.)?)(?P<role>(?:weight|bias)_[hi][hir])(?P<layer>_l\d+\w*)?")
_READS = "this version reads linear and vanilla RNN cells"


class UnsupportedModelError(InputError):
    """A recurrent model of a kind that is not read."""

    def __init__(self, found: str) -> None:
        super().__init__(f"{found} is not supported: {_READS} of one layer and one direction")


class WeightsError(InputError):
    """Tensors that are not the weights of one recurrent cell."""


class UnknownCellError(UnknownNameError):
    """A cell that is not read."""

    def __init__(self, name: str) -> None:
        super().__init__("cell", name, CELLS)


@dataclass(frozen=True, eq=False)
class LoadedModel:
    """A recurrent cell as stored, h_t = ρ(W h_{t−1} + U x_t + b_ih + b_hh) in real arithmetic.

    `weights` holds torch's names without the layer (`weight_ih` (n, d), `weight_hh` (n, n),
    `bias_ih`, `bias_hh` (n,) where present) in the stored dtype; `cell` the same as a batch of
    one in float64. The conversion is exact, but the sum `cell.b` of two biases may be rounded:
    what is certified takes both.
    """

    cell: RNN
    name: str
    dtype: str
    weights: Mapping[str, Tensor]
    source: str
    readout: None = None

    @property
    def n(self) -> int:
        """The size of the state."""
        return self.cell.n

    @property
    def d(self) -> int:
        """The size of the input."""
        return self.cell.d

    def bias(self, role: str) -> list[float]:
        """`bias_ih` or `bias_hh` exactly, zeros where the model has none."""
        part = self.weights.get(role)
        values = torch.zeros(self.n) if part is None else part
        return [float(value) for value in values.double().tolist()]

    @property
    def digest(self) -> str:
        """SHA-256 of the cell's name and of its weights, which ties a certificate to a model."""
        return digest(self.name, self.weights)


def load_model(source: Source | LoadedModel, cell: str | None = None) -> LoadedModel:
    """Read the weights of a vanilla RNN or of a linear system.

    `source` is a `torch.nn.RNN` or `RNNCell` (or a module that holds exactly one), a state dict
    with torch's names (`weight_ih_l0`, `weight_hh_l0` and, optionally, `bias_ih_l0`,
    `bias_hh_l0`; RNNCell's without `_l0`; one prefix such as "rnn." is allowed), a safetensors
    file or a file of `torch.save(state_dict)`, which is opened with `weights_only=True` alone.
    `cell` is one of `CELLS`; by default what the module or the file says, else "rnn-tanh".
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


def digest(name: str, weights: Mapping[str, Tensor]) -> str:
    """SHA-256 over a cell's name and, in a fixed order, its weights' roles, dtypes and bytes."""
    sha = hashlib.sha256(name.encode())
    for role in sorted(weights):
        part = weights[role].detach().cpu().contiguous()
        sha.update(f"|{role}|{part.dtype}|{tuple(part.shape)}|".encode())
        sha.update(part.flatten().view(torch.uint8).numpy().tobytes())
    return sha.hexdigest()


def _cell_name(asked: str | None, stated: str | None, *, binding: bool = False) -> str:
    """The cell that the caller asks for, else what the source states, else torch's default."""
    if asked is None:
        return "rnn-tanh" if stated is None else _cell_name(stated, None)
    if asked in ("lstm", "gru"):
        raise UnsupportedModelError(f"the cell {asked}")
    name = "linear" if asked == "rnn-identity" else asked
    if name not in CELLS:
        raise UnknownCellError(name)
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
    part = found[0]
    if isinstance(part, torch.nn.RNN):
        if part.num_layers != 1 or part.bidirectional:
            ways = "bidirectional" if part.bidirectional else "of one direction"
            raise UnsupportedModelError(f"an RNN of {part.num_layers} layers, {ways},")
        stated, suffix = f"rnn-{part.nonlinearity}", "_l0"
    elif isinstance(part, torch.nn.RNNCell):
        stated, suffix = f"rnn-{part.nonlinearity}", ""
    else:
        raise UnsupportedModelError(f"torch.nn.{type(part).__name__}")
    held = {role: getattr(part, role + suffix, None) for role in ROLES}
    return {role: tensor for role, tensor in held.items() if tensor is not None}, stated


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


def _model(weights: Mapping[str, Tensor], name: str, source: str) -> LoadedModel:
    for role, tensor in weights.items():
        _check_tensor(role, tensor)
    W, U = weights["weight_hh"], weights["weight_ih"]
    n = W.shape[-1] if W.ndim == 2 else 0
    if n and W.shape[0] in (3 * n, 4 * n):
        kind = "a GRU" if W.shape[0] == 3 * n else "an LSTM"
        raise UnsupportedModelError(f"weight_hh of shape {tuple(W.shape)}, that is {kind},")
    if n == 0 or W.shape != (n, n):
        raise ShapeError("weight_hh", "(n, n) with n ≥ 1", W)
    if U.ndim != 2 or U.shape[0] != n or U.shape[1] == 0:
        raise ShapeError("weight_ih", f"({n}, d) with d ≥ 1", U)
    for role in ("bias_ih", "bias_hh"):
        if role in weights and weights[role].shape != (n,):
            raise ShapeError(role, f"({n},)", weights[role])
    if len({tensor.dtype for tensor in weights.values()}) > 1:
        raise WeightsError("the weights mix dtypes; convert them to one, say with .float()")
    for role, tensor in weights.items():
        if not bool(torch.isfinite(tensor).all()):
            raise NotFiniteError(role)
    stored = {role: weights[role].detach().cpu().clone() for role in ROLES if role in weights}
    exact = {role: tensor.double() for role, tensor in stored.items()}
    zero = torch.zeros(n, dtype=torch.float64)
    b = exact.get("bias_ih", zero) + exact.get("bias_hh", zero)
    if not bool(torch.isfinite(b).all()):
        raise NotFiniteError("bias_ih + bias_hh")
    activation = ACTIVATIONS["identity" if name == "linear" else name.removeprefix("rnn-")]
    cell = RNN(exact["weight_hh"][None], exact["weight_ih"][None], b[None], activation)
    return LoadedModel(cell, name, str(W.dtype).removeprefix("torch."), stored, source)


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
