"""Extremal and special instances: the systems that theory says are worst, by name.

They are ordinary specs, so that they replay and shrink like any other; a false variant that only
one of them refutes names it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec.structs import replace

from properties.attacks.learning import SPECIAL as LEARNING_SPECIAL
from properties.attacks.learning import learning_specs
from properties.systems.causal.extremal import causal_models
from properties.systems.cells.extremal import family_specs
from properties.systems.certified.specs import extremal as certified_models
from properties.systems.gated.extremal import GATED_SPECIAL, cells
from properties.systems.kinds import CAUSAL, CERTIFIED_KINDS, FAMILIES, GATED
from properties.systems.layered import specs as layered
from properties.systems.limits import extremal as limits
from properties.systems.scans import specs as scans
from properties.systems.spec import Kind, SystemSpec, Values
from properties.systems.unitary.extremal import (
    BLOCKS,
    NETWORKS,
    RECURRENT,
    blocks,
    networks,
    recurrents,
)

SCALAR = SystemSpec(kind="linear", activation="identity", regime="diagonal", inputs="constant")


def scalar_linear() -> Iterator[SystemSpec]:
    """h = λ h + u x with a constant input: equality in the state bound and in Lemma 1."""
    for lam in (0.75, 0.5, 0.0, 0.9375, 1 - 2.0**-20, 1 - 2.0**-30):
        for T in (1, 3, 17):
            yield replace(SCALAR, lam=lam, T=T, K=T, seed=T % 2, epsilon=2.0**-6)
    for lam in (0.75, 0.9375):
        yield replace(SCALAR, lam=lam, T=64, K=24, epsilon=2.0**-6)


def long_memory() -> Iterator[SystemSpec]:
    """Windows so long that λᵏ is far below the rounding of a state."""
    yield replace(SCALAR, lam=0.5, T=200, K=180)
    yield replace(SCALAR, lam=2.0**-30, T=24, K=20)
    yield replace(SCALAR, lam=0.75, T=300, K=300, epsilon=1e-30)


def isometric() -> Iterator[SystemSpec]:
    """λ times an orthogonal, permuting or rotating matrix: nothing is forgotten faster than λᵏ."""
    for regime in ("orthogonal", "permutation", "block"):
        for inputs in ("impulse", "resonant", "constant"):
            yield SystemSpec(
                kind="linear", activation="identity", regime=regime, inputs=inputs,
                n=4, d=2, T=24, K=8, lam=0.75, seed=11, batch=4, sequences=2,
            )  # fmt: skip


def written(values: Values, **fields: object) -> SystemSpec:
    """The spec of one system written out, windows to 8; ``fields`` set the spec's other fields."""
    n, d, T = len(values.W), len(values.U[0]), len(values.x)
    base = SystemSpec(n=n, d=d, T=T, K=min(T, 8), values=values, sequences=1)
    return replace(base, **fields)


def instance(
    W: list[list[float]], h: list[float], h_other: list[float], T: int = 8,
    b: list[float] | None = None, x: float = 0.0,
) -> Values:  # fmt: skip
    """A system with one input that enters the first unit, and a pair of states."""
    n = len(W)
    unit = [[1.0 if i == 0 else 0.0] for i in range(n)]
    C = [[1.0 if i == j else 0.0 for j in range(n)] for i in range(n)]
    return Values(W=W, U=unit, b=b or [0.0] * n, C=C, x=[[x]] * T, h=h, h_other=h_other)


OWN: dict[str, SystemSpec] = {
    "nilpotent-relu": written(
        instance([[2.0, 4.0], [-1.0, -2.0]], [1.0, 0.0], [0.0, 0.0]), kind="rnn", activation="relu"
    ),
    "shear-100": written(
        instance([[0.5, 100.0], [0.0, 0.5]], [0.0, 1.0], [0.0, 0.0], x=1.0),
        kind="linear", activation="identity",
    ),
    "gelu-slope": written(
        instance([[0.95]], [2.0**-8], [-(2.0**-8)], b=[1.4142135623730951]),
        kind="rnn", activation="gelu",
    ),
    "silu-slope": written(
        instance([[0.95]], [2.0**-8], [-(2.0**-8)], b=[2.399357280515468]),
        kind="rnn", activation="silu",
    ),
    "bias-without-input": written(
        instance([[0.5]], [1.0], [0.0], b=[1.0], T=12), kind="rnn", activation="identity"
    ),
    "tanh-bias": written(
        instance([[0.5]], [1.0], [0.0], b=[1.0], T=12), kind="rnn", activation="tanh"
    ),
    "dead-relu": written(
        instance([[0.5]], [1.0], [0.0], b=[-64.0], T=6, x=1.0), kind="rnn", activation="relu"
    ),
    "nilpotent-shift": written(
        instance([[0.0, 0.0], [0.5, 0.0]], [1.0, 0.0], [0.0, 1.0], T=8, x=1.0),
        kind="linear", activation="identity",
    ),
    "memoryless": written(
        instance([[0.0]], [1.0], [0.0], T=6, x=1.0), kind="linear", activation="identity"
    ),
    "gelu-far-left": written(
        instance([[0.5]], [1.0], [0.0], b=[-8.5], T=4), kind="rnn", activation="gelu"
    ),
    "softplus-threshold": written(
        instance([[2.0**-10]], [1.0], [0.0], b=[20.5], T=4), kind="rnn", activation="softplus-torch"
    ),
    "subnormal-norm": written(
        instance([[3e-162, 1e-162], [1e-162, 2e-162]], [1.0, 0.0], [0.0, 0.0], T=1), kind="matrix"
    ),
}  # fmt: skip

