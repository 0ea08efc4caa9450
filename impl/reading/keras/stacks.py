"""The contents of a Keras model: its recurrent layers, as stacks, and the tables beside them."""

from torch import Tensor

from rnnbounds.impl.errors import InputError
from rnnbounds.impl.reading.keras.config import (
    Config,
    LayerConfig,
    ModelConfig,
    kind_of_layer,
)
from rnnbounds.impl.reading.keras.layers import Layer, is_recurrent, read_layer
from rnnbounds.impl.reading.keras.stored import Place, Stored

_RELAYS = (  # layers that are the identity at inference
    "Dropout", "SpatialDropout1D", "GaussianDropout", "GaussianNoise", "AlphaDropout",
    "ActivityRegularization", "Identity",
)  # fmt: skip
_TABLES = {"Dense": ("kernel", "bias"), "Embedding": ("embeddings",)}


def stacks_of(model: ModelConfig, stored: Stored) -> dict[str, list[Layer] | InputError]:
    """The recurrent layers by the name of the first of each stack; the reason if one is not read.

    Layers of one stack are alike, and each but the last feeds the next and nothing else.
    """
    found: dict[str, list[Layer] | InputError] = {}
    for layers in model.models:
        by_name = {layer.names[-1]: layer for layer in layers}
        outer = [layer for layer in layers if len(layer.names) == 1]  # others are fed by a model
        inputs = [layer.name for layer in outer if layer.kind == "InputLayer"]
        tops: dict[str, str] = {}  # the stack of which a layer is the last one, by their names
        for config in layers:
            if not is_recurrent(config, stored):
                continue
            try:
                layer = read_layer(config, stored, inputs)
            except InputError as reason:
                found[config.name] = reason
                continue
            below = _below(config, by_name)
            stack = found.get(tops.get(below.name, "")) if below else None
            if isinstance(stack, list) and stack[-1].feeds(layer):
                stack.append(layer)
                tops[config.name] = stack[0].config.name
            else:
                found[config.name] = [layer]
                tops[config.name] = config.name
    return found


def masks(model: ModelConfig) -> bool:
    """True if a layer may mask steps, at which recurrent layers keep their states; a layer with
    code of its own may."""
    return any(
        layer.kind in ("Masking", "Lambda")
        or ">" in layer.kind
        or bool(layer.settings.get("mask_zero"))
        or any("mask" in call.keywords for call in layer.calls)
        for layer in model.layers
    )


def tables_of(model: ModelConfig, stored: Stored) -> dict[str, Tensor]:
    """The weights of Dense layers and embeddings: NAME.weight, torch's way round, or
    NAME.linear.weight before an activation that is not the identity."""
    found: dict[str, Tensor] = {}
    for layer in model.layers:
        kind, settings, path = layer.kind, layer.settings, ""
        if kind == "TimeDistributed":
            kind, settings, path = (
                kind_of_layer(settings["layer"]),
                settings["layer"]["config"],
                "layer",
            )
        if kind not in _TABLES or _is_quantised(settings):
            continue
        held = stored.weights(layer, Place(path), _TABLES[kind])
        name = layer.name
        if kind == "Dense" and settings.get("activation", "unknown") not in (None, "linear"):
            name = f"{name}.linear"
        for role, tensor in held.items():
            found[f"{name}.{'bias' if role == 'bias' else 'weight'}"] = (
                tensor.T.contiguous() if role == "kernel" else tensor
            )
    return found


def _below(layer: LayerConfig, by_name: dict[str, LayerConfig]) -> LayerConfig | None:
    """The one layer whose first output, read by nothing else, is the input of a layer."""
    while layer.calls and len(layer.calls) == 1 and len(layer.calls[0].tensors) == 1:
        (source, output), *_ = layer.calls[0].tensors
        below = by_name.get(source)
        if below is None or output != 0 or below.consumers != 1 or len(below.calls) != 1:
            return None
        if below.kind not in _RELAYS or below.calls[0].training:
            return below
        layer = below
    return None


def _is_quantised(settings: Config) -> bool:
    policy = settings.get("dtype")
    return not isinstance(policy, str | None) and kind_of_layer(policy) != "DTypePolicy"
