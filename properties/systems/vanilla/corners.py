"""Corners of the space of vanilla networks, for statements of which nothing is known beforehand.

One unit held where its activation is steep and left alone for long, so that λᵏ is felt and not
‖W‖ᵏ; many units driven far, so that sums over them, √n and the like, are felt; scalar linear
systems that forget slowly, so that sums over T steps are felt; and some at each λ of a fine grid,
so that a statement which is false for a few λ alone is refuted too.
"""

from __future__ import annotations

from collections.abc import Iterator

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS
from rnnbounds.properties.systems.kind import largest_visible_window
from rnnbounds.properties.systems.spec import SpecType, SystemSpec
from rnnbounds.properties.systems.vanilla.specs import Linear, Rnn, convert_spec

FACTORS = (0.75, 0.9375, 0.375)
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
    for lam in FACTORS:
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