# Of the exact kinds: families, and instances by name.
EXACT: dict[str, Callable[[], Iterator[SystemSpec]]] = {
    "unitary": networks,
    "urnn": recurrents,
    "block": blocks,
    "candidate": limits.candidates,
    "sigmoid": limits.scalars,
    "planted": limits.planted,
    "layered": layered.transitions,
    "cascade": layered.stacks,
    "modes": scans.modes,
    "jordan": scans.blocks,
    "scan": scans.scans,
}
EXACT_SPECIAL: dict[str, SystemSpec] = (
    NETWORKS
    | RECURRENT
    | BLOCKS
    | limits.CANDIDATES
    | limits.SCALARS
    | limits.PLANTS
    | layered.TRANSITIONS
    | layered.STACKS
    | scans.MODES
    | scans.BLOCKS
    | scans.SCANS
)
SPECIAL = OWN | LEARNING_SPECIAL | EXACT_SPECIAL | GATED_SPECIAL
OF_LINEAR = (scalar_linear, long_memory, isometric)


def accumulating() -> Iterator[SystemSpec]:
    """`rounding-accumulates`: with a constant input near λ = 1 every step rounds the same way."""
    for lam, seed in ((0.999, 0), (0.9995, 1), (0.9995, 5)):
        yield replace(SCALAR, kind="rnn", lam=lam, T=6000, seed=seed)


def extremal_specs(kind: Kind, rounding: bool = False) -> Iterator[SystemSpec]:
    """Every extremal instance of a kind, those for the engine's rounding on demand; linear systems
    are RNNs too."""
    if kind in EXACT:
        yield from (spec for spec in EXACT_SPECIAL.values() if spec.kind == kind)
        yield from EXACT[kind]()
        return
    if kind in FAMILIES:
        yield from family_specs(FAMILIES[kind])
        return
    if kind in GATED:
        yield from (spec for spec in GATED_SPECIAL.values() if spec.kind == kind)
        yield from cells(kind)
        return
    if kind in CAUSAL:
        yield from causal_models(kind)
        return
    if kind in CERTIFIED_KINDS:
        yield from certified_models(kind)
        return
    if rounding:
        yield from accumulating()
    for family in OF_LINEAR:
        for spec in family():
            if kind in ("linear", "rnn"):
                yield replace(spec, kind=kind)
    for spec in OWN.values():
        linear = spec.activation == "identity" and spec.kind != "matrix"
        if spec.kind == kind or (linear and kind in ("linear", "rnn")):
            yield replace(spec, kind=kind)
    yield from learning_specs(kind)
    if kind == "matrix":
        yield from matrices()
    elif kind == "unstable":
        yield from witnesses()
    elif kind == "descent":
        yield from descents()


def matrices() -> Iterator[SystemSpec]:
    """Norms that are known exactly, at every scale."""
    for regime in ("permutation", "diagonal", "orthogonal", "block", "rank-one", "zero"):
        for lam in (1.0, 0.75, 1 - 2.0**-53, 2.0**-538, 2.0**500):
            yield SystemSpec(kind="matrix", regime=regime, n=3, lam=lam, seed=5, batch=32)


def witnesses() -> Iterator[SystemSpec]:
    """The unstable systems that no window truncates."""
    base = SystemSpec(kind="unstable", regime="diagonal", inputs="impulse", T=40, K=39)
    for lam in (1.0, 1.5, 2.0):
        yield replace(base, activation="identity", lam=lam)
    yield replace(base, activation="tanh", lam=3.0, scale=5.0)


def descents() -> Iterator[SystemSpec]:
    """Gradient descent that diverges (T = 6, a_1 = 3/2), and one that does not (T = 2)."""
    for T, a, alpha in (
        (6, 1.5, 1.0),
        (3, 2.0, 1.0),
        (2, 1.5, 1.0),
        (4, 1.125, 0.5),
        (3, 1.25, 1.0),
        (3, 2.0, 0.375),
    ):
        yield SystemSpec(kind="descent", regime="diagonal", T=T, lam=a, alpha=alpha)
