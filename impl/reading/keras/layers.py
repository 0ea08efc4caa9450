"""The recurrent layers of a Keras model, each as the cells in it, one for each level and direction.

A layer is an LSTM, GRU or SimpleRNN, an RNN around cells, of which several are levels of one stack,
or a Bidirectional around one of these. `go_backwards` reads the inputs in reverse, and leaves the
outputs in the order in which they were computed. Source: keras.src.layers.rnn (3.15).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from torch import Tensor

from rnnbounds.impl.errors import shown
from rnnbounds.impl.reading.keras.cells import GATES, ROLES, Cell
from rnnbounds.impl.reading.keras.config import (
    Config,
    KerasError,
    LayerConfig,
    kind_of_layer,
    snake_case,
)
from rnnbounds.impl.reading.keras.stored import Place, Stored

_CELLS = {f"{kind}Cell": kind for kind in GATES}
_KINDS = (*GATES, "RNN", "Bidirectional")
_TELLING = ("recurrent_initializer", "return_sequences", "cell")
_OWN = "save its weights by torch's names if it computes a cell that is read"
_REVERSE = "_reverse"


@dataclass(frozen=True, eq=False)
class Layer:
    """A recurrent layer: `levels` has for each level the cells of its directions, which are "",
    "_reverse" or both, and `cell` is the name that all have here, None if it is not stated."""

    config: LayerConfig
    directions: tuple[str, ...]
    levels: tuple[tuple[Cell, ...], ...]
    cell: str | None

    def feeds(self, above: "Layer") -> bool:
        """True if both are layers of one stack, once the one above reads all outputs of this one.

        Outputs of a layer that goes backwards come in reverse, and what reads them goes on so.
        """
        both = len(self.directions) == len(above.directions)
        onwards = both and (len(above.directions) == 2 or above.directions == ("",))
        alike = self.cell == above.cell and self._said("time_major") == above._said("time_major")
        return onwards and alike and bool(self._said("return_sequences"))

    def _said(self, key: str) -> object:
        inner = self.config.settings.get("layer")
        settings = inner["config"] if isinstance(inner, Mapping) else self.config.settings
        return settings.get(key, False)


def weights_of(stack: Sequence[Layer]) -> dict[str, Tensor]:
    """The weights of layers that feed one another, by torch's names: weight_ih_l0, …, in the
    direction of the first one."""
    levels = [cells for layer in stack for cells in layer.levels]
    return {
        f"{role}_l{level}{direction}": tensor
        for level, cells in enumerate(levels)
        for direction, cell in zip(stack[0].directions, cells, strict=True)
        for role, tensor in cell.weights().items()
    }


def is_recurrent(layer: LayerConfig, stored: Stored) -> bool:
    """True for Keras' recurrent layers, and for others that are configured or stored like them."""
    inner = layer.settings.get("layer")
    wrapped = inner["config"] if isinstance(inner, Mapping) else {}
    settings = (layer.settings, wrapped)
    return (
        layer.kind in _KINDS
        or any(key in one for key in _TELLING for one in settings)
        or (">" in layer.kind and stored.is_recurrent(layer))
    )


def read_layer(layer: LayerConfig, stored: Stored, inputs: Collection[str]) -> Layer:
    """The cells of a recurrent layer; inputs: the names of the model's inputs. Raises KerasError
    for what is not read."""
    _check_calls(layer, inputs)
    if layer.kind == "Bidirectional":
        directions: tuple[str, ...] = ("", _REVERSE)
        levels: tuple[tuple[Cell, ...], ...] = (_two_directions(layer, stored),)
    else:
        directions = (_REVERSE if layer.settings.get("go_backwards") else "",)
        found = _cells(layer, layer.kind, layer.settings, Place("cell"), stored)
        levels = tuple((cell,) for cell in found)
    names = [cell.name for cells in levels for cell in cells]
    if other := [name for name in names if name != names[0]]:
        what = f"joins cells of {names[0]} and of {other[0]}"
        raise KerasError(layer.name, what, "give each a layer of its own, and save it again")
    return Layer(layer, directions, levels, names[0])


def _two_directions(layer: LayerConfig, stored: Stored) -> tuple[Cell, ...]:
    """The two cells of a Bidirectional layer."""
    merged = layer.settings.get("merge_mode", "concat")
    if merged != "concat":
        what = f"merges its directions by {shown(merged)}, not by concat"
        raise KerasError(layer.name, what, "save each direction as a layer of its own")
    forward = layer.settings["layer"]
    backward = layer.settings.get("backward_layer")
    given = () if backward is None else (str(backward["config"]["name"]),)
    backward = forward if backward is None else backward
    if forward["config"].get("go_backwards"):
        raise KerasError(layer.name, "has a first layer that goes backwards", "exchange the two")
    found = []
    for entry, place in (
        (forward, Place("forward_layer/cell", ("forward_",))),
        (backward, Place("backward_layer/cell", ("backward_", *given))),
    ):
        cells = _cells(layer, kind_of_layer(entry), entry["config"], place, stored)
        if len(cells) > 1:
            what = "has several cells in each direction"
            raise KerasError(layer.name, what, "make each a Bidirectional layer of its own")
        found += cells
    return tuple(found)


def _cells(
    layer: LayerConfig, kind: str, settings: Config, place: Place, stored: Stored
) -> list[Cell]:
    """The cells of a layer of that class, or of an RNN around one or several of them."""
    if kind in GATES:
        weights = stored.weights(layer, place, ROLES)
        return [Cell(layer.name, kind, settings, weights, stored.version)]
    if kind != "RNN":
        what = f"is of the class {shown(kind)}, which is not read"
        raise KerasError(layer.name, what, _OWN)
    held = settings["cell"]
    if kind_of_layer(held) != "StackedRNNCells":
        return [_cell(layer, held, place, stored)]
    used: dict[str, int] = {}
    found = []
    for one in held["config"]["cells"]:
        path = snake_case(str(one["class_name"]))
        used[path] = used.get(path, -1) + 1
        path += f"_{used[path]}" if used[path] else ""
        mark = str(one["config"].get("name", ""))
        below = Place(f"{place.path}/cells/{path}", (mark,))
        found.append(_cell(layer, one, below, stored))
    return found


def _cell(layer: LayerConfig, entry: Config, place: Place, stored: Stored) -> Cell:
    kind = kind_of_layer(entry)
    if kind not in _CELLS:
        raise KerasError(
            layer.name, f"has a cell of the class {shown(kind)}, which is not read", _OWN
        )
    weights = stored.weights(layer, place, ROLES)
    return Cell(layer.name, _CELLS[kind], entry["config"], weights, stored.version)


def _check_calls(layer: LayerConfig, inputs: Collection[str]) -> None:
    """Raise KerasError if a call passes more than a sequence, a mask and the caller's start."""
    for call in layer.calls:
        starts = (*call.tensors[1:], *call.keywords.get("initial_state", ()))
        if computed := [name for name, _ in starts if name not in inputs]:
            what = f"starts from a state that {shown(computed[0])} computes"
            remedy = "to certify its cell from 0, call it without initial_state and save it again"
            raise KerasError(layer.name, what, remedy)
        if other := call.keywords.keys() - {"mask", "initial_state", "sequences", "inputs"}:
            raise KerasError(layer.name, f"is passed {shown(min(other))}", "call it without")
        if call.training:
            what = "is called with training=True, which drops out at random"
            raise KerasError(layer.name, what, "save the model with training=False")
