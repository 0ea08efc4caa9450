"""Linear systems, RNNs, unstable ones and descents: specs, draws, worst instances and corners."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from hypothesis import strategies as st
from msgspec.structs import replace

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS
from rnnbounds.properties.systems.kind import (
    DrawRequest,
    Kind,
    cell_named,
    draw_choices,
    largest_visible_window,
    pick,
    seeds,
    spec_grid,
    vanilla_cell,
)
from rnnbounds.properties.systems.spec import SpecType, SystemSpec, Values, spec_of
from rnnbounds.properties.systems.vanilla.network_weights import (
    draw_unit_input_weights,
    draw_weights,
)
from rnnbounds.properties.systems.vanilla.networks import build_networks

PLAIN = "n d T K regime inputs lam scale bias epsilon distance values"
Linear = spec_of("linear", PLAIN, activation="identity")
Rnn = spec_of("rnn", f"activation {PLAIN}")
Unstable = spec_of(
    "unstable", "T K lam scale", activation="identity", regime="diagonal", inputs="impulse"
)
Descent = spec_of("descent", "T lam alpha", regime="diagonal")
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


def convert_spec(make: SpecType, spec: SystemSpec) -> SystemSpec:
    """Convert a spec to another kind by copying that kind's fields."""
    return make(**{name: getattr(spec, name) for name in make.__struct_fields__})


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
        **draw_choices(
            draw, regime=(*STABLE_REGIMES, *WEIGHTED_REGIMES) if wanted.wide else STABLE_REGIMES,
            inputs=DRIVES,
        ),
        n=n, d=min(draw(pick((1, 2, 3))), n),
        T=T, K=largest_visible_window(lam, T, draw(pick(WINDOWS))),
        # λ is the model's factor L_ρ ‖W‖₂, so the norm aimed at is λ/L_ρ.
        lam=lam / ACTIVATIONS[activation].slope,
        **draw_choices(draw, scale=(1.0, 0.25, 4.0), bias=(0.0, 0.0, 0.5), epsilon=TARGETS),
        seed=draw(seeds()), batch=wanted.batch, sequences=wanted.sequences,
    )  # fmt: skip
    return fewer_systems(spec, wanted.stepwise)


@st.composite
def draw_unstable_spec(draw: st.DrawFn, wanted: DrawRequest) -> SystemSpec:
    """One impulse into a scalar linear system with λ ≥ 1."""
    T = draw(pick((2, 3, 5, 8, 13, 21, 34)))
    return Unstable(T=T, K=T - 1, lam=draw(pick((1.0, 1.25, 1.5, 2.0, 3.0))), seed=draw(seeds()))


@st.composite
def draw_descent_spec(draw: st.DrawFn, wanted: DrawRequest) -> SystemSpec:
    """Gradient descent on the unstable scalar system from a_1 = lam."""
    choices = draw_choices(
        draw, T=(3, 4, 5, 6, 7, 8), lam=(1.5, 1.25, 1.125, 2.0, 3.0),
        alpha=(1.0, 0.5, 2.0, 0.375, 0.1875, 0.125, 8.0),
    )  # fmt: skip
    return Descent(**choices)


