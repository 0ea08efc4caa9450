"""Why tensors are not the weights of a cell: each reason as one line with its remedy."""

import re
from collections.abc import Collection, Sequence
from difflib import get_close_matches

from rnnbounds.impl.cells.kind import Layout
from rnnbounds.impl.cells.stacks.stack import PREFIX
from rnnbounds.impl.cells.table import CELLS
from rnnbounds.impl.errors import InputError, ShapeError, shown
from rnnbounds.impl.reading.recognition.fit import TORCH, Fit, fit

_PROJECTION = re.compile(r"weight_hr(_l[0-9]+)?")
_SYMBOL = re.compile(r"_l\d+")
_ENDING = re.compile(r"_l(0|[1-9][0-9]*)$")
_NAMES = r"(?:weight|bias)_[hi][hir](?:_l\d+(?:_reverse)?)?"
_PACKED = r"(?:_packed_params|_all_weight_values)\b.*"  # of torch's quantised layers
PART = re.compile(
    rf"((?:.+\.)?)(?:parametrizations\.{_NAMES}\..+|{_NAMES}_(?:g|v|u|orig|mask|raw)|{_PACKED})"
)
_OTHER_CELL = re.compile(r"norm|(^|[._])ln|gamma|clip|coupl|zone|highway", re.IGNORECASE)
LISTED = 6  # names in one line
_USUAL = ("tanh", "relu")


class DirectionsError(InputError):
    """A model in both directions, of which no cell is named."""

    def __init__(self, where: str, name: str) -> None:
        super().__init__(
            f"{where} reads its inputs in both directions ({name}), as two cells; certify, measure "
            f'and attack take one: say direction="forward" or "backward" (--direction)'
        )


def ambiguous(where: str, names: Sequence[str]) -> InputError:
    """That tensors are the weights of several kinds of cells alike."""
    usual = _usual(names)
    others = ", ".join(name for name in names if name not in usual)
    told = " or ".join(usual) + (f" (or {others})" if others else "")
    return InputError(f"{where} does not say which cell it holds; say --cell {told}")


def stored_in_parts(names: Collection[str]) -> str | None:
    """That a weight is stored as parts of which a module computes it; None if none is."""
    part = next(filter(PART.fullmatch, names), None)
    if part is None:
        return None
    if re.search(_PACKED, part):
        return f"{shown(part)}, of a quantised layer; pass the model before it was quantised"
    what = f"{shown(part)}, of which a module computes a weight"
    return f"{what}; load it into the module, and pass the module in eval mode"


def choices(names: Collection[str], asked: str | None = None) -> str:
    """Names to choose among, those alone that are close to what was asked for if some are."""
    close = get_close_matches(asked, names, n=3) if asked else []
    listed = close or list(names)
    return ", ".join(map(shown, listed[:LISTED])) + (", …" if len(listed) > LISTED else "")


def _usual(names: Sequence[str]) -> list[str]:
    """Of cells that differ in their activation those with tanh and ReLU; else all of them."""
    rho = {name: name.removeprefix(PREFIX).partition("-")[2] for name in names}
    return [name for usual in _USUAL for name in names if rho[name] == usual] or list(names)


def match_error(found: Fit, where: str) -> InputError:
    """Build the error for names that do not fit the cell."""
    kind, group = found.kind, found.group
    if found.dropped:
        what = f"{kind.name} needs {shown(found.dropped[0])} of {where}"
        return InputError(f"{what}, so that it cannot be ignored; leave it out of what is")
    anchor = _ENDING.sub("", found.layout.required[0])
    layers = sum(_ENDING.sub("", name) == anchor for name in found.layout.required)
    for own in found.unread:
        full, twin = shown(group[own]), _twin(own, found)
        if TORCH.fullmatch(anchor) and TORCH.fullmatch(own) and own.endswith("_reverse"):
            return DirectionsError(where, full)
        if twin is not None:
            both = f"{where} holds {full} and {shown(group[twin])} for one place"
            return InputError(f"{both}, with and without _l0; keep one of them")
        if _PROJECTION.fullmatch(own):
            what = f"{where} holds {full}, a projection of LSTMs, but {kind.name} has none"
            return InputError(f"{what}; leave out the cell, or rename it")
        further = _ENDING.sub("", own) in {_ENDING.sub("", name) for name in found.places}
        if further and _ENDING.search(own) and f"{anchor}_l{layers}" not in group:
            what = f"{where} holds {full}, but no {anchor}_l{layers}"
            return InputError(f"{what}; save the whole state dict")
    if found.missing:
        return InputError(f"{where} holds no {found.missing[0]}; save the whole state dict")
    return _unread(found, where)


def _twin(own: str, found: Fit) -> str | None:
    """The name that is read for the place of another, which has _l0 where it has not."""
    other = own.removesuffix("_l0") if own.endswith("_l0") else f"{own}_l0"
    return other if other in found.places.values() and other in found.group else None


def _unread(found: Fit, where: str) -> InputError:
    names = [shown(found.group[own]) for own in found.unread]
    listed = ", ".join(names[:LISTED]) + (" and more" if len(names) > LISTED else "")
    free = [own for own in found.places.values() if own not in found.group]
    looked = f" (it looks for {', '.join(free)})" if free else ""
    what = f"{where} holds {listed}, which {found.kind.name} does not read{looked}"
    them = "it" if len(names) == 1 else "them"
    if own := next(filter(_OTHER_CELL.search, found.unread), None):
        what = f"{where} holds {shown(found.group[own])}, so that it is no {found.kind.name}"
        return InputError(f"{what} but another network; state it as a cell of your own")
    if any(map(is_parameter, found.unread)):
        return InputError(f"{what}; rename {them}, or state the cell that reads {them}")
    return InputError(f"{what}; rename {them}, or say --ignore {names[0]} to leave {them} out")


def is_parameter(own: str) -> bool:
    """True for the names of weights and biases of a cell, which no message advises to ignore: what
    a model computes with them would be left out."""
    return own.startswith(("weight", "bias"))


def misshapen(found: Fit, *, alone: bool) -> InputError:
    """Build the error for shapes that do not fit; `alone`: no other kind was considered."""
    if alone and found.shapes_fitting == 0 and (told := _suggestion(found)):
        return told
    try:
        found.layout.sizes(found.weights)
    except ShapeError as wrong:
        return wrong
    raise AssertionError("the shapes fit")


def _suggestion(found: Fit) -> InputError | None:
    """That the first weight is one of other kinds."""
    first, weight = next(iter(found.weights.items()))
    needed = ", ".join(_SYMBOL.sub("", found.layout.shapes[first]).split())
    others = []
    for kind in CELLS.values():
        other = fit(kind, found.group, found.known, found.ignored)
        shape = None if other.missing else other.layout.shapes.get(first)
        if shape is not None and Layout({first: shape}).count_fitting({first: weight}):
            others.append(other.kind)
    if not others:
        return None
    told = _usual([kind.name for kind in others if kind.default] or [kind.name for kind in others])
    name, actual = " or ".join(told), tuple(weight.shape)
    what = f"{first} of shape {actual} is that of {name}, but {found.kind.name} has ({needed})"
    return InputError(f"{what}; read it as {name}")
