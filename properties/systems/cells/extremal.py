"""The cells in which what is claimed of all of them is nearly attained.

Units whose gates are constant, driven by inputs so small that they are linear: nothing is forgotten
faster than λᵏ. One large input, and a truncated run that misses it alone, for what drifts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from rnnbounds.properties.systems.cells.gated import Gru
from rnnbounds.properties.systems.cells.kinds import Leaky, Stack
from rnnbounds.properties.systems.kind import Kind, spec_grid
from rnnbounds.properties.systems.spec import SpecType, SystemSpec


def worst_of_any_cell(make: SpecType) -> dict[str, SystemSpec]:
    """The worst instances of one kind of cell, by name."""
    random_regime = "gaussian" if "gaussian" in make.regimes else make.regimes[-1]
    driven = make(regime="driven", inputs="constant", loss="linear", batch=4)
    edge = replace(driven, n=2, T=12, K=2, lam=0.25, seed=10)
    return {
        # Two units that are alike, under a constant input.
        "nearly linear": replace(
            driven, scale=2.0**-12, target=0.0, n=2, lam=0.5, bias=0.5, T=7, K=6, seed=6,
            epsilon=2.0**-4,
        ),
        # A large first input, and nothing after it.
        "pulse": replace(driven, inputs="impulse", T=9, K=8, scale=4.0, lam=0.75, bias=0.5, seed=5),
        # Few steps of cells that contract whatever weights they come to.
        "trained": replace(
            driven, inputs="gaussian", loss="squared", lam=0.0625, scale=0.25, bias=0.25, T=5, K=4,
            steps=2, distance=0.125, seed=8,
        ),
        # No two gates and no two units are alike.
        "unlike": replace(
            driven, regime=random_regime, inputs="gaussian", n=2, d=2, T=4, K=3, lam=0.25, bias=0.5,
            seed=13,
        ),
        # From zero, one unit whose gates the input moves: the drive is attained, and what an input
        # moves through a gate is seen beside what it moves by itself.
        "first step": replace(
            driven, regime=random_regime, scale=0.25, lam=0.25, bias=0.5, seed=9, batch=24
        ),
        # A constant input of size one, until the states are where their box ends; two layers where
        # there are any, the upper one fed by units that are all alike.
        "edge": replace(edge, layers=2) if edge.has("layers") else edge,
        # Inputs of two numbers along the row of weights that they meet, until the box is reached.
        "aligned": replace(driven, inputs="resonant", d=2, T=12, K=2, lam=0.25, seed=12),
    }  # fmt: skip


def worst_of_single_cells() -> Iterator[SystemSpec]:
    """Worst instances of single kinds."""
    # Two layers of gated cells, of which the lower one holds what it is fed.
    yield from spec_grid(
        Stack(
            inputs="constant", loss="linear", layers=2, T=8, K=2, lam=0.5, scale=4.0, bias=1.0,
            seed=11, batch=24,
        ),
        {"regime": ("gru", "lstm")},
    )  # fmt: skip
    # Large weights, whose second derivatives are larger than the first; pairs near one another.
    yield Leaky(regime="signs", inputs="zero", lam=8.0, bias=0.25, seed=4, batch=12, sequences=3)
    # Three linear units that are alike, whose output is longer than any one of them.
    yield Leaky(
        activation="identity", regime="driven", inputs="constant", loss="linear", n=3, lam=0.5,
        T=12, K=11, epsilon=0.57, seed=6, batch=1,
    )  # fmt: skip
    # Equality, and a window as long as the run.
    yield Gru(regime="driven", lam=0.0, T=2, K=2, seed=3, loss="linear")
    # More than eight windows that forget less than half, of a run that is long beside them.
    yield Gru(
        regime="driven", inputs="constant", scale=2.0**-12, loss="linear", batch=4, n=2,
        lam=0.9375, T=64, K=9, bias=0.5, seed=7, epsilon=0.5,
    )  # fmt: skip


def worst_cell_specs(kinds: Sequence[Kind]) -> Iterator[SystemSpec]:
    """Worst instances of each kind of cell, then those of single kinds."""
    for kind in kinds:
        yield from worst_of_any_cell(kind.spec).values()
    yield from worst_of_single_cells()
