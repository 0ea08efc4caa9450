"""The recurrent layers that a model has, each with the cell that it is or why it is not read."""

from dataclasses import dataclass
from typing import Any

from rnnbounds.impl.cells.layout import Sizes
from rnnbounds.impl.cells.table import CELLS, kind_of
from rnnbounds.impl.errors import InputError
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.impl.reading.adapters import read, read_both
from rnnbounds.impl.reading.opened import Opened
from rnnbounds.impl.reading.recognition.fit import TORCH, direct, holds
from rnnbounds.impl.reading.recognition.parts import prefixes_of_parts
from rnnbounds.impl.reading.recognition.recognise import ROOT
from rnnbounds.impl.reading.sources import Source, open_source


@dataclass(frozen=True)
class Layer:
    """One recurrent layer, or a stack of such, by its prefix; "." has none.

    cell: its kind, None if it is not read as it stands, for that `reason`. n, d, states: the sizes
    of its output, of its input and of its state.
    """

    name: str
    cell: str | None = None
    n: int | None = None
    d: int | None = None
    states: int | None = None
    dtype: str | None = None
    reason: str | None = None


def layers(source: Source, cell: str | None = None) -> tuple[Layer, ...]:
    """All layers of a source as `load_model` takes it, read with `cell` where one is named.

    Raises an InputError for what is no model at all.

    >>> [layer.name for layer in rnnbounds.layers("checkpoint.pt")]
    """
    opened = open_source(source)
    named = opened.layers()
    if named == []:
        opened.told(None)  # raises, and says what there is instead
    return tuple(
        _layer(opened, name, cell) for name in (_named(opened) if named is None else named)
    )


def _named(opened: Opened) -> list[str]:
    """The prefixes whose tensors speak of some cell, by their names."""
    names = [str(key) for key in opened.told(None).tensors]
    kinds = CELLS.values()
    found = [
        prefix
        for prefix, group in direct(names).items()
        if any(holds(kind, group, asked=False) for kind in kinds)
    ]
    recurrent = [one for one in prefixes_of_parts(names) if _recurrent(one, names)]
    return [prefix[:-1] or ROOT for prefix in dict.fromkeys([*found, *recurrent])]


def _recurrent(prefix: str, names: list[str]) -> bool:
    """True if a module whose weights are in parts has others by torch's names of a cell."""
    return any(TORCH.fullmatch(own) for own in direct(names).get(prefix, ()))


def _layer(opened: Opened, name: str, cell: str | None) -> Layer:
    try:
        both = read_both(opened, cell, (), name)
        if both is not None:
            cells = [one for layer in both.layers for one in layer]
            states = sum(_sizes(one).state for one in cells)
            return Layer(name, both.name, both.n, both.d, states, both.dtype)
        model = read(opened, cell, (), name)
    except InputError as error:
        return Layer(name, reason=str(error))
    sizes = _sizes(model)
    return Layer(name, model.name, sizes.n, sizes.d, sizes.state, model.dtype)


def _sizes(model: LoadedModel[Any]) -> Sizes:
    return kind_of(model.name).layout(model.weights).sizes(model.weights)
