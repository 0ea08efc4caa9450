"""Extremal instances of causal models: the widest holes, the largest overlaps, saturated gates."""

from __future__ import annotations

from collections.abc import Iterator

from rnnbounds.properties.systems.causal.fields import Monotone, fitted
from rnnbounds.properties.systems.drawing.grid import grid
from rnnbounds.properties.systems.spec import Make, SystemSpec


def causal_models(make: Make) -> Iterator[SystemSpec]:
    """Every regime with one layer and with several, with one tap, and with holes."""
    sizes = {} if make is Monotone else {"n": 2, "d": 2}
    base = make(inputs="gaussian", **sizes, batch=2, sequences=2, seed=7)
    shapes = {"layers": (1, 1, 3, 2, 2), "taps": (1, 4, 2, 2, 3), "dilation": (1, 1, 2, 4, 3)}
    for spec in grid(base, {"regime": make.regimes}, shapes):
        yield fitted(spec, 3)
