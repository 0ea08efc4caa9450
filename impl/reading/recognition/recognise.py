"""Which tensors of a source are the weights of a recurrent cell, and of which kind.

Weights are data: none is believed before its dtype, shape and storage were looked at. Names are
exact: what stands among a cell's own tensors and is not read makes it another network.

A layer in both directions is two cells, each with torch's names of a layer 0; those of the backward
cell end in `_reverse`.
"""

import re
from collections.abc import Collection, Mapping, Sequence

import torch
from torch import Tensor

from rnnbounds.impl.cells.kind import Kind
from rnnbounds.impl.cells.stacks.stack import PREFIX
from rnnbounds.impl.cells.table import CELLS, STACK, kind_of
from rnnbounds.impl.errors import InputError, UnknownNameError, shown
from rnnbounds.impl.reading.recognition.fit import PLAIN, TORCH, Fit, direct, fit, holds, owned
from rnnbounds.impl.reading.recognition.misfit import (
    PART,
    ambiguous,
    choices,
    is_parameter,
    match_error,
    misshapen,
    stored_in_parts,
)

LARGEST_STEP = 2**25  # entries of the derivative of one step
_DTYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
_FLAT = ("_flat_param", ".flat_param")
ROOT = "."  # the layer of what has no prefix
DIRECTIONS = ("forward", "backward")
_NAME = re.compile(r"((?:weight|bias)_[hi][hir]_l)(0|[1-9][0-9]*)(_reverse)?")
_ANCHORS = {"weight_hh", "weight_hh_l0"}  # where one stands, it is a cell's that is ignored


def recognise(
    tensors: Mapping[str, Tensor],
    where: str,
    name: str | None,
    ignore: Collection[str] = (),
    *,
    layer: str | None = None,
    direction: str | None = None,
) -> Fit:
    """The one cell among the tensors, or the one stack.

    name: that of the kind, or STACK for a stack of whatever fits; None takes what fits, if only one
    kind does. A kind of torch's stands for its stacks too. ignore: full names that are left out,
    none of which the cell needs. layer: the prefix of the cell without its dot, or one that no
    other cell shares; "." for none. direction: "forward" or "backward", of a layer of both: the
    other one's tensors are among those that are not read. Raises an InputError.
    """
    known = _named(tensors, where)
    if not isinstance(ignore, Collection):
        raise InputError(f"ignore = {shown(ignore)} is no list; give it the names of tensors")
    ignored = tuple(dict.fromkeys([ignore] if isinstance(ignore, str) else ignore))
    if unknown := [full for full in ignored if full not in known]:
        what = f"{where} holds no {shown(unknown[0])}, so that it cannot be ignored"
        raise InputError(f"{what}; leave it out of what is ignored")
    if direction is not None:
        _require_direction(direction)
        name = None if name in (None, STACK) else str(name).removeprefix(PREFIX)
    kinds = [kind for kind in CELLS.values() if name is None or kind.suffix]
    kinds = kinds if name is None or name == STACK else [kind_of(name)]
    near = known.keys() if layer is None else _within(known, where, kinds, layer)
    prefix = _prefix(near, where, kinds, known, ignored, layer, asked=name is not None)
    group = owned(prefix, known)
    if direction is not None:
        group = _one_way(group, ignored, where, direction)
        where = f"{where} ({direction})"
    fits = {
        found.kind.name: found
        for kind in kinds
        if holds(kind, group, asked=name is not None)
        for found in (fit(kind, group, known, ignored, forced=name == STACK),)
    }
    best = _best(list(fits.values()), where)
    if direction is None:
        _no_strays(best, prefix, near, where)
    _check_size(best)
    return best


def recurrent_prefixes(names: Collection[str]) -> list[str]:
    """The prefixes, with their dots, whose tensors speak of some cell by their names, or of one of
    torch's whose weights are stored in parts."""
    found = [
        prefix
        for prefix, group in direct(names).items()
        if any(holds(kind, group, asked=False) for kind in CELLS.values())
    ]
    parts = [part[1] for part in map(PART.fullmatch, names) if part]
    return list(dict.fromkeys([*found, *parts]))


