"""torch's dynamically quantised layers and cells, by their dequantised weights.

A weight is s q with whole numbers |q| ≤ 128, which torch's `dequantize` rounds to float32; biases
are floats. In use torch rounds the inputs and states to 8 bits too: a note says that this is not
covered. Source: torch.ao.nn.quantized.dynamic.
"""

from typing import Any

import torch
from torch import Tensor

NOTE = "dequantised weights; the module itself also rounds inputs and states to 8 bits"
_HOME = "torch.ao.nn.quantized.dynamic."
_OWN = ("LSTM", "GRU", "RNNCell", "LSTMCell", "GRUCell")


def is_quantised(part: torch.nn.Module) -> bool:
    """True for the layers and cells of torch.ao.nn.quantized.dynamic, but not for subclasses."""
    home, _, name = class_name(part).rpartition(".")
    return home.startswith(_HOME) and name in _OWN


def class_name(part: torch.nn.Module) -> str:
    """The full name of a module's class, without importing what it is compared with."""
    return f"{getattr(type(part), '__module__', '')}.{type(part).__name__}"


def dequantised(part: Any) -> dict[str, Tensor]:
    """The weights of a quantised layer or cell in float32, and its biases, by torch's names."""
    weights = {name: one.dequantize() for name, one in part.get_weight().items()}
    return weights | {name: one for name, one in part.get_bias().items() if one is not None}


def mode(part: Any) -> str:
    """torch's word for what a quantised module computes: LSTM, GRU, RNN_TANH, RNN_RELU."""
    kind = type(part).__name__.removesuffix("Cell")
    return kind if kind != "RNN" else f"RNN_{part.nonlinearity.upper()}"
