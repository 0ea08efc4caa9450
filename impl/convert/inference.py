"""All outputs of a truncated model at once, each from the zero state on at least its last k inputs.

One window an output takes k steps of T rows, the plain loop T steps of one. Between them lie chunks
of C ≥ k outputs each, which overlap: all but the first start k inputs early, from the zero state,
and advance together as rows of one product. That is (C + k)/C of the loop's work in C + k steps.

    inputs   0         C         2C        3C
    chunk 0  |outputs  |
    chunk 1      |k    |outputs  |
    chunk 2                |k    |outputs  |

So an output is h_t^j with j between min(k, t) and k + C, never with a shorter window: what Lemma 1
bounds at k it bounds at every j ≥ k, and each is a run of the cell from the zero state, of which
the certificate's `rounding` speaks. Source: Miller & Hardt, Lemma 1.

Torch's own loops: its RNN, LSTM and GRU, all layers and steps in one call.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import torch
from torch import Tensor
from torch.backends import cudnn
from torch.nn.functional import linear, pad

from rnnbounds.impl.arithmetic.activation import Activation
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


FEWEST = 4  # chunks of a sequence that pay for running k inputs again, whatever the sizes
# How many rows cost what a step costs by itself, measured on a CPU with AVX-512: so many numbers in
# Python's and torch's loops and the rows that a product of few pays for its matrix; so many rows in
# oneDNN's LSTM, which waits for its weights alone. On
# CUDA a step is several launches, measured on an H100.
NUMBERS, MATRIX_ROWS, LAUNCHED = 1024, 4, 2**18
ROWS = {"LSTM": 3.0}
_IN_PLACE = {"tanh": torch.Tensor.tanh_, "relu": torch.Tensor.relu_}


def chunks(kind: Kind, n: int, x: Tensor, k: int) -> int:
    """Into how many chunks each sequence of x (N, T, d) is cut: M = √(T w/(k N)), of at least k
    outputs each, or 1, the plain loop, if these are fewer than FEWEST.

    A step of N M rows costs w + N M in units of a row, and there are T/M + k of them: that M makes
    the product least. w is ROWS of the kind, or NUMBERS/n + MATRIX_ROWS, and LAUNCHED/n on CUDA.
    """
    N, T = x.shape[:2]
    looped = NUMBERS / n + MATRIX_ROWS
    width = ROWS.get(mode(kind) or "", looped) if x.device.type == "cpu" else LAUNCHED / n
    M = min(math.isqrt(int(T * width / max(1, k * N))), T // max(1, k))
    return M if M >= FEWEST else 1


def outputs(
    kind: Kind, weights: Weights, x: Tensor, k: int, M: int, rho: Activation | None = None
) -> Tensor:
    """h_t^j, j ≥ min(k, t), of all inputs x (N, T, d) in M chunks a sequence: (N, T, n).

    Output t, counted from 0, has started at input max(0, C ⌊t/C⌋ − k) with C = ⌈T/M⌉ ≥ k. ``rho``
    is the activation of a vanilla cell.
    """
    T = x.shape[1]
    C = -(-T // M)
    if T % C:
        x = pad(x, (0, 0, 0, M * C - T))  # no output sees what follows the last input
    if rho is not None:
        return _in_place(weights, x, k, C, rho)[:, :T]
    if M == 1:
        return _run(kind, weights, x)
    L = C + k
    later = x[:, C - k :].unfold(1, L, C).transpose(2, 3)
    windows = torch.cat([x[:, None, :L], later], dim=1)
    h = _run(kind, weights, windows.flatten(0, 1))
    h = h.reshape(*windows.shape[:2], *h.shape[1:])
    return torch.cat([h[:, 0, :C], h[:, 1:, k:].flatten(1, 2)], dim=1)[:, :T]


def last_output(kind: Kind, weights: Weights, x: Tensor, k: int) -> Tensor:
    """h_T^k of x (N, T, d), from the zero state on the last min(k, T) inputs: (N, n)."""
    last = x[:, max(0, x.shape[1] - k) :]
    if not last.shape[1]:
        return x.new_zeros(len(x), kind.layout(weights).sizes(weights).n)
    return _run(kind, weights, last)[:, -1]


def _in_place(weights: Weights, x: Tensor, k: int, C: int, rho: Activation) -> Tensor:
    """ρ(W h + U x + b), each state where its drive stood."""
    b = [weights[name] for name in BIASES if name in weights]
    drives = linear(x, weights["weight_ih"], sum(b[1:], b[0]) if b else None)
    rows = drives.reshape(-1, C, drives.shape[2])  # a chunk each
    h, W = torch.zeros_like(rows[:, 0]), weights["weight_hh"].mT
    if k and x.shape[1] > C:
        early = h[1:].clone()
        for t in range(C - k, C):  # their drives stand in the chunk before
            early = rho(torch.addmm(rows[:-1, t], early, W))
        h[1:] = early
        h[:: x.shape[1] // C] = 0.0  # the first chunk of each sequence
    replace = _IN_PLACE.get(rho.name, lambda z: z.copy_(rho(z)))
    for t in range(C):
        h = replace(rows[:, t].addmm_(h, W))
    return drives


def _run(kind: Kind, weights: Weights, x: Tensor) -> Tensor:
    """The cell on x (N, L, d) from the zero state, by torch's own loop where it has one."""
    if is_native(kind, x):
        return native(kind, weights, x)
    drive, n = kind.drive(weights, x), kind.layout(weights).sizes(weights)
    s, found = drive.new_zeros(len(x), 1, n.state), []
    for t in range(x.shape[1]):
        s = kind.step(weights, drive[:, t : t + 1], s)
        found.append(s[:, 0, -n.n :])
    return torch.stack(found, dim=1)
