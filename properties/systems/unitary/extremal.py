"""Extremal and special instances of unitary equivalents, orthogonal networks and blocks, by name.

Source: Emami et al., Theorems 3.1 and 3.2.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS
from rnnbounds.properties.errors import SpecError
from rnnbounds.properties.systems.drawing.grid import grid
from rnnbounds.properties.systems.spec import SystemSpec, spec_of
from rnnbounds.properties.systems.unitary.exact import EXACT_LIMITS, check_exact

RUN = "n d T K regime inputs scale bias start"


def check_block(spec: SystemSpec) -> None:
    """Raise SpecError unless the block is part of a matrix that can be made."""
    check_exact(spec)
    if spec.states < spec.n:
        raise SpecError(f"a block of n = {spec.n} rows needs states ≥ n")


Unitary = spec_of(
    "unitary", f"{RUN} units", activation="relu", limits=EXACT_LIMITS, check=check_exact,
    regimes=("zero", "diagonal", "pythagorean", "near", "nilpotent"),
)  # fmt: skip
Urnn = spec_of(
    "urnn", f"activation {RUN}", limits=EXACT_LIMITS, check=check_exact,
    regimes=("identity", "signed", "cayley"),
)  # fmt: skip
Block = spec_of(
    "block", "n regime states units", activation="identity", inputs="zero", limits=EXACT_LIMITS,
    regimes=("identity", "signed", "cayley", "dilation", "multiple"), check=check_block,
)  # fmt: skip

NETWORK = Unitary(regime="diagonal", inputs="resonant", T=4, K=4)
URNN = Urnn(activation="relu", regime="identity", inputs="zero", T=3, K=3)
BLOCK = Block(regime="multiple")

NETWORKS: dict[str, SystemSpec] = {
    # A constant drive: the states come near B_h, and a bias for a hundredth less lets them through.
    "slow-drive": replace(NETWORK, T=24, K=4, seed=2, bias=0.5, batch=4),
    "far-start": replace(NETWORK, start=50.0, regime="pythagorean", n=2, batch=8),
    # W = 0: V swaps the states with the added ones, up to rotations.
    "swap": replace(NETWORK, regime="zero", n=2, d=2, bias=0.5, batch=4),
    # A weighted shift, for which a change of scale saves all added states but one.
    "weighted-shift": replace(NETWORK, regime="nilpotent", inputs="gaussian", n=2, batch=8),
}
RECURRENT: dict[str, SystemSpec] = {
    # All units active: every product is orthogonal.
    "all-active": replace(URNN, n=3, activation="identity", regime="cayley", batch=4),
}
BLOCKS: dict[str, SystemSpec] = {
    # ρI_n inside an orthogonal matrix of 2n rows: the multiplicity is as large as it can be.
    "multiple-of-identity": replace(BLOCK, n=3, states=6, batch=4),
    # The whole matrix: eigenvalues on the unit circle need no added rows.
    "whole-identity": replace(BLOCK, n=2, states=2, regime="identity"),
}


def networks() -> Iterator[SystemSpec]:
    """Every constructor with small and large starts, and singular values that are 1."""
    yield from NETWORKS.values()
    yield from grid(
        replace(NETWORK, bias=0.5, batch=4),
        {"regime": Unitary.regimes},
        {"n": (1, 2, 3), "start": (0.0, 8.0, 0.0)},
        {"inputs": ("saturating", "gaussian"), "seed": (0, 1), "K": (4, 2)},
    )
    base = replace(NETWORK, regime="pythagorean", inputs="gaussian", batch=4)
    yield from grid(base, {"n": (2, 3, 2), "units": (1, 2, 2)})


def recurrents() -> Iterator[SystemSpec]:
    """Every activation at rest, where the slope is largest, and away from it."""
    yield from RECURRENT.values()
    for activation in sorted(ACTIVATIONS):
        base = replace(URNN, activation=activation, n=2)
        away = replace(base, regime="cayley", inputs="gaussian", bias=1.0, batch=4)
        yield from grid(away, {"scale": (0.0625, 2.0)})
        yield replace(base, regime="signed", batch=2)


def blocks() -> Iterator[SystemSpec]:
    """Multiples of the identity and dilations in every number of rows, and whole matrices."""
    yield from BLOCKS.values()
    sizes = {"n": (1, 1, 2, 2, 2, 3, 3, 2), "states": (1, 2, 2, 3, 4, 4, 6, 6)}
    yield from grid(replace(BLOCK, batch=4), {"regime": Block.regimes}, sizes)
