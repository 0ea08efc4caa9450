"""Extremal instances of causal models: the widest holes, the largest overlaps, saturated gates."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from rnnbounds.properties.systems.causal.fields import Monotone, fitted
from rnnbounds.properties.systems.spec import Make, SystemSpec


def causal_models(make: Make) -> Iterator[SystemSpec]:
    """Every regime with one layer and with several, with one tap, and with holes."""
    for regime in make.regimes:
        sizes = {} if make is Monotone else {"n": 2, "d": 2}
        base = make(regime=regime, inputs="gaussian", **sizes, batch=2, sequences=2, seed=7)
        for layers, taps, dilation in ((1, 1, 1), (1, 4, 1), (3, 2, 2), (2, 2, 4), (2, 3, 3)):
            shaped = replace(base, layers=layers, taps=taps, dilation=dilation)
            yield fitted(shaped, 3)
