"""Deep transitions and stacks in rationals: what is drawn of them, their worst instances, and their
records."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from hypothesis import strategies as st
from msgspec.structs import replace

from rnnbounds.properties.systems.kind import (
    DrawRequest,
    Instances,
    Kind,
    cell_named,
    pick,
    seeds,
    spec_grid,
    vanilla_cell,
)
from rnnbounds.properties.systems.layered.stack import stack_member
from rnnbounds.properties.systems.layered.transition import layered_member as transition
from rnnbounds.properties.systems.spec import SystemSpec, spec_of
from rnnbounds.properties.systems.unitary.exact import EXACT_LIMITS, check_exact, exact_networks

DRIVES = ("constant", "gaussian", "zero", "alternating", "impulse")
RATIONAL = ("identity", "relu", "leaky-relu")
SMOOTH = ("gelu", "silu", "tanh", "sigmoid", "erf")
Layered = spec_of(
    "layered", "activation n d T K regime inputs scale bias layers", check=check_exact,
    limits=EXACT_LIMITS | {"n": 8, "T": 16, "layers": 8},
    regimes=("zero", "identity", "signed", "nilpotent", "gaussian"),
)  # fmt: skip
Cascade = spec_of(
    "cascade", "activation n d T K regime inputs scale bias", check=check_exact,
    limits=EXACT_LIMITS | {"n": 8, "T": 32}, activations=("identity", "relu", "leaky-relu"),
    regimes=("positive", "signed", "gaussian"),
)  # fmt: skip
TRANSITION = Layered(activation="identity", regime="signed", inputs="constant", T=3, K=3, batch=4)
STACK = Cascade(activation="identity", regime="positive", inputs="constant", T=4, K=4, batch=8)


@st.composite
def draw_layered_spec(draw: st.DrawFn, wanted: DrawRequest) -> SystemSpec:
    """One to four layers of one to four units; smooth activations, which balls decide, are few."""
    activation = draw(pick((*RATIONAL[:2], *SMOOTH, *RATIONAL[:2], *RATIONAL)))
    T = draw(pick((2, 3, 1)))
    is_smooth = activation in SMOOTH
    likely_regime = "signed" if activation == "identity" else "gaussian"
    return Layered(
        activation=activation,
        regime=draw(pick((likely_regime, *Layered.regimes))),
        inputs=draw(pick(DRIVES)),
        n=draw(pick((2, 1, 3, 2) if not is_smooth else (1, 2))),
        d=1,
        T=T,
        K=T,
        scale=draw(pick((1.0, 0.25, 2.0))),
        bias=draw(pick((0.5, 0.0, 2.0))),
        layers=draw(pick((2, 1, 3, 4))),
        seed=draw(seeds()),
        batch=min(wanted.batch, 6 if is_smooth else 12),
        sequences=min(wanted.sequences, 4),
    )


@st.composite
def draw_cascade_spec(draw: st.DrawFn, wanted: DrawRequest) -> SystemSpec:
    """A stack of one to four units a layer, over one to eight steps."""
    T = draw(pick((3, 1, 5, 8)))
    return Cascade(
        activation=draw(pick(("identity", "relu"))),
        regime=draw(pick(("gaussian", *Cascade.regimes))),
        inputs=draw(pick(DRIVES)),
        n=draw(pick((1, 2, 1, 4))),
        d=draw(pick((1, 2))),
        T=T,
        K=T,
        scale=draw(pick((1.0, 0.25))),
        bias=draw(pick((0.5, 0.0))),
        seed=draw(seeds()),
        batch=min(wanted.batch, 12),
        sequences=min(wanted.sequences, 2),
    )


TRANSITIONS: dict[str, SystemSpec] = {
    # A = (0 1; 0 0) in every layer: the gradient vanishes after two of them.
    "nilpotent-layers": replace(TRANSITION, regime="nilpotent", n=2, layers=2, seed=1),
    # Every layer near the point where GELU is steepest.
    "steep-layers": replace(TRANSITION, activation="gelu", regime="identity", layers=4, bias=2.0),
}


def worst_transitions() -> Iterator[SystemSpec]:
    """Every constructor at every depth, linear and piecewise linear, and steep ones."""
    yield from TRANSITIONS.values()
    linear = {"activation": ("identity", "relu")}
    base = replace(TRANSITION, n=2, bias=0.5)
    yield from spec_grid(base, {"regime": Layered.regimes}, {"layers": (1, 2, 4)}, linear)
    steep = replace(TRANSITION, regime="signed", layers=3, bias=2.0, T=2, K=2, seed=3)
    yield from spec_grid(steep, {"activation": ("gelu", "silu", "erf", "tanh")})


def worst_stacks() -> Iterator[SystemSpec]:
    """Every constructor, alone and with units that cut off."""
    yield STACK  # nothing negative: what each layer hands on adds up
    linear = {"activation": ("identity", "relu")}
    yield from spec_grid(
        replace(STACK, bias=0.25), {"regime": Cascade.regimes}, linear, {"n": (1, 2)}
    )


def layered_cell(spec: SystemSpec) -> str:
    """The name of the cell: a vanilla network of one layer, a deep transition of more."""
    return vanilla_cell(spec) if spec.layers == 1 else cell_named("deep")(spec)


KINDS = (
    Kind(
        Layered,
        draw_layered_spec,
        partial(exact_networks, transition),
        layered_cell,
        Instances(worst_transitions, TRANSITIONS),
        family="exact",
    ),
    Kind(
        Cascade,
        draw_cascade_spec,
        partial(exact_networks, stack_member),
        cell_named("stack"),
        Instances(worst_stacks),
        family="exact",
    ),
)
