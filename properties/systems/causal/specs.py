"""What Hypothesis draws of causal models."""

from __future__ import annotations

from hypothesis import strategies as st
from msgspec.structs import replace

from properties.systems.causal.fields import MONOTONE_INPUTS, fields
from properties.systems.drawing.choices import pick, seeds
from properties.systems.kinds import CAUSAL
from properties.systems.spec import Kind, SystemSpec

DRIVES = ("gaussian", "constant", "impulse", "alternating", "zero")
LONGEST = 40


@st.composite
def causal_specs(draw: st.DrawFn, kind: Kind, batch: int, sequences: int) -> SystemSpec:
    """A model of 1 to 3 layers, on sequences longer than its receptive field."""
    monotone = kind == "monotone"
    spec = SystemSpec(
        kind=kind,
        regime=draw(pick(CAUSAL[kind])),
        activation=draw(pick(("relu", "tanh"))) if kind == "tcn" else "tanh",
        inputs=draw(pick(MONOTONE_INPUTS if monotone else DRIVES)),
        n=1 if monotone else draw(pick((2, 1, 3, 4))),
        d=1 if monotone else draw(pick((1, 2))),
        layers=draw(pick((2, 1, 3, 2))),
        taps=draw(pick((2, 3, 4, 1))),
        dilation=draw(pick((2, 1, 3, 4))),
        scale=draw(pick((1.0, 0.25) if monotone else (1.0, 0.25, 4.0))),
        bias=draw(pick((0.5, 0.0))),
        seed=draw(seeds()),
        batch=batch,
        sequences=sequences,
    )
    return fitted(spec, draw(pick((1, 2, 4, 7))))


def fitted(spec: SystemSpec, longer: int) -> SystemSpec:
    """The spec with few enough layers, and sequences longer than what it may be said to see."""
    while spec.layers > 1 and fields(spec)["R_overlap"] > LONGEST:
        spec = replace(spec, layers=spec.layers - 1)
    T = int(fields(spec)["R_overlap"]) + longer
    return replace(spec, T=T, K=T)
