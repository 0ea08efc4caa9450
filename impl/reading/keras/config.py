"""The configuration of a Keras model: its layers, how they are called, and what feeds what.

A model is a Sequential or Functional one, whose layers may be such models again. Keras 3 writes a
call as {"args": …, "kwargs": …} with its tensors by their history [layer, call, output], Keras 2 as
a list of [layer, call, output, kwargs]. Source: keras.src.models.functional (3.15 and 2.15).
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rnnbounds.impl.errors import InputError, shown

Config = Mapping[str, Any]
_MODELS = ("Sequential", "Functional", "Model")
_KERAS = ("keras", "tf_keras", "keras_core")
_DEEPEST = 16  # models in one another


class KerasError(InputError):
    """A layer of a Keras model that is not read."""

    def __init__(self, layer: str, what: str, remedy: str) -> None:
        super().__init__(f"the Keras layer {shown(layer)} {what}; {remedy}")


@dataclass(frozen=True)
class Call:
    """One call of a layer: the tensors (layer, output) that it is passed, and those by keyword."""

    tensors: tuple[tuple[str, int], ...]
    keywords: Mapping[str, tuple[tuple[str, int], ...]]
    training: bool = False


@dataclass(frozen=True)
class LayerConfig:
    """A layer as a model lists it.

    names: those of the models that hold it, without the outermost, and its own. path: where a file
    of weights of Keras 3 keeps it, "layers/sequential/layers/lstm_1". kind: its class, with what
    stands before the name of one that is not Keras' own. consumers: how many calls and outputs of
    the model take its output.
    """

    names: tuple[str, ...]
    path: str
    kind: str
    settings: Config
    calls: tuple[Call, ...]
    consumers: int

    @property
    def name(self) -> str:
        """The name in a state dict: "inner.lstm"."""
        return ".".join(self.names)


@dataclass(frozen=True)
class ModelConfig:
    """The layers of a model, those of the models in it too; `models` groups them by the model."""

    models: tuple[tuple[LayerConfig, ...], ...]

    @property
    def layers(self) -> list[LayerConfig]:
        """All layers; raises InputError if two have one name."""
        found = [layer for model in self.models for layer in model]
        if twice := [name for name, n in Counter(one.name for one in found).items() if n > 1]:
            raise InputError(f"two layers are named {shown(twice[0])}; give them different names")
        return found


def parse_config(text: str | bytes) -> ModelConfig:
    """The layers of a configuration; raises InputError for one that lists none."""
    try:
        return ModelConfig(tuple(_models(json.loads(text), (), "")))
    except RecursionError:
        raise InputError("the configuration nests too deep; save the model again") from None
    except (ValueError, TypeError, KeyError, IndexError, AttributeError) as cause:
        if isinstance(cause, InputError):
            raise
        what = f"the configuration is damaged ({type(cause).__name__})"
        raise InputError(f"{what}; save the model again") from None


def kind_of_layer(entry: Config) -> str:
    """The class of a serialised object: "LSTM", or "mine>LSTM" if it is not Keras' own.

    Keras 3 states the module, None for a class that is neither its own nor registered; an .h5 does
    not state it, and there a class of that name is Keras' own for Keras too.
    """
    kind, module = str(entry["class_name"]), entry.get("module", _KERAS[0])
    if str(module).partition(".")[0] not in _KERAS:
        return f"{module or 'own'}>{kind}"
    registered = entry.get("registered_name")
    if registered in (None, kind):
        return kind
    return str(registered) if ">" in str(registered) else f"{registered}>{kind}"


def snake_case(kind: str) -> str:
    """Keras' name of a class in a file of weights: SimpleRNN -> simple_rnn."""
    kind = re.sub("(.)([A-Z][a-z]+)", r"\1_\2", re.sub(r"\W+", "", kind))
    return re.sub("([a-z])([A-Z])", r"\1_\2", kind).lower()


def _models(entry: Config, names: tuple[str, ...], path: str) -> Iterator[tuple[LayerConfig, ...]]:
    """The layers of a model, and then those of each model in it."""
    kind, config = kind_of_layer(entry), entry["config"]
    if kind not in _MODELS:
        what = f"the model is of the class {shown(kind)}, whose layers are not listed"
        raise InputError(f"{what}; save its weights alone, as model.save_weights('m.weights.h5')")
    if len(names) > _DEEPEST:
        raise InputError(f"models nest more than {_DEEPEST} deep; save the inner one")
    listed = config if isinstance(config, list) else config["layers"]
    chained = kind == "Sequential"
    calls = _sequential(listed) if chained else [_calls(one.get("inbound_nodes")) for one in listed]
    consumers = Counter(name for all_ in calls for call in all_ for name in _passed(call))
    if not chained:
        consumers.update(name for name, _ in _histories(config.get("output_layers")))
    found, used = [], Counter[str]()
    for one, made in zip(listed, calls, strict=True):
        called = str(one["config"].get("name", one.get("name")))
        place = snake_case(str(one["class_name"]))
        used[place] += 1
        place = f"{path}layers/{place}" + (f"_{used[place] - 1}" if used[place] > 1 else "")
        layer = LayerConfig(
            (*names, called), place, kind_of_layer(one), one["config"], made, consumers[called]
        )
        if layer.kind in _MODELS:
            yield from _models(one, layer.names, f"{place}/")
        else:
            found.append(layer)
    yield tuple(found)


def _sequential(listed: list[Config]) -> list[tuple[Call, ...]]:
    """The one call of each layer of a chain, of the layer before it."""
    before = ["", *(str(one["config"].get("name")) for one in listed)]
    return [
        (Call(((name, 0),) if name else (), {}),) for name, _ in zip(before, listed, strict=False)
    ]


def _passed(call: Call) -> list[str]:
    by_keyword = [one for tensors in call.keywords.values() for one in tensors]
    return [name for name, _ in (*call.tensors, *by_keyword)]


def _calls(nodes: Any) -> tuple[Call, ...]:
    """The calls of a layer of a Functional model, as either version writes them."""
    return tuple(
        _call_3(node) if isinstance(node, Mapping) else _call_2(node) for node in nodes or ()
    )


def _call_3(node: Config) -> Call:
    kwargs = node.get("kwargs", {})
    keywords = {name: tuple(_histories(value)) for name, value in kwargs.items()}
    tensors = tuple(_histories(node.get("args")))
    return Call(tensors, {k: v for k, v in keywords.items() if v}, bool(kwargs.get("training")))


def _call_2(node: Any) -> Call:
    entries = node if isinstance(node[0], list) else [node]
    kwargs: Config = next((one[3] for one in entries if len(one) > 3 and one[3]), {})
    keywords = {name: tuple(_histories(value)) for name, value in kwargs.items()}
    tensors = tuple((str(one[0]), one[2]) for one in entries if type(one[2]) is int)
    return Call(tensors, {k: v for k, v in keywords.items() if v}, bool(kwargs.get("training")))


def _histories(value: Any) -> Iterator[tuple[str, int]]:
    """The tensors (layer, output) in nested arguments, as [layer, call, output] in either form."""
    if isinstance(value, Mapping):
        yield from _histories(list(value.values()))
    elif isinstance(value, list):
        if len(value) == 3 and isinstance(value[0], str) and all(type(i) is int for i in value[1:]):
            yield value[0], value[2]
        else:
            for one in value:
                yield from _histories(one)
