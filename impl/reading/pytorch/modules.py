"""The tensors of torch's recurrent modules, read as the module computes, not as it stores.

A module is believed to compute what its class of torch's does if neither its class nor itself
overrides a name of that class; what another subclass computes is not known, whatever its weights
are called. A weight that is computed of others, by
torch's parametrizations or by its older hooks before the forward pass (weight_norm, spectral_norm,
prune), is read as the forward pass reads it.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn.modules import module as hooked
from torch.nn.utils import prune
from torch.nn.utils.spectral_norm import SpectralNorm
from torch.nn.utils.weight_norm import WeightNorm

from rnnbounds.impl.cells.table import CELLS
from rnnbounds.impl.errors import InputError, shown
from rnnbounds.impl.models.surroundings import untouched
from rnnbounds.impl.reading.opened import Opened
from rnnbounds.impl.reading.recognition.misfit import choices

RECURRENT = (torch.nn.RNNBase, torch.nn.RNNCellBase)
_OWN: dict[type[torch.nn.Module], str] = {
    torch.nn.RNN: "", torch.nn.RNNCell: "",
    torch.nn.LSTM: "LSTM", torch.nn.LSTMCell: "LSTM",
    torch.nn.GRU: "GRU", torch.nn.GRUCell: "GRU",
}  # fmt: skip
LOOP = "one cell, iterated by itself"  # a note
_UNREAD = (
    "is not supported: linear cells, vanilla RNN, LSTM and GRU are, and stacks of them; take one "
    "of these"
)
_ENDS = ("_g", "_v", "_u", "_orig", "_mask")  # of what weights are computed of by hooks
_HARMLESS = {  # names that a subclass may define without computing something else
    "__init__", "extra_repr", "reset_parameters", "__getstate__", "__setstate__", "__repr__",
    "__module__", "__doc__", "__annotations__", "__firstlineno__", "__static_attributes__",
}  # fmt: skip
_COMPILED = "torch._dynamo.eval_frame.OptimizedModule"
_QUANTISED = ("torch.ao.nn.quant", "torch.nn.quant")


def recurrent_parts(module: torch.nn.Module) -> list[tuple[str, torch.nn.Module]]:
    """The recurrent modules in a module, by their paths."""
    return [(path, part) for path, part in module.named_modules() if isinstance(part, RECURRENT)]


def open_module(module: torch.nn.Module, title: str | None = None) -> Opened:
    """A module, without what distributes or compiles it; TorchScript, which does not say what its
    parts compute, as weights by their names."""
    while isinstance(inner := getattr(module, _inner(module), None), torch.nn.Module):
        module = inner
    if isinstance(module, torch.jit.ScriptModule):
        named = f"{title or module.original_name} (TorchScript: its weights by their names)"
        weights = module.state_dict()
        return Opened(
            "the module", named, weights, runs=module, choose=None if weights else _no_state_dict
        )
    opened = Opened("the module", title or type(module).__name__, runs=module, binding="the module")
    parts = tuple(path or "." for path, _ in recurrent_parts(module))
    return replace(opened, parts=parts, choose=partial(_read_part, opened, module))


def _inner(module: torch.nn.Module) -> str:
    """The attribute that holds the module in a wrapper of torch's, "" for any other module."""
    if isinstance(module, torch.nn.DataParallel | torch.nn.parallel.DistributedDataParallel):
        return "module"
    return "_orig_mod" if class_name(module) == _COMPILED else ""


def _no_state_dict(layer: str | None) -> Opened:
    what = "the module is frozen TorchScript without a state dict"
    raise InputError(f"{what}; pass the module as it was before torch.jit.freeze")


def _read_part(opened: Opened, module: torch.nn.Module, layer: str | None) -> Opened:
    """The module with its tensors for one recurrent part: the only one, that of the path `layer`,
    or the only one below it.

    A weight that the part computes, say a parametrised or a pruned one, has its value, and what it
    is made of is left out. Raises InputError for modules that hold none or several, whose values
    are not fixed, or that are none of torch's.
    """
    path, part = meant(module, layer)
    cell = _stated(part)
    values, made_of = _computed(part)
    below = _full(path, "")
    tensors = {
        full: tensor
        for where, one in module.named_modules()
        for name, tensor in _stored(one).items()
        if not (full := _full(where, name)).startswith(below)
        or made_of.isdisjoint(_beginnings(full.removeprefix(below)))
    }
    tensors |= {_full(path, name): one for name, one in values.items()}
    note = LOOP if path and not hasattr(part, "num_layers") else ""
    return replace(opened, tensors=tensors, cell=cell, own=path or ".", note=note)


def _computed(part: Any) -> tuple[dict[str, Tensor], set[str]]:
    """The weights that a module computes of others, and the names of these, of which one with a dot
    at its end is a folder.

    In training mode some count or iterate at each use, in their buffers: that is undone. Raises
    InputError for a weight that changes from use to use.
    """
    hooks = _hooks(part)
    held = getattr(part, "parametrizations", None)
    parametrised = list(held) if isinstance(held, torch.nn.ModuleDict) else []
    with untouched(part):
        if hasattr(part, "_flat_weights"):  # a list, in which torch.nn.RNNBase keeps them too
            vars(part)["_flat_weights"] = list(part._flat_weights)
        values, again = (_values(part, parametrised, hooks) for _ in range(2))
    for name, value in values.items():
        if not torch.equal(value, again[name]):
            raise InputError(f"{name} has another value at each use; call .eval() first")
    parts = {name + end for name in hooks for end in _ENDS}
    whole = {name: value for name, value in values.items() if name not in parts}
    return whole, parts | {f"parametrizations.{name}." for name in parametrised}


