"""What Hypothesis draws of networks with unitary equivalents, of orthogonal ones and of blocks."""

from __future__ import annotations

from hypothesis import strategies as st
from msgspec.structs import replace

from impl.cells.activation import ACTIVATIONS
from properties.systems.drawing.choices import pick, seeds
from properties.systems.kinds import EXACT_REGIMES
from properties.systems.spec import INPUTS, SystemSpec

STARTS = (0.0, 1.0, 0.0, 50.0, 0.125)
BIASES = (0.5, 0.0, 2.0)
SCALES = (1.0, 0.25, 4.0)


@st.composite
def unitary_specs(draw: st.DrawFn, batch: int, sequences: int) -> SystemSpec:
    """A contractive ReLU network, one in eight with singular values that are 1."""
    n = draw(pick((2, 1, 3, 4, 2, 3, 6, 8)))
    T = draw(pick((3, 5, 1, 8, 4, 16)))
    regime = draw(pick(("pythagorean", *EXACT_REGIMES["unitary"])))
    return few(
        SystemSpec(
            kind="unitary",
            activation="relu",
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
            batch=batch,
            sequences=sequences,
        )
    )


def few(spec: SystemSpec) -> SystemSpec:
    """The spec with fewer systems where bounds on derivatives are met with equality."""
    if spec.n > 1 and spec.regime != "diagonal":
        return spec
    return replace(spec, batch=min(spec.batch, 4), sequences=min(spec.sequences, 2))


@st.composite
def urnn_specs(draw: st.DrawFn, batch: int, sequences: int) -> SystemSpec:
    """A network with an orthogonal recurrent matrix and any activation."""
    T = draw(pick((3, 5, 2, 1)))
    return SystemSpec(
        kind="urnn",
        activation=draw(pick(("relu", "identity", "tanh", *sorted(ACTIVATIONS)))),
        regime=draw(pick(("cayley", *EXACT_REGIMES["urnn"]))),
        inputs=draw(pick(INPUTS)),
        n=draw(pick((2, 3, 1, 4, 2, 3, 4, 6))),
        d=draw(pick((1, 2))),
        T=T,
        K=T,
        scale=draw(pick(SCALES)),
        bias=draw(pick(BIASES)),
        start=draw(pick((0.0, 1.0, 0.125))),
        seed=draw(seeds()),
        batch=batch,
        sequences=sequences,
    )


@st.composite
def block_specs(draw: st.DrawFn, batch: int, sequences: int) -> SystemSpec:
    """A leading block of an orthogonal matrix with up to two added rows for each of its own."""
    n = draw(pick((2, 1, 3, 4, 2, 3, 6, 8)))
    return SystemSpec(
        kind="block",
        activation="identity",
        regime=draw(pick(("multiple", *EXACT_REGIMES["block"]))),
        inputs="zero",
        n=n,
        states=n + draw(pick((n, 1, 0, 2, 3, 2 * n))),
        units=draw(pick((0, 0, 0, 1))),
        seed=draw(seeds()),
        batch=batch,
    )
