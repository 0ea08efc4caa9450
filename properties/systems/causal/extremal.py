"""Extremal instances of causal models: the widest holes, the largest overlaps, saturated gates."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from properties.systems.causal.specs import fitted
from properties.systems.kinds import CAUSAL
from properties.systems.spec import Kind, SystemSpec


def causal_models(kind: Kind) -> Iterator[SystemSpec]:
    """Every regime with one layer and with several, with one tap, and with holes."""
    for regime in CAUSAL[kind]:
        n = 1 if kind == "monotone" else 2
        base = SystemSpec(
            kind=kind, regime=regime, inputs="gaussian", n=n, d=n, batch=2, sequences=2, seed=7
        )
        for layers, taps, dilation in ((1, 1, 1), (1, 4, 1), (3, 2, 2), (2, 2, 4), (2, 3, 3)):
            shaped = replace(base, layers=layers, taps=taps, dilation=dilation)
            yield fitted(shaped, 3)
