"""Extremal and special instances of candidates, sigmoid networks and planted relations, by name.

Source: Emami et al., Theorems 3.2 and 4.1.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from properties.systems.kinds import EXACT_REGIMES
from properties.systems.spec import SystemSpec

CANDIDATE = SystemSpec(
    kind="candidate", activation="relu", regime="dilated", inputs="zero", n=2, d=2, T=2, lam=0.0,
    states=4, batch=8,
)  # fmt: skip
SCALAR = SystemSpec(
    kind="sigmoid", activation="sigmoid", regime="lumped", inputs="zero", states=1, batch=4
)
PLANTED = SystemSpec(
    kind="planted", activation="tanh", regime="all", inputs="zero", n=5, T=3, batch=8
)

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


def candidates() -> Iterator[SystemSpec]:
    """Every construction around the least numbers of states."""
    for n in (1, 2, 3):
        for m in range(n, 2 * n + 2):
            for regime in EXACT_REGIMES["candidate"]:
                for lam in (0.0, 0.6):
                    yield replace(
                        CANDIDATE, regime=regime, n=n, d=n, states=m, lam=lam,
                        T=m + 1 if regime == "scalar" else 2, batch=2, seed=m,
                    )  # fmt: skip


def scalars() -> Iterator[SystemSpec]:
    """Both activations and all constructions, weights from 0 to 4; then some of several units."""
    for activation in ("sigmoid", "tanh"):
        for lam in (0.0, 0.25, 0.5, 0.6, 1.0, 4.0, 1 - 2.0**-20):
            for regime in ("unrelated", "lumped", "held", "mixed"):
                for states in (1, 2, 4):
                    yield replace(
                        SCALAR, activation=activation, lam=lam, regime=regime, states=states,
                        batch=2, seed=7,
                    )  # fmt: skip
    for n, lam, states in ((2, 0.25, 2), (2, 0.6, 4), (2, 1 - 2.0**-20, 5), (3, 1.0, 3)):
        for regime in EXACT_REGIMES["sigmoid"]:
            yield replace(SCALAR, n=n, lam=lam, regime=regime, states=states, batch=2, seed=7)


def planted() -> Iterator[SystemSpec]:
    """Every sort of relation at every time up to 3."""
    for regime in EXACT_REGIMES["planted"]:
        for T in (1, 2, 3, 4):
            yield replace(PLANTED, regime=regime, T=T, batch=4)
