"""Finding a readout in a source: a linear layer by the name of its weight."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from rnnbounds.impl.errors import InputError, NotFiniteError, shown
from rnnbounds.impl.models.readout import COLUMNS, Readout
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
        wide = known[full].ndim == 2 and known[full].shape[1] > n
        columns = f", or the columns that read its output, as {shown(full)}[0:{n}]" * wide
        raise InputError(f"{what}; name the linear layer right after the cell{columns}")
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
