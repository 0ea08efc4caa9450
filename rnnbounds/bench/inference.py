"""Truncated models as they run, against torch's recurrent modules, over sizes and batches."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from rnnbounds.bench.clock import Clock
from rnnbounds.bench.gaps import FASTER
from rnnbounds.bench.row import Measured, Row, against
from rnnbounds.impl.cells.stacks.stack import PREFIX
from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.convert.feedforward import FeedForward
from rnnbounds.impl.convert.inference import chunks

WINDOW, D = 21, 3  # as a model with λ = 0.8 keeps to within 0.01
SIZES, BATCHES, LENGTH, LONG, LAYERS = (16, 64, 256), (1, 8, 64), 512, 4096, 2
MODULES: dict[str, tuple[Callable[..., torch.nn.RNNBase], str]] = {
    "RNN": (torch.nn.RNN, "rnn-tanh"),
    "LSTM": (torch.nn.LSTM, "lstm"),
    "GRU": (torch.nn.GRU, "gru"),
}


def pair(name: str, n: int, device: str, layers: int = 1) -> tuple[torch.nn.RNNBase, FeedForward]:
    """A module of torch's in float32, as it starts, and what it is when truncated."""
    torch.manual_seed(n)
    make, cell = MODULES[name]
    module = make(D, n, layers, batch_first=True)
    weights = dict(module.state_dict())
    if layers == 1:
        weights = {key.removesuffix("_l0"): part for key, part in weights.items()}
    cell = cell if layers == 1 else PREFIX + cell
    return module.to(device), FeedForward(weights, cell=cell, k=WINDOW).to(device)


def inference(name: str, n: int, N: int, T: int, clock: Clock, layers: int = 1) -> Measured:
    """All outputs of N sequences of length T."""
    module, short = pair(name, n, clock.device, layers)
    x = torch.randn(N, T, D, device=clock.device)

    @torch.no_grad()
    def theirs() -> Any:
        return module(x)

    timing = clock.interleaved([lambda: short.infer(x), theirs])
    M = chunks(kind_of(short.cell), n, x, WINDOW)
    return against(timing, (1, 1), 1e3, f"{M} chunks" if M > 1 else "one loop")


def grid(name: str, clock: Clock, layers: int = 1) -> Measured:
    """The worst of all sizes and batches; all of them are points."""
    sizes = [(n, N) for n in SIZES for N in BATCHES]
    seen = {(n, N): inference(name, n, N, LENGTH, clock, layers) for n, N in sizes}
    points = tuple(
        {"n": n, "batch": N, "ours": one.ours, "other": one.other, "ratio": one.ratio,
         "note": one.note}
        for (n, N), one in seen.items()
    )  # fmt: skip
    (n, N), worst = min(seen.items(), key=lambda item: item[1].ratio)
    told = ", ".join(f"({a}, {b}) {one.ratio:.3g}" for (a, b), one in seen.items())
    note = f"the worst is n = {n}, {N} sequences; by (n, sequences): {told}"
    return Measured(worst.ours, worst.other, worst.ratio, worst.spread, worst.repeats, note, points)


ROWS = (
    *(
        Row(f"inference-{name.lower()}", f"a truncated {name}, k = {WINDOW}, n = 64, one sequence "
            f"of {LONG}, float32", f"by torch.nn.{name}", "ms", FASTER,
            partial(inference, name, 64, 1, LONG), asked=7 if name == "RNN" else None,
            on_device=True)
        for name in MODULES
    ),
    *(
        Row(f"inference-grid-{name.lower()}", f"a truncated {name}, k = {WINDOW}, sequences of "
            f"{LENGTH}, float32", f"by torch.nn.{name}", "ms", FASTER, partial(grid, name),
            asked=0.95, on_device=True)
        for name in MODULES
    ),
    *(
        Row(f"inference-stack-{name.lower()}", f"a truncated {name} of {LAYERS} layers, k = "
            f"{WINDOW}, sequences of {LENGTH}, float32", f"by torch.nn.{name}", "ms", FASTER,
            partial(grid, name, layers=LAYERS), asked=0.95, on_device=True)
        for name in MODULES
    ),
)  # fmt: skip
