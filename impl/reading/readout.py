"""Finding a readout in a source: a linear layer by the name of its weight.

Checks of a readout against a module: that it is a linear layer, and what a Sequential computes.

The forward of a module of the user's own is not run. Of a `torch.nn.Sequential` it is known what it
computes, if each of its parts is one of torch's, without hooks, and drops out nothing: there a
readout is the first layer, or the first after the part that holds the cell.
"""

from collections.abc import Iterator, Mapping, Sequence

import torch
from torch import Tensor
from torch.nn.modules.dropout import _DropoutNd

from rnnbounds.impl.errors import InputError, NotFiniteError, shown
from rnnbounds.impl.models.loaded import COLUMNS, Readout
from rnnbounds.impl.reading.pytorch.modules import (
    RECURRENT,
    enclosing,
    has_unknown_hooks,
    runs_as,
)
from rnnbounds.impl.reading.recognition.fit import TORCH
from rnnbounds.impl.reading.recognition.recognise import check_tensor

_WEIGHT = "weight"


def readout_of(
    tensors: Mapping[str, Tensor], where: str, readout: str | Sequence[str], n: int
) -> Readout:
    """The readout of an output of n numbers: a weight's full name, or the part before its
    `.weight`; "head[0:n]" are the columns of a layer over a concatenation that read the output.

    The bias is the tensor `bias` beside a `weight`. Raises InputError for what is none, several
    stages among it.
    """
    known = {str(key): tensor for key, tensor in tensors.items()}
    name = readout if isinstance(readout, str) else ",".join(readout)
    full, part = _find(known, name), slice(None)
    if full is None and (columns := COLUMNS.search(name)):
        full, part = _find(known, name[: columns.start()]), slice(*map(int, columns.groups()))
    if full is None and "," in name:
        what = f"readout {shown(name)} has several stages, and ε is asked of one linear layer"
        raise InputError(f"{what}; name the linear layer right after the cell")
    if full is None:
        wide = [key for key, one in known.items() if getattr(one, "ndim", 0) == 2]
        own = [key for key in wide if TORCH.fullmatch(key.rpartition(".")[2])]  # of a cell
        fitting = [shown(k) for k in wide if k not in own and known[k].shape[1] == n]
        what = f"{where} holds no readout {shown(name.removesuffix(f'.{_WEIGHT}'))}.{_WEIGHT}"
        raise InputError(f"{what}; matrices with {n} columns are {', '.join(fitting) or 'none'}")
    weight, chosen = _stored(full, known[full]), full
    if part != slice(None) and weight.ndim == 2:
        chosen = f"{full}[{part.start}:{part.stop}]"
        weight = weight[:, part] if part.stop <= weight.shape[1] else weight[:, :0]
    if weight.ndim != 2 or weight.shape[1] != n or not len(weight):
        what = f"{shown(chosen)} of shape {tuple(weight.shape)} reads no output of {n} numbers"
        wider = known[full].ndim == 2 and known[full].shape[1] > n
        named = f", or the columns that read its output, as {shown(full)}[0:{n}]" * wider
        raise InputError(f"{what}; name the linear layer right after the cell{named}")
    beside = f"{full.removesuffix(_WEIGHT)}bias"
    if full.endswith(_WEIGHT) and beside in known:
        bias = _stored(beside, known[beside])
        if bias.shape != weight.shape[:1]:
            what = f"{shown(beside)} of shape {tuple(bias.shape)} fits no {shown(full)}"
            raise InputError(f"{what} of shape {tuple(weight.shape)}; name a linear layer")
    return Readout(chosen, weight)


def _find(known: Mapping[str, Tensor], name: str) -> str | None:
    """The full name of the weight that is meant, None if there is none."""
    return next((one for one in (f"{name}.{_WEIGHT}", name) if one in known), None)


def _stored(name: str, tensor: Tensor) -> Tensor:
    """A copy of a tensor as stored; raises an InputError for what is no array of finite floats."""
    check_tensor(shown(name), tensor)
    copy = tensor.detach().cpu().clone()
    if not bool(torch.isfinite(copy).all()):
        raise NotFiniteError(shown(name))
    return copy


