"""Which tensors of a state dict are the weights of a recurrent cell, and of which kind.

Weights are data: none is believed before its dtype, shape and storage were looked at.
"""

import re
from collections.abc import Mapping

import torch
from torch import Tensor

from impl.cells import CELLS, STACK, kind_of
from impl.errors import InputError
from impl.files import shown
from impl.kind import Kind
from impl.layout import Layout
from impl.stack import depth, stacked

_DTYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
_LAYER = re.compile(r"(weight|bias)_[hi][hir]_l\d+")
_SYMBOL = re.compile(r"_l\d+")
_ENDING = re.compile(r"_l\d+$")
_TORCH = re.compile(r"(?P<role>(?:weight|bias)_[hi][hir])(?P<layer>_l\d+\w*)?")
_BIAS = re.compile(r"(^|_)(b|bias)(_|$)")
_PROJECTED = {  # what torch's modules become with a proj_size
    "lstm": "lstm-projected",
    "stacked-lstm": "stacked-lstm-projected",
}

Group = Mapping[str, str]  # the keys of a state dict that share a prefix, by name


class UnsupportedModelError(InputError):
    """A recurrent model of a kind that is not read."""

    def __init__(self, found: str) -> None:
        super().__init__(
            f"{found} is not supported: cells and stacks of them in one direction are, linear, "
            f"vanilla RNN, LSTM and GRU; keep one direction"
        )


class WeightsError(InputError):
    """Tensors that are not the weights of one recurrent cell."""


def recognise(
    tensors: Mapping[str, Tensor], where: str, name: str | None
) -> tuple[Kind, dict[str, Tensor]]:
    """The kind and the weights by name of the one cell among the tensors, or of the one stack.

    name: that of the kind, or STACK for a stack of whatever fits; None takes what fits. A kind of
    torch's stands for its stacks too. Raises an InputError.
    """
    if name is None or name == STACK:
        kinds = [kind for kind in CELLS.values() if kind.default and (name is None or kind.suffix)]
    else:
        kinds = [kind_of(name)]
    group = _group(tensors, where, kinds)
    kinds = [_deep(kind, group, name == STACK) for kind in kinds if _holds(kind, group)]
    if not (fitting := [kind for kind in kinds if not _foreign(kind, group)]):
        raise _refusal(kinds[0], group, where)
    by_key = {str(key): tensor for key, tensor in tensors.items()}
    held = [(kind, _weights(kind, group, by_key, where)) for kind in fitting]
    for role, tensor in (item for _, weights in held for item in weights.items()):
        _check_tensor(role, tensor)
    kind, weights = max(held, key=lambda pair: pair[0].layout(pair[1]).fitting(pair[1]))
    layout = kind.layout(weights)
    if len(kinds) == 1 and layout.fitting(weights) == 0:
        _suggest(kind, group, weights)
    layout.sizes(weights)
    return kind, weights


def _deep(kind: Kind, group: Group, forced: bool) -> Kind:
    """What a kind of torch's becomes if the names say that it is projected, or of layers."""
    if "weight_hr_l0" in group and kind.name in _PROJECTED:
        kind = kind_of(_PROJECTED[kind.name])
    return stacked(kind) if kind.suffix and (forced or depth(kind, group) > 1) else kind


def _foreign(kind: Kind, group: Group) -> list[str]:
    """Names of torch's that are none of the kind's, if the kind has such names; of other cells the
    names of further layers, and of biases that would go unread."""
    known = [name + kind.suffix for name in kind.layout(group).shapes]
    further = group.keys() - set(known)
    if _TORCH.fullmatch(known[0]):
        return sorted(name for name in further if _TORCH.fullmatch(name))
    layers = {_unlayered(name) for name in known} - set(known)
    return sorted(
        name for name in further if _BIAS.search(name) or _unlayered(name) in layers - {name}
    )


def _unlayered(name: str) -> str:
    """A name without the number of a layer at its end."""
    return _ENDING.sub("", name)


