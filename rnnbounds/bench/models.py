"""Benchmarks of the library: truncated models against torch's modules, certificates counted in
inferences, and certified norms against LAPACK's singular values and ball arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import torch
from flint import arb, arb_mat, ctx
from torch import Tensor

from rnnbounds.bench.clock import Clock
from rnnbounds.bench.row import RowMeasurement, TimedSides
from rnnbounds.impl.arithmetic.activation import activation
from rnnbounds.impl.cells.kind import Kind
from rnnbounds.impl.cells.stacks.stack import PREFIX
from rnnbounds.impl.cells.table import CELLS, kind_of
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.checker.definite import below
from rnnbounds.impl.convert.feedforward import FeedForward
from rnnbounds.impl.convert.inference import chunks, outputs
from rnnbounds.impl.numbers.spectra.spectral_norm import certified_norm, is_norm_below

WINDOW, CHANNELS = 21, 3  # as a model with λ = 0.8 keeps to within 0.01
SIZES, BATCHES, LENGTH, LONG, LAYERS = (16, 64, 256), (1, 8, 64), 512, 4096, 2
MODULES: dict[str, tuple[Callable[..., torch.nn.RNNBase], str]] = {
    "RNN": (torch.nn.RNN, "rnn-tanh"),
    "LSTM": (torch.nn.LSTM, "lstm"),
    "GRU": (torch.nn.GRU, "gru"),
}


def module_and_truncation(
    name: str, n: int, device: str, layers: int = 1
) -> tuple[torch.nn.RNNBase, FeedForward]:
    """A module of torch's in float32, as it starts, and what it is when truncated."""
    torch.manual_seed(n)
    make, cell = MODULES[name]
    module = make(CHANNELS, n, layers, batch_first=True)
    weights = dict(module.state_dict())
    if layers == 1:
        weights = {key.removesuffix("_l0"): part for key, part in weights.items()}
    cell = cell if layers == 1 else PREFIX + cell
    return module.to(device), FeedForward(weights, cell=cell, k=WINDOW).to(device)


def time_inference(
    name: str, n: int, N: int, T: int, clock: Clock, layers: int = 1
) -> RowMeasurement:
    """All outputs of N sequences of length T."""
    module, truncated = module_and_truncation(name, n, clock.device, layers)
    x = torch.randn(N, T, CHANNELS, device=clock.device)

    @torch.no_grad()
    def theirs() -> Any:
        return module(x)

    M = chunks(kind_of(truncated.cell), n, x, WINDOW)
    note = f"{M} chunks" if M > 1 else "one loop"
    return TimedSides(lambda: truncated.infer(x), theirs, scale=1e3, note=note).measure_both(clock)


def inference_grid(name: str, clock: Clock, layers: int = 1) -> RowMeasurement:
    """The worst of all sizes and batches; all of them are points."""
    sizes = [(n, N) for n in SIZES for N in BATCHES]
    results = {(n, N): time_inference(name, n, N, LENGTH, clock, layers) for n, N in sizes}
    points = tuple(
        {"n": n, "batch": N, "ours": result.ours, "other": result.other, "ratio": result.ratio,
         "note": result.note}
        for (n, N), result in results.items()
    )  # fmt: skip
    (n, N), worst = min(results.items(), key=lambda item: item[1].ratio)
    ratios = ", ".join(f"({a}, {b}) {result.ratio:.3g}" for (a, b), result in results.items())
    note = f"the worst is n = {n}, {N} sequences; by (n, sequences): {ratios}"
    return RowMeasurement(
        worst.ours, worst.other, worst.ratio, worst.spread, worst.repeats, note, points
    )


N, D, T = 16, 4, 1000
CERTIFIED_CELLS = (
    "linear", "rnn-tanh", "rnn-relu", "leaky-tanh", "deep-tanh", "lstm", "lstm-projected", "gru",
    "gru-cho", "diagonal", "min-gru", "min-lstm", "selective",
)  # fmt: skip


def small_weights(kind: Kind, seed: int = 0) -> dict[str, Tensor]:
    """Small ones, of the shapes that the cell asks for; a deep cell has one layer."""
    draw = torch.Generator().manual_seed(seed)
    layout = kind.layout(())
    symbols = {s for shape in layout.shapes.values() for s in shape.replace("+", " ").split()}
    sizes = {s.lstrip("0123456789"): D if s == "d" else N for s in symbols}
    return {
        name: torch.rand(*shape, dtype=torch.float64, generator=draw) / N
        for name, shape in layout.shapes_for(sizes).items()
    }


def certify_cost(cell: str, clock: Clock) -> TimedSides:
    """Seconds of `certify`, all norms tried, and of one run."""
    kind = CELLS[cell]
    parts = {name: part.to(clock.device) for name, part in small_weights(kind).items()}
    seeds = count()  # other weights each time: what is known of some is kept
    x = torch.ones(1, T, D, dtype=torch.float64, device=clock.device) / D
    rho = activation(cell.removeprefix("rnn-")) if cell.startswith("rnn-") else None

    @torch.no_grad()
    def once() -> Tensor:
        return outputs(kind, parts, x, 1, 1, rho)

    def certified() -> object:
        return certify(small_weights(kind, next(seeds)), 1.0, cell=cell, device=clock.device)

    return TimedSides(certified, once, scale=1e3, faster=False)


NUMBERS = 2**16  # in a batch
PRECISION = 53


def random_matrices(n: int) -> tuple[Tensor, Tensor]:
    """As many Gaussian ones as a batch holds, and a bound 2⁻³⁰ above each norm."""
    draw = torch.Generator().manual_seed(n)
    W = torch.randn(max(1, NUMBERS // n**2), n, n, dtype=torch.float64, generator=draw)
    return W, torch.linalg.svdvals(W)[:, 0] * (1 + 2.0**-30)


def prove_in_balls(W: Tensor, s: float) -> bool:
    """True if ‖W‖₂ < s is proved for one matrix, in ball arithmetic at a double's precision."""
    with ctx.workprec(PRECISION):
        return below(arb_mat([[arb(v) for v in row] for row in W.tolist()]), arb(s))


def norm_proof(n: int, clock: Clock) -> TimedSides:
    """‖W‖₂ < s, proved, against the singular values, which prove nothing."""
    W, s = random_matrices(n)
    return TimedSides(
        lambda: is_norm_below(W, s),
        lambda: torch.linalg.svdvals(W),
        scale=1e6 / len(W),
        faster=False,
    )


def least_bound(n: int, clock: Clock) -> TimedSides:
    """A bound that is found as well, to within rounding."""
    W, _ = random_matrices(n)
    return TimedSides(
        lambda: certified_norm(W), lambda: torch.linalg.svdvals(W), scale=1e6 / len(W),
        faster=False,
    )  # fmt: skip


def ball_proof(n: int, clock: Clock) -> TimedSides:
    """‖W‖₂ < s in floats, with a proof that covers their rounding, and in balls."""
    W, s = random_matrices(n)
    matrix, bound = W[0], float(s[0])
    units = len(W), 1
    return TimedSides(lambda: is_norm_below(W, s), lambda: prove_in_balls(matrix, bound), units)
