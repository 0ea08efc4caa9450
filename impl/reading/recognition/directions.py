"""A layer in both directions, read as two cells: each has torch's names of a layer 0.

torch names the weights of the backward cell `weight_ih_l0_reverse`, …, beside `weight_ih_l0`.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import replace

from torch import Tensor

from rnnbounds.impl.cells.stacks.stack import PREFIX
from rnnbounds.impl.cells.table import STACK
from rnnbounds.impl.errors import InputError, UnknownNameError
from rnnbounds.impl.reading.recognition.recognise import Reading, locate, recognise

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
