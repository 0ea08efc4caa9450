"""Proves a k near recorded inputs again, from its record, the model and the data."""

from typing import Any

import torch
from torch import Tensor

from rnnbounds.impl.cells.runs import Runner
from rnnbounds.impl.errors import FileError, shown
from rnnbounds.impl.format.on_data import Near
from rnnbounds.impl.models.loaded import LoadedModel, digest
from rnnbounds.impl.near.near import enclosures, spread
from rnnbounds.impl.reading.data.recordings import Data, float64
from rnnbounds.impl.reading.data.sequences import DataSource, read_data


def windows_digest(x: Tensor) -> str:
    """SHA-256 of windows (M, T, d), by which a record knows them again."""
    return digest("windows", {"x": x})


def is_proved_near(model: LoadedModel[Any], record: Near, data: DataSource | Data) -> bool:
    """True if that k is proved again of that model, from these data; raises FileError for data that
    hold other windows."""
    read, stated = read_data(data), record.data
    held = read.windows(stated.length)
    x = float64(held[spread(stated.windows, len(held))])
    if (len(held), windows_digest(x)) != (stated.of, stated.sha256):
        reason = "holds other windows than those that the model was truncated on"
        raise FileError(read.source, reason, f"name the recording {shown(stated.source)}")
    with torch.no_grad():
        parts = enclosures(Runner.of(model), x, record.delta)
        return all(bool((part.gap(record.k) <= record.eps).all()) for part in parts)
