"""Hypothesis strategies of models with certificates, and their extremal instances."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from math import isfinite

from hypothesis import strategies as st
from msgspec.structs import replace

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS, LIBRARY_ACTIVATIONS
from rnnbounds.impl.cells.stacks.stack import PREFIX
from rnnbounds.impl.cells.table import CELLS, STACK, kind_of
from rnnbounds.impl.norms.semidefinite import available_norms
from rnnbounds.properties.systems.certified.constants import CertifiedRoute
from rnnbounds.properties.systems.certified.fields import Certified, CertifiedRelu, CertifiedRnn
from rnnbounds.properties.systems.drawing.choices import pick, seeds
from rnnbounds.properties.systems.kind import Instances, Kind, ListedCells, Wanted
from rnnbounds.properties.systems.spec import DTYPES, LOSSES, SETS, Make, SystemSpec

KNOWN = ACTIVATIONS | LIBRARY_ACTIVATIONS
# One of each, so that an activation that many cells share is drawn no more often than a cell.
COMMON = (
    "rnn-tanh", "linear", "lstm", "gru", "rnn-relu", "gru-cho", "lstm-projected", "leaky-tanh",
    "deep-tanh", "diagonal", "min-gru", "min-lstm", "selective", "stacked-rnn-tanh", "stacked-gru",
    "stacked-lstm",
)  # fmt: skip
OTHERS = tuple(name for name in CELLS if name not in COMMON)
# Stacks of cells that are not torch's, which are read alike.
STACKS = tuple(
    PREFIX + name
    for name in (
        "min-gru", "leaky-tanh", "diagonal", "selective", "lstm-projected", "deep-tanh", "min-lstm",
        "gru-cho", "rnn-relu",
    )
)  # fmt: skip
LARGE = (*(name for name in COMMON if name.startswith(PREFIX)), "lstm", "gru", "gru-cho")
SMOOTH = ("rnn-tanh", "linear", "rnn-sigmoid", "rnn-sin", "rnn-gelu")
OF_KIND = {CertifiedRnn: SMOOTH, CertifiedRelu: ("rnn-relu",)}
# Of which something is certified about training.
TRAINABLE = tuple(
    name
    for name, cell in CELLS.items()
    if cell.trains and isfinite(KNOWN["identity" if name == "linear" else name[4:]].curvature)
)
UNITS = 4  # at most
HUGE = 2.0**10  # a bound on inputs that says nothing: what a unit may return then says more
LENGTHS = (5, 8, 12, 3, 16, 24, 2, 1)


def norms_here(cell: str) -> tuple[str, ...]:
    """The norms of a cell that can be certified with what is installed: the run's record says by
    the packages' versions whether the optional solver was."""
    return available_norms(kind_of(cell).norms, UNITS)


def layers(cell: str) -> int:
    """How many layers a drawn model of a cell has."""
    return 2 if cell.startswith((PREFIX, "deep-")) else 1


@st.composite
def certified_specs(draw: st.DrawFn, make: Make, wanted: Wanted) -> SystemSpec:
    """A model of 1 to 4 units in any norm of its kind; every other one is nearly linear and meets
    its bounds."""
    cell = draw(pick(OF_KIND.get(make) or (*COMMON, draw(pick(OTHERS)))))
    T = draw(pick(LENGTHS))
    large = cell in LARGE
    spec = make(
        cell=cell,
        loss=draw(pick(LOSSES)),
        norm=draw(pick(("auto", *norms_here(cell)))),
        dtype=draw(pick(("float32", "float64", "bfloat16", "float16"))),
        T=T,
        K=min(T, 16),
        layers=layers(cell),
        epsilon=draw(pick((0.26, 0.1, 0.57, 0.01))),
        distance=draw(pick((0.125, 2.0**-6, 1.0))),
        over=draw(pick(("ball", draw(pick(SETS))))),
        lam=draw(pick((0.5, 0.25, 0.75, 0.125))) / (2 if large else 1),
        seed=draw(seeds()),
        batch=1 if large else wanted.batch,
        sequences=wanted.sequences,
    )
    if cell.startswith(PREFIX):
        spec = replace(spec, layer=draw(pick((0, 1, 2, 0))))
    if draw(pick((True, False))):
        return replace(
            spec,
            regime="driven",
            inputs="constant",
            n=draw(pick((2, 1, 3))),
            bias=draw(pick((0.5, 0.0))),
            scale=draw(pick((2.0**-10, 1.0, 2.0**-6, HUGE))),
        )
    n = draw(pick((2, 3, 1, UNITS)))
    return replace(
        spec,
        regime=draw(pick(("gaussian", "signs", "shift", "zero"))),
        inputs=draw(pick(("gaussian", "constant", "alternating", "impulse"))),
        n=n,
        d=min(draw(pick((1, 2))), n),
        scale=draw(pick((1.0, 0.25, HUGE))),
        bias=draw(pick((0.5, 0.0, 1.0))),
    )


