"""The cells in which what is claimed of all of them is nearly attained.

Units whose gates are constant, driven by inputs so small that they are linear: nothing is forgotten
faster than λᵏ. One large input, and a truncated run that misses it alone, for what drifts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from rnnbounds.properties.systems.cells.fields import Leaky, Stack
from rnnbounds.properties.systems.gated.fields import Gru
from rnnbounds.properties.systems.kind import Kind
from rnnbounds.properties.systems.spec import Make, SystemSpec


def nearly_linear(make: Make) -> Iterator[SystemSpec]:
    """Two units that are alike, under a constant input."""
    base = make(
        regime="driven", inputs="constant", scale=2.0**-12, loss="linear", batch=4,
        target=0.0,
    )  # fmt: skip
    few = 1 if make.linear else 4  # met with equality
    yield replace(base, n=2, lam=0.5, bias=0.5, T=7, K=6, seed=6, epsilon=2.0**-4, batch=few)


def at_the_end() -> Iterator[SystemSpec]:
    """Equality, and a window as long as the run."""
    yield Gru(regime="driven", lam=0.0, T=2, K=2, seed=3, loss="linear")


def long_run() -> Iterator[SystemSpec]:
    """More than eight windows that forget less than half, of a run that is long beside them."""
    yield Gru(
        regime="driven", inputs="constant", scale=2.0**-12, loss="linear", batch=4,
        n=2, lam=0.9375, T=64, K=9, bias=0.5, seed=7, epsilon=0.5,
    )  # fmt: skip


def one_pulse(make: Make) -> Iterator[SystemSpec]:
    """A large first input, and nothing after it."""
    yield make(
        regime="driven", inputs="impulse", loss="linear", batch=4, T=9, K=8,
        scale=4.0, lam=0.75, bias=0.5, seed=5,
    )  # fmt: skip


def steep() -> Iterator[SystemSpec]:
    """Large weights, whose second derivatives are larger than the first; pairs near one another."""
    yield Leaky(
        regime="signs", inputs="zero", lam=8.0, bias=0.25, seed=4, batch=12,
        sequences=3,
    )  # fmt: skip


def trained(make: Make) -> Iterator[SystemSpec]:
    """Few steps of cells that contract whatever weights they come to."""
    yield make(
        regime="driven", inputs="gaussian", lam=0.0625, scale=0.25, bias=0.25, T=5, K=4,
        steps=2, distance=0.125, seed=8, batch=4,
    )  # fmt: skip


def unlike(make: Make) -> Iterator[SystemSpec]:
    """Cells of which no two gates and no two units are alike."""
    yield make(
        regime=drawn(make), inputs="gaussian", loss="linear", n=2, d=2, T=4, K=3, lam=0.25,
        bias=0.5, seed=13, batch=4,
    )  # fmt: skip


def drawn(make: Make) -> str:
    """The regime of its weights at random."""
    return "gaussian" if "gaussian" in make.regimes else make.regimes[-1]


def first_step(make: Make) -> Iterator[SystemSpec]:
    """One step from zero of cells of one unit whose gates the input moves: the drive is attained,
    and what an input moves through a gate is seen beside what it moves by itself."""
    yield make(
        regime=drawn(make), inputs="constant", loss="linear", scale=0.25, lam=0.25, bias=0.5,
        seed=9, batch=24,
    )  # fmt: skip


def at_the_edge(make: Make) -> Iterator[SystemSpec]:
    """A constant input of size one, until the states are where their box ends; two layers where
    there are any, the upper one fed by units that are all alike."""
    base = make(
        regime="driven", inputs="constant", loss="linear", n=2, T=12, K=2, lam=0.25, seed=10,
        batch=1 if make.linear else 4,
    )  # fmt: skip
    yield replace(base, layers=2) if base.has("layers") else base


def aligned(make: Make) -> Iterator[SystemSpec]:
    """Inputs of two numbers along the row of weights that they meet, until the box is reached."""
    yield make(
        regime="driven", inputs="resonant", loss="linear", d=2, T=12, K=2, lam=0.25, seed=12,
        batch=1 if make.linear else 4,
    )  # fmt: skip


def stacked() -> Iterator[SystemSpec]:
    """Two layers of gated cells, of which the lower one holds what it is fed."""
    for regime in ("gru", "lstm"):
        yield Stack(
            regime=regime, inputs="constant", loss="linear", layers=2, T=8, K=2, lam=0.5, scale=4.0,
            bias=1.0, seed=11, batch=24,
        )  # fmt: skip


def family_specs(kinds: Sequence[Kind]) -> Iterator[SystemSpec]:
    """All of these, for each kind of cell."""
    for kind in kinds:
        for worst in (nearly_linear, one_pulse, trained, unlike, first_step, at_the_edge, aligned):
            yield from worst(kind.spec)
    yield from stacked()
    yield from steep()
    yield from at_the_end()
    yield from long_run()