def _named(tensors: Mapping[str, Tensor], where: str) -> dict[str, Tensor]:
    """The tensors by names that are text, no two of them alike."""
    known = {str(key): tensor for key, tensor in tensors.items()}
    if len(known) < len(tensors):
        raise InputError(f"{where} has two keys that read alike; keep one of them")
    if flat := next((name for name in known if name.endswith(_FLAT)), None):
        what = f"{where} holds {shown(flat)}, the flat weights of a shard of FSDP"
        raise InputError(f"{what}; save the model's full state dict (FULL_STATE_DICT)")
    return known


def _within(names: Collection[str], where: str, kinds: Sequence[Kind], layer: str) -> list[str]:
    """The names of that part of a model, which has some."""
    found = [full for full in names if full.startswith(f"{layer}.")]
    if layer == ROOT:
        found = list(owned("", names).values())
    if not found:
        groups = {prefix[:-1] or ROOT: group for prefix, group in direct(names).items()}
        recurrent = [
            part
            for part, group in groups.items()
            if any(holds(kind, group, asked=False) for kind in kinds)
        ]
        listed = choices(sorted(recurrent or groups), layer)
        raise InputError(f"{where} holds no layer {shown(layer)}; it has {listed}: choose one")
    return found


def _prefix(
    names: Collection[str],
    where: str,
    kinds: Sequence[Kind],
    known: Mapping[str, Tensor],
    ignored: tuple[str, ...],
    layer: str | None,
    *,
    asked: bool,
) -> str:
    """The prefix of the one cell of these kinds: of several, of the one that is not ignored."""
    cells: dict[str, list[Fit]] = {}
    for prefix, group in direct(names).items():
        speaking = [kind for kind in kinds if holds(kind, group, asked=asked)]
        if speaking:
            cells[prefix] = [fit(kind, group, known, ignored) for kind in speaking]
    if not cells:
        if parts := stored_in_parts(names):
            raise InputError(f"{where} holds {parts}")
        if alone := [full for full in names if full.endswith("weight_hh_l0_reverse")]:
            what = f"{where} holds {shown(alone[0])}, the reverse direction alone"
            remedy = (
                "hand over its state dict as a forward cell, whose inputs come in reverse order"
            )
            raise InputError(f"{what}; {remedy}")
        held = ", ".join(shown(full) for full in list(names)[:4]) or "nothing"
        wanted, what = _wanted(kinds)
        raise InputError(f"{where} holds {held}, but no {wanted}; save {what} state dict")
    meant = [prefix for prefix, fits in cells.items() if not all(one.dropped for one in fits)]
    if not meant:
        found = next(iter(cells.values()))[0]
        what = f"{found.kind.name} needs {shown(found.dropped[0])} of {where}"
        raise InputError(f"{what}, so that it cannot be ignored; leave it out of what is")
    if layer is not None and f"{layer}." in meant:
        return f"{layer}."
    if len(meant) > 1:
        listed = choices(sorted(prefix[:-1] or ROOT for prefix in meant))
        raise InputError(f"{where} holds several cells ({listed}); choose one with --layer")
    return meant[0]


def _wanted(kinds: Sequence[Kind]) -> tuple[str, str]:
    """The first name that a cell of the first of the kinds has, and whose state dict has it."""
    first = kinds[0].layout(()).required[0] + kinds[0].suffix
    return first, "an RNN's" if TORCH.fullmatch(first) else f"a {kinds[0].name} cell's"


def _best(fits: Sequence[Fit], where: str) -> Fit:
    """The one kind that fits by names and shapes, or, of several, the one that is the default."""
    for full in dict.fromkeys(full for one in fits for full in one.tensors.values()):
        check_tensor(shown(full), fits[0].known[full])
    exact = [one for one in fits if one.exact]
    if not exact:
        if parts := stored_in_parts(fits[0].group.values()):
            raise InputError(f"{where} holds {parts}")
        raise match_error(max(fits, key=_nearness), where)
    fitting = [one for one in exact if one.fits]
    if not fitting:
        raise misshapen(max(exact, key=lambda one: one.shapes_fitting), alone=len(fits) == 1)
    usual = fitting if len(fitting) == 1 else [one for one in fitting if one.kind.default]
    if len(usual) != 1:
        raise ambiguous(where, [one.kind.name for one in fitting])
    return usual[0]


