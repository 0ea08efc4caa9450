"""What Hypothesis draws: system specs, a few small choices each."""

from __future__ import annotations

from collections.abc import Callable
from math import floor, log
from typing import get_args

from hypothesis import strategies as st
from msgspec.structs import replace

from impl.cells.activation import ACTIVATIONS
from properties.errors import UnknownChoiceError
from properties.systems.causal.specs import causal_specs
from properties.systems.cells.specs import cell_specs
from properties.systems.certified.specs import certified_specs
from properties.systems.drawing.choices import pick, seeds
from properties.systems.gated.specs import gated_specs
from properties.systems.kinds import CAUSAL, CELL_KINDS, CERTIFIED_KINDS, GATED
from properties.systems.layered.specs import cascade_specs, layered_specs
from properties.systems.limits.drawn import candidate_specs, planted_specs, sigmoid_specs
from properties.systems.scans.specs import jordan_specs, modes_specs, scan_specs
from properties.systems.spec import BALLS, LOSSES, TRAINED, Kind, SystemSpec
from properties.systems.unitary.drawn import block_specs, unitary_specs, urnn_specs

__all__ = ["pick", "seeds", "specs", "windows"]

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
# Gradients are read to fewer rounding errors than gaps of states: λᵏ down to 2⁻³² is decided.
GRADIENT_DEPTH = 32 * log(2)
MEMORIES = (0.75, 0.5, 0.9, 0.25, 0.99, 0.0, 2.0**-10, 0.999)
DISTANCES = (0.25, 2.0**-12, 2.0**-6, 1.0, 2.0**-20)
# What is drawn of the exact kinds, given the systems of a batch and the sequences of each.
EXACT: dict[str, Callable[[int, int], st.SearchStrategy[SystemSpec]]] = {
    "unitary": unitary_specs,
    "urnn": urnn_specs,
    "block": block_specs,
    "candidate": candidate_specs,
    "sigmoid": sigmoid_specs,
    "planted": planted_specs,
    "layered": layered_specs,
    "cascade": cascade_specs,
    "modes": modes_specs,
    "jordan": jordan_specs,
    "scan": scan_specs,
}


def windows(lam: float, T: int, K: int, depth: float = DEPTH) -> int:
    """K, cut to T and to the windows at which λᵏ can still be seen in float64."""
    if 0 < lam < 1:
        K = min(K, floor(depth / log(1 / lam)))
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
    family: bool = False,
    descends: bool = False,
) -> SystemSpec:
    """A spec of one kind; ``wide`` adds regimes that only a weighted norm certifies, ``stepwise``
    says that single steps are measured, ``family`` that all cells are spoken of, ``descends`` that
    these are trained."""
    if family or (kind in CELL_KINDS and kind not in GATED):
        return draw(cell_specs(kind, batch, sequences, descends))
    if kind in EXACT:
        return draw(EXACT[kind](batch, sequences))
    if kind in GATED:
        return draw(gated_specs(kind, batch, sequences))
    if kind in CAUSAL:
        return draw(causal_specs(kind, batch, sequences))
    if kind in CERTIFIED_KINDS:
        return draw(certified_specs(kind, batch, sequences))
    if kind == "matrix":
        regime = draw(pick((*STABLE_REGIMES, "similar")))
        n, lam = draw(pick((2, 3, 1, 4, 5, 8))), draw(pick(SCALES))
        return SystemSpec(kind=kind, regime=regime, n=n, lam=lam, seed=draw(seeds()), batch=batch)
    if kind == "unstable":
        return draw(unstable())
    if kind == "descent":
        return draw(descent())
    if kind in ("gradient", "smooth"):
        return draw(learning(kind, batch, sequences, wide, stepwise))
    if kind == "training":
        return draw(training(batch))
    if kind == "quadratic":
        return draw(quadratic())
    if kind == "projection":
        return draw(projection(batch))
    if kind not in ("linear", "rnn"):
        raise UnknownChoiceError("kind of system", kind, get_args(Kind))
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


@st.composite
def learning(
    draw: st.DrawFn, kind: Kind, batch: int, sequences: int, wide: bool, stepwise: bool
) -> SystemSpec:
    """A system with a loss: one in four is scalar with a constant input, where bounds are tight."""
    tight = draw(pick((False, True, False, False)))
    lam = draw(pick(MEMORIES[:4] if tight else MEMORIES))
    if tight:
        activation = draw(pick(("identity", "tanh", "identity", "sin")))
        spec = SystemSpec(
            kind=kind, regime="diagonal", inputs="constant", T=64, K=32,
            scale=1.0 if activation == "identity" else draw(pick((2.0**-7, 2.0**-12))),
            trained=draw(pick(("W", "U"))), loss=draw(pick(("linear", "squared"))), target=0.0,
        )  # fmt: skip
    else:
        activation = draw(pick(("tanh", "identity", "relu", *sorted(ACTIVATIONS))))
        if wide and draw(st.booleans()):
            activation = "identity"
        n, T = draw(pick((2, 3, 4, 1, 6, 8))), draw(pick((34, 40, 48, 64, 13, 5, 36, 2)))
        kinked = ACTIVATIONS[activation].curvature == float("inf")
        spec = SystemSpec(
            kind=kind,
            regime=draw(pick((*STABLE_REGIMES, *WEIGHTED_REGIMES) if wide else STABLE_REGIMES)),
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
        K=windows(lam, spec.T, spec.K, GRADIENT_DEPTH), distance=draw(pick(DISTANCES)),
        seed=draw(seeds()), batch=batch, sequences=sequences,
    )  # fmt: skip
    return sparse(spec, stepwise)


