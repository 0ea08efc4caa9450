"""The tensors of torch's recurrent modules, read as the module computes, not as it stores.

A module is believed to be torch's own if it runs torch's `forward`; what a subclass computes in
another one is not known, whatever its weights are called.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from rnnbounds.impl.cells.table import CELLS
from rnnbounds.impl.errors import shown
from rnnbounds.impl.reading.pytorch import quantised
from rnnbounds.impl.reading.pytorch.computed import computed_weights
from rnnbounds.impl.reading.pytorch.reparametrised import make_whole
from rnnbounds.impl.reading.recognition.misfit import UnsupportedModelError, WeightsError, choices

RECURRENT = (torch.nn.RNNBase, torch.nn.RNNCellBase)
_OWN: dict[type[torch.nn.Module], str] = {
    torch.nn.RNN: "", torch.nn.RNNCell: "",
    torch.nn.LSTM: "LSTM", torch.nn.LSTMCell: "LSTM",
    torch.nn.GRU: "GRU", torch.nn.GRUCell: "GRU",
}  # fmt: skip
_LOOP = "one step of a loop that is the module's own"  # a note
_QUANTISED = ("torch.ao.nn.quant", "torch.nn.quant")


def recurrent_parts(module: torch.nn.Module) -> list[tuple[str, torch.nn.Module]]:
    """The recurrent modules in a module, by their paths."""
    return [
        (path, part)
        for path, part in module.named_modules()
        if isinstance(part, RECURRENT) or quantised.is_quantised(part)
    ]


@dataclass(frozen=True, eq=False)
class ModuleTensors:
    """All tensors of a module by full names, the cell that its recurrent part computes, the path of
    that part, and notes on tensors that were computed."""

    tensors: dict[str, Tensor]
    cell: str
    path: str
    notes: dict[str, tuple[str, ...]]


def module_tensors(module: torch.nn.Module, layer: str | None = None) -> ModuleTensors:
    """Read the tensors of a module for one recurrent part.

    The part is the only one, that of the path `layer`, or the only one below it. A weight that the
    part computes, say a parametrised or a pruned one, has its value, and what it is made of is left
    out; weights elsewhere are made whole as those of a state dict. Raises WeightsError for modules
    that hold none or several or whose values are not fixed, UnsupportedModelError for two
    directions and for what is none of torch's.
    """
    path, part = meant(module, layer)
    stated = _stated(part)
    values, parts, notes = _values(part)
    below = _full(path, "")
    own, others = dict[str, Tensor](), dict[str, Tensor]()
    for where, one in module.named_modules():
        for name, tensor in _stored(one).items():
            full = _full(where, name)
            if not full.startswith(below):
                others[full] = tensor
            elif parts.isdisjoint(_beginnings(full.removeprefix(below))):
                own[full] = tensor
    tensors, noted = make_whole(others)
    tensors = {**tensors, **own, **{_full(path, name): one for name, one in values.items()}}
    noted |= {_full(path, name): (note,) for name, note in notes.items()}
    if path and not hasattr(part, "num_layers"):
        noted = {name: (*noted.get(name, ()), _LOOP) for name in tensors}
    return ModuleTensors(tensors, stated, path, noted)


def _values(part: torch.nn.Module) -> tuple[dict[str, Tensor], set[str], dict[str, str]]:
    """The weights that a recurrent part does not store as such, as `computed_weights` has them."""
    if not quantised.is_quantised(part):
        return computed_weights(part)
    values = quantised.dequantised(part)
    return values, set(), dict.fromkeys(values, quantised.NOTE)


def meant(module: torch.nn.Module, layer: str | None = None) -> tuple[str, torch.nn.Module]:
    """The recurrent part of the path `layer`, below it, or the only one, after its path; raises
    WeightsError for none or several."""
    parts = recurrent_parts(module)
    found = parts if layer is None else [one for one in parts if (one[0] or ".") == layer]
    if layer is not None and not found:
        found = [one for one in parts if one[0].startswith(f"{layer}.")]
    if len(found) == 1:
        return found[0]
    if not parts:
        raise _none_in(module)
    where = "" if layer is None else f" in {shown(layer)}"
    what = f"{type(module).__name__} holds {len(found) or 'no'} recurrent modules{where}"
    listed = choices([path or "." for path, _ in parts], None if found else layer)
    raise WeightsError(f"{what}; choose one with --layer: {listed}")


def _none_in(module: torch.nn.Module) -> WeightsError:
    """That a module holds no recurrent module of torch's, as far as one can say what it holds."""
    name = type(module).__name__
    for path, part in module.named_modules():
        if quantised.class_name(part).startswith(_QUANTISED):
            what = f"{name} holds a quantised {type(part).__name__} ({shown(path or '.')})"
            return WeightsError(f"{what}; pass the model before it was quantised")
        if isinstance(part, torch.jit.ScriptModule):
            what = f"{name} holds TorchScript ({shown(path)})"
            return WeightsError(f"{what}; pass its state dict, with --layer")
    what = f"{name} holds no recurrent module of torch's"
    return WeightsError(
        f"{what}; pass one with a torch.nn.RNN, LSTM or GRU, or the state dict of another cell"
    )


def _beginnings(name: str) -> set[str]:
    """A name and the folders that it is in: {"a.b.c", "a.b.", "a."}."""
    return {name, *(name[: place + 1] for place, letter in enumerate(name) if letter == ".")}


def _full(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _stored(one: torch.nn.Module) -> dict[str, Tensor]:
    """Parameters and buffers of a module itself, those too that share their storage."""
    held = {**one._parameters, **one._buffers}
    return {name: tensor for name, tensor in held.items() if tensor is not None}


def _stated(part: torch.nn.Module) -> str:
    """The name of the cell that a module of torch's computes."""
    name = type(part).__name__
    mode = quantised.mode(part) if quantised.is_quantised(part) else _mode(part)
    if part.training and getattr(part, "dropout", False) and vars(part).get("num_layers", 1) > 1:
        raise WeightsError(
            f"{name} drops out between its layers in training mode; call .eval() first"
        )
    stated = next((kind.name for kind in CELLS.values() if kind.mode == mode), None)
    if stated is None:
        raise UnsupportedModelError(f"torch.nn.{name} of {mode}")
    return stated


def _mode(part: torch.nn.Module) -> str:
    """torch's word for what a module computes; raises an InputError for another forward pass."""
    own = next((known for known in _OWN if isinstance(part, known)), None)
    if own is None:
        raise UnsupportedModelError(f"torch.nn.{type(part).__name__}")
    called = type(part).__call__ is torch.nn.Module.__call__ and "forward" not in vars(part)
    if type(part).forward is not own.forward or not called:
        raise WeightsError(
            f"{type(part).__name__} has a forward of its own, so that what it computes is not "
            f"known; pass its state dict with the cell that it is"
        )
    if isinstance(part, torch.nn.RNNCell):
        return f"RNN_{part.nonlinearity.upper()}"
    return _OWN[own] or str(part.mode)
