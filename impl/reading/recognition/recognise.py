"""Which tensors of a source are the weights of a recurrent cell, and of which kind.

Weights are data: none is believed before its dtype, shape and storage were looked at. Names are
exact: what stands among a cell's own tensors and is not read makes it another network.

A layer in both directions, read as two cells: each has torch's names of a layer 0.

torch names the weights of the backward cell `weight_ih_l0_reverse`, …, beside `weight_ih_l0`.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from rnnbounds.impl.cells.kind import Kind
from rnnbounds.impl.cells.stacks.stack import PREFIX
from rnnbounds.impl.cells.table import CELLS, STACK, kind_of
from rnnbounds.impl.errors import InputError, UnknownNameError, shown
from rnnbounds.impl.reading.recognition.fit import TORCH, Fit, direct, fit, holds, owned
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
_PLAIN = (Tensor, torch.nn.Parameter)
_FLAT = ("_flat_param", ".flat_param")
ROOT = "."  # the layer of what has no prefix
_ANCHORS = {"weight_hh", "weight_hh_l0"}  # where one stands, it is a cell's that is ignored


@dataclass(frozen=True, eq=False)
class Reading:
    """The one cell of a source: its kind, and its weights by role.

    tensors: their full names in the source, by role. ignored: the full names that the caller said
    to leave out. unread: those of all other tensors, which have another prefix than the cell,
    then those of other things, say of an epoch.
    """

    kind: Kind
    weights: dict[str, Tensor]
    tensors: dict[str, str]
    ignored: tuple[str, ...]
    unread: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Located:
    """Place of the tensors of one cell among others, before their shapes are looked at.

    known: all tensors by name. kinds: the candidates. near: the names of the part of the model that
    is meant. prefix: that of the cell, with its dot. ignored: full names that are left out.
    """

    known: dict[str, Tensor]
    kinds: tuple[Kind, ...]
    near: Collection[str]
    prefix: str
    ignored: tuple[str, ...]

    @property
    def group(self) -> dict[str, str]:
        """Full names of the cell's group, by the names without the prefix."""
        return owned(self.prefix, self.known)


def locate(
    tensors: Mapping[str, Tensor],
    where: str,
    name: str | None,
    ignore: Collection[str] = (),
    layer: str | None = None,
) -> Located:
    """Find the prefix of the one cell among the tensors; arguments as in `recognise`.

    Raises InputError where no cell or several are.
    """
    known = _named(tensors, where)
    if not isinstance(ignore, Collection):
        raise InputError(f"ignore = {shown(ignore)} is no list; give it the names of tensors")
    ignored = tuple(dict.fromkeys([ignore] if isinstance(ignore, str) else ignore))
    if unknown := [full for full in ignored if full not in known]:
        what = f"{where} holds no {shown(unknown[0])}, so that it cannot be ignored"
        raise InputError(f"{what}; leave it out of what is ignored")
    kinds = [kind for kind in CELLS.values() if name is None or kind.suffix]
    kinds = kinds if name is None or name == STACK else [kind_of(name)]
    near = known.keys() if layer is None else _within(known, where, kinds, layer)
    prefix = _prefix(near, where, kinds, ignored, layer, asked=name is not None)
    return Located(known, tuple(kinds), near, prefix, ignored)


def recognise(
    tensors: Mapping[str, Tensor],
    where: str,
    name: str | None,
    ignore: Collection[str] = (),
    *,
    layer: str | None = None,
) -> Reading:
    """The one cell among the tensors, or the one stack.

    name: that of the kind, or STACK for a stack of whatever fits; None takes what fits, if only one
    kind does. A kind of torch's stands for its stacks too. ignore: full names that are left out,
    none of which the cell needs. layer: the prefix of the cell without its dot, or one that no
    other cell shares; "." for none. Raises an InputError.
    """
    place = locate(tensors, where, name, ignore, layer)
    known, group, ignored = place.known, place.group, place.ignored
    fits = {
        found.kind.name: found
        for kind in place.kinds
        if holds(kind, group, asked=name is not None)
        for found in (fit(kind, group, ignored, forced=name == STACK),)
    }
    best = _best(list(fits.values()), known, where)
    _no_strays(best, place.prefix, place.near, where)
    _check_size(best, known)
    read = best.tensors
    further = known.keys() - set(read.values()) - set(ignored)
    unread = sorted(further, key=lambda full: (type(known[full]) not in _PLAIN, full))
    weights = {role: known[full] for role, full in read.items()}
    return Reading(best.kind, weights, read, ignored, tuple(unread))


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
    ignored: Collection[str],
    layer: str | None,
    *,
    asked: bool,
) -> str:
    """The prefix of the one cell of these kinds: of several, of the one that is not ignored."""
    cells: dict[str, list[Fit]] = {}
    for prefix, group in direct(names).items():
        speaking = [kind for kind in kinds if holds(kind, group, asked=asked)]
        if speaking:
            cells[prefix] = [fit(kind, group, ignored) for kind in speaking]
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


