"""Linear systems, RNNs and unstable ones: what is drawn, and their records."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from hypothesis import strategies as st
from msgspec.structs import replace

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS
from rnnbounds.properties.systems.kind import (
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
from rnnbounds.properties.systems.spec import SpecType, SystemSpec
from rnnbounds.properties.systems.vanilla import instances
from rnnbounds.properties.systems.vanilla.ascent import Ascent
from rnnbounds.properties.systems.vanilla.corners import corner_specs
from rnnbounds.properties.systems.vanilla.network_weights import (
    draw_unit_input_weights,
    draw_weights,
)
from rnnbounds.properties.systems.vanilla.networks import build_networks
from rnnbounds.properties.systems.vanilla.specs import (
    Descent,
    Linear,
    Rnn,
    Unstable,
)

FACTORS = (0.5, 0.75, 0.9, 0.25, 0.99, 0.999, 2.0**-10, 1 - 2.0**-20)
SIZES = (1, 2, 3, 4, 6, 8, 12, 16)
LENGTHS = (1, 2, 3, 5, 8, 13, 21, 34, 50, 64)
WINDOWS = (0, 1, 2, 4, 8, 12, 16, 24)
STABLE_REGIMES = (
    "orthogonal", "gaussian", "permutation", "block", "symmetric", "diagonal", "rank-one",
    "nilpotent",
)  # fmt: skip
ISOMETRIC = ("orthogonal", "permutation", "block")
WEIGHTED_REGIMES = ("similar", "shear")
TARGETS = (0.26, 0.1, 0.57, 0.01)
DRIVES = ("constant", "gaussian", "alternating", "impulse", "resonant", "saturating", "zero")


def fewer_systems(spec: SystemSpec, stepwise: bool) -> SystemSpec:
    """The spec with fewer systems where bounds are met with equality: exact arithmetic decides
    those.

    A scalar system meets them at every window, an isometric one at windows k ≥ T − 1, and a linear
    isometric one in every single step.
    """
    isometric = spec.regime in ISOMETRIC and spec.activation == "identity"
    if spec.n > 1 and spec.K < spec.T - 1 and not (stepwise and isometric):
        return spec
    return replace(spec, batch=min(spec.batch, 4), sequences=min(spec.sequences, 2))


@st.composite
def draw_network_spec(draw: st.DrawFn, make: SpecType, wanted: DrawRequest) -> SystemSpec:
    """A linear system, or an RNN."""
    n, T = draw(pick(SIZES)), draw(pick(LENGTHS))
    activation = "identity"
    if make is Rnn:
        activation = draw(pick(("tanh", "identity", "relu", *sorted(ACTIVATIONS))))
    lam = draw(pick(FACTORS))
    spec = make(
        **({"activation": activation} if make is Rnn else {}),
        regime=draw(pick((*STABLE_REGIMES, *WEIGHTED_REGIMES) if wanted.wide else STABLE_REGIMES)),
        inputs=draw(pick(DRIVES)),
        n=n,
        d=min(draw(pick((1, 2, 3))), n),
        T=T,
        K=largest_visible_window(lam, T, draw(pick(WINDOWS))),
        # λ is the model's factor L_ρ ‖W‖₂, so the norm aimed at is λ/L_ρ.
        lam=lam / ACTIVATIONS[activation].slope,
        scale=draw(pick((1.0, 0.25, 4.0))),
        bias=draw(pick((0.0, 0.0, 0.5))),
        epsilon=draw(pick(TARGETS)),
        seed=draw(seeds()),
        batch=wanted.batch,
        sequences=wanted.sequences,
    )
    return fewer_systems(spec, wanted.stepwise)


@st.composite
def draw_unstable_spec(draw: st.DrawFn, wanted: DrawRequest) -> SystemSpec:
    """One impulse into a scalar linear system with λ ≥ 1."""
    T = draw(pick((2, 3, 5, 8, 13, 21, 34)))
    return Unstable(T=T, K=T - 1, lam=draw(pick((1.0, 1.25, 1.5, 2.0, 3.0))), seed=draw(seeds()))


@st.composite
def draw_descent_spec(draw: st.DrawFn, wanted: DrawRequest) -> SystemSpec:
    """Gradient descent on the unstable scalar system from a_1 = lam."""
    return Descent(
        T=draw(pick((3, 4, 5, 6, 7, 8))),
        lam=draw(pick((1.5, 1.25, 1.125, 2.0, 3.0))),
        alpha=draw(pick((1.0, 0.5, 2.0, 0.375, 0.1875, 0.125, 8.0))),
    )


def start_specs(make: SpecType, count: int, seed: int) -> Iterator[SystemSpec]:
    """Small systems of the regimes in which bounds are tight, one input sequence each."""
    names = ("tanh", "identity", "relu", "gelu", "sin", "elu") if make is Rnn else ("identity",)
    for i in range(count):
        activation = names[i % len(names)]
        n, T = 1 + i % 3, (3, 6, 12)[i % 3]
        yield make(
            **({"activation": activation} if make is Rnn else {}),
            regime=("orthogonal", "gaussian", "similar")[(i // 2) % 3],
            inputs=("constant", "gaussian")[i % 2],
            n=n,
            d=1,
            T=T,
            K=min(3, T),
            lam=(0.75, 0.5, 0.9)[i % 3] / ACTIVATIONS[activation].slope,
            bias=(0.0, 0.25)[(i // 3) % 2],
            scale=(1.0, 0.125)[(i // 2) % 2],
            seed=seed + i,
            batch=4,
            sequences=1,
        )


def contractive_kind(make: SpecType) -> Kind:
    """The kind of linear systems, or of RNNs."""
    return Kind(
        make,
        partial(draw_network_spec, make),
        partial(build_networks, draw_weights),
        vanilla_cell,
        Instances(
            partial(instances.worst_networks, make), specs_of_kind(make, instances.NAMED_SPECS),
            partial(corner_specs, make),
        ),
        AscentSearch(partial(start_specs, make), Ascent.start),
        is_contractive=True,
    )  # fmt: skip


NETWORKS = (
    contractive_kind(Linear),
    contractive_kind(Rnn),
    Kind(
        Unstable, draw_unstable_spec, partial(build_networks, draw_unit_input_weights),
        cell_named("linear"), Instances(instances.unstable_witnesses),
    ),
)  # fmt: skip
OTHERS = (
    Kind(
        Descent, draw_descent_spec, partial(build_networks, draw_weights), cell_named("linear"),
        Instances(instances.worst_descents)
    ),
)  # fmt: skip
