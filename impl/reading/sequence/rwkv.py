"""RWKV-4, as transformers and its authors save it.

Numerator and denominator of a channel forget alike, by a decay that no input changes:

    num⁺ = w num + e^k v,    den⁺ = w den + e^k,    w = exp(−exp(time_decay)).

Each is the same unit of the cell `diagonal` with its own drive, e^k v or e^k, as its input. Later
versions have other decays and are refused by their names. Source: Peng et al., RWKV (2023).
"""

from collections.abc import Mapping

import torch
from torch import Tensor

from rnnbounds.impl.cells.layout import Layout
from rnnbounds.impl.reading.sequence.family import Family, Recurrence, Settings


def _read(tensors: Mapping[str, Tensor], channels: slice, settings: Settings) -> Recurrence:
    decay = tensors["time_decay"][channels]
    eye = torch.eye(len(decay), dtype=decay.dtype, device=decay.device)
    return Recurrence("diagonal", {"time_decay": decay, "B_re": eye}, "e^k v, or of e^k")


def _family(*mixed: str) -> Family:
    """RWKV-4 with these endings of the names of its mixed inputs."""
    shapes = {"time_decay": "n", "time_first": "n"} | {f"time_mix_{end}": "1 1 m" for end in mixed}
    maps = {"key.weight": "n m", "value.weight": "n m", "receptance.weight": "n m"}
    return Family(
        "RWKV-4",
        Layout(shapes | maps | {"output.weight": "m n"}),
        ("time_decay",),
        ("rwkv",),
        "n",
        lambda sizes, count: (count, count),
        _read,
    )


FAMILIES = (_family("key", "value", "receptance"), _family("k", "v", "r"))