def _best(fits: Sequence[Fit], known: Mapping[str, Tensor], where: str) -> Fit:
    """The one kind that fits by names and shapes, or, of several, the one that is the default."""
    for full in dict.fromkeys(full for one in fits for full in one.tensors.values()):
        check_tensor(shown(full), known[full])
    exact = [one for one in fits if one.exact]
    if not exact:
        if parts := stored_in_parts(fits[0].group.values()):
            raise InputError(f"{where} holds {parts}")
        raise match_error(max(fits, key=lambda one: _nearness(one, known)), where)
    fitting = [one for one in exact if one.fits(known)]
    if not fitting:
        raise misshapen(
            max(exact, key=lambda one: one.count_fitting(known)), known, alone=len(fits) == 1
        )
    usual = fitting if len(fitting) == 1 else [one for one in fitting if one.kind.default]
    if len(usual) != 1:
        raise ambiguous(where, [one.kind.name for one in fitting])
    return usual[0]


def _check_size(best: Fit, known: Mapping[str, Tensor]) -> None:
    """Refuse a cell for which nobody has the memory: its comparison has N² + N d entries."""
    sizes = best.layout.sizes({role: known[full] for role, full in best.tensors.items()})
    N, d = sizes.state, sizes.d
    if N * (N + d) > LARGEST_STEP:
        what = f"{best.kind.name} has {N} states and {d} inputs, too many to be certified"
        limit = f"N(N + d) is at most {LARGEST_STEP}"
        raise InputError(f"{what} ({limit}); take fewer units or layers")


def _nearness(one: Fit, known: Mapping[str, Tensor]) -> tuple[bool, int, int, int, bool]:
    """How much a kind that does not fit looks like what was meant; torch's own before others."""
    named = one.kind.mode is not None
    shaped = one.count_fitting(known)
    return (one.fits(known), -len(one.missing), shaped, -len(one.unread), named)


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
    if type(tensor) not in _PLAIN:
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


DIRECTIONS = ("forward", "backward")
_NAME = re.compile(r"((?:weight|bias)_[hi][hir]_l)(0|[1-9][0-9]*)(_reverse)?")


def recognise_direction(
    tensors: Mapping[str, Tensor],
    where: str,
    name: str | None,
    ignore: Collection[str],
    layer: str | None,
    direction: str,
) -> Reading:
    """The cell of one direction of a layer; the other one's tensors are among those not read.

    Arguments as in `recognise`; `name` is the cell of both. Raises InputError for another word,
    InputError for one direction only and for several layers, of which the second reads both.
    """
    if direction == "reverse":
        raise InputError("the direction 'reverse' is called backward; say backward")
    if direction not in DIRECTIONS:
        raise UnknownNameError("direction", direction, DIRECTIONS)
    place = locate(tensors, where, name, ignore, layer)
    own = {one: full for one, full in place.group.items() if full not in place.ignored}
    named = {one: found for one in own if (found := _NAME.fullmatch(one))}
    if not any(found[3] for found in named.values()):
        raise InputError(f"{where} has one direction only; leave out the direction")
    if count := max(int(found[2]) for found in named.values()):
        what = f"{where} has {count + 1} layers, of which the second reads both directions"
        raise InputError(
            f"{what}; keep its first layer alone, or measure the whole module with --as-is"
        )
    end = "_reverse" if direction == "backward" else None
    roles = {
        f"{named[one][1]}0" if one in named else one: full
        for one, full in own.items()
        if one not in named or named[one][3] == end
    }
    inner = None if name in (None, STACK) else str(name).removeprefix(PREFIX)
    part = {role: place.known[full] for role, full in roles.items()}
    cell = recognise(part, f"{where} ({direction})", inner)
    read = {role: roles[one] for role, one in cell.tensors.items()}
    further = place.known.keys() - set(read.values()) - set(place.ignored)
    return replace(cell, tensors=read, ignored=place.ignored, unread=tuple(sorted(further)))
