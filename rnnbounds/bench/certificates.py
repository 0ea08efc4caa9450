"""What a certificate costs, counted in inferences of the model that it is about."""

from __future__ import annotations

from functools import partial
from itertools import count

import torch

from rnnbounds.bench.clock import Clock
from rnnbounds.bench.row import Measured, Row, share
from rnnbounds.impl.arithmetic.activation import activation
from rnnbounds.impl.cells.kind import Kind
from rnnbounds.impl.cells.table import CELLS
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.convert.inference import outputs

N, D, T = 16, 4, 1000
SHOWN = (
    "linear", "rnn-tanh", "rnn-relu", "leaky-tanh", "deep-tanh", "lstm", "lstm-projected", "gru",
    "gru-cho", "diagonal", "min-gru", "min-lstm", "selective",
)  # fmt: skip


def weights(kind: Kind, seed: int = 0) -> dict[str, torch.Tensor]:
    """Small ones, of the shapes that the cell asks for; a deep cell has one layer."""
    draw = torch.Generator().manual_seed(seed)
    layout = kind.layout(())
    symbols = {s for shape in layout.shapes.values() for s in shape.replace("+", " ").split()}
    known = {s.lstrip("0123456789"): D if s == "d" else N for s in symbols}
    return {
        name: torch.rand(*shape, dtype=torch.float64, generator=draw) / N
        for name, shape in layout.shaped(known).items()
    }


def cost(cell: str, clock: Clock) -> Measured:
    """Seconds of `certify`, all norms tried, and of one run."""
    kind = CELLS[cell]
    held = {name: part.to(clock.device) for name, part in weights(kind).items()}
    seeds = count()  # other weights each time: what is known of some is kept
    x = torch.ones(1, T, D, dtype=torch.float64, device=clock.device) / D
    rho = activation(cell.removeprefix("rnn-")) if cell.startswith("rnn-") else None

    @torch.no_grad()
    def once() -> torch.Tensor:
        return outputs(kind, held, x, 1, 1, rho)

    def certified() -> object:
        return certify(weights(kind, next(seeds)), 1.0, cell=cell, device=clock.device)

    timing = clock.interleaved([certified, once])
    return share(timing, 1e3)


ROWS = tuple(
    Row(f"certify-{cell}", f"certify a {cell} cell, n = {N}, d = {D}",
        f"by one inference over T = {T}", "ms", "inferences", partial(cost, cell),
        on_device=True)
    for cell in SHOWN
)  # fmt: skip
