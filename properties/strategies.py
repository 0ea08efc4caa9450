"""What Hypothesis draws: system specs, a few small choices each.

Every choice is made of booleans. Hypothesis mixes constants found in the loaded modules into
integer and float draws, so that an import would change a campaign; booleans are left alone, and a
seed then means the same specs in every process.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, log
from typing import TypeVar

from hypothesis import strategies as st
from msgspec.structs import replace

from impl.activation import ACTIVATIONS
from properties.spec import Kind, SystemSpec

Choice = TypeVar("Choice")
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
SCALES = (1.0, 2.0**-160, 2.0**-538, 2.0**-30, 2.0**30, 2.0**400, 0.75, 1 - 2.0**-53)
# λᵏ falls below 2⁻²⁴ at the last window drawn at random; longer windows are the extremal attack's.
DEPTH = 24 * log(2)


def pick(options: Sequence[Choice]) -> st.SearchStrategy[Choice]:
    """One of the options, the first one simplest."""
    count = max(1, (2 * len(options) - 1).bit_length())
    bits = st.tuples(*[st.booleans()] * count)
    return bits.map(lambda bs: options[sum(b << i for i, b in enumerate(bs)) % len(options)])


def seeds() -> st.SearchStrategy[int]:
    """A seed of 48 bits."""
    return st.tuples(*[st.booleans()] * 48).map(lambda bs: sum(b << i for i, b in enumerate(bs)))


def windows(lam: float, T: int, K: int) -> int:
    """K, cut to T and to the windows at which λᵏ can still be seen in float64."""
    if 0 < lam < 1:
        K = min(K, floor(DEPTH / log(1 / lam)))
    return min(K, T)


def crowd(spec: SystemSpec, stepwise: bool) -> SystemSpec:
    """The spec with fewer systems where bounds are met with equality: the referee decides those.

    A scalar system meets them at every window, an isometric one at windows k ≥ T − 1, and a linear
    isometric one in every single step.
    """
    isometric = spec.regime in ISOMETRIC and spec.activation == "identity"
    if spec.n > 1 and spec.K < spec.T - 1 and not (stepwise and isometric):
        return spec
    return replace(spec, batch=min(spec.batch, 4), sequences=min(spec.sequences, 2))


@st.composite
def specs(
    draw: st.DrawFn,
    kind: Kind,
    batch: int = 64,
    sequences: int = 8,
    wide: bool = False,
    stepwise: bool = False,
) -> SystemSpec:
    """A spec of one kind; ``wide`` adds regimes that only a weighted norm certifies, ``stepwise``
    says that single steps are measured."""
    if kind == "matrix":
        regime = draw(pick((*STABLE_REGIMES, "similar")))
        n, lam = draw(pick((2, 3, 1, 4, 5, 8))), draw(pick(SCALES))
        return SystemSpec(kind=kind, regime=regime, n=n, lam=lam, seed=draw(seeds()), batch=batch)
    if kind == "unstable":
        return draw(unstable())
    if kind == "descent":
        return draw(descent())
    n, T = draw(pick(SIZES)), draw(pick(LENGTHS))
    activation = "identity"
    if kind == "rnn":
        activation = draw(pick(("tanh", "identity", "relu", *sorted(ACTIVATIONS))))
    lam = draw(pick(FACTORS))
    spec = SystemSpec(
        kind=kind,
        activation=activation,
        regime=draw(pick((*STABLE_REGIMES, *WEIGHTED_REGIMES) if wide else STABLE_REGIMES)),
        inputs=draw(pick(DRIVES)),
        n=n,
        d=min(draw(pick((1, 2, 3))), n),
        T=T,
        K=windows(lam, T, draw(pick(WINDOWS))),
        # λ is the model's factor L_ρ ‖W‖₂, so the norm aimed at is λ/L_ρ.
        lam=lam / ACTIVATIONS[activation].slope,
        scale=draw(pick((1.0, 0.25, 4.0))),
        bias=draw(pick((0.0, 0.0, 0.5))),
        epsilon=draw(pick(TARGETS)),
        seed=draw(seeds()),
        batch=batch,
        sequences=sequences,
    )
    return crowd(spec, stepwise)


@st.composite
def unstable(draw: st.DrawFn) -> SystemSpec:
    """One impulse into a scalar system with λ ≥ 1: linear, or tanh with slope 3 at rest."""
    T = draw(pick((2, 3, 5, 8, 13, 21, 34)))
    saturating = draw(st.booleans())
    return SystemSpec(
        kind="unstable",
        activation="tanh" if saturating else "identity",
        regime="diagonal",
        inputs="impulse",
        T=T,
        K=T - 1,
        lam=3.0 if saturating else draw(pick((1.0, 1.25, 1.5, 2.0, 3.0))),
        scale=5.0 if saturating else 1.0,
        seed=draw(seeds()),
    )


@st.composite
def descent(draw: st.DrawFn) -> SystemSpec:
    """Gradient descent on the unstable scalar system from a_1 = lam."""
    return SystemSpec(
        kind="descent",
        regime="diagonal",
        T=draw(pick((3, 4, 5, 6, 7, 8))),
        lam=draw(pick((1.5, 1.25, 1.125, 2.0, 3.0))),
        alpha=draw(pick((1.0, 0.5, 2.0, 0.375, 0.1875, 0.125, 8.0))),
    )