def _values(
    part: Any, parametrised: list[str], hooks: dict[str, Callable[..., Any]]
) -> dict[str, Tensor]:
    values: dict[str, Tensor] = {name: getattr(part, name) for name in parametrised}
    for name, hook in hooks.items():
        hook(part, ())  # sets the weight, as before a forward pass
        values[name] = getattr(part, name)
    return values


def _hooks(part: torch.nn.Module) -> dict[str, Callable[..., Any]]:
    """torch's hooks before a forward pass that set a weight, by its name, in their order."""
    found: dict[str, Callable[..., Any]] = {}
    for hook in part._forward_pre_hooks.values():
        if type(hook) in (WeightNorm, SpectralNorm) or isinstance(hook, prune.BasePruningMethod):
            held: Any = hook
            found[getattr(held, "_tensor_name", None) or held.name] = held
    return found


def has_unknown_hooks(part: torch.nn.Module) -> bool:
    """True if hooks, its own or those of all modules, may change what goes into a module or comes
    out of it; those of torch's that set a weight do not."""
    of_all = hooked._global_forward_hooks or hooked._global_forward_pre_hooks
    others = len(part._forward_pre_hooks) > len(_hooks(part))
    return bool(part._forward_hooks or others or of_all)


def refuse_hooks(module: torch.nn.Module, path: str) -> None:
    """Raise InputError if the part of that path ("." of the whole), or one that it is in, has hooks
    of which nothing is known."""
    for place in enclosing("" if path == "." else path):
        if has_unknown_hooks(part := module.get_submodule(place)):
            raise InputError(
                f"{type(part).__name__} has hooks, so that what it computes is not known; remove "
                f"them, or pass its state dict with the cell that it is"
            )


def enclosing(path: str) -> list[str]:
    """The paths of a part and of all that it is in: "a.b" has ["", "a", "a.b"]."""
    names = path.split(".") if path else []
    return [".".join(names[:depth]) for depth in range(len(names) + 1)]


def runs_as(part: torch.nn.Module, known: type[torch.nn.Module]) -> bool:
    """True if a module of the class `known` computes what that class says: neither a subclass nor
    the module itself overrides any of its names, but for those that compute nothing."""
    if not isinstance(part, known):
        return False
    kinds = type(part).__mro__[: type(part).__mro__.index(known)]
    own = {name for kind in kinds for name in vars(kind)} - _HARMLESS
    of_module = (name for name in vars(part) if callable(getattr(known, name, None)))
    return own.isdisjoint(dir(known)) and not any(of_module)


def meant(module: torch.nn.Module, layer: str | None = None) -> tuple[str, torch.nn.Module]:
    """The recurrent part of the path `layer`, below it, or the only one, after its path; raises
    InputError for none or several."""
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
    raise InputError(f"{what}; choose one with --layer: {listed}")


def _none_in(module: torch.nn.Module) -> InputError:
    """That a module holds no recurrent module of torch's, as far as one can say what it holds."""
    name = type(module).__name__
    for path, part in module.named_modules():
        if class_name(part).startswith(_QUANTISED):
            what = f"{name} holds a quantised {type(part).__name__} ({shown(path or '.')})"
            return InputError(f"{what}; pass the model before it was quantised")
        if isinstance(part, torch.jit.ScriptModule):
            what = f"{name} holds TorchScript ({shown(path)})"
            return InputError(f"{what}; pass its state dict, with --layer")
    what = f"{name} holds no recurrent module of torch's"
    return InputError(
        f"{what}; pass one with a torch.nn.RNN, LSTM or GRU, or the state dict of another cell"
    )


def class_name(part: torch.nn.Module) -> str:
    """The full name of a module's class, without importing what it is compared with."""
    return f"{getattr(type(part), '__module__', '')}.{type(part).__name__}"


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
    mode = _mode(part)
    if part.training and getattr(part, "dropout", False) and vars(part).get("num_layers", 1) > 1:
        raise InputError(
            f"{name} drops out between its layers in training mode; call .eval() first"
        )
    stated = next((kind.name for kind in CELLS.values() if kind.mode == mode), None)
    if stated is None:
        raise InputError(f"torch.nn.{name} of {mode} {_UNREAD}")
    return stated


def _mode(part: torch.nn.Module) -> str:
    """torch's word for what a module computes; raises an InputError for another forward pass."""
    own = next((known for known in _OWN if isinstance(part, known)), None)
    if own is None:
        raise InputError(f"torch.nn.{type(part).__name__} {_UNREAD}")
    if not runs_as(part, own):
        raise InputError(
            f"{type(part).__name__} has a forward of its own, so that what it computes is not "
            f"known; pass its state dict with the cell that it is"
        )
    if isinstance(part, torch.nn.RNNCell):
        return f"RNN_{part.nonlinearity.upper()}"
    return _OWN[own] or str(part.mode)
