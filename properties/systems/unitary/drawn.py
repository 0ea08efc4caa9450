"""Networks with unitary equivalents, orthogonal ones and blocks: what is drawn of them, and their
records."""

from __future__ import annotations

from hypothesis import strategies as st
from msgspec.structs import replace

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS
from rnnbounds.properties.systems.drawing.choices import pick, seeds
from rnnbounds.properties.systems.kind import NO_CELL, Kind, Wanted, cell_named
from rnnbounds.properties.systems.spec import INPUTS, SystemSpec
from rnnbounds.properties.systems.unitary import extremal
from rnnbounds.properties.systems.unitary.blocks import block
from rnnbounds.properties.systems.unitary.extremal import Block, Unitary, Urnn
from rnnbounds.properties.systems.unitary.networks import network
from rnnbounds.properties.systems.unitary.orthogonal import recurrent
from rnnbounds.properties.systems.unitary.route import ExactRoute

STARTS = (0.0, 1.0, 0.0, 50.0, 0.125)
BIASES = (0.5, 0.0, 2.0)
SCALES = (1.0, 0.25, 4.0)


@st.composite
def unitary_specs(draw: st.DrawFn, wanted: Wanted) -> SystemSpec:
    """A contractive ReLU network, one in eight with singular values that are 1."""
    n = draw(pick((2, 1, 3, 4, 2, 3, 6, 8)))
    T = draw(pick((3, 5, 1, 8, 4, 16)))
    regime = draw(pick(("pythagorean", *Unitary.regimes)))
    return few(
        Unitary(
            regime=regime,
            inputs=draw(pick(INPUTS)),
            n=n,
            d=draw(pick((1, 2))),
            T=T,
            K=min(T, draw(pick((2, 3, 1, 4)))),
            scale=draw(pick(SCALES)),
            bias=draw(pick(BIASES)),
            start=draw(pick(STARTS)),
            units=min(n, draw(pick((0, 0, 0, 0, 0, 0, 0, 1)))),
            seed=draw(seeds()),
            batch=wanted.batch,
            sequences=wanted.sequences,
        )
    )


def few(spec: SystemSpec) -> SystemSpec:
    """The spec with fewer systems where bounds on derivatives are met with equality."""
    if spec.n > 1 and spec.regime != "diagonal":
        return spec
    return replace(spec, batch=min(spec.batch, 4), sequences=min(spec.sequences, 2))


@st.composite
def urnn_specs(draw: st.DrawFn, wanted: Wanted) -> SystemSpec:
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
def block_specs(draw: st.DrawFn, wanted: Wanted) -> SystemSpec:
    """A leading block of an orthogonal matrix with up to two added rows for each of its own."""
    n = draw(pick((2, 1, 3, 4, 2, 3, 6, 8)))
    return Block(
        regime=draw(pick(("multiple", *Block.regimes))),
        n=n,
        states=n + draw(pick((n, 1, 0, 2, 3, 2 * n))),
        units=draw(pick((0, 0, 0, 1))),
        seed=draw(seeds()),
        batch=wanted.batch,
    )


UNITARY = Kind(
    Unitary,
    unitary_specs,
    ExactRoute(network),
    extremal=extremal.networks,
    special=extremal.NETWORKS,
    contracts=True,
)  # fmt: skip
URNN = Kind(
    Urnn, urnn_specs, ExactRoute(recurrent), extremal=extremal.recurrents,
    special=extremal.RECURRENT,
)  # fmt: skip
BLOCK = Kind(
    Block, block_specs, ExactRoute(block), cell=cell_named(NO_CELL), extremal=extremal.blocks,
    special=extremal.BLOCKS, least=lambda spec: {"states": spec.n},
)  # fmt: skip
