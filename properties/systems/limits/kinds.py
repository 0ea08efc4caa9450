"""Candidates, sigmoid networks and planted relations: what is drawn of them, and their records."""

from __future__ import annotations

from hypothesis import strategies as st

from rnnbounds.properties.systems.drawing.choices import pick, seeds
from rnnbounds.properties.systems.kind import DrawRequest, FitSearch, Instances, Kind, network_cells
from rnnbounds.properties.systems.limits import extremal
from rnnbounds.properties.systems.limits.extremal import CandidateSpec, Planted, Sigmoid
from rnnbounds.properties.systems.limits.fitted import candidate_fits, scalar_fits
from rnnbounds.properties.systems.limits.impulse import IMPULSE
from rnnbounds.properties.systems.limits.near import candidate_member
from rnnbounds.properties.systems.limits.pairs import sigmoid_pair_member
from rnnbounds.properties.systems.limits.planted import planted_member
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.unitary.route import ExactRoute

# Of √(1 − ρ²) rational, powers of two, and the weight that is matched.
WEIGHTS = (0.5, 0.6, 0.25, 0.8, 0.0, 0.75, 1.0, 0.96)
# Where the other activation's network may be the same, and others.
MIXED_WEIGHTS = (0.25, 0.5, 4.0, 0.6)
CANDIDATE_WEIGHTS = (0.0, 0.6, 0.0, 0.8, 0.0)
SIGMOIDS = ("sigmoid", "tanh")
RELU_TOO = (*SIGMOIDS, "tanh", "relu")


@st.composite
def draw_candidate_spec(draw: st.DrawFn, wanted: DrawRequest) -> SystemSpec:
    """W = 0 half the time; states around 2n, and now and then as many steps as patterns need."""
    n = draw(pick((2, 1, 2, 3)))
    regime = draw(pick((*CandidateSpec.regimes, "solved", "scalar")))
    states = max(1, 2 * n + draw(pick((0, -1, 1, -2, 0, -1, 2, -3))))
    # As many steps as a constant pattern needs to tell, one fewer, or the two that others need.
    steps = (states - n + 2, states - n + 1, states + 1)
    return CandidateSpec(
        regime=regime,
        n=n,
        d=n,
        T=max(2, draw(pick(steps if regime == "scalar" else (2, 2, 2, *steps[:2])))),
        lam=draw(pick(CANDIDATE_WEIGHTS)),
        start=draw(pick((0.0, 1.0))),
        distance=draw(pick((0.25, 2.0**-4, 2.0**-10, 2.0**-30))),
        states=states,
        seed=draw(seeds()),
        batch=wanted.batch,
    )


@st.composite
def draw_sigmoid_spec(draw: st.DrawFn, wanted: DrawRequest) -> SystemSpec:
    """A sigmoid or tanh network of up to three units and a unitary one, of the same activation but
    in one regime; some scalar ReLU ones with their dilation."""
    regime = draw(pick((*Sigmoid.regimes, "unrelated", "lumped", "held")))
    # The output of one unit alone does not cancel.
    n = draw(pick((2, 3) if regime == "cancelling" else (1, 1, 2, 1, 1, 3, 1, 2)))
    return Sigmoid(
        activation=draw(pick(RELU_TOO if regime == "held" and n == 1 else SIGMOIDS)),
        regime=regime,
        n=n,
        lam=draw(pick(MIXED_WEIGHTS if regime == "mixed" else WEIGHTS)),
        start=draw(pick((0.0, 1.0))),
        states=draw(pick((2, 1, 3, 4, 5, 8, 2, 3))),
        seed=draw(seeds()),
        batch=wanted.batch,
    )


@st.composite
def draw_planted_spec(draw: st.DrawFn, wanted: DrawRequest) -> SystemSpec:
    """A tanh network of up to six units with relations of one sort or of all."""
    return Planted(
        regime=draw(pick((*Planted.regimes, "all"))),
        n=draw(pick((4, 3, 5, 2, 6, 1, 4, 5))),
        T=draw(pick((2, 3, 1, 4))),
        seed=draw(seeds()),
        batch=wanted.batch,
    )


KINDS = (
    Kind(
        CandidateSpec, draw_candidate_spec, ExactRoute(candidate_member),
        network_cells(CandidateSpec),
        Instances(extremal.worst_candidates, extremal.CANDIDATES), FitSearch(candidate_fits),
    ),
    Kind(
        Sigmoid, draw_sigmoid_spec, ExactRoute(sigmoid_pair_member), network_cells(Sigmoid),
        Instances(extremal.worst_scalars, extremal.SCALARS), FitSearch(scalar_fits),
    ),
    Kind(
        Planted, draw_planted_spec, ExactRoute(planted_member), network_cells(Planted),
        Instances(extremal.worst_planted, extremal.PLANTS),
    ),
    IMPULSE,
)  # fmt: skip
