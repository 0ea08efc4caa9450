"""Models in both directions: what is drawn of them, their worst instances, and their record."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from hypothesis import strategies as st

from rnnbounds.properties.errors import SpecError
from rnnbounds.properties.systems.certified.fields import REGIMES, check_cell
from rnnbounds.properties.systems.drawing.choices import pick, seeds
from rnnbounds.properties.systems.kind import (
    DrawRequest,
    Instances,
    Kind,
    ListedCells,
    specs_of_kind,
)
from rnnbounds.properties.systems.layered.both import LAYERS, both_member
from rnnbounds.properties.systems.spec import SpecType, SystemSpec, spec_of
from rnnbounds.properties.systems.unitary.exact import EXACT_LIMITS
from rnnbounds.properties.systems.unitary.route import ExactRoute

GATED = ("lstm", "gru", "gru-cho")
BOTH_CELLS = ("rnn-tanh", "linear", "lstm", "gru", "rnn-relu", "gru-cho")


def check_both(spec: SystemSpec) -> None:
    """Raise SpecError unless it is a cell that has both directions here."""
    check_cell(spec)
    if spec.cell not in BOTH_CELLS:
        raise SpecError(f"unknown cell {spec.cell!r}; one of {', '.join(BOTH_CELLS)}")


Both, BothStack = (
    spec_of(
        kind, "n d T K regime inputs lam scale bias epsilon cell", regimes=REGIMES,
        check=check_both, limits=EXACT_LIMITS | {"n": 4, "T": 32},
    )
    for kind in LAYERS
)  # fmt: skip
SCALAR = {
    "cell": "linear", "regime": "driven", "inputs": "constant", "n": 1, "T": 16, "K": 16,
    "lam": 0.5, "epsilon": 0.05, "batch": 2,
}  # fmt: skip


@st.composite
def draw_both_spec(draw: st.DrawFn, make: SpecType, wanted: DrawRequest) -> SystemSpec:
    """Layers of one to three units a direction; cells with gates are few."""
    cell = draw(pick((*BOTH_CELLS[:2], *BOTH_CELLS)))
    gated, T = cell in GATED, draw(pick((5, 8, 3, 12, 1)))
    return make(
        cell=cell,
        regime=draw(pick(("driven", *REGIMES))),
        inputs=draw(pick(("constant", "gaussian", "alternating", "impulse"))),
        n=draw(pick((1, 2) if gated else (1, 2, 3))),
        d=draw(pick((1, 2))),
        T=T,
        K=T,
        lam=draw(pick((0.25, 0.5, 0.125))) / (2 if gated else 1),
        scale=draw(pick((1.0, 0.25))),
        bias=draw(pick((0.5, 0.0))),
        epsilon=draw(pick((0.26, 0.1, 0.57))),
        seed=draw(seeds()),
        batch=min(wanted.batch, 1 if gated else 2),
        sequences=min(wanted.sequences, 2),
    )


BOTH: dict[str, SystemSpec] = {
    # Units that are linear, driven by a constant input: each cell meets its bound.
    "scalar-both": Both(**SCALAR),
    "scalar-both-stack": BothStack(**SCALAR | {"lam": 0.25, "epsilon": 0.3}),
}


def worst_both(make: SpecType) -> Iterator[SystemSpec]:
    """Every cell, driven by constant inputs; one that is linear in sequences so short that a window
    has to be the printed one on both sides."""
    yield from specs_of_kind(make, BOTH).values()
    stacked = {"epsilon": 0.3} if make is BothStack else {}
    for cell in BOTH_CELLS:
        lam = 0.125 if cell in GATED else 0.25 if make is BothStack else 0.5
        yield make(**SCALAR | stacked | {"cell": cell, "lam": lam, "T": 12, "K": 12, "batch": 1})
    epsilon = 0.24 if make is BothStack else 0.0708
    for T in range(5, 11):
        yield make(**SCALAR | {"epsilon": epsilon, "T": T, "K": T, "batch": 1})


def both_kind(make: SpecType) -> Kind:
    """The kind of these models."""
    return Kind(
        make,
        partial(draw_both_spec, make),
        ExactRoute(both_member),
        ListedCells(lambda spec: spec.cell, cells=BOTH_CELLS),
        Instances(partial(worst_both, make), specs_of_kind(make, BOTH)),
    )


KINDS = (both_kind(Both), both_kind(BothStack))
