"""The tensors of torch's recurrent modules, read as the module computes, not as it stores.

A module is believed to be torch's own if it runs torch's `forward`; what a subclass computes in
another one is not known, whatever its weights are called.
"""

import torch
from torch import Tensor
from torch.nn.modules import module as hooked
from torch.nn.utils import parametrize

from rnnbounds.impl.cells.table import CELLS
from rnnbounds.impl.errors import shown
from rnnbounds.impl.models.surroundings import untouched
from rnnbounds.impl.reading.recognition.misfit import UnsupportedModelError, WeightsError, choices

_BASES = (torch.nn.RNNBase, torch.nn.RNNCellBase)
_OWN: dict[type[torch.nn.Module], str] = {
    torch.nn.RNN: "", torch.nn.RNNCell: "",
    torch.nn.LSTM: "LSTM", torch.nn.LSTMCell: "LSTM",
    torch.nn.GRU: "GRU", torch.nn.GRUCell: "GRU",
}  # fmt: skip
_QUANTISED = ("torch.ao.nn.quant", "torch.nn.quant")


def recurrent_parts(module: torch.nn.Module) -> list[tuple[str, torch.nn.Module]]:
    """The recurrent modules in a module, by their paths."""
    return [(path, part) for path, part in module.named_modules() if isinstance(part, _BASES)]


def module_tensors(
    module: torch.nn.Module, layer: str | None = None
) -> tuple[dict[str, Tensor], str, str]:
    """All tensors of a module, by full names, what its recurrent part computes, and its path.

    The part is the only one, that of the path `layer`, or the only one below it. A parametrised
    weight has its value, and what it is made of is left out. Raises WeightsError for modules that
    hold none or several or whose values are not fixed, UnsupportedModelError for what is none of
    torch's.
    """
    path, part = _meant(module, layer)
    stated = _stated(part)
    tensors: dict[str, Tensor] = {}
    for where, one in module.named_modules():
        if "parametrizations" not in where.split("."):
            tensors |= {_full(where, name): tensor for name, tensor in _stored(one).items()}
    tensors |= {_full(path, name): value for name, value in _computed(part).items()}
    return tensors, stated, path


def _meant(module: torch.nn.Module, layer: str | None) -> tuple[str, torch.nn.Module]:
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
    if isinstance(module, torch.jit.ScriptModule):
        what = f"{module.original_name} is TorchScript, which does not say what its parts are"
        return WeightsError(f"{what}; pass the module that was scripted, or its state dict")
    for path, part in module.named_modules():
        if type(part).__module__.startswith(_QUANTISED):
            what = f"{name} holds a quantised {type(part).__name__} ({shown(path or '.')})"
            return WeightsError(f"{what}; pass the model before it was quantised")
    what = f"{name} holds no recurrent module of torch's"
    return WeightsError(
        f"{what}; pass one with a torch.nn.RNN, LSTM or GRU, or the state dict of another cell"
    )


def refuse_hooks(module: torch.nn.Module, layer: str | None = None) -> None:
    """Raise WeightsError if hooks, its own or those of all modules, may change what goes into the
    recurrent part that is meant or comes out of it."""
    part = _meant(module, layer)[1]
    of_all = hooked._global_forward_hooks or hooked._global_forward_pre_hooks
    if part._forward_hooks or part._forward_pre_hooks or of_all:
        raise WeightsError(
            f"{type(part).__name__} has hooks, so that what it computes is not known; remove "
            f"them, or pass its state dict with the cell that it is"
        )


def _full(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _stored(one: torch.nn.Module) -> dict[str, Tensor]:
    """Parameters and buffers of a module itself, those too that share their storage."""
    held = {**one._parameters, **one._buffers}
    return {name: tensor for name, tensor in held.items() if tensor is not None}


def _computed(part: torch.nn.Module) -> dict[str, Tensor]:
    """The values of parametrised tensors; raises WeightsError if they change from use to use.

    In training mode some count or iterate at each use, in their buffers: that is undone.
    """
    if not parametrize.is_parametrized(part):
        return {}
    values: dict[str, Tensor] = {}
    with untouched(part):
        for name in part.parametrizations:  # type: ignore[union-attr]
            value, again = (getattr(part, name) for _ in range(2))
            if not torch.equal(value, again):
                raise WeightsError(f"{name} has another value at each use; call .eval() first")
            values[name] = value
    return values


def _stated(part: torch.nn.Module) -> str:
    """The name of the cell that a module of torch's computes."""
    own = next((known for known in _OWN if isinstance(part, known)), None)
    if own is None:
        raise UnsupportedModelError(f"torch.nn.{type(part).__name__}")
    called = type(part).__call__ is torch.nn.Module.__call__ and "forward" not in vars(part)
    if type(part).forward is not own.forward or not called:
        raise WeightsError(
            f"{type(part).__name__} has a forward of its own, so that what it computes is not "
            f"known; pass its state dict with the cell that it is"
        )
    mode = _OWN[own]
    if isinstance(part, torch.nn.RNNBase):
        if part.training and part.dropout and part.num_layers > 1:
            raise WeightsError(
                f"{type(part).__name__} drops out between its layers in training mode; call "
                f".eval() first"
            )
        mode = mode or part.mode
    elif isinstance(part, torch.nn.RNNCell):
        mode = f"RNN_{part.nonlinearity.upper()}"
    stated = next((kind.name for kind in CELLS.values() if kind.mode == mode), None)
    if stated is None:
        raise UnsupportedModelError(f"torch.nn.{type(part).__name__} of {mode}")
    return stated
