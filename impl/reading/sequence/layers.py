"""The sequence layers of a state dict: found by their names, and one of them read.

A layer is named by its prefix; "layer[0:64]" is the recurrence of its first 64 channels, which do
not depend on the others.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from torch import Tensor

from rnnbounds.impl.cells.table import CELLS
from rnnbounds.impl.errors import InputError, ShapeError, shown
from rnnbounds.impl.reading.recognition.fit import direct, holds
from rnnbounds.impl.reading.recognition.misfit import WeightsError
from rnnbounds.impl.reading.recognition.recognise import LARGEST_STEP, check_tensor
from rnnbounds.impl.reading.sequence import griffin, mamba, rwkv, state_space, xlstm
from rnnbounds.impl.reading.sequence.family import Family, Recurrence, Settings

FAMILIES: tuple[Family, ...] = (
    *mamba.FAMILIES, *griffin.FAMILIES, *rwkv.FAMILIES, *xlstm.FAMILIES, *state_space.FAMILIES,
)  # fmt: skip
_QUICK = 2**21  # entries of the derivative of one step that take a minute or less
_ANCHORS = {*(family.anchor for family in FAMILIES), xlstm.SLSTM}
_LAYER = re.compile(r"_l\d+$")
_SLICE = re.compile(r"(.*)\[([0-9]{1,9}):([0-9]{1,9})\]")
_OWN = "give the recurrence itself by the names of a cell, as the how-to on reading lists them"


def prefixes(names: Sequence[str]) -> list[str]:
    """The prefixes, with their dots, of layers that some family may have; a cell of the table by
    its own names is none, nor are layers of it, whose names have numbers as torch's."""
    groups, found = direct(names), dict[str, None]()
    for full in names:
        for anchor in _ANCHORS:
            prefix = full.removesuffix(anchor)
            if prefix != full and (not prefix or prefix.endswith(".")):
                group = groups.get(prefix, {})
                stacked = any(_LAYER.search(own) for own in group)
                if not stacked and not any(
                    holds(kind, group, asked=False) for kind in CELLS.values()
                ):
                    found[prefix] = None
    return list(found)


def split_channels(layer: str) -> tuple[str, slice | None]:
    """The layer and the channels that a name asks for: "a.b[0:64]" is a.b and its first 64."""
    match = _SLICE.fullmatch(layer)
    return (layer, None) if match is None else (match[1], slice(int(match[2]), int(match[3])))


def read_layer(
    tensors: Mapping[str, Tensor], prefix: str, channels: slice | None, settings: Settings
) -> tuple[Family, Recurrence]:
    """The recurrence of the layer of that prefix; raises an InputError for what is no such layer,
    or has too many states to be certified at once."""
    name = prefix[:-1] or "."
    group = {full[len(prefix) :]: part for full, part in tensors.items() if full.startswith(prefix)}
    family = _family(group, name)
    _check_model(family, settings)
    for own, part in group.items():
        if own in family.used or not isinstance(part, Tensor):
            check_tensor(shown(prefix + own), part)
    try:
        sizes = family.layout.symbols(group)
    except ShapeError as wrong:
        raise WeightsError(f"{shown(name)} is no {family.name} layer: {wrong}") from None
    count = sizes[family.channels]
    asked = slice(0, count) if channels is None else channels
    if not asked.start < asked.stop <= count:
        what = f"{shown(name)} has the channels 0:{count}, not {asked.start}:{asked.stop}"
        raise WeightsError(f"{what}; ask for some of these")
    _check_size(family, sizes, asked, name)
    return family, family.read(group, asked, settings)


def _family(group: Mapping[str, Tensor], name: str) -> Family:
    """The family whose names these are."""
    if xlstm.SLSTM in group:
        what = f"{shown(name)} is an sLSTM, whose gates see its own output over a normaliser"
        raise WeightsError(f"{what}, and which no cell here is; measure its memory instead")
    near = [family for family in FAMILIES if family.anchor in group]
    best = min(near, key=lambda family: len(list(_faults(family, group))))
    if fault := next(_faults(best, group), None):
        raise WeightsError(f"{shown(name)} {fault}; {_OWN}")
    return best


def _faults(family: Family, group: Mapping[str, Tensor]) -> Iterator[str]:
    """Reasons why these tensors are no layer of that family."""
    for own in family.layout.required:
        if own not in group:
            yield f"holds no {own}, which {family.name} has"
    for own in group:
        if own not in family.layout.shapes:
            yield f"holds {shown(own)}, which {family.name} does not have"


def _check_model(family: Family, settings: Settings) -> None:
    """Raise InputError if the configuration speaks of a model whose layers were not verified."""
    stated = settings.get("model_type")
    if family.models and stated is not None and stated not in family.models:
        what = f"config.json has model_type {shown(stated)}, whose layers may differ from"
        raise InputError(f"{what} {family.name}'s; {_OWN}")


def _check_size(family: Family, sizes: Mapping[str, int], asked: slice, name: str) -> None:
    """Raise WeightsError if the channels are too many to be certified at once."""
    count = asked.stop - asked.start

    def entries(channels: int) -> int:
        states, inputs = family.size(sizes, channels)
        return states * (states + inputs)

    if entries(count) <= LARGEST_STEP:
        return
    fewer = count
    while fewer > 1 and entries(fewer) > _QUICK:
        fewer //= 2
    what = f"{shown(name)} has {family.size(sizes, count)[0]} states, too many at once"
    part = f"{name}[{asked.start}:{asked.start + fewer}]"
    raise WeightsError(
        f"{what}; its channels are independent: take --layer '{shown(part)}' and so on"
    )
