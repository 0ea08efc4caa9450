"""The recurrent layers that a model has, each with the cell that it is or why it is not read."""

from dataclasses import dataclass

from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.errors import InputError
from rnnbounds.impl.reading.adapters import load_cells
from rnnbounds.impl.reading.opened import Opened
from rnnbounds.impl.reading.recognition.recognise import ROOT, recurrent_prefixes
from rnnbounds.impl.reading.sources import Source, open_source


@dataclass(frozen=True)
class Layer:
    """One recurrent layer, or a stack of such, by its prefix; "." has none.

    cell: its kind, None if it is not read as it stands, for that `reason`. n, d, states: the sizes
    of its output, of its input and of its state. direction: which of a layer in both directions,
    that has two. source: what certificates call it, where only a part of the layer is read.
    """

    name: str
    cell: str | None = None
    n: int | None = None
    d: int | None = None
    states: int | None = None
    dtype: str | None = None
    source: str | None = None
    reason: str | None = None
    direction: str | None = None


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
        layer
        for name in (_named(opened) if named is None else named)
        for layer in _layers(opened, name, cell)
    )


def _named(opened: Opened) -> list[str]:
    """The layers whose tensors speak of some cell, by their names."""
    names = [str(key) for key in opened.told(None).tensors]
    return [prefix[:-1] or ROOT for prefix in recurrent_prefixes(names)]


def _layers(opened: Opened, name: str, cell: str | None) -> list[Layer]:
    """The layer, or its two cells if it reads its inputs in both directions."""
    try:
        models = load_cells(opened, cell, layer=name)
    except InputError as error:
        return [Layer(name, reason=str(error))]
    found = []
    for direction, model in models.items():
        states = kind_of(model.name).layout(model.weights).sizes(model.weights).state
        title = model.source.removesuffix(f" ({direction})")
        source = None if title == opened.title else title
        sizes = model.n, model.d, states
        found.append(Layer(name, model.name, *sizes, model.dtype, source, direction=direction))
    return found
