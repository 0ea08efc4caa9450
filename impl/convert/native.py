"""Torch's own loops: its RNN, LSTM and GRU, all layers and steps in one call."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import torch
from torch import Tensor
from torch.backends import cudnn

from rnnbounds.impl.cells.kind import BIASES, Kind, Weights
from rnnbounds.impl.cells.stacks.stack import PREFIX
from rnnbounds.impl.cells.table import kind_of

_NATIVE: dict[str, Callable[..., tuple[Tensor, ...]]] = {
    "LSTM": torch.lstm,
    "GRU": torch.gru,
    "RNN_TANH": torch.rnn_tanh,
    "RNN_RELU": torch.rnn_relu,
}
_DTYPES = (torch.float32, torch.float64)


def mode(kind: Kind) -> str | None:
    """Torch's word for the modules that compute a cell, or a stack of it."""
    stacked = kind.name.startswith(PREFIX)
    return kind_of(kind.name.removeprefix(PREFIX)).mode if stacked else kind.mode


def is_native(kind: Kind, x: Tensor) -> bool:
    """True if torch has a loop for the cell in this dtype."""
    return mode(kind) in _NATIVE and x.dtype in _DTYPES


def native(kind: Kind, weights: Weights, x: Tensor) -> Tensor:
    """The outputs (N, L, n) on x (N, L, d) from the zero state.

    On CUDA torch's own kernels, not cuDNN's: of float32 these take three digits (TF32), and where
    that is off, over a few hundred units or less, a tanh that was 172 units of roundoff off on an
    H100. The `rounding` of a certificate speaks of 8.
    """
    layers = _layers(kind, weights)
    biased = any(name + layer in weights for name in BIASES for layer in layers)
    flat = _flat(weights, layers, biased)
    h = x.new_zeros(len(layers), len(x), flat[1].shape[1])
    word = str(mode(kind))
    start: Any = [h, h] if word == "LSTM" else h
    with without_cudnn() if x.is_cuda else nullcontext():
        return _NATIVE[word](x, start, flat, biased, len(layers), 0.0, False, False, True)[0]


@contextmanager
def without_cudnn() -> Iterator[None]:
    """None of its kernels within."""
    before, cudnn.enabled = cudnn.enabled, False
    try:
        yield
    finally:
        cudnn.enabled = before


def _layers(kind: Kind, weights: Weights) -> list[str]:
    """List the suffixes of the layers' weight names; one empty suffix for cells not torch's."""
    if not kind.name.startswith(PREFIX):
        return [""]
    return [f"_l{l}" for l in range(len(weights)) if f"weight_hh_l{l}" in weights]


def _flat(weights: Weights, layers: list[str], biased: bool) -> list[Tensor]:
    """Layer by layer, in torch's order; zeros for a bias that is missing."""
    flat = []
    for layer in layers:
        W = weights["weight_hh" + layer]
        flat += [weights["weight_ih" + layer], W]
        flat += [
            weights[name + layer] if name + layer in weights else W.new_zeros(len(W))
            for name in (BIASES if biased else ())
        ]
    return flat