_STILL = (torch.nn.Identity, torch.nn.Flatten)
_UNKNOWN = "so that what it computes is not known; pass the state dict"


def require_readout(module: torch.nn.Module, readout: Readout) -> None:
    """Raise InputError if the module says that it computes something else than the readout, or if
    that cannot be known: of a part with hooks, with a forward of its own, or that is random."""
    owner = readout.stored.rpartition(".")[0]
    part = module.get_submodule(owner)
    if isinstance(part, RECURRENT):
        what = f"{shown(readout.name)} is a weight of a {type(part).__name__}, no linear layer"
        raise InputError(f"{what}; name the linear layer after the cell")
    if isinstance(part, (torch.nn.LayerNorm, torch.nn.RMSNorm)):
        what = f"{shown(readout.name)} is a weight of a {type(part).__name__}, no linear layer"
        raise InputError(f"{what}; leave the readout out, and certify the output h before it")
    if isinstance(part, torch.nn.Linear):
        _require_own(part, owner, torch.nn.Linear)
    for path, one in module.named_modules():
        if isinstance(one, _DropoutNd):
            _require_still(one, path)
    for path in enclosing(owner):
        if has_unknown_hooks(outer := module.get_submodule(path)):
            what = f"{shown(path or type(outer).__name__)} has hooks"
            raise InputError(f"{what}, {_UNKNOWN}")
        if isinstance(outer, torch.nn.Sequential):
            _require_first(outer, path, owner)


def _require_own(part: torch.nn.Module, path: str, known: type[torch.nn.Module]) -> None:
    """Raise InputError for a part that may compute something else than that class of torch's."""
    hooked = has_unknown_hooks(part)
    if hooked or not runs_as(part, known):
        what = f"{shown(path)} has {'hooks' if hooked else 'a forward of its own'}"
        raise InputError(f"{what}, {_UNKNOWN}")


def _require_still(part: _DropoutNd, path: str) -> None:
    """Raise InputError for a dropout that drops out, or may."""
    own = next(one for one in type(part).__mro__ if one.__module__ == _DropoutNd.__module__)
    _require_own(part, path, own)
    if part.training and part.p:
        raise InputError(f"{shown(path)} drops out in training mode; call .eval() first")


def _require_first(sequential: torch.nn.Module, path: str, owner: str) -> None:
    """Raise InputError unless the readout is the first stage of a Sequential, or the first after
    the part with the cell, and all stages are torch's own."""
    before: list[str] = []
    for name, part in _stages(sequential, path):
        if any(isinstance(one, RECURRENT) for one in part.modules()):
            before = []
        elif name == owner or owner.startswith(f"{name}."):
            if before:
                what = f"{shown(path or 'the Sequential')} computes {shown(', '.join(before))}"
                raise InputError(
                    f"{what} before {shown(owner)}, which does not read the output h; name the "
                    f"linear layer right after the cell, or leave the readout out"
                )
        else:
            _require_own(part, name, _torchs(part))
            if not isinstance(part, (*_STILL, _DropoutNd)):
                linear = isinstance(part, torch.nn.Linear)
                before.append(name if linear else type(part).__name__)


def _stages(sequential: torch.nn.Module, path: str) -> Iterator[tuple[str, torch.nn.Module]]:
    """The stages of a Sequential, and of those in it, by their paths."""
    _require_own(sequential, path or "the Sequential", torch.nn.Sequential)
    for name, part in sequential._modules.items():  # one part may stand there twice
        full = f"{path}.{name}" if path else name
        if isinstance(part, torch.nn.Sequential):
            yield from _stages(part, full)
        elif part is not None:
            yield full, part


def _torchs(part: torch.nn.Module) -> type[torch.nn.Module]:
    """The class of torch's that a part is of; Module for one of the user's own."""
    return next(one for one in type(part).__mro__ if one.__module__.startswith("torch.nn."))
