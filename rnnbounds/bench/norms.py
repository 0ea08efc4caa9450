"""Certified spectral norms against LAPACK's singular values and against ball arithmetic."""

from __future__ import annotations

from functools import partial

import torch
from flint import arb, arb_mat, ctx

from rnnbounds.bench.clock import Clock
from rnnbounds.bench.gaps import FASTER
from rnnbounds.bench.row import Measured, Row, against, share
from rnnbounds.impl.checker.definite import below
from rnnbounds.impl.numbers.spectra.spectral_norm import certified_norm, gate

NUMBERS = 2**16  # in a batch
PRECISION = 53
Tensor = torch.Tensor


def matrices(n: int) -> tuple[Tensor, Tensor]:
    """As many Gaussian ones as a batch holds, and a bound 2⁻³⁰ above each norm."""
    draw = torch.Generator().manual_seed(n)
    W = torch.randn(max(1, NUMBERS // n**2), n, n, dtype=torch.float64, generator=draw)
    return W, torch.linalg.svdvals(W)[:, 0] * (1 + 2.0**-30)


def in_balls(W: Tensor, s: float) -> bool:
    """Whether ‖W‖₂ < s is proved for one matrix, in balls at the precision of a double."""
    with ctx.workprec(PRECISION):
        return below(arb_mat([[arb(v) for v in row] for row in W.tolist()]), arb(s))


def proved(n: int, clock: Clock) -> Measured:
    """‖W‖₂ < s, proved, against the singular values, which prove nothing."""
    W, s = matrices(n)
    timing = clock.interleaved([lambda: gate(W, s), lambda: torch.linalg.svdvals(W)])
    return share(timing, 1e6 / len(W))


def found(n: int, clock: Clock) -> Measured:
    """A bound that is found as well, to within rounding."""
    W, _ = matrices(n)
    timing = clock.interleaved([lambda: certified_norm(W), lambda: torch.linalg.svdvals(W)])
    return share(timing, 1e6 / len(W))


def balls(n: int, clock: Clock) -> Measured:
    """‖W‖₂ < s in floats, with a proof that covers their rounding, and in balls."""
    W, s = matrices(n)
    one, at = W[0], float(s[0])
    timing = clock.interleaved([lambda: gate(W, s), lambda: in_balls(one, at)])
    return against(timing, (len(W), 1))


ROWS = (
    *(
        Row(f"norm-{n}", f"a proof that ‖W‖₂ < s, n = {n}", "by svdvals, without a proof",
            "µs a matrix", "of the time", partial(proved, n), asked=0.3, sense="≤")
        for n in (16, 32, 64, 128, 256)
    ),
    *(
        Row(f"norm-balls-{n}", f"a proof that ‖W‖₂ < s, n = {n}", "in ball arithmetic",
            "µs a matrix", FASTER, partial(balls, n), asked=50)
        for n in (16, 64)
    ),
    Row("norm-found-16", "the least bound on ‖W‖₂ that is proved, n = 16",
        "by svdvals, without a proof", "µs a matrix", "of the time", partial(found, 16)),
)  # fmt: skip
