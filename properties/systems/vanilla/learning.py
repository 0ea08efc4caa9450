"""Systems with a loss, trained or not, and projections: what is drawn, and their records."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from math import log

from hypothesis import strategies as st
from msgspec.structs import replace

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS
from rnnbounds.properties.systems.kind import (
    NO_CELL,
    AscentSearch,
    DrawRequest,
    Instances,
    Kind,
    cell_named,
    largest_visible_window,
    pick,
    seeds,
    specs_of_kind,
    vanilla_cell,
)
from rnnbounds.properties.systems.spec import BALLS, LOSSES, TRAINED, SpecType, SystemSpec
from rnnbounds.properties.systems.vanilla import learning_instances as instances
from rnnbounds.properties.systems.vanilla.ascent import Ascent
from rnnbounds.properties.systems.vanilla.network_weights import draw_weights
from rnnbounds.properties.systems.vanilla.networks import (
    QuadraticNetworks,
    TrainedNetworks,
    build_networks,
)
from rnnbounds.properties.systems.vanilla.plain import DRIVES, STABLE_REGIMES
from rnnbounds.properties.systems.vanilla.specs import (
    Gradient,
    Projection,
    Quadratic,
    Smooth,
    Training,
)

# Gradients are read to fewer rounding errors than gaps of states: λᵏ down to 2⁻³² is decided.
GRADIENT_DEPTH = 32 * log(2)
MEMORIES = (0.75, 0.5, 0.9, 0.25, 0.99, 0.0, 2.0**-10, 0.999)
DISTANCES = (0.25, 2.0**-12, 2.0**-6, 1.0, 2.0**-20)


@st.composite
def draw_learning_spec(draw: st.DrawFn, make: SpecType, wanted: DrawRequest) -> SystemSpec:
    """A system with a loss: one in four is scalar with a constant input, where bounds are tight."""
    tight = draw(pick((False, True, False, False)))
    lam = draw(pick(MEMORIES[:4] if tight else MEMORIES))
    if tight:
        activation = draw(pick(("identity", "tanh", "identity", "sin")))
        spec = make(
            regime="diagonal", inputs="constant", T=64, K=32,
            scale=1.0 if activation == "identity" else draw(pick((2.0**-7, 2.0**-12))),
            trained=draw(pick(("W", "U"))), loss=draw(pick(("linear", "squared"))), target=0.0,
        )  # fmt: skip
    else:
        activation = draw(pick(("tanh", "identity", "relu", *sorted(ACTIVATIONS))))
        n, T = draw(pick((2, 3, 4, 1, 6, 8))), draw(pick((34, 40, 48, 64, 13, 5, 36, 2)))
        kinked = ACTIVATIONS[activation].curvature == float("inf")
        spec = make(
            regime=draw(pick(STABLE_REGIMES)),
            inputs=draw(pick(DRIVES)),
            n=n,
            d=min(draw(pick((1, 2, 3))), n),
            T=T,
            K=min(T, 32),
            scale=draw(pick((1.0, 0.25, 2.0**-10, 4.0))),
            # Without a bias resting units would stay at the kink.
            bias=draw(pick((0.5,) if kinked else (0.0, 0.5))),
            trained=draw(pick((*TRAINED[:4], *TRAINED))),
            loss=draw(pick(LOSSES)),
            target=draw(pick((1.0, 0.0, 4.0))),
        )
    spec = replace(
        spec, activation=activation, lam=lam / ACTIVATIONS[activation].slope,
        K=largest_visible_window(lam, spec.T, spec.K, GRADIENT_DEPTH),
        distance=draw(pick(DISTANCES)),
        seed=draw(seeds()), batch=wanted.batch, sequences=wanted.sequences,
    )  # fmt: skip
    return fewer_loss_systems(spec, wanted.stepwise)


def fewer_loss_systems(spec: SystemSpec, stepwise: bool) -> SystemSpec:
    """The spec with fewer systems where bounds on gradients are met with equality, or are 0."""
    if spec.lam == 0:
        spec = replace(spec, K=min(spec.K, 3), T=min(spec.T, 8))
    linear = spec.activation == "identity"
    scalar = spec.n == 1 and (linear or stepwise or spec.trained == "U")
    rests = spec.inputs == "zero" and spec.bias == 0 and "b" not in spec.trained
    nothing = spec.lam == 0 or rests or (spec.inputs == "zero" and spec.trained == "U")
    if nothing or scalar or (linear and stepwise):
        return replace(spec, batch=min(spec.batch, 4), sequences=min(spec.sequences, 2))
    return spec


@st.composite
def draw_training_spec(draw: st.DrawFn, wanted: DrawRequest) -> SystemSpec:
    """Projected gradient descent of a small system, full and truncated, by steps c/(βt)."""
    lam = draw(pick((0.5, 0.75, 0.25, 0.9)))
    scalar = draw(pick((False, True)))
    activation = draw(pick(("identity", "tanh", "identity", "sigmoid", "sin", "arctan")))
    n, T = 1 if scalar else draw(pick((2, 3, 4))), draw(pick((8, 5, 13, 21)))
    spec = Training(
        activation=activation,
        regime="diagonal" if scalar else draw(pick(STABLE_REGIMES)),
        inputs=draw(pick(("constant", "gaussian", "resonant", "alternating"))),
        n=n,
        d=min(draw(pick((1, 2))), n),
        T=T,
        K=largest_visible_window(lam, T, draw(pick((8, 4, 12)))),
        lam=lam / ACTIVATIONS[activation].slope,
        scale=draw(pick((1.0, 0.25, 2.0**-10))),
        bias=draw(pick((0.0, 0.5))),
        epsilon=draw(pick((1.0, 0.25, 4.0, 16.0))),
        alpha=draw(pick((1.0, 0.125, 2.0**-6, 2.0))),
        seed=draw(seeds()),
        batch=wanted.batch,
        trained=draw(pick(("W", "WUb", "WU", "U"))),
        loss=draw(pick(LOSSES)),
        target=draw(pick((1.0, 0.0))),
        steps=draw(pick((1, 4, 10, 2))),
    )
    if scalar and draw(st.booleans()):
        # Where the bounds are tight: nothing is left of what the zero state forgets.
        spec = replace(
            spec, activation="identity", inputs="constant", T=40, trained="W", loss="linear",
            lam=lam, bias=0.0, batch=min(spec.batch, 8),
        )  # fmt: skip
    return spec


@st.composite
def draw_quadratic_spec(draw: st.DrawFn, wanted: DrawRequest) -> SystemSpec:
    """Descent on −βw²/2 and on −βw²/2 + εw, where the recursion of the weights is exact."""
    return Quadratic(
        K=1,
        lam=draw(pick((1.0, 0.125, 4.0))),
        epsilon=draw(pick((1.0, 2.0**-20))),
        alpha=draw(pick((0.5, 1.0, 2.0**-7, 2.0))),
        steps=draw(pick((1, 2, 3, 10, 40, 200))),
        seed=draw(seeds()),
    )


@st.composite
def draw_projection_spec(draw: st.DrawFn, wanted: DrawRequest) -> SystemSpec:
    """Two matrices about ``distance`` apart, and the radius of the ball that they are taken to."""
    return Projection(
        regime=draw(pick(("orthogonal", "gaussian", "diagonal", "symmetric", "rank-one", "zero"))),
        n=draw(pick((3, 2, 4, 1, 8))),
        lam=draw(pick((1.0, 2.0, 0.5))),
        scale=draw(pick((1.0, 0.5, 2.0))),
        distance=draw(pick((0.25, 2.0**-6, 1.0, 2.0**-20))),
        ball=draw(pick(BALLS)),
        seed=draw(seeds()),
        batch=wanted.batch,
    )


def start_specs(make: SpecType, count: int, seed: int) -> Iterator[SystemSpec]:
    """Small systems with a loss, long enough for the bounds that no length passes."""
    for i in range(count):
        activation = ("identity", "tanh", "sin", "arctan")[i % 4]
        yield make(
            activation=activation,
            regime=("diagonal", "orthogonal", "similar")[i % 3],
            inputs="constant",
            n=(1, 1, 2)[i % 3],
            T=(24, 32)[i % 2],
            K=4,
            lam=(0.5, 0.75)[(i // 2) % 2],
            scale=1.0 if activation == "identity" else 2.0**-10,
            trained=("W", "W", "U", "WU")[(i // 2) % 4],
            loss=("linear", "squared", "cross-entropy")[(i // 2) % 3],
            target=0.0,
            distance=2.0**-6,
            seed=seed + i,
            batch=2,
        )


def loss_kind(make: SpecType, worst: Callable[[], Iterator[SystemSpec]]) -> Kind:
    """The kind of systems with a loss, and their worst instances."""
    return Kind(
        make,
        partial(draw_learning_spec, make),
        partial(build_networks, draw_weights),
        vanilla_cell,
        Instances(worst, specs_of_kind(make, instances.NAMED_SPECS)),
        AscentSearch(partial(start_specs, make), Ascent.start, slowness=2),
        is_contractive=True,
    )


TRAINING = Kind(
    Training, draw_training_spec, partial(build_networks, draw_weights, make=TrainedNetworks),
    vanilla_cell, Instances(instances.worst_training), is_contractive=True,
)  # fmt: skip
QUADRATIC = Kind(
    Quadratic, draw_quadratic_spec, partial(build_networks, draw_weights, make=QuadraticNetworks),
    cell_named(NO_CELL), Instances(instances.worst_quadratics),
)  # fmt: skip
KINDS = (
    loss_kind(Gradient, instances.worst_gradients),
    loss_kind(Smooth, instances.worst_curvatures),
    TRAINING,
    QUADRATIC,
    Kind(
        Projection, draw_projection_spec, partial(build_networks, draw_weights),
        cell_named(NO_CELL), Instances(instances.worst_projections),
    ),
)  # fmt: skip
