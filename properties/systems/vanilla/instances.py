"""Extremal and special instances of plain networks, by name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rnnbounds.properties.systems.kind import spec_grid
from rnnbounds.properties.systems.spec import SpecType, SystemSpec, Values
from rnnbounds.properties.systems.vanilla.specs import (
    Descent,
    Linear,
    Rnn,
    Unstable,
    convert_spec,
)


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
    # A window of 6 is hardly enough: λ⁶ is hardly less than ε's share of what is forgotten.
    yield scalar_spec(lam=0.5, T=40, K=8, epsilon=2.0**-6 * (1 + 2.0**-10))
    # Windows so long that λᵏ is far below the rounding of a state.
    yield scalar_spec(lam=0.5, T=200, K=180)
    yield scalar_spec(lam=2.0**-30, T=24, K=20)
    yield scalar_spec(lam=0.75, T=300, K=300, epsilon=1e-30)
    # λ times an orthogonal, permuting or rotating matrix: nothing is forgotten faster than λᵏ.
    yield from spec_grid(
        Linear(n=4, d=2, T=24, K=8, lam=0.75, seed=11, batch=4, sequences=2),
        {"regime": ("orthogonal", "permutation", "block")},
        {"inputs": ("impulse", "resonant", "constant")},
    )


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
    for spec in worst_linear():
        yield convert_spec(make, spec)
    for spec in NAMED_SPECS.values():
        if spec.activation == "identity" or (make is Rnn and spec.kind == "rnn"):
            yield convert_spec(make, spec)


def unstable_witnesses() -> Iterator[SystemSpec]:
    """The unstable systems that no window truncates."""
    yield from spec_grid(Unstable(T=40, K=39), {"lam": (1.0, 1.5, 2.0)})


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
