"""Sources of tensors: files, state dicts, torch modules, and factories that make these.

A file is data, and nothing in it can run. A factory, `package.module:factory`, is the user's own
code, which is imported and called.
"""

import os
from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor

from rnnbounds.impl.errors import InputError, shown
from rnnbounds.impl.reading.factory import is_factory, made
from rnnbounds.impl.reading.files import (
    LARGEST,
    ModelFileError,
    parse_safetensors,
    read_file,
    unpickle,
)
from rnnbounds.impl.reading.foreign import is_onnx, unsupported
from rnnbounds.impl.reading.onnx.file import LARGEST_GRAPH, graph_of
from rnnbounds.impl.reading.opened import Module, Opened, Weights

_OURS = "rnnbounds/"  # formats of files that were written with their cell

Source = str | os.PathLike[str] | torch.nn.Module | Mapping[str, Tensor]


def open_source(source: Source) -> Opened:
    """Whatever a source is, opened; raises an InputError for what is none."""
    if isinstance(source, torch.nn.Module):
        return Module(source, type(source).__name__)
    if isinstance(source, Mapping):
        return Weights(source, "the state dict", "state dict")
    if not isinstance(source, str | os.PathLike):
        what = f"{type(source).__name__} is no model"
        raise InputError(f"{what}; pass a module, a state dict, or the path of a file")
    if is_factory(os.fspath(source)):
        name = os.fspath(source)
        thing = made(name)
        if isinstance(thing, torch.nn.Module):
            return Module(thing, name)
        return Weights(thing, f"what {shown(name)} returns", name)
    return _file(Path(source))


def _file(path: Path) -> Opened:
    data = read_file(path, LARGEST_GRAPH if path.suffix == ".onnx" else LARGEST)
    stored = data[8:9] == b"{" and int.from_bytes(data[:8], "little") <= len(data)
    if not stored and (told := unsupported(data)):
        raise ModelFileError(path, *told)
    if is_onnx(path, data):
        return graph_of(data, path)
    if data[8:9] == b"{" or path.suffix == ".safetensors":
        tensors, metadata = parse_safetensors(data, path)
        ours = metadata.get("format", "").startswith(_OURS)
        cell = metadata.get("cell")
        return Weights(tensors, shown(path), str(path), cell, "the file" if ours else None)
    return Weights(unpickle(data, path), shown(path), str(path))