def _check_size(best: Fit) -> None:
    """Refuse a cell for which nobody has the memory: its comparison has N² + N d entries."""
    sizes = best.layout.sizes(best.weights)
    N, d = sizes.state, sizes.d
    if N * (N + d) > LARGEST_STEP:
        what = f"{best.kind.name} has {N} states and {d} inputs, too many to be certified"
        limit = f"N(N + d) is at most {LARGEST_STEP}"
        raise InputError(f"{what} ({limit}); take fewer units or layers")


def _nearness(one: Fit) -> tuple[bool, int, int, int, bool]:
    """How much a kind that does not fit looks like what was meant; torch's own before others."""
    named = one.kind.mode is not None
    return (one.fits, -len(one.missing), one.shapes_fitting, -len(one.unread), named)


def _no_strays(best: Fit, prefix: str, known: Collection[str], where: str) -> None:
    """Refuse names that are the cell's but for their prefix.

    Those of torch's cells are nobody else's, as long as no other cell is there to have them; and
    nothing but the cell has parts below the names of its weights.
    """
    anchor = next(iter(best.tensors.values()))
    torchs = TORCH.fullmatch(next(iter(best.places.values()))) is not None
    for other, group in direct(known).items():
        if other == prefix or not _ANCHORS.isdisjoint(group):
            continue
        for full in group.values():
            parts = full.split(".")
            lost = torchs and any(map(TORCH.fullmatch, parts))
            below = not prefix and parts[0] in best.places.values()
            if (lost or below) and full not in best.ignored:
                if apart := stored_in_parts([name for name in known if name.startswith(other)]):
                    raise InputError(f"{where} holds {apart}")
                what = f"{where} holds {shown(full)} apart from {shown(anchor)}"
                if is_parameter(parts[-1]):
                    raise InputError(f"{what}; rename it, or choose the cell by --layer")
                raise InputError(f"{what}; rename it, or say --ignore {shown(full)}")


def check_tensor(name: str, tensor: object) -> None:
    """Refuse, before anything is allocated, what is not a plain array of real floats."""
    if not isinstance(tensor, Tensor):
        raise InputError(f"{name} is a {type(tensor).__name__}, not a tensor; save a state dict")
    if type(tensor) not in PLAIN:
        what = f"{name} is a {type(tensor).__name__}, no plain tensor"
        raise InputError(f"{what}; convert it with .as_subclass(torch.Tensor) first")
    if tensor.device.type == "meta":
        what = f"{name} is on the meta device, which holds no values"
        raise InputError(f"{what}; load the weights first, as with load_state_dict(…, assign=True)")
    if tensor.is_quantized:
        raise InputError(f"{name} is quantised; take the model before it was quantised")
    if tensor.layout != torch.strided:
        raise InputError(f"{name} is no dense tensor; convert it with .to_dense() first")
    if tensor.dtype not in _DTYPES:
        raise InputError(f"{name} is {tensor.dtype}, not a real float; convert it with .float()")
    if tensor.numel() * tensor.element_size() > tensor.untyped_storage().nbytes():
        raise InputError(f"{name} claims more entries than it stores; save a contiguous copy")


def _require_direction(direction: str) -> None:
    """Raise InputError for another word than forward and backward."""
    if direction == "reverse":
        raise InputError("the direction 'reverse' is called backward; say backward")
    if direction not in DIRECTIONS:
        raise UnknownNameError("direction", direction, DIRECTIONS)


def _one_way(
    group: Mapping[str, str], ignored: Collection[str], where: str, direction: str
) -> dict[str, str]:
    """The group of one direction, by the names of a layer that has no other.

    Raises InputError for one direction only and for several layers, of which the second reads both.
    """
    own = {one: full for one, full in group.items() if full not in ignored}
    named = {one: found for one in own if (found := _NAME.fullmatch(one))}
    if not any(found[3] for found in named.values()):
        raise InputError(f"{where} has one direction only; leave out the direction")
    if count := max(int(found[2]) for found in named.values()):
        what = f"{where} has {count + 1} layers, of which the second reads both directions"
        raise InputError(
            f"{what}; keep its first layer alone, or measure the whole module with --as-is"
        )
    end = "_reverse" if direction == "backward" else None
    return {
        f"{named[one][1]}0" if one in named else one: full
        for one, full in own.items()
        if one not in named or named[one][3] == end
    }
