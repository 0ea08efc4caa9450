"""Finding a readout in a source: linear layers and normalisations by the names of their weights,
and activations."""

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress

import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS
from rnnbounds.impl.errors import InputError, NotFiniteError, shown
from rnnbounds.impl.format.readout import NORMALISATION
from rnnbounds.impl.models.normalisation import LAYER, RMS, Normalisation
from rnnbounds.impl.models.readout import COLUMNS, Linear, Readout, Stage
from rnnbounds.impl.reading.recognition.recognise import check_tensor

_WEIGHT = "weight"


class ReadoutError(InputError):
    """A readout that is not there, or does not read the cell's output."""


def readout_of(
    tensors: Mapping[str, Tensor], where: str, names: str | Sequence[str], n: int
) -> Readout:
    """The readout of an output of n numbers: "head", or stages as "a,tanh,b", each an activation, a
    weight's full name, or the part before its `.weight`; "head[0:n]" are the columns of a layer
    over a concatenation that read the output; "layer-norm-1e-05:norm" is a normalisation with that
    ε, whose γ is `norm.weight`, and "rms-norm-1e-06" one without γ. A bias is the tensor `bias`
    beside a `weight`. Raises ReadoutError for what is none.
    """
    chain = names.split(",") if isinstance(names, str) else list(names)
    stages: list[Stage] = []
    for name in (name.strip() for name in chain):
        stored = name in tensors or f"{name}.{_WEIGHT}" in tensors
        if name.startswith((LAYER, RMS)) and not stored:
            stages.append(_normalisation(tensors, where, name, n))
        elif name in ACTIVATIONS and not stored:
            stages.append(ACTIVATIONS[name])
        else:
            layer = _layer(tensors, where, name, n)
            stages.append(layer)
            n = len(layer.weight)
    parts = [
        i for i, one in enumerate(stages) if isinstance(one, Linear) and one.stored != one.name
    ]
    if parts and (parts != [0] or not all(isinstance(one, Linear) for one in stages)):
        what = f"{shown(stages[parts[-1]].name)} reads other numbers than h, too"
        raise ReadoutError(f"{what}; name it first, with no activation before or after it")
    if not any(isinstance(stage, Linear) for stage in stages):
        raise ReadoutError(f"readout {shown(','.join(chain))} has no linear layer; name one")
    return Readout(tuple(stages))


def _normalisation(tensors: Mapping[str, Tensor], where: str, name: str, n: int) -> Normalisation:
    """The normalisation of that name, of n numbers."""
    named, eps = NORMALISATION.match(name), math.nan
    with suppress(ValueError):
        eps = float(named[2]) if named else math.nan
    if named is None or not 0 < eps < math.inf:
        what = f"{shown(name)} names no normalisation with an ε above 0"
        raise ReadoutError(f"{what}; write it as {LAYER}-1e-05:norm, with the ε of your module")
    kind, _, owner = named.groups()
    if owner is None:
        return Normalisation(kind, eps, n)
    known = {str(key): tensor for key, tensor in tensors.items()}
    weight, bias = f"{owner}.{_WEIGHT}", f"{owner}.bias"
    if weight not in known:
        what = f"{where} holds no {shown(weight)}"
        raise ReadoutError(f"{what}; leave :{shown(owner)} out if the normalisation has no weight")
    if f"{owner}.running_mean" in known:
        what = f"{shown(owner)} is a batch normalisation, with a mean and a variance of its own"
        raise ReadoutError(f"{what}; fold it into the linear layer beside it")
    parts = [(full, _stored(full, known[full])) for full in (weight, bias) if full in known]
    for full, one in parts:
        if one.shape != (n,):
            what = f"{shown(full)} of shape {tuple(one.shape)} normalises no {n} numbers"
            raise ReadoutError(f"{what}; name the normalisation of what is before it")
    return Normalisation(kind, eps, n, owner, *parts)


def _layer(tensors: Mapping[str, Tensor], where: str, name: str, n: int) -> Linear:
    """The linear layer of that name, which reads n numbers."""
    known = {str(key): tensor for key, tensor in tensors.items()}
    full, part = _find(known, name), slice(None)
    if full is None and (columns := COLUMNS.search(name)):
        full, part = _find(known, name[: columns.start()]), slice(*map(int, columns.groups()))
    if full is None:
        wide = [key for key, one in known.items() if getattr(one, "ndim", 0) == 2]
        fitting = [shown(key) for key in wide if known[key].shape[1] == n]
        what = f"{where} holds no readout {shown(name)}.{_WEIGHT}"
        raise ReadoutError(f"{what}; matrices with {n} columns are {', '.join(fitting) or 'none'}")
    weight, chosen = _stored(full, known[full]), full
    if part != slice(None) and weight.ndim == 2:
        chosen = f"{full}[{part.start}:{part.stop}]"
        weight = weight[:, part] if part.stop <= weight.shape[1] else weight[:, :0]
    if weight.ndim == 1 and full.endswith(f".{_WEIGHT}"):
        owner = full.removesuffix(f".{_WEIGHT}")
        what = f"{shown(full)} of shape {tuple(weight.shape)} is of no linear layer"
        raise ReadoutError(
            f"{what}; name a normalisation with its ε, as {LAYER}-1e-05:{shown(owner)} or "
            f"{RMS}-1e-06:{shown(owner)}"
        )
    if weight.ndim != 2 or weight.shape[1] != n or not len(weight):
        what = f"{shown(chosen)} of shape {tuple(weight.shape)} reads no output of {n} numbers"
        columns_text = f"{shown(full)}[0:{n}]"
        raise ReadoutError(
            f"{what}; name the linear layer right after the cell, or the columns that read its "
            f"output, as {columns_text}"
        )
    beside = f"{full.removesuffix(_WEIGHT)}bias"
    if not full.endswith(_WEIGHT) or beside not in known:
        return Linear(chosen, weight)
    bias = _stored(beside, known[beside])
    if bias.shape != weight.shape[:1]:
        what = f"{shown(beside)} of shape {tuple(bias.shape)} fits no {shown(full)}"
        raise ReadoutError(f"{what} of shape {tuple(weight.shape)}; name a linear layer")
    return Linear(chosen, weight, (beside, bias))


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
