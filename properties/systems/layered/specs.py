"""What is drawn of deep transitions and stacks, and their extremal instances by name."""

from __future__ import annotations

from collections.abc import Iterator

from hypothesis import strategies as st
from msgspec.structs import replace

from properties.systems.drawing.choices import pick, seeds
from properties.systems.kinds import EXACT_REGIMES
from properties.systems.spec import SystemSpec

DRIVES = ("constant", "gaussian", "zero", "alternating", "impulse")
RATIONAL = ("identity", "relu", "leaky-relu")
SMOOTH = ("gelu", "silu", "tanh", "sigmoid", "erf")
LAYERED = SystemSpec(
    kind="layered", activation="identity", regime="signed", inputs="constant", T=3, K=3, batch=4
)
CASCADE = SystemSpec(
    kind="cascade", activation="identity", regime="positive", inputs="constant", T=4, K=4, batch=8
)


@st.composite
def layered_specs(draw: st.DrawFn, batch: int, sequences: int) -> SystemSpec:
    """One to four layers of one to four units; smooth activations, which balls decide, are few."""
    activation = draw(pick((*RATIONAL[:2], *SMOOTH, *RATIONAL[:2], *RATIONAL)))
    T = draw(pick((2, 3, 1)))
    smooth = activation in SMOOTH
    first = "signed" if activation == "identity" else "gaussian"
    return SystemSpec(
        kind="layered",
        activation=activation,
        regime=draw(pick((first, *EXACT_REGIMES["layered"]))),
        inputs=draw(pick(DRIVES)),
        n=draw(pick((2, 1, 3, 2) if not smooth else (1, 2))),
        d=1,
        T=T,
        K=T,
        scale=draw(pick((1.0, 0.25, 2.0))),
        bias=draw(pick((0.5, 0.0, 2.0))),
        layers=draw(pick((2, 1, 3, 4))),
        seed=draw(seeds()),
        batch=min(batch, 6 if smooth else 12),
        sequences=min(sequences, 4),
    )


@st.composite
def cascade_specs(draw: st.DrawFn, batch: int, sequences: int) -> SystemSpec:
    """A stack of one to four units a layer, over one to eight steps."""
    T = draw(pick((3, 1, 5, 8)))
    return SystemSpec(
        kind="cascade",
        activation=draw(pick(("identity", "relu"))),
        regime=draw(pick(("gaussian", *EXACT_REGIMES["cascade"]))),
        inputs=draw(pick(DRIVES)),
        n=draw(pick((1, 2, 1, 4))),
        d=draw(pick((1, 2))),
        T=T,
        K=T,
        scale=draw(pick((1.0, 0.25))),
        bias=draw(pick((0.5, 0.0))),
        seed=draw(seeds()),
        batch=min(batch, 12),
        sequences=min(sequences, 2),
    )


TRANSITIONS: dict[str, SystemSpec] = {
    # A = (0 1; 0 0) in every layer: the gradient vanishes after two of them.
    "nilpotent-layers": replace(LAYERED, regime="nilpotent", n=2, layers=2, seed=1),
    # Layers whose product vanishes, but for what a ReLU cuts off between them.
    "cut-off-layers": replace(
        LAYERED, activation="relu", regime="cancelling", n=2, layers=2, bias=2.0, batch=16
    ),
    # Every layer near the point where GELU is steepest.
    "steep-layers": replace(LAYERED, activation="gelu", regime="identity", layers=4, bias=2.0),
}
STACKS: dict[str, SystemSpec] = {
    # Nothing negative: what each layer hands on adds up.
    "scalar-cascade": CASCADE,
    "equal-rates": replace(CASCADE, regime="equal", T=8, K=8),
}


def transitions() -> Iterator[SystemSpec]:
    """Every constructor at every depth, linear and piecewise linear, and steep ones."""
    for regime in EXACT_REGIMES["layered"]:
        for layers in (1, 2, 4):
            for activation in ("identity", "relu"):
                yield replace(
                    LAYERED, regime=regime, layers=layers, activation=activation, n=2, bias=0.5
                )
    for activation in ("gelu", "silu", "erf", "tanh"):
        yield replace(
            LAYERED, activation=activation, regime="signed", layers=3, bias=2.0, T=2, K=2, seed=3
        )


def stacks() -> Iterator[SystemSpec]:
    """Every constructor, alone and with units that cut off."""
    for regime in EXACT_REGIMES["cascade"]:
        for activation in ("identity", "relu"):
            for n in (1, 2):
                yield replace(CASCADE, regime=regime, activation=activation, n=n, bias=0.25)
