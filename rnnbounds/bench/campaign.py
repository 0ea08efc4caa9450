"""A campaign under Hypothesis: drawing, building and judging systems, against one at a time."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import count
from typing import Any

import torch
from hypothesis import strategies as st

from rnnbounds.bench import naive
from rnnbounds.bench.clock import FULLER, Clock
from rnnbounds.bench.gaps import FASTER, SIZE
from rnnbounds.bench.row import Measured, Row, against
from rnnbounds.properties.attacks.search import draw
from rnnbounds.properties.judging.judge import Verdict, judge
from rnnbounds.properties.systems.batch import build
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.vanilla.specs import Rnn
from rnnbounds.theory import claim

EXAMPLES, SYSTEMS, SEQUENCES = 3, 48, 12  # of a batch as the quick profile has it


def campaign(examples: int, visit: Callable[[SystemSpec], object], seed: int, **size: int) -> None:
    """Show so many drawn specs to a visitor."""

    def shown(own: int) -> None:
        visit(Rnn(activation="tanh", n=16, d=4, T=100, K=32, lam=0.9, seed=own, **size))

    draw(st.integers(0, 2**32 - 1), shown, examples=examples, seed=seed)


def judged(spec: SystemSpec, device: str = "cpu") -> Any:
    """`truncation` on all pairs of a spec."""
    form = claim("truncation").forms[0]
    seen = judge(form.statement, form.assumptions, build(spec, device))
    assert (seen.verdicts == Verdict.HOLDS).all()
    return seen


def looped(spec: SystemSpec) -> None:
    """The same of the one pair of a spec, as a user would."""
    batch = build(spec)
    W, U, b = (getattr(batch.cell, name)[0] for name in "WUb")
    assert naive.bound_holds(W, U, b, batch.x[0, :, :, 0], batch.K)


@torch.no_grad()
def whole(clock: Clock) -> Measured:
    """Both under Hypothesis, the batch and the one system."""
    seen, seeds = partial(judged, device=clock.device), count()  # what is known of systems is kept
    size = {"batch": SYSTEMS * clock.fuller, "sequences": SEQUENCES}
    timing = clock.interleaved(
        [
            lambda: campaign(EXAMPLES, seen, next(seeds), **size),
            lambda: campaign(2, looped, next(seeds)),
        ]
    )
    return against(timing, (EXAMPLES * size["batch"] * SEQUENCES, 2))


ROWS = (
    Row("campaign", f"drawn by Hypothesis, built and judged: truncation, {SIZE}, {SYSTEMS} systems "
        f"(on CUDA {FULLER} times as many) of {SEQUENCES} sequences an example",
        "one system an example, by loops over t and k", "µs a (system, sequence)", FASTER, whole,
        asked=250, on_device=True),
)  # fmt: skip
