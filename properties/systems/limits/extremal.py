"""Extremal and special instances of candidates, sigmoid networks and planted relations, by name.

Source: Emami et al., Theorems 3.2 and 4.1.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from rnnbounds.properties.errors import SpecError
from rnnbounds.properties.systems.drawing.choices import spec_grid
from rnnbounds.properties.systems.spec import SystemSpec, spec_of
from rnnbounds.properties.systems.unitary.exact import EXACT_LIMITS, check_exact


def check_candidate(spec: SystemSpec) -> None:
    """Raise SpecError unless a candidate that is written out has the shapes of n, d and states, and
    is finite."""
    check_exact(spec)
    if (candidate := spec.found) is None:
        return
    n, m, d = spec.n, spec.states, spec.d
    p = 1 if spec.kind == "sigmoid" else n
    rows = (
        [candidate.skew],
        [candidate.signs],
        [candidate.d],
        [candidate.s],
        candidate.G,
        candidate.E,
        [candidate.e0],
    )
    has_shapes = len(candidate.skew) == m * (m - 1) // 2 and len(candidate.G) == m
    has_shapes = has_shapes and {len(candidate.signs), len(candidate.d), len(candidate.s)} == {m}
    has_shapes = (
        has_shapes and all(len(row) == d for row in candidate.G) and len(candidate.e0) in (0, p)
    )
    has_shapes = (
        has_shapes
        and len(candidate.E) in (0, p)
        and all(len(row) == m for row in candidate.E)
        and d == p
    )
    if not has_shapes or not all(abs(v) == 1 for v in candidate.signs):
        raise SpecError(f"the candidate does not have the shapes of states = {m}, n = {n}, d = {d}")
    if not all(abs(v) < float("inf") for table in rows for row in table for v in row):
        raise SpecError("the candidate must be finite")
    if (spec.batch, spec.sequences) != (1, 1):
        raise SpecError("a candidate writes out one system with one sequence, not a batch")


CandidateSpec = spec_of(
    "candidate", "n d T regime lam distance states start found", activation="relu", inputs="zero",
    limits=EXACT_LIMITS | {"n": 8, "d": 8, "T": 32, "states": 24}, check=check_candidate,
    regimes=(
        "dilated", "unrelated", "solved", "rotated", "rescaled", "similar", "approximate", "scalar",
    ),
)  # fmt: skip
Sigmoid = spec_of(
    "sigmoid", "activation n regime lam states start found", inputs="zero",
    limits=EXACT_LIMITS | {"n": 3, "d": 1, "states": 32}, check=check_candidate,
    activations=("sigmoid", "tanh", "relu"),
    regimes=("unrelated", "lumped", "held", "mixed", "cancelling"),
)  # fmt: skip
Planted = spec_of(
    "planted", "n T regime", activation="tanh", inputs="zero", check=check_exact,
    limits=EXACT_LIMITS | {"n": 16, "d": 1, "T": 16},
    regimes=("none", "duplicates", "signs", "constant", "undriven", "chain", "all"),
)  # fmt: skip

CANDIDATE = CandidateSpec(n=2, d=2, T=2, lam=0.0,
    states=4, batch=8,
)  # fmt: skip
SCALAR = Sigmoid(activation="sigmoid", regime="lumped", states=1, batch=4)
PLANTED = Planted(regime="all", n=5, T=3, batch=8)

CANDIDATES: dict[str, SystemSpec] = {
    # V = (0 I; I 0) matches y = ReLU(x + β1): with 2n states it can be done.
    "swap-of-states": CANDIDATE,
    # A weighted shift of two units, which three states match.
    "rescaled-nilpotent": replace(CANDIDATE, regime="rescaled", states=3),
    # The second unit is written δ times and read 1/δ times: 2n − 1 states come as near as δ.
    "near-miss": replace(CANDIDATE, regime="approximate", states=3, distance=2.0**-20),
    # ρI and its dilation, with the pattern constant over as many steps as it has units.
    "multiple-of-the-identity": replace(CANDIDATE, regime="scalar", lam=0.6, T=5),
    # One step has nothing to forget, and n states match it.
    "one-step": replace(CANDIDATE, regime="solved", states=2, T=1, seed=1),
    # All units active for as many steps as there are units: the readout can still be solved for.
    "one-step-short": replace(CANDIDATE, regime="solved", n=1, d=1, states=3, T=3, seed=3),
}
SCALARS: dict[str, SystemSpec] = {
    # w = 1 is orthogonal itself, and so is any V with V1 = 1 over copies of the unit.
    "unit-weight": replace(SCALAR, lam=1.0),
    "unit-weight-lumped": replace(SCALAR, lam=1.0, states=3),
    # tanh(r/4 + …) = 2σ(s + …) − 1 with r = 2s − 1.
    "quarter-weight-tanh": replace(SCALAR, activation="tanh", regime="mixed", lam=0.25),
    # A second unit that its bias all but switches off.
    "held-unit": replace(SCALAR, regime="held", lam=0.6, states=2),
    "relu-dilation": replace(SCALAR, activation="relu", regime="held", lam=0.6, states=2),
    # An orthogonal W is matched by itself; with four copies of one unit, by five units.
    "orthogonal-itself": replace(SCALAR, n=2, lam=1.0, states=2),
    "orthogonal-merged": replace(SCALAR, activation="tanh", n=2, lam=1.0, states=5),
    # The spectral radius is 1/2, and the norm well above 1.
    "sheared-radius": replace(SCALAR, regime="unrelated", n=3, states=3, batch=8),
    # Units that are driven, with readouts that cancel.
    "cancelling-readouts": replace(SCALAR, regime="cancelling", n=2, states=2),
}
PLANTS: dict[str, SystemSpec] = {"all-relations": PLANTED}


def worst_candidates() -> Iterator[SystemSpec]:
    """Every construction around the least numbers of states."""
    yield from CANDIDATES.values()
    regimes = CandidateSpec.regimes
    for n in (1, 2, 3):
        for m in range(n, 2 * n + 2):
            base = replace(CANDIDATE, n=n, d=n, states=m, batch=2, seed=m)
            times = [m + 1 if regime == "scalar" else 2 for regime in regimes]
            yield from spec_grid(base, {"regime": regimes, "T": times}, {"lam": (0.0, 0.6)})


def worst_scalars() -> Iterator[SystemSpec]:
    """Both activations and all constructions, weights from 0 to 4; then some of several units."""
    yield from SCALARS.values()
    base, near = replace(SCALAR, batch=2, seed=7), 1 - 2.0**-20
    yield from spec_grid(
        base,
        {"activation": ("sigmoid", "tanh")},
        {"lam": (0.0, 0.25, 0.5, 0.6, 1.0, 4.0, near)},
        {"regime": ("unrelated", "lumped", "held", "mixed")},
        {"states": (1, 2, 4)},
    )
    several = {"n": (2, 2, 2, 3), "lam": (0.25, 0.6, near, 1.0), "states": (2, 4, 5, 3)}
    yield from spec_grid(base, several, {"regime": Sigmoid.regimes})


def worst_planted() -> Iterator[SystemSpec]:
    """Every sort of relation at every time up to 3."""
    yield from PLANTS.values()
    yield from spec_grid(
        replace(PLANTED, batch=4), {"regime": Planted.regimes}, {"T": (1, 2, 3, 4)}
    )