def start_specs(make: SpecType, count: int, seed: int) -> Iterator[SystemSpec]:
    """Small systems of the regimes in which bounds are tight, one input sequence each."""
    names = ("tanh", "identity", "relu", "gelu", "sin", "elu") if make is Rnn else ("identity",)
    for i in range(count):
        activation = names[i % len(names)]
        n, T = 1 + i % 3, (3, 6, 12)[i % 3]
        yield make(
            **({"activation": activation} if make is Rnn else {}),
            regime=("orthogonal", "gaussian", "similar")[(i // 2) % 3],
            inputs=("constant", "gaussian")[i % 2], n=n, d=1, T=T, K=min(3, T),
            lam=(0.75, 0.5, 0.9)[i % 3] / ACTIVATIONS[activation].slope,
            bias=(0.0, 0.25)[(i // 3) % 2], scale=(1.0, 0.125)[(i // 2) % 2], seed=seed + i,
            batch=4, sequences=1,
        )  # fmt: skip


def scalar_spec(**fields: Any) -> SystemSpec:
    """h = λ h + u x."""
    return Linear(**{"regime": "diagonal", **fields})


def worst_linear() -> Iterator[SystemSpec]:
    """The worst linear systems."""
    # h = λ h + u x with a constant input: equality in the state bound and in Lemma 1.
    for lam in (0.75, 0.5, 0.0, 0.9375, 1 - 2.0**-20, 1 - 2.0**-30):
        for T in (1, 3, 17):
            yield scalar_spec(lam=lam, T=T, K=T, seed=T % 2, epsilon=2.0**-6)
    for lam in (0.75, 0.9375):
        yield scalar_spec(lam=lam, T=64, K=24, epsilon=2.0**-6)
    # λ times an orthogonal, permuting or rotating matrix: nothing is forgotten faster than λᵏ.
    yield from spec_grid(
        Linear(n=4, d=2, T=24, K=8, lam=0.75, seed=11, batch=4, sequences=2),
        {"regime": ("orthogonal", "permutation", "block")},
        {"inputs": ("impulse", "resonant", "constant")},
    )


def long_runs() -> Iterator[SystemSpec]:
    """The worst linear systems whose windows are many: what is false falls before them."""
    # A window of 6 is hardly enough: λ⁶ is hardly less than ε's share of what is forgotten.
    yield scalar_spec(lam=0.5, T=40, K=8, epsilon=2.0**-6 * (1 + 2.0**-10))
    # Windows so long that λᵏ is far below the rounding of a state.
    yield scalar_spec(lam=0.5, T=100, K=90)
    yield scalar_spec(lam=2.0**-30, T=24, K=20)
    yield scalar_spec(lam=0.5, T=110, K=110, epsilon=1e-30)


def explicit_system(make: SpecType, values: Values, **fields: Any) -> SystemSpec:
    """The spec of one system written out, windows to 8; ``fields`` set the spec's other fields."""
    n, d, T = len(values.W), len(values.U[0]), len(values.x)
    return make(n=n, d=d, T=T, K=min(T, 8), values=values, **fields)


def one_input_values(
    W: list[list[float]], h: list[float], h_other: list[float], T: int = 8,
    b: list[float] | None = None, x: float = 0.0,
) -> Values:  # fmt: skip
    """A system with one input that enters the first unit, and a pair of states."""
    n = len(W)
    unit = [[1.0 if i == 0 else 0.0] for i in range(n)]
    C = [[1.0 if i == j else 0.0 for j in range(n)] for i in range(n)]
    return Values(W=W, U=unit, b=b or [0.0] * n, C=C, x=[[x]] * T, h=h, h_other=h_other)


NAMED_SPECS: dict[str, SystemSpec] = {
    # A quadratic norm in which W contracts, and ρ(W ·) does not.
    "nilpotent-relu": explicit_system(
        Rnn, one_input_values([[2.0, 4.0], [-1.0, -2.0]], [1.0, 0.0], [0.0, 0.0]), activation="relu"
    ),
    "gelu-slope": explicit_system(
        Rnn,
        one_input_values([[0.95]], [2.0**-8], [-(2.0**-8)], b=[1.4142135623730951]),
        activation="gelu",
    ),
    # A bias as large as the input: bounds that count the input alone are half of what is reached.
    "biased": explicit_system(
        Linear,
        one_input_values([[0.5]], [1.0], [0.0], T=24, b=[1.0], x=1.0),
        epsilon=0.1,
    ),
    "memoryless": explicit_system(Linear, one_input_values([[0.0]], [1.0], [0.0], T=6, x=1.0)),
}


def worst_networks(make: SpecType) -> Iterator[SystemSpec]:
    """All instances of linear systems, or of RNNs: linear systems are RNNs too."""
    named = (
        spec for spec in NAMED_SPECS.values()
        if spec.activation == "identity" or (make is Rnn and spec.kind == "rnn")
    )  # fmt: skip
    for spec in (*worst_linear(), *named, *long_runs()):
        yield convert_spec(make, spec)


def worst_descents() -> Iterator[SystemSpec]:
    """Gradient descent that diverges (T = 6, a_1 = 3/2), one too short to do so (T = 2), and
    the least steep start that is steep enough, beside one that is half as steep."""
    yield from spec_grid(
        Descent(),
        {
            "T": (6, 3, 2, 4, 3, 3, 3),
            "lam": (1.5, 2.0, 1.5, 1.125, 1.25, 2.0, 2.0),
            "alpha": (1.0, 1.0, 1.0, 0.5, 1.0, 0.375, 0.1875),
        },
    )


# Corners of the space of vanilla networks, for statements of which nothing is known beforehand. One
# unit held where its activation is steep and left alone for long, so that λᵏ is felt and not ‖W‖ᵏ;
# many units driven far, so that sums over them, √n and the like, are felt; scalar linear systems
# that forget slowly, so that sums over T steps are felt; and some at each λ of a fine grid, so that
# a statement which is false for a few λ alone is refuted too.
CORNER_FACTORS = (0.75, 0.9375, 0.375)
# (inputs, scale, bias): small around rest at 0; and around the rest that a bias brings about.
REST_POINTS = (("impulse", 2.0**-6, 0.0), ("zero", 1.0, 1.5))
LENGTH = 64
MANY = 48
# Bits m of λ = 1 − 2⁻ᵐ, which is exact, with the largest window: all of them where T is small.
SLOW = {1: None, 4: None, 7: None, 10: 1, 13: 1, 17: 1}
LONGEST = 3 * 2**13
LAMBDA_COUNT = 128  # values of λ, at odd multiples of 1/256


def corner_specs(make: SpecType) -> Iterator[SystemSpec]:
    """The corners of RNNs with every activation, or those of linear systems."""
    names = ACTIVATIONS if make is Rnn else ("identity",)
    for name in names:
        yield from (convert_spec(make, spec) for spec in steep_specs(name))
    for name in names:
        yield convert_spec(make, many_unit_spec(name))
    if make is Linear:
        yield from slow_specs()
        yield from lambda_grid_specs()


def steep_specs(name: str) -> Iterator[SystemSpec]:
    """One unit, with every factor and each rest."""
    rho = ACTIVATIONS[name]
    for lam in CORNER_FACTORS:
        for inputs, scale, bias in REST_POINTS:
            yield Rnn(
                activation=name, regime="diagonal", inputs=inputs, T=LENGTH,
                K=largest_visible_window(lam, LENGTH, LENGTH - 1), lam=lam / rho.slope,
                scale=scale, bias=bias,
                seed=1, batch=24 if bias else 2,
            )  # fmt: skip


def many_unit_spec(name: str) -> SystemSpec:
    """Many units, driven by large inputs."""
    return Rnn(
        activation=name, regime="gaussian", inputs="saturating", n=MANY, d=2, T=3, K=2,
        lam=0.75 / ACTIVATIONS[name].slope, seed=1, batch=4, sequences=2,
    )  # fmt: skip


def slow_specs() -> Iterator[SystemSpec]:
    """h_t = λ h_{t−1} + u over T = 3/(1 − λ) steps, a constant u: ‖h_T‖ comes near u/(1 − λ)."""
    for bits, window in SLOW.items():
        T = min(3 * 2**bits, LONGEST)
        K = T - 1 if window is None else window
        yield Linear(regime="diagonal", lam=1 - 2.0**-bits, T=T, K=K)


def lambda_grid_specs() -> Iterator[SystemSpec]:
    """h_t = λ h_{t−1} + u, at every λ of the grid, which is exact."""
    for i in range(LAMBDA_COUNT):
        lam = (2 * i + 1) / (2 * LAMBDA_COUNT)
        yield Linear(regime="diagonal", lam=lam, T=24, K=largest_visible_window(lam, 24, 23))


def contractive_kind(make: SpecType) -> Kind:
    """The kind of linear systems, or of RNNs."""
    return Kind(
        make,
        partial(draw_network_spec, make),
        partial(build_networks, draw_weights),
        vanilla_cell,
        partial(worst_networks, make),
        partial(corner_specs, make),
        starts=partial(start_specs, make),
        is_contractive=True,
    )  # fmt: skip


NETWORKS = (
    contractive_kind(Linear),
    contractive_kind(Rnn),
    Kind(
        Unstable, draw_unstable_spec, partial(build_networks, draw_unit_input_weights),
        cell_named("linear"),
        # No window truncates these.
        lambda: spec_grid(Unstable(T=40, K=39), {"lam": (1.0, 1.5, 2.0)}),
    ),
)  # fmt: skip
OTHERS = (
    Kind(
        Descent, draw_descent_spec, partial(build_networks, draw_weights), cell_named("linear"),
        worst_descents
    ),
)  # fmt: skip