def sparse(spec: SystemSpec, stepwise: bool) -> SystemSpec:
    """The spec with fewer systems where bounds on gradients are met with equality, or are 0."""
    if spec.lam == 0:
        spec = replace(spec, K=min(spec.K, 3), T=min(spec.T, 8))
    linear = spec.activation == "identity"
    scalar = spec.n == 1 and (linear or stepwise or spec.trained == "U")
    nothing = spec.lam == 0 or (spec.inputs == "zero" and spec.trained == "U")
    if nothing or scalar or (linear and stepwise):
        return replace(spec, batch=min(spec.batch, 4), sequences=min(spec.sequences, 2))
    return spec


@st.composite
def training(draw: st.DrawFn, batch: int) -> SystemSpec:
    """Projected gradient descent of a small system, full and truncated, by steps c/(βt) or c/β."""
    lam = draw(pick((0.5, 0.75, 0.25, 0.9)))
    scalar = draw(pick((False, True)))
    activation = draw(pick(("identity", "tanh", "identity", "sigmoid", "sin", "arctan")))
    n, T = 1 if scalar else draw(pick((2, 3, 4))), draw(pick((8, 5, 13, 21)))
    spec = SystemSpec(
        kind="training",
        activation=activation,
        regime="diagonal" if scalar else draw(pick(STABLE_REGIMES)),
        inputs=draw(pick(("constant", "gaussian", "resonant", "alternating"))),
        n=n,
        d=min(draw(pick((1, 2))), n),
        T=T,
        K=windows(lam, T, draw(pick((8, 4, 12)))),
        lam=lam / ACTIVATIONS[activation].slope,
        scale=draw(pick((1.0, 0.25, 2.0**-10))),
        bias=draw(pick((0.0, 0.5))),
        epsilon=draw(pick((1.0, 0.25, 4.0, 16.0))),
        alpha=draw(pick((1.0, 0.125, 2.0**-6, 2.0))),
        seed=draw(seeds()),
        batch=batch,
        trained=draw(pick(("W", "WUb", "WU", "U"))),
        loss=draw(pick(LOSSES)),
        target=draw(pick((1.0, 0.0))),
        steps=draw(pick((1, 4, 10, 2))),
        schedule=draw(pick(("inverse", "inverse", "inverse", "constant"))),
    )
    if scalar and draw(st.booleans()):
        # Where the bounds are tight: nothing is left of what the zero state forgets.
        spec = replace(
            spec, activation="identity", inputs="constant", T=40, trained="W", loss="linear",
            lam=lam, bias=0.0, batch=min(batch, 8),
        )  # fmt: skip
    return spec


@st.composite
def quadratic(draw: st.DrawFn) -> SystemSpec:
    """Descent on −βw²/2 and on −βw²/2 + εw, where the recursion of the weights is exact."""
    return SystemSpec(
        kind="quadratic",
        activation="identity",
        K=1,
        lam=draw(pick((1.0, 0.125, 4.0))),
        epsilon=draw(pick((1.0, 2.0**-20))),
        alpha=draw(pick((0.5, 1.0, 2.0**-7, 2.0))),
        steps=draw(pick((1, 2, 3, 10, 40, 200))),
        schedule=draw(pick(("inverse", "inverse", "inverse", "constant"))),
        seed=draw(seeds()),
    )


@st.composite
def projection(draw: st.DrawFn, batch: int) -> SystemSpec:
    """Two matrices about ``distance`` apart, and the radius of the ball that they are taken to."""
    return SystemSpec(
        kind="projection",
        activation="identity",
        regime=draw(pick(("orthogonal", "gaussian", "diagonal", "symmetric", "rank-one", "zero"))),
        n=draw(pick((3, 2, 4, 1, 8))),
        lam=draw(pick((1.0, 2.0, 0.5))),
        scale=draw(pick((1.0, 0.5, 2.0))),
        distance=draw(pick((0.25, 2.0**-6, 1.0, 2.0**-20))),
        ball=draw(pick(BALLS)),
        seed=draw(seeds()),
        batch=batch,
    )
