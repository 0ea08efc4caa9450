"""Finding a readout in a source: a linear layer by the name of its weight.

Checks of a readout against a module: that it is a linear layer, and what a Sequential computes.

The forward of a module is not run, so that only this much is known: a readout in a
`torch.nn.Sequential` is its first layer, or the first after a part that is none of torch's own.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile

import torch
from torch import Tensor

from rnnbounds.impl.errors import InputError, NotFiniteError, shown
from rnnbounds.impl.models.loaded import COLUMNS, Readout
from rnnbounds.impl.reading.pytorch.modules import RECURRENT, has_unknown_hooks
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
        what = f"{where} holds no readout {shown(name)}.{_WEIGHT}"
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


_STILL = (torch.nn.Identity, torch.nn.Dropout, torch.nn.AlphaDropout, torch.nn.Flatten)


def require_readout(module: torch.nn.Module, readout: Readout) -> None:
    """Raise InputError if the module says that it computes something else than the readout."""
    owner = readout.stored.rpartition(".")[0]
    part = module.get_submodule(owner)
    if isinstance(part, RECURRENT):
        what = f"{shown(readout.name)} is a weight of a {type(part).__name__}, no linear layer"
        raise InputError(f"{what}; name the linear layer after the cell")
    if isinstance(part, (torch.nn.LayerNorm, torch.nn.RMSNorm)):
        what = f"{shown(readout.name)} is a weight of a {type(part).__name__}, no linear layer"
        raise InputError(f"{what}; leave the readout out, and certify the output h before it")
    if isinstance(part, torch.nn.Linear):
        _require_plain(part, owner)
    for path in (owner[:i] for i in range(len(owner)) if not i or owner[i] == "."):
        if _is_sequential(sequential := module.get_submodule(path)):
            _require_first(path, [*_stages(sequential, path)], owner)


def _require_plain(part: torch.nn.Linear, owner: str) -> None:
    own = type(part).forward is torch.nn.Linear.forward and "forward" not in vars(part)
    hooked = has_unknown_hooks(part)
    if hooked or not own:
        what = f"{shown(owner)} has {'hooks' if hooked else 'a forward of its own'}"
        raise InputError(f"{what}, so that what it computes is not known; pass the state dict")


def _require_first(path: str, computed: list[str], owner: str) -> None:
    """Compare the readout with the stages of a Sequential: "" is one of which nothing is known."""
    if owner not in computed:  # it is part of a part of which nothing is known
        return
    before = [*takewhile(bool, reversed(computed[: computed.index(owner)]))][::-1]
    if before:
        what = f"{shown(path or 'the Sequential')} computes {shown(', '.join(before))}"
        raise InputError(
            f"{what} before {shown(owner)}, which does not read the output h; name the linear "
            f"layer right after the cell, or leave the readout out"
        )


def _stages(sequential: torch.nn.Module, path: str) -> Iterator[str]:
    """The stages of a Sequential: linear layers by name, other parts of torch's by class."""
    for name, part in sequential._modules.items():  # one part may stand there twice
        full = f"{path}.{name}" if path else name
        if part is not None and _is_sequential(part):
            yield from _stages(part, full)
        elif isinstance(part, torch.nn.Linear):
            yield full
        elif part is not None and not isinstance(part, _STILL):
            recurrent = any(isinstance(one, RECURRENT) for one in part.modules())
            own = type(part).__module__.startswith("torch.nn.") and not recurrent
            yield type(part).__name__ if own else ""


def _is_sequential(part: torch.nn.Module) -> bool:
    """True for a Sequential that runs its parts in turn."""
    own = type(part).forward is torch.nn.Sequential.forward
    return isinstance(part, torch.nn.Sequential) and own
