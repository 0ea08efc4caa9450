"""Networks with unitary equivalents, orthogonal ones and blocks: what is said and drawn of them,
their worst instances, by name, and their records.

Source: Emami et al., Theorem 3.1.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from hypothesis import strategies as st
from msgspec.structs import replace

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS
from rnnbounds.properties.errors import SpecError
from rnnbounds.properties.systems.kind import (
    NO_CELL,
    DrawRequest,
    Instances,
    Kind,
    cell_named,
    pick,
    seeds,
    spec_grid,
    vanilla_cell,
)
from rnnbounds.properties.systems.spec import INPUTS, SystemSpec, spec_of
from rnnbounds.properties.systems.unitary.exact import EXACT_LIMITS, check_exact, exact_networks
from rnnbounds.properties.systems.unitary.networks import network_member
from rnnbounds.properties.systems.unitary.orthogonal import block_member, recurrent_member


def check_block(spec: SystemSpec) -> None:
    """Raise SpecError unless the block is part of a matrix that can be made."""
    check_exact(spec)
    if spec.states < spec.n:
        raise SpecError(f"a block of n = {spec.n} rows needs states ≥ n")


Unitary = spec_of(
    "unitary", "n d T regime inputs scale bias start units", activation="relu",
    limits=EXACT_LIMITS, check=check_exact, regimes=("zero", "diagonal", "pythagorean", "near"),
)  # fmt: skip
Urnn = spec_of(
    "urnn", "activation n d T K regime inputs scale bias start", limits=EXACT_LIMITS,
    check=check_exact, regimes=("identity", "signed", "cayley"),
)  # fmt: skip
Block = spec_of(
    "block", "n regime states units", activation="identity", inputs="zero", limits=EXACT_LIMITS,
    regimes=("identity", "signed", "cayley", "dilation"), check=check_block,
    floors={"states": "n"},
)  # fmt: skip

NETWORK_SPEC = Unitary(regime="diagonal", inputs="resonant", T=4)
URNN_SPEC = Urnn(activation="relu", regime="identity", inputs="zero", T=3, K=3)

NETWORKS: dict[str, SystemSpec] = {
    # A constant drive: the states come near B_h, and a bias for a hundredth less lets them through.
    "slow-drive": replace(NETWORK_SPEC, T=24, seed=2, bias=0.5, batch=4),
    "far-start": replace(NETWORK_SPEC, start=50.0, regime="pythagorean", n=2, batch=8),
    # W = 0: V swaps the states with the added ones, up to rotations.
    "swap": replace(NETWORK_SPEC, regime="zero", n=2, d=2, bias=0.5, batch=4),
    # Inputs beyond their bound turn an added unit on, which is seen two steps later.
    "beyond-the-bound": replace(NETWORK_SPEC, inputs="impulse", batch=16),
}
RECURRENT: dict[str, SystemSpec] = {
    # All units active: every product is orthogonal.
    "all-active": replace(URNN_SPEC, n=3, activation="identity", regime="cayley", batch=4),
}


def worst_unitary() -> Iterator[SystemSpec]:
    """Every constructor with small and large starts, and singular values that are 1."""
    yield from NETWORKS.values()
    yield from spec_grid(
        replace(NETWORK_SPEC, bias=0.5, batch=4),
        {"regime": Unitary.regimes},
        {"n": (1, 2, 3), "start": (0.0, 8.0, 0.0)},
        {"inputs": ("saturating", "gaussian"), "seed": (0, 1)},
    )
    base = replace(NETWORK_SPEC, regime="pythagorean", inputs="gaussian", batch=4)
    yield from spec_grid(base, {"n": (2, 3, 2), "units": (1, 2, 2)})


def worst_recurrent() -> Iterator[SystemSpec]:
    """Every activation at rest, where the slope is largest, and away from it."""
    yield from RECURRENT.values()
    for activation in sorted(ACTIVATIONS):
        base = replace(URNN_SPEC, activation=activation, n=2)
        away = replace(base, regime="cayley", inputs="gaussian", bias=1.0, batch=4)
        yield from spec_grid(away, {"scale": (0.0625, 2.0)})
        yield replace(base, regime="signed", batch=2)


def worst_blocks() -> Iterator[SystemSpec]:
    """Every construction in every number of rows, and whole matrices."""
    sizes = {"n": (1, 1, 2, 2, 2, 3, 3, 2), "states": (1, 2, 2, 3, 4, 4, 6, 6)}
    yield from spec_grid(Block(batch=4), {"regime": Block.regimes}, sizes)


BIASES = (0.5, 0.0, 2.0)
SCALES = (1.0, 0.25, 4.0)


@st.composite
def draw_unitary_spec(draw: st.DrawFn, wanted: DrawRequest) -> SystemSpec:
    """A contractive ReLU network, one in eight with singular values that are 1."""
    n = draw(pick((2, 1, 3, 4, 2, 3, 6, 8)))
    return Unitary(
        regime=draw(pick(("pythagorean", *Unitary.regimes))),
        inputs=draw(pick(INPUTS)),
        n=n,
        d=draw(pick((1, 2))),
        T=draw(pick((3, 5, 1, 8, 4, 16))),
        scale=draw(pick(SCALES)),
        bias=draw(pick(BIASES)),
        start=draw(pick((0.0, 1.0, 0.0, 50.0, 0.125))),
        units=min(n, draw(pick((0, 0, 0, 0, 0, 0, 0, 1)))),
        seed=draw(seeds()),
        batch=wanted.batch,
        sequences=wanted.sequences,
    )


@st.composite
def draw_urnn_spec(draw: st.DrawFn, wanted: DrawRequest) -> SystemSpec:
    """A network with an orthogonal recurrent matrix and any activation."""
    T = draw(pick((3, 5, 2, 1)))
    return Urnn(
        activation=draw(pick(("relu", "identity", "tanh", *sorted(ACTIVATIONS)))),
        regime=draw(pick(("cayley", *Urnn.regimes))),
        inputs=draw(pick(INPUTS)),
        n=draw(pick((2, 3, 1, 4, 2, 3, 4, 6))),
        d=draw(pick((1, 2))),
        T=T,
        K=T,
        scale=draw(pick(SCALES)),
        bias=draw(pick(BIASES)),
        start=draw(pick((0.0, 1.0, 0.125))),
        seed=draw(seeds()),
        batch=wanted.batch,
        sequences=wanted.sequences,
    )


@st.composite
def draw_block_spec(draw: st.DrawFn, wanted: DrawRequest) -> SystemSpec:
    """A leading block of an orthogonal matrix with up to two added rows for each of its own."""
    n = draw(pick((2, 1, 3, 4, 2, 3, 6, 8)))
    return Block(
        regime=draw(pick(("dilation", *Block.regimes))),
        n=n,
        states=n + draw(pick((n, 1, 0, 2, 3, 2 * n))),
        units=draw(pick((0, 0, 0, 1))),
        seed=draw(seeds()),
        batch=wanted.batch,
    )


KINDS = (
    Kind(
        Unitary, draw_unitary_spec, partial(exact_networks, network_member), vanilla_cell,
        Instances(worst_unitary, NETWORKS), is_contractive=True,
        family="exact",
    ),
    Kind(
        Urnn, draw_urnn_spec, partial(exact_networks, recurrent_member), vanilla_cell,
        Instances(worst_recurrent, RECURRENT),
        family="exact",
    ),
    Kind(
        Block, draw_block_spec, partial(exact_networks, block_member), cell_named(NO_CELL),
        Instances(worst_blocks),
        family="exact",
    ),
)  # fmt: skip