def _refusal(kind: Kind, group: Group, where: str) -> InputError:
    """What is wrong with names of torch's: another direction, a layer above a gap, a projection."""
    slots = _foreign(kind, group)
    names = kind.layout(group).required
    anchor = _unlayered(names[0])
    if not _TORCH.fullmatch(anchor) and _ENDING.search(slots[0]) is None:
        read = ", ".join(filter(_BIAS.search, kind.layout(group).shapes)) or "none"
        what = f"{where} holds {shown(group[slots[0]])}, but the biases of {kind.name} are {read}"
        return WeightsError(f"{what}; rename it or leave it out")
    if not _TORCH.fullmatch(anchor):
        layers = sum(_unlayered(name) == anchor for name in names)
        what = f"{where} holds {shown(group[slots[0]])}, but no {anchor}_l{layers}"
        return WeightsError(f"{what}; save the whole state dict")
    parsed = {slot: _LAYER.fullmatch(slot) for slot in slots}
    for slot in slots:
        if parsed[slot] is None:
            what = f"{where} with {shown(group[slot])}, that is another direction,"
            return UnsupportedModelError(what)
    slot = slots[0]
    if slot.startswith("weight_hr"):
        what = f"{where} holds {shown(group[slot])}, a projection, but {kind.name} has none"
        return WeightsError(f"{what}; read it as lstm")
    layers = sum(name.startswith("weight_hh") for name in kind.layout(group).shapes)
    what = f"{where} holds {shown(group[slot])}, but no weight_hh_l{layers}"
    return WeightsError(f"{what}; save the RNN's whole state dict")


def _group(tensors: Mapping[str, Tensor], where: str, kinds: list[Kind]) -> Group:
    """The keys of the one cell, by their names without a prefix."""
    groups: dict[str, dict[str, str]] = {}
    seen = list(map(str, tensors))
    for key in seen:
        prefix, dot, name = key.rpartition(".")
        if (match := _TORCH.fullmatch(name)) and not match["layer"]:
            name += "_l0"
        if name in groups.setdefault(prefix + dot, {}):
            raise WeightsError(f"{where} holds {key} with and without _l0; keep one of them")
        groups[prefix + dot][name] = key
    cells = {
        prefix: group
        for prefix, group in groups.items()
        if any(_holds(kind, group) for kind in kinds)
    }
    if not cells:
        names = ", ".join(map(shown, seen[:4])) or "nothing"
        wanted, what = _wanted(kinds)
        raise WeightsError(f"{where} holds {names}, but no {wanted}; save {what} state dict")
    if len(cells) > 1:
        listed = ", ".join(sorted(shown(prefix) or "(none)" for prefix in cells))
        raise WeightsError(f"{where} holds several cells ({listed}); keep the one that is meant")
    return next(iter(cells.values()))


def _holds(kind: Kind, group: Group) -> bool:
    """Whether the names speak of that kind: of one of torch's and of stacks, the first does."""
    required = kind.layout(group).required
    if kind.suffix or not kind.default:
        return required[0] + kind.suffix in group
    return all(name in group for name in required)


def _wanted(kinds: list[Kind]) -> tuple[str, str]:
    """The first name that a cell of the first of the kinds has, and whose state dict has it."""
    first = kinds[0].layout(()).required[0] + kinds[0].suffix
    return first, "an RNN's" if _TORCH.fullmatch(first) else f"a {kinds[0].name} cell's"


def _weights(
    kind: Kind, group: Group, tensors: Mapping[str, Tensor], where: str
) -> dict[str, Tensor]:
    """The weights of that kind by name; raises a WeightsError if one is missing."""
    layout = kind.layout(group)
    for name in layout.required:
        if name + kind.suffix not in group:
            what = f"{where} holds no {name + kind.suffix}"
            raise WeightsError(f"{what}; save the RNN's whole state dict")
    held = [name for name in layout.shapes if name + kind.suffix in group]
    return {name: tensors[group[name + kind.suffix]] for name in held}


def _suggest(kind: Kind, group: Group, weights: Mapping[str, Tensor]) -> None:
    """Raise a WeightsError if the first weight is that of another kind."""
    first = next(iter(weights))
    needed = _SYMBOL.sub("", kind.layout(weights).shapes[first])
    for other in (_deep(kind, group, False) for kind in CELLS.values() if kind.default):
        shapes = other.layout(weights).shapes
        if other is kind or first not in shapes or not _fits(shapes[first], weights[first]):
            continue
        raise WeightsError(
            f"{first} of shape {tuple(weights[first].shape)} is that of {other.name}, but "
            f"{kind.name} has ({', '.join(needed.split())}); read it as {other.name}"
        )


def _fits(shape: str, weight: Tensor) -> bool:
    return Layout({"weight": shape}).fitting({"weight": weight}) == 1


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
