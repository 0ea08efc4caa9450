"""The recurrent layers that a model has, each with the cell that it is or why it is not read."""

from dataclasses import dataclass

from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.errors import InputError
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.impl.reading.adapters import read_any
from rnnbounds.impl.reading.opened import Opened
from rnnbounds.impl.reading.recognition.recognise import ROOT, recurrent_prefixes
from rnnbounds.impl.reading.sources import Source, open_source


@dataclass(frozen=True)
class Layer:
    """One recurrent layer, or a stack of such, by its prefix; "." has none.

    cell: its kind, None if it is not read as it stands, for that `reason`. n, d, states: the sizes
    of its output, of its input and of its state. source: what certificates call
    it, where only a part of the layer is read.
    """

    name: str
    cell: str | None = None
    n: int | None = None
    d: int | None = None
    states: int | None = None
    dtype: str | None = None
    source: str | None = None
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
    """The layers whose tensors speak of some cell, by their names."""
    names = [str(key) for key in opened.told(None).tensors]
    return [prefix[:-1] or ROOT for prefix in recurrent_prefixes(names)]


def _layer(opened: Opened, name: str, cell: str | None) -> Layer:
    try:
        model = read_any(opened, cell, (), name)
    except InputError as error:
        return Layer(name, reason=str(error))
    cells = (
        [model] if isinstance(model, LoadedModel) else [c for both in model.layers for c in both]
    )
    states = sum(kind_of(c.name).layout(c.weights).sizes(c.weights).state for c in cells)
    source = None if model.source == opened.title else model.source
    return Layer(name, model.name, model.n, model.d, states, model.dtype, source)