def extremal(make: Make) -> Iterator[SystemSpec]:
    """Units that are alike, driven by a constant input so small that they are linear: each cell in
    its best norm, and a linear system in every norm; and units that one input saturates."""
    alike = make(
        cell="linear", regime="driven", inputs="constant", n=2, T=20, K=16,
        lam=0.5, scale=2.0**-12, epsilon=2.0**-4, seed=6, batch=1, sequences=3, bias=0.5,
        dtype="float32",
    )  # fmt: skip
    if make is CertifiedRnn:
        yield from trained(alike)
        return
    if make is CertifiedRelu:
        for dtype, n in zip(DTYPES, (1, 2, 3, 4), strict=True):
            yield replace(alike, cell="rnn-relu", dtype=dtype, n=n, scale=1.0, T=12, K=8)
        return
    for norm in norms_here("linear"):
        yield replace(alike, norm=norm)
        yield replace(alike, norm=norm, n=1, lam=0.75, dtype="float16")
    for cell in COMMON[:1] + COMMON[2:]:
        lam = 0.125 if cell in LARGE else 0.5
        of_cell = replace(alike, cell=cell, layers=layers(cell), lam=lam)
        yield of_cell
        if cell.startswith(PREFIX):
            yield from (replace(of_cell, layer=layer, norm="perron") for layer in (0, 1, 2))
    for norm in norms_here("rnn-tanh"):
        yield replace(
            alike, cell="rnn-tanh", norm=norm, inputs="impulse", scale=HUGE, lam=0.125, bias=0.0,
            epsilon=0.26,
        )  # fmt: skip
        yield replace(alike, cell="rnn-tanh", norm=norm, regime="shift", n=3, scale=HUGE)
    for cell in ("lstm", "gru"):  # whose windows are shorter than λ says, and no longer than needed
        yield replace(alike, cell=cell, norm="perron", regime="shift", lam=0.125, bias=0.0)
    for over in SETS[1:]:
        for cell in ("linear", "rnn-tanh", "lstm", "gru", "min-gru"):
            yield replace(
                alike, cell=cell, over=over, lam=0.125 if cell in LARGE else 0.5, scale=1.0
            )
    for dtype in DTYPES:
        yield replace(alike, cell="rnn-tanh", scale=1.0, n=3, lam=0.9375, dtype=dtype, seed=7)


def trained(alike: SystemSpec) -> Iterator[SystemSpec]:
    """Scalar systems whose gradients forget no faster than they must, and larger ones."""
    for cell, loss in (("linear", "linear"), ("linear", "squared"), ("rnn-tanh", "cross-entropy")):
        for n, lam in ((1, 0.75), (2, 0.5)):
            yield replace(
                alike, cell=cell, loss=loss, n=n, lam=lam, scale=1.0, T=24, K=12, batch=2,
                distance=0.125, bias=0.0,
            )  # fmt: skip
    yield replace(
        alike, cell="linear", loss="linear", regime="shift", n=2, lam=0.75, scale=1.0, T=12, K=8,
        batch=2,
    )  # fmt: skip


def column(spec: SystemSpec) -> str:
    """The cell of the certificate; all stacks are one."""
    return STACK if spec.cell.startswith(PREFIX) else spec.cell


def kind(make: Make, *cells: str) -> Kind:
    """The kind of these models."""
    return Kind(
        make,
        partial(certified_specs, make),
        CertifiedRoute(),
        ListedCells(column, cells=cells),
        Instances(partial(extremal, make)),
    )


KINDS = (
    kind(Certified, *CELLS, STACK),
    kind(CertifiedRnn, *TRAINABLE),
    kind(CertifiedRelu, "rnn-relu"),
)
