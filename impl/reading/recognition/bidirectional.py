"""Models in both directions: each layer's two cells are recognised like any cell of torch's.

torch names the weights of the reverse direction of layer l `weight_ih_l{l}_reverse`, …, beside
`weight_ih_l{l}`. Each layer's forward and reverse weights, as a layer 0, are a cell.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from torch import Tensor

from rnnbounds.impl.cells.stacks.stack import MOST_LAYERS, PREFIX
from rnnbounds.impl.cells.table import STACK
from rnnbounds.impl.errors import ShapeError, shown
from rnnbounds.impl.format.bidirectional import ENDS
from rnnbounds.impl.models.bidirectional import DIRECTIONS
from rnnbounds.impl.reading.recognition.misfit import WeightsError
from rnnbounds.impl.reading.recognition.recognise import Located, Reading, locate, recognise

_NAME = re.compile(r"((?:weight|bias)_[hi][hir]_l)(0|[1-9][0-9]*)(_reverse)?")


@dataclass(frozen=True, eq=False)
class ReadingBoth:
    """The cells of all layers, (forward, reverse), the lowest first; `unread` as in `Reading`."""

    layers: tuple[tuple[Reading, Reading], ...]
    ignored: tuple[str, ...]
    unread: tuple[str, ...]


def recognise_both(
    tensors: Mapping[str, Tensor],
    where: str,
    name: str | None,
    ignore: Collection[str] = (),
    layer: str | None = None,
) -> ReadingBoth | None:
    """The layers of a model in both directions; None if it has one direction only.

    Arguments as in `recognise`; `name` is the cell of every layer. Raises an InputError where a
    layer lacks a direction, or its tensors are not those of the cell.
    """
    place = locate(tensors, where, name, ignore, layer)
    if not any(_reverse(own) and full not in place.ignored for own, full in place.group.items()):
        return None
    inner = None if name == STACK or name is None else name.removeprefix(PREFIX)
    parts = _parts(place, where)
    cells = [
        _cell(part, f"{where} (layer {l + 1}, {direction})", inner)
        for l, both in enumerate(parts)
        for direction, part in zip(DIRECTIONS, both, strict=True)
    ]
    layers = tuple(zip(cells[::2], cells[1::2], strict=True))
    _require_fitting(layers)
    read = {full for cell in cells for full in cell.tensors.values()}
    further = place.known.keys() - read - set(place.ignored)
    return ReadingBoth(layers, place.ignored, tuple(sorted(further)))


def _reverse(own: str) -> bool:
    found = _NAME.fullmatch(own)
    return found is not None and found[3] is not None


Part = dict[str, tuple[str, Tensor]]  # name of a layer 0 -> full name and tensor


def _parts(place: Located, where: str) -> list[tuple[Part, Part]]:
    """The tensors of each layer by direction; what has no such name stands with the first cell,
    which refuses it. Raises WeightsError for layers that are missing or too many."""
    found: dict[tuple[int, str], Part] = {}
    for own, full in place.group.items():
        if full in place.ignored:
            continue
        named = _NAME.fullmatch(own)
        key, role = (0, ""), own
        if named is not None:
            key, role = (int(named[2]), named[3] or ""), f"{named[1]}0"
        found.setdefault(key, {})[role] = full, place.known[full]
    count = 1 + max(l for l, _ in found)
    if count > MOST_LAYERS:
        raise WeightsError(f"{where} has {count} layers, too many; keep {MOST_LAYERS} at most")
    for l in range(count):
        for end in ENDS:
            if (l, end) not in found:
                what = f"{where} holds no {place.prefix}weight_hh_l{l}{end}"
                raise WeightsError(f"{what}; save the whole state dict")
    forward, reverse = ENDS
    return [(found[l, forward], found[l, reverse]) for l in range(count)]


def _cell(part: Part, where: str, name: str | None) -> Reading:
    found = recognise({role: tensor for role, (_, tensor) in part.items()}, where, name)
    return replace(found, tensors={role: part[own][0] for role, own in found.tensors.items()})


def _require_fitting(layers: tuple[tuple[Reading, Reading], ...]) -> None:
    """Raise unless all cells are of one kind and dtype, and each layer reads the one below."""
    first, width = layers[0][0], None
    for l, both in enumerate(layers):
        sizes = [cell.kind.layout(cell.weights).sizes(cell.weights) for cell in both]
        for cell, size in zip(both, sizes, strict=True):
            if cell.kind.name != first.kind.name:
                kinds = f"{shown(first.kind.name)} and {shown(cell.kind.name)}"
                raise WeightsError(f"the layers mix {kinds}; keep layers of one cell")
            if size.d != (width or sizes[0].d):
                weight = cell.weights["weight_ih"]
                needed = f"(…, {width or sizes[0].d})"
                raise ShapeError(f"weight_ih of layer {l + 1}", needed, weight)
        width = sum(size.n for size in sizes)
