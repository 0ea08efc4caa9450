"""Systems with a loss, trained or not, and projections: specs, draws and worst instances."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from math import log
from typing import Any

from hypothesis import strategies as st
from msgspec.structs import replace

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS
from rnnbounds.properties.errors import SpecError
from rnnbounds.properties.systems.kind import (
    NO_CELL,
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
from rnnbounds.properties.systems.spec import (
    BALLS,
    LOSSES,
    TRAINED,
    SpecType,
    SystemSpec,
    Values,
    spec_of,
)
from rnnbounds.properties.systems.vanilla.network_weights import draw_weights
from rnnbounds.properties.systems.vanilla.networks import (
    QuadraticNetworks,
    TrainedNetworks,
    build_networks,
)
from rnnbounds.properties.systems.vanilla.plain import DRIVES, PLAIN, STABLE_REGIMES

LOSS = f"activation {PLAIN} trained loss target"
DESCENT = "alpha steps"
# Gradients are read to fewer rounding errors than gaps of states: λᵏ down to 2⁻³² is decided.
GRADIENT_DEPTH = 32 * log(2)
MEMORIES = (0.75, 0.5, 0.9, 0.25, 0.99, 0.0, 2.0**-10, 0.999)
DISTANCES = (0.25, 2.0**-12, 2.0**-6, 1.0, 2.0**-20)


def check_one_sequence(spec: SystemSpec) -> None:
    """Raise SpecError for several sequences."""
    if spec.sequences != 1:
        raise SpecError(f"{spec.kind} goes along one sequence")


Gradient = spec_of("gradient", LOSS)
Smooth = spec_of("smooth", LOSS, paired=True)
Training = spec_of("training", f"{LOSS} {DESCENT}", check=check_one_sequence)
Quadratic = spec_of("quadratic", f"K lam epsilon {DESCENT}", activation="identity")
Projection = spec_of(
    "projection", "n regime lam scale distance ball values", activation="identity", paired=True
)


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
        first = draw_choices(draw, regime=STABLE_REGIMES, inputs=DRIVES)
        d = min(draw(pick((1, 2, 3))), n)
        later = draw_choices(
            draw, scale=(1.0, 0.25, 2.0**-10, 4.0),
            # Without a bias resting units would stay at the kink.
            bias=(0.5,) if kinked else (0.0, 0.5),
            trained=(*TRAINED[:4], *TRAINED), loss=LOSSES, target=(1.0, 0.0, 4.0),
        )  # fmt: skip
        spec = make(n=n, d=d, T=T, K=min(T, 32), **first, **later)
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
    regime = "diagonal" if scalar else draw(pick(STABLE_REGIMES))
    inputs = draw(pick(("constant", "gaussian", "resonant", "alternating")))
    d, K = min(draw(pick((1, 2))), n), draw(pick((8, 4, 12)))
    numbers = draw_choices(
        draw, scale=(1.0, 0.25, 2.0**-10), bias=(0.0, 0.5), epsilon=(1.0, 0.25, 4.0, 16.0),
        alpha=(1.0, 0.125, 2.0**-6, 2.0),
    )  # fmt: skip
    spec = Training(
        activation=activation, regime=regime, inputs=inputs, n=n, d=d, T=T,
        K=largest_visible_window(lam, T, K), lam=lam / ACTIVATIONS[activation].slope,
        seed=draw(seeds()), batch=wanted.batch, **numbers,
        **draw_choices(
            draw, trained=("W", "WUb", "WU", "U"), loss=LOSSES, target=(1.0, 0.0),
            steps=(1, 4, 10, 2),
        ),
    )  # fmt: skip
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
    choices = draw_choices(
        draw, lam=(1.0, 0.125, 4.0), epsilon=(1.0, 2.0**-20), alpha=(0.5, 1.0, 2.0**-7, 2.0),
        steps=(1, 2, 3, 10, 40, 200),
    )  # fmt: skip
    return Quadratic(K=1, **choices, seed=draw(seeds()))


@st.composite
def draw_projection_spec(draw: st.DrawFn, wanted: DrawRequest) -> SystemSpec:
    """Two matrices about ``distance`` apart, and the radius of the ball that they are taken to."""
    choices = draw_choices(
        draw, regime=("orthogonal", "gaussian", "diagonal", "symmetric", "rank-one", "zero"),
        n=(3, 2, 4, 1, 8), lam=(1.0, 2.0, 0.5), scale=(1.0, 0.5, 2.0),
        distance=(0.25, 2.0**-6, 1.0, 2.0**-20), ball=BALLS,
    )  # fmt: skip
    return Projection(**choices, seed=draw(seeds()), batch=wanted.batch)


def start_specs(make: SpecType, count: int, seed: int) -> Iterator[SystemSpec]:
    """Small systems with a loss, long enough for the bounds that no length passes."""
    for i in range(count):
        activation = ("identity", "tanh", "sin", "arctan")[i % 4]
        yield make(
            activation=activation, regime=("diagonal", "orthogonal", "similar")[i % 3],
            inputs="constant", n=(1, 1, 2)[i % 3], T=(24, 32)[i % 2], K=4,
            lam=(0.5, 0.75)[(i // 2) % 2], scale=1.0 if activation == "identity" else 2.0**-10,
            trained=("W", "W", "U", "WU")[(i // 2) % 4],
            loss=("linear", "squared", "cross-entropy")[(i // 2) % 3], target=0.0,
            distance=2.0**-6, seed=seed + i, batch=2,
        )  # fmt: skip


def scalar_loss_spec(make: SpecType = Gradient, **fields: Any) -> SystemSpec:
    """h = λh + ux with the loss p = ch."""
    base = {"activation": "identity", "regime": "diagonal", "trained": "W", "loss": "linear"}
    return make(**{**base, "target": 0.0, **fields})


def worst_gradients() -> Iterator[SystemSpec]:
    """h = λh + ux with a constant input: p = ch attains Lemma 2 in λ as T grows, and truncated
    back-propagation is off by its bound exactly in u and b; at λ near 0 one more power shows."""
    lams = {"lam": (0.75, 0.5, 0.25, 0.9375)}
    yield from spec_grid(scalar_loss_spec(T=64, K=32, seed=1), lams, {"trained": ("W", "U")})
    yield from spec_grid(scalar_loss_spec(T=8, K=2), {"lam": (0.125, 2.0**-7, 2.0**-10, 0.0)})
    yield scalar_loss_spec(lam=0.9, T=240, K=200)
    # With y = 0 the squared loss bends, and only the loss: nothing else depends on u.
    yield from spec_grid(
        scalar_loss_spec(trained="U", loss="squared", T=48, K=32), {"lam": (0.8, 0.9375)}
    )
    yield from spec_grid(scalar_loss_spec(lam=0.75, T=9, K=9, seed=2), {"trained": ("W", "U", "b")})
    yield scalar_loss_spec(activation="tanh", lam=0.75, T=80, K=32, scale=2.0**-20)
    # Where each slope is greatest these states are halfway to their bound, and grow with √n.
    yield scalar_loss_spec(activation="sigmoid", lam=2.0**-4, n=16, T=8, K=4)
    # Every run meets each loss on a kinked cell.
    kinked = scalar_loss_spec(
        activation="relu", lam=0.75, trained="U", T=12, K=8, bias=0.5, batch=4
    )
    yield from spec_grid(kinked, {"loss": ("linear", "squared")})
    # Windows at which λᵏ is far below the rounding of any gradient.
    yield scalar_loss_spec(activation="tanh", lam=2.0**-8, T=24, K=20, scale=0.5)
    yield scalar_loss_spec(lam=0.5, T=120, K=100)
    yield from (spec for spec in NAMED_SPECS.values() if spec.kind == Gradient.kind)


def worst_curvatures() -> Iterator[SystemSpec]:
    """Two near weights of the scalar linear system, whose gradients differ most."""
    lengths = {"lam": (0.5, 0.75, 0.9), "T": (64, 120, 300)}
    yield from spec_grid(scalar_loss_spec(Smooth), lengths, {"distance": (2.0**-12, 2.0**-20)})
    yield scalar_loss_spec(Smooth, loss="squared", lam=0.9, T=300, distance=2.0**-12)
    # Two opposite logits and u on either side of 0, where the cross-entropy bends most.
    u = 2.0**-12
    apart = one_unit_values(0.5, u, x=[[1.0]] * 8, C=OPPOSITE, other=(0.5, -u))
    yield scalar_loss_spec(Smooth, loss="cross-entropy", lam=0.5, T=8, trained="U", values=apart)
    yield from (spec for spec in NAMED_SPECS.values() if spec.kind == Smooth.kind)


def worst_training() -> Iterator[SystemSpec]:
    """Gradient descent of the scalar linear system from the edge of Ω, its loss falling inwards."""
    yield from spec_grid(
        scalar_loss_spec(Training, lam=0.5, T=40, K=8),
        {"steps": (1, 30, 30, 12), "alpha": (0.125, 2.0**-7, 0.125, 1.0)},
        {"seed": (0, 1)},
    )
    # One step that raises the weight to the edge of Ω: every bound of the theorem is nearly met,
    # for target errors at which the least window falls between two whole numbers.
    for lam, start, k in ((0.25, 0.203125, 4), (0.5, 0.46875, 8)):
        values = one_unit_values(start, 1.0, x=[[1.0]] * 40, C=[[-1.0]])
        base = scalar_loss_spec(Training, lam=lam, T=40, K=12, steps=1, alpha=0.125, values=values)
        yield from spec_grid(base, {"epsilon": [lam**k * (0.75 + i / 16) for i in range(10)]})


def worst_quadratics() -> Iterator[SystemSpec]:
    """p = −βw²/2 against p + εw: the recursion of the weights is an equality."""
    base = Quadratic(K=1, epsilon=1.0)
    rates = {"lam": (1.0, 1.0, 0.5, 4.0, 1.0), "alpha": (1.0, 0.5, 2.0, 2.0**-5, 2.0**-7)}
    yield from spec_grid(base, rates, {"steps": (1, 2, 10, 100)})
    yield replace(base, lam=1.0, alpha=2.0**-7, steps=400)


Rows = list[list[float]]


def diagonal_rows(entries: list[float]) -> Rows:
    """A diagonal matrix."""
    return [[v if i == j else 0.0 for j in range(len(entries))] for i, v in enumerate(entries)]


def matrix_pair_spec(A: Rows, B: Rows, **fields: Any) -> SystemSpec:
    """A ``projection`` spec of two matrices written out."""
    n = len(A)
    zero, unit = [0.0] * n, [[1.0]] * n
    values = Values(
        W=A, U=unit, b=zero, C=diagonal_rows([1.0] * n), x=[[0.0]], h=zero, h_other=zero,
        W2=B, U2=unit, b2=zero,
    )  # fmt: skip
    return Projection(n=n, lam=1.0, values=values, **fields)


def worst_projections() -> Iterator[SystemSpec]:
    """The identity and a small step out of the ball; then matrices that stay inside, or far
    outside."""
    for n in (1, 2, 3, 6):
        one = diagonal_rows([1.0] * n)
        for step in (2.0**-7, 0.5):
            out = diagonal_rows([1.0 + step, *[1.0] * (n - 1)])
            row = [[v + step / n if i == 0 else v for v in r] for i, r in enumerate(one)]
            for ball in ("spectral", "infinity", "frobenius"):
                yield matrix_pair_spec(one, out, ball=ball)
                yield matrix_pair_spec(one, row, ball=ball)
                yield matrix_pair_spec(one, out, ball=ball, scale=4.0)
                yield matrix_pair_spec(one, out, ball=ball, scale=0.5)


def one_unit_values(
    w: float, u: float, x: Rows, C: Rows, h: float = 0.0, h_other: float = 0.0,
    other: tuple[float, float] | None = None,
) -> Values:  # fmt: skip
    """A unit with weights w and u, targets 0, and perhaps other weights."""
    second: dict[str, Any] = {}
    if other is not None:
        second = {"W2": [[other[0]]], "U2": [[other[1]]], "b2": [0.0]}
    return Values(
        W=[[w]], U=[[u]], b=[0.0], C=C, x=x, h=[h], h_other=[h_other], y=[0.0] * len(C), **second
    )


# Two opposite logits, of which the first one is asked for.
OPPOSITE = [[1.0], [-1.0]]
# Two states around the point at which tanh bends most.
STEP = 2.0**-12
# ReLU states of the full and the truncated run, and an input between: the one pre-activation is
# above 0, the other one below.
KINK = -0.25 * sum(2.0 * (1 - 0.5**steps) for steps in (11, 3))
NAMED_SPECS: dict[str, SystemSpec] = {
    "beside-a-kink": scalar_loss_spec(
        activation="relu", lam=0.5, T=12, K=4,
        values=one_unit_values(0.5, 1.0, x=[*[[1.0]] * 11, [KINK]], C=[[1.0]], h=1.0),
    ),
    # Equal rows: the bound on the derivative in the state is met.
    "where-tanh-bends": scalar_loss_spec(
        activation="tanh", n=2, lam=0.5, trained="WUb",
        values=Values(
            W=[[0.25, 0.25], [0.25, 0.25]], U=[[1.0], [1.0]], b=[0.6585, 0.6585],
            C=diagonal_rows([1.0, 1.0]), x=[[0.0]], h=[STEP, STEP], h_other=[-STEP, -STEP],
            y=[0.0, 0.0],
        ),
    ),
    # Nilpotent matrices: they have a norm, but no spectral radius.
    "nilpotent-derivatives": scalar_loss_spec(
        activation="tanh", regime="nilpotent", n=2, T=2, K=1, lam=0.75, seed=1, trained="WUb",
        bias=0.5, batch=8, sequences=2,
    ),
    "opposite-logits-far": scalar_loss_spec(
        loss="cross-entropy", lam=0.5, values=one_unit_values(0.5, 1.0, [[1.0]], OPPOSITE, h=-20.0)
    ),
    "opposite-logits-near": scalar_loss_spec(
        loss="cross-entropy", lam=0.5,
        values=one_unit_values(0.5, 1.0, [[1.0]], OPPOSITE, h=2.0**-8, h_other=-(2.0**-8)),
    ),
    # The label's logit is between the others: these are twice as far from one another as from it.
    "label-between-the-others": scalar_loss_spec(
        loss="cross-entropy", lam=0.5,
        values=one_unit_values(
            0.5, 1.0, [[1.0]], [[0.0], [1.0], [-1.0]], h=2.0**-8, h_other=-(2.0**-8)
        ),
    ),
    "input-weight-squared-loss": scalar_loss_spec(lam=0.8, trained="U", loss="squared", T=48, K=32),
    "no-memory": scalar_loss_spec(lam=2.0**-10, T=8, K=1),
}  # fmt: skip


def loss_kind(make: SpecType, worst: Callable[[], Iterator[SystemSpec]]) -> Kind:
    """The kind of systems with a loss, and their worst instances."""
    return Kind(
        make,
        partial(draw_learning_spec, make),
        partial(build_networks, draw_weights),
        vanilla_cell,
        worst,
        starts=partial(start_specs, make),
        slowness=2,
        is_contractive=True,
    )


TRAINING = Kind(
    Training, draw_training_spec, partial(build_networks, draw_weights, make=TrainedNetworks),
    vanilla_cell, worst_training, is_contractive=True,
)  # fmt: skip
QUADRATIC = Kind(
    Quadratic, draw_quadratic_spec, partial(build_networks, draw_weights, make=QuadraticNetworks),
    cell_named(NO_CELL), worst_quadratics,
)  # fmt: skip
KINDS = (
    loss_kind(Gradient, worst_gradients),
    loss_kind(Smooth, worst_curvatures),
    TRAINING,
    QUADRATIC,
    Kind(
        Projection, draw_projection_spec, partial(build_networks, draw_weights),
        cell_named(NO_CELL), worst_projections,
    ),
)  # fmt: skip
