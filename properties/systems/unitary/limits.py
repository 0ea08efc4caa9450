"""Candidates and sigmoid networks: what is drawn of them, their worst instances, and their records.

Source: Emami et al., Theorems 3.2 and 4.1.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from hypothesis import strategies as st
from msgspec.structs import replace

from rnnbounds.properties.systems.kind import (
    DrawRequest,
    Instances,
    Kind,
    pick,
    seeds,
    spec_grid,
    vanilla_cell,
)
from rnnbounds.properties.systems.spec import SystemSpec, spec_of
from rnnbounds.properties.systems.unitary.exact import EXACT_LIMITS, check_exact, exact_networks
from rnnbounds.properties.systems.unitary.matching import BUILDERS, candidate_member
from rnnbounds.properties.systems.unitary.pairs import sigmoid_pair_member

CandidateSpec = spec_of(
    "candidate", "n d T regime lam states start", activation="relu", inputs="zero",
    limits=EXACT_LIMITS | {"n": 8, "d": 8, "T": 32, "states": 24}, check=check_exact,
    regimes=tuple(BUILDERS),
)  # fmt: skip
Sigmoid = spec_of(
    "sigmoid", "activation n regime lam states start", inputs="zero",
    limits=EXACT_LIMITS | {"n": 3, "d": 1, "states": 32}, check=check_exact,
    activations=("sigmoid", "tanh"),
    regimes=("unrelated", "lumped", "mixed", "cancelling"),
)  # fmt: skip

CANDIDATE = CandidateSpec(n=2, d=2, T=2, lam=0.0, states=4, batch=8)
SCALAR = Sigmoid(activation="sigmoid", regime="lumped", states=1, batch=4)

CANDIDATES: dict[str, SystemSpec] = {
    # V = (0 I; I 0) matches y = ReLU(x + β1): with 2n states it can be done.
    "swap-of-states": CANDIDATE,
    # A weighted shift of two units, which three states match.
    "rescaled-nilpotent": replace(CANDIDATE, regime="rescaled", states=3),
    # One step has nothing to forget, and n states match it.
    "one-step": replace(CANDIDATE, regime="solved", states=2, T=1, seed=1),
}
SCALARS: dict[str, SystemSpec] = {
    # w = 1 is orthogonal itself, and so is any V with V1 = 1 over copies of the unit.
    "unit-weight": replace(SCALAR, lam=1.0),
    "unit-weight-lumped": replace(SCALAR, lam=1.0, states=3),
    # tanh(r/4 + …) = 2σ(s + …) − 1 with r = 2s − 1.
    "quarter-weight-tanh": replace(SCALAR, activation="tanh", regime="mixed", lam=0.25),
    # An orthogonal W is matched by itself.
    "orthogonal-itself": replace(SCALAR, n=2, lam=1.0, states=2),
    # The spectral radius is 1/2, and the norm well above 1.
    "sheared-radius": replace(SCALAR, regime="unrelated", n=3, states=3, batch=8),
    # Units that are driven, with readouts that cancel.
    "cancelling-readouts": replace(SCALAR, regime="cancelling", n=2, states=2),
}
# Powers of two, the weight that is matched, and that of the other activation's network.
WEIGHTS = (0.5, 0.6, 0.25, 0.8, 0.0, 0.75, 1.0, 0.96)
MIXED_WEIGHTS = (0.25, 0.5, 4.0, 0.6)


def worst_candidates() -> Iterator[SystemSpec]:
    """Every construction around the least numbers of states."""
    yield from CANDIDATES.values()
    for n in (1, 2, 3):
        for m in range(n, 2 * n + 2):
            base = replace(CANDIDATE, n=n, d=n, states=m, batch=2, seed=m)
            yield from spec_grid(base, {"regime": CandidateSpec.regimes}, {"lam": (0.0, 0.6)})


def worst_scalars() -> Iterator[SystemSpec]:
    """Both activations and all constructions, weights from 0 to 4; then some of several units."""
    yield from SCALARS.values()
    base, near = replace(SCALAR, batch=2, seed=7), 1 - 2.0**-20
    yield from spec_grid(
        base,
        {"activation": Sigmoid.activations},
        {"lam": (0.0, 0.25, 0.5, 0.6, 1.0, 4.0, near)},
        {"regime": ("unrelated", "lumped", "mixed")},
        {"states": (1, 2, 4)},
    )
    several = {"n": (2, 2, 2, 3), "lam": (0.25, 0.6, near, 1.0), "states": (2, 4, 5, 3)}
    yield from spec_grid(base, several, {"regime": Sigmoid.regimes})


@st.composite
def draw_candidate_spec(draw: st.DrawFn, wanted: DrawRequest) -> SystemSpec:
    """W = 0 half the time; states around 2n, and two steps or more."""
    n = draw(pick((2, 1, 2, 3)))
    return CandidateSpec(
        regime=draw(pick((*CandidateSpec.regimes, "solved"))),
        n=n,
        d=n,
        T=draw(pick((2, 2, 3, 2, 4))),
        lam=draw(pick((0.0, 0.6, 0.0))),
        start=draw(pick((0.0, 1.0))),
        states=max(1, 2 * n + draw(pick((0, -1, 1, -2, 0, -1, 2, -3)))),
        seed=draw(seeds()),
        batch=wanted.batch,
    )


@st.composite
def draw_sigmoid_spec(draw: st.DrawFn, wanted: DrawRequest) -> SystemSpec:
    """A sigmoid or tanh network of up to three units and a unitary one, of the same activation but
    in one regime."""
    regime = draw(pick((*Sigmoid.regimes, "unrelated", "lumped")))
    return Sigmoid(
        activation=draw(pick(Sigmoid.activations)),
        regime=regime,
        # The output of one unit alone does not cancel.
        n=draw(pick((2, 3) if regime == "cancelling" else (1, 1, 2, 1, 1, 3, 1, 2))),
        lam=draw(pick(MIXED_WEIGHTS if regime == "mixed" else WEIGHTS)),
        start=draw(pick((0.0, 1.0))),
        states=draw(pick((2, 1, 3, 4, 5, 8, 2, 3))),
        seed=draw(seeds()),
        batch=wanted.batch,
    )


KINDS = (
    Kind(
        CandidateSpec, draw_candidate_spec, partial(exact_networks, candidate_member),
        vanilla_cell, Instances(worst_candidates, CANDIDATES),
        family="exact",
    ),
    Kind(
        Sigmoid, draw_sigmoid_spec, partial(exact_networks, sigmoid_pair_member), vanilla_cell,
        Instances(worst_scalars, SCALARS),
        family="exact",
    ),
)  # fmt: skip
