"""Two runs of cells from a pair of states, carried as the one and its difference from the other.

They see the same inputs, or the second one sees the other inputs. Nothing that is one differs: what
starts together and sees the same is apart by exactly 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import repeat
from typing import Any

from flint import arb
from torch import Tensor

from rnnbounds.impl.arithmetic.base import V
from rnnbounds.impl.arithmetic.entries.balls import Columns
from rnnbounds.properties.measures.runs.ball_runs import BallRuns, column
from rnnbounds.properties.measures.runs.gaps import Gap, Gaps
from rnnbounds.properties.measures.runs.readings import Seen, SeenBalls, runs
from rnnbounds.properties.measures.runs.rounded import Rounded
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.properties.systems.supply.other_inputs import other_inputs

# Two states (B, N, S) of each pair, or (B, N, m S) for m of them under the same inputs.
Pair = Callable[[Batch], tuple[Tensor, Tensor]]


def pair(batch: Batch) -> tuple[Tensor, Tensor]:
    """The two states of the box."""
    return batch.h, batch.h_other


def halves(batch: Batch) -> tuple[Tensor, Tensor]:
    """Half of each: those lie in the invariant set of a cell, discs for complex modes too."""
    return batch.h / 2, batch.h_other / 2


def half(batch: Batch) -> tuple[Tensor, Tensor]:
    """Half of the first, twice."""
    return batch.h / 2, batch.h / 2


def rolled(of: Any, at: Gap[V], inputs: Iterable[tuple[V, V]]) -> Iterator[Gap[V]]:
    """The pair before each of the inputs and after the last, for what the second run sees less."""
    made = Gaps(of.plain)
    yield at
    for x, less in inputs:
        at = of.program(made, at, Gap(x, less))
        yield at


def trail(batch: Batch, start: Pair, steps: int, other: bool = False) -> Iterator[Gap[Rounded]]:
    """Both runs over so many inputs, S columns each, or so many times S as the start has."""
    one, two = map(Rounded.exact, start(batch))
    many = 1, 1, one.value.shape[2] // batch.x.shape[3]

    def given(x: Tensor) -> list[Rounded]:
        return [Rounded.exact(at.repeat(many)) for at in x.unbind(1)]

    inputs = given(batch.x)
    seen = given(other_inputs(batch)) if other else inputs
    moved = ((x, x - o) for x, o in zip(inputs, seen, strict=True))
    return rolled(runs(batch), Gap(one, one - two), cut(moved, steps))


def ball_trail(
    of: BallRuns, batch: Batch, start: Pair, steps: int, other: bool = False
) -> Iterator[Gap[Columns]]:
    """The same of one pair in balls."""
    one, two = (column(s[0, :, 0].tolist()) for s in start(batch))
    inputs = of.inputs
    seen = map(column, other_inputs(batch)[0, :, :, 0].tolist()) if other else inputs
    moved = ((x, x - o) for x, o in zip(inputs, seen, strict=True))
    return rolled(of, Gap(one, one - two), cut(moved, steps))


def cut(inputs: Iterable[tuple[V, V]], steps: int) -> Iterator[tuple[V, V]]:
    """The first few."""
    return (one for one, _ in zip(inputs, repeat(None, steps), strict=False))


def apart(start: Pair, steps: int | None = None, other: bool = False) -> Seen:
    """s_t − s′_t after so many steps, after all T unless they are given: (B, N, S)."""

    def seen(batch: Batch) -> Rounded:
        *_, at = trail(batch, start, batch.spec.T if steps is None else steps, other)
        return at.gap

    return seen


def balls_apart(start: Pair, steps: int | None = None, other: bool = False) -> SeenBalls:
    """The same of one pair."""

    def seen(of: BallRuns, batch: Batch, k: int) -> list[arb]:
        *_, at = ball_trail(of, batch, start, of.T if steps is None else steps, other)
        return at.gap.matrix.entries()

    return seen
