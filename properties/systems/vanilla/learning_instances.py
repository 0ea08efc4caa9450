"""Extremal and special instances for gradients, losses, training and projections."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

from msgspec.structs import replace

from rnnbounds.properties.systems.kind import only
from rnnbounds.properties.systems.spec import Make, SystemSpec, Values
from rnnbounds.properties.systems.vanilla.specs import (
    Gradient,
    Projection,
    Quadratic,
    Smooth,
    Training,
)


def scalar(make: Make = Gradient, **fields: Any) -> SystemSpec:
    """h = λh + ux with the loss p = ch."""
    base = {"activation": "identity", "regime": "diagonal", "trained": "W", "loss": "linear"}
    return make(**{**base, "target": 0.0, **fields})


def gradients() -> Iterator[SystemSpec]:
    """h = λh + ux with a constant input: p = ch attains Lemma 2 in λ as T grows, and truncated
    back-propagation is off by its bound exactly in u and b; at λ near 0 one more power shows."""
    for lam in (0.75, 0.5, 0.25, 0.9375):
        for trained in ("W", "U"):
            yield scalar(lam=lam, trained=trained, T=64, K=32, seed=1)
    for lam in (0.125, 2.0**-7, 2.0**-10, 0.0):
        yield scalar(lam=lam, T=8, K=2)
    yield scalar(lam=0.9, T=240, K=200)
    # With y = 0 the squared loss bends, and only the loss: nothing else depends on u.
    for lam in (0.8, 0.9375):
        yield scalar(lam=lam, trained="U", loss="squared", T=48, K=32)
    for trained in ("W", "U", "b"):
        yield scalar(lam=0.75, trained=trained, T=9, K=9, seed=2)
    yield scalar(activation="tanh", lam=0.75, T=80, K=32, scale=2.0**-20)
    # Where each slope is greatest these states are halfway to their bound, and grow with √n.
    yield scalar(activation="sigmoid", lam=2.0**-4, n=16, T=8, K=4)
    for loss in ("linear", "squared"):  # so that every run meets each loss on a kinked cell
        yield scalar(
            activation="relu", lam=0.75, trained="U", loss=loss, T=12, K=8, bias=0.5, batch=4
        )


def long_gradients() -> Iterator[SystemSpec]:
    """Windows at which λᵏ is far below the rounding of any gradient."""
    yield scalar(activation="tanh", lam=2.0**-8, T=24, K=20, scale=0.5)
    yield scalar(lam=0.5, T=120, K=100)


def bends() -> Iterator[SystemSpec]:
    """Two near weights of the scalar linear system, whose gradients differ most."""
    for lam, T in ((0.5, 64), (0.75, 120), (0.9, 300)):
        for distance in (2.0**-12, 2.0**-20):
            yield scalar(Smooth, lam=lam, T=T, distance=distance)
    yield scalar(Smooth, loss="squared", lam=0.9, T=300, distance=2.0**-12)
    yield on_either_side()


def descents() -> Iterator[SystemSpec]:
    """Gradient descent of the scalar linear system from the edge of Ω, its loss falling inwards."""
    base = scalar(Training, lam=0.5, T=40, K=8)
    for steps, rate in ((1, 0.125), (30, 2.0**-7), (30, 0.125), (12, 1.0)):
        for schedule in ("inverse", "constant"):
            for seed in (0, 1):
                yield replace(base, steps=steps, alpha=rate, schedule=schedule, seed=seed)


def rising() -> Iterator[SystemSpec]:
    """One step that raises the weight to the edge of Ω: every bound of the theorem is nearly met,
    for target errors at which the least window falls between two whole numbers."""
    for lam, start, k in ((0.25, 0.203125, 4), (0.5, 0.46875, 8)):
        for i in range(10):
            values = Values(
                W=[[start]], U=[[1.0]], b=[0.0], C=[[-1.0]], x=[[1.0]] * 40, h=[0.0],
                h_other=[0.0], y=[0.0],
            )  # fmt: skip
            yield scalar(
                Training, lam=lam, T=40, K=12, steps=1, alpha=0.125,
                epsilon=lam**k * (0.75 + i / 16), values=values,
            )  # fmt: skip


def quadratics() -> Iterator[SystemSpec]:
    """p = −βw²/2 against p + εw: the recursion of the weights is an equality."""
    base = Quadratic(K=1, epsilon=1.0)
    for beta, alpha in ((1.0, 1.0), (1.0, 0.5), (0.5, 2.0), (4.0, 2.0**-5), (1.0, 2.0**-7)):
        for steps in (1, 2, 10, 100):
            yield replace(base, lam=beta, alpha=alpha, steps=steps)
    yield replace(base, lam=1.0, alpha=2.0**-7, steps=400)
    for beta, alpha, steps in ((1.0, 0.125, 200), (2.0, 0.5, 5), (1.0, 1.0, 1)):
        yield replace(base, lam=beta, alpha=alpha, steps=steps, schedule="constant")


Rows = list[list[float]]


def diagonal(entries: list[float]) -> Rows:
    """A diagonal matrix."""
    return [[v if i == j else 0.0 for j in range(len(entries))] for i, v in enumerate(entries)]


def pair_of_matrices(A: Rows, B: Rows, **fields: Any) -> SystemSpec:
    """A ``projection`` spec of two matrices written out."""
    n = len(A)
    zero, unit = [0.0] * n, [[1.0]] * n
    values = Values(
        W=A, U=unit, b=zero, C=diagonal([1.0] * n), x=[[0.0]], h=zero, h_other=zero,
        W2=B, U2=unit, b2=zero,
    )  # fmt: skip
    return Projection(n=n, lam=1.0, values=values, **fields)


def projections() -> Iterator[SystemSpec]:
    """The identity and a small step out of the ball: rescaling moves all that was not moved. Then
    matrices that stay inside, or far outside."""
    for n in (1, 2, 3, 6):
        one = diagonal([1.0] * n)
        for step in (2.0**-7, 0.5):
            out = diagonal([1.0 + step, *[1.0] * (n - 1)])
            row = [[v + step / n if i == 0 else v for v in r] for i, r in enumerate(one)]
            for ball in ("spectral", "infinity", "frobenius"):
                yield pair_of_matrices(one, out, ball=ball)
                yield pair_of_matrices(one, row, ball=ball)
                yield pair_of_matrices(one, out, ball=ball, scale=4.0)
                yield pair_of_matrices(one, out, ball=ball, scale=0.5)


def logits(h: float, other: float) -> SystemSpec:
    """Two opposite logits, the first one asked for, at two states."""
    values = Values(
        W=[[0.5]], U=[[1.0]], b=[0.0], C=[[1.0], [-1.0]], x=[[1.0]], h=[h], h_other=[other],
        y=[0.0, 0.0],
    )  # fmt: skip
    return scalar(loss="cross-entropy", lam=0.5, values=values)


def on_either_side(u: float = 2.0**-12, T: int = 8) -> SystemSpec:
    """Two opposite logits and u on either side of 0, where the cross-entropy bends most."""
    values = Values(
        W=[[0.5]], U=[[u]], b=[0.0], C=[[1.0], [-1.0]], x=[[1.0]] * T, h=[0.0], h_other=[0.0],
        y=[0.0, 0.0], W2=[[0.5]], U2=[[-u]], b2=[0.0],
    )  # fmt: skip
    return scalar(Smooth, loss="cross-entropy", lam=0.5, T=T, trained="U", values=values)


def shears() -> Iterator[SystemSpec]:
    """Linear systems that contract in a quadratic norm, far from doing so in the Euclidean one."""
    for n, lam in ((2, 0.5), (2, 0.75), (3, 0.5)):
        yield Gradient(
            activation="identity", regime="shear", inputs="resonant", n=n, d=1,
            T=40, K=12, lam=lam, seed=3, batch=8, sequences=2, trained="W", loss="linear",
        )  # fmt: skip


def beside_a_kink(T: int = 12, k: int = 4) -> SystemSpec:
    """ReLU: the last input puts the full pre-activation above 0 and the truncated one below."""
    full, short = (2.0 * (1 - 0.5**steps) for steps in (T - 1, k - 1))
    last = -0.25 * (full + short)
    values = Values(
        W=[[0.5]], U=[[1.0]], b=[0.0], C=[[1.0]], x=[*[[1.0]] * (T - 1), [last]], h=[1.0],
        h_other=[0.0], y=[0.0],
    )  # fmt: skip
    return scalar(activation="relu", lam=0.5, T=T, K=k, values=values)


def where_tanh_bends() -> SystemSpec:
    """Equal rows, and two states around the point at which tanh bends most: the bound on the
    derivative in the state is met."""
    step = 2.0**-12
    values = Values(
        W=[[0.25, 0.25], [0.25, 0.25]], U=[[1.0], [1.0]], b=[0.6585, 0.6585],
        C=[[1.0, 0.0], [0.0, 1.0]], x=[[0.0]], h=[step, step], h_other=[-step, -step], y=[0.0, 0.0],
    )  # fmt: skip
    return scalar(activation="tanh", n=2, lam=0.5, trained="WUb", values=values)


def between_flat_ends() -> SystemSpec:
    """tanh(u) at u = 0 and u = 3: both ends are flat, what is between bends."""
    values = Values(
        W=[[0.5]], U=[[0.0]], b=[0.0], C=[[1.0]], x=[[1.0]], h=[0.0], h_other=[0.0], y=[0.0],
        W2=[[0.5]], U2=[[3.0]], b2=[0.0],
    )  # fmt: skip
    return scalar(Smooth, activation="tanh", lam=0.5, trained="U", values=values)


def first_step_grows() -> SystemSpec:
    """A linear system whose first step is far above the factor of its quadratic norm."""
    values = Values(
        W=[[0.25, 0.5], [0.0, 0.25]], U=[[1.0], [1.0]], b=[0.0, 0.0], C=[[1.0, 0.375], [0.0, 1.0]],
        x=[[1.0]] * 2, h=[0.0, 0.0], h_other=[1.0, 0.0], y=[0.0, 0.0],
    )  # fmt: skip
    return scalar(n=2, T=2, K=1, lam=0.5, trained="U", values=values)


def idle_reservoir() -> SystemSpec:
    """Nilpotent matrices: they have a norm, but no spectral radius."""
    return scalar(
        activation="tanh", regime="nilpotent", n=2, T=2, K=1, lam=0.75, seed=1,
        trained="WUb", bias=0.5, batch=8, sequences=2,
    )  # fmt: skip


SPECIAL: dict[str, SystemSpec] = {
    "beside-a-kink": beside_a_kink(),
    "where-tanh-bends": where_tanh_bends(),
    "between-flat-ends": between_flat_ends(),
    "first-step-grows": first_step_grows(),
    "nilpotent-derivatives": idle_reservoir(),
    "opposite-logits-far": logits(-20.0, 0.0),
    "opposite-logits-near": logits(2.0**-8, -(2.0**-8)),
    "input-weight-squared-loss": scalar(
        lam=0.8, trained="U", loss="squared", T=48, K=32
    ),
    "no-memory": scalar(lam=2.0**-10, T=8, K=1),
}  # fmt: skip


def of_gradient() -> Iterator[SystemSpec]:
    """All of gradients."""
    return chain(gradients(), long_gradients(), shears(), only(Gradient, SPECIAL).values())


def of_smooth() -> Iterator[SystemSpec]:
    """All of two weights."""
    return chain(bends(), only(Smooth, SPECIAL).values())


def of_training() -> Iterator[SystemSpec]:
    """All of training."""
    return chain(descents(), rising())
