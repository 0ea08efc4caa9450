"""Keras files: `.keras`, a whole model's `.h5` and `.weights.h5`, opened as data alone.

A `.keras` is a zip of config.json and model.weights.h5. Layers that feed one another are the layers
of a stack, which is called as its first one; what only relays at inference, as Dropout does, may
stand between. Dense layers and embeddings are tables beside: `NAME.weight` as torch has it, and
`NAME.linear.weight` of a Dense layer with an activation after it.
"""

import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from torch import Tensor

from rnnbounds.impl.errors import InputError, shown
from rnnbounds.impl.reading.files import ModelFileError
from rnnbounds.impl.reading.keras.config import parse_config
from rnnbounds.impl.reading.keras.hdf5 import Hdf5
from rnnbounds.impl.reading.keras.layers import Layer, weights_of
from rnnbounds.impl.reading.keras.stacks import masks, stacks_of, tables_of
from rnnbounds.impl.reading.keras.stored import Stored, StoredByName, StoredByPath
from rnnbounds.impl.reading.keras.weights import configuration_of
from rnnbounds.impl.reading.opened import LayerInfo
from rnnbounds.impl.reading.recognition.misfit import WeightsError, choices

_AGAIN = "save it again with Keras"


@dataclass(frozen=True, eq=False)
class KerasModel:
    """The stacks of recurrent layers by the name of the first, each read or with the reason why it
    is not, and the tensors beside them."""

    stacks: Mapping[str, list[Layer] | InputError]
    tensors: Mapping[str, Tensor]
    where: str
    title: str
    binding: str | None

    def told(self, layer: str | None) -> LayerInfo:
        """The tensors of one stack, by torch's names below its own, and those beside."""
        if layer is None and len(self.stacks) == 1:
            layer = next(iter(self.stacks))
        if not self.stacks:
            raise WeightsError(f"{self.where} holds no recurrent layer; save a model that has one")
        if layer is None or layer not in self.stacks:
            what = f"{self.where} holds {len(self.stacks)} recurrent layers or stacks of them"
            raise WeightsError(f"{what}; choose one with --layer: {choices(self.stacks, layer)}")
        stack = self.stacks[layer]
        if isinstance(stack, InputError):
            raise stack
        weights = {f"{layer}.{own}": tensor for own, tensor in weights_of(stack).items()}
        binding = self.binding if stack[0].cell else None
        return LayerInfo({**weights, **self.tensors}, stack[0].cell, binding, layer)

    def layers(self) -> list[str] | None:
        """The names of the stacks."""
        return list(self.stacks)


def keras_model(data: bytes, path: Path) -> KerasModel:
    """The model of a Keras file; raises an InputError of one line."""
    with _readable(path):
        if not data.startswith(b"PK"):
            return _model(Hdf5(data), None, path)
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
            stored = all(one.compress_type == zipfile.ZIP_STORED for one in entries)
            if not stored or sum(one.file_size for one in entries) > len(data):
                raise ModelFileError(path, "unpacks to more than it holds", _AGAIN)
            for part in ("config.json", "model.weights.h5"):
                if part not in archive.namelist():
                    raise ModelFileError(path, f"has no {part}", f"{_AGAIN}, in one piece")
            config, version = archive.read("config.json"), ""
            if "metadata.json" in archive.namelist():
                version = str(json.loads(archive.read("metadata.json"))["keras_version"])
            return _model(Hdf5(archive.read("model.weights.h5")), config, path, version)


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Turn whatever a damaged file raises into a ModelFileError."""
    try:
        yield
    except ModelFileError:
        raise
    except InputError as cause:
        raise InputError(f"{shown(path)}: {cause}") from None
    except Exception as cause:  # zipfile and struct raise what they like
        reason = f"is no intact Keras model ({type(cause).__name__})"
        raise ModelFileError(path, reason, _AGAIN) from None


def _model(file: Hdf5, config: bytes | None, path: Path, version: str = "") -> KerasModel:
    """The model of a configuration and its weights, or of an HDF5 file that has both or these."""
    version = version or "".join(file.texts("", "keras_version") or ())
    whole = file.texts("", "model_config")
    stored: Stored
    if config is None and whole is None:
        older = file.texts("", "layer_names") is not None
        model = configuration_of(file)
        stored = StoredByName(file, "") if older else StoredByPath(file, named=False)
        note = " (with Keras' default activations, without masked steps)"
    elif config is None:
        model = parse_config("".join(whole or ()))
        stored = StoredByName(file, "model_weights", version)
        note = ""
    else:
        model, stored, note = parse_config(config), StoredByPath(file, version=version), ""
    binding = None if note else "the Keras layer"
    if masks(model):
        note = " (without masked steps)"
    stacks, tables = stacks_of(model, stored), tables_of(model, stored)
    return KerasModel(stacks, tables, shown(path), f"{path}{note}", binding)
