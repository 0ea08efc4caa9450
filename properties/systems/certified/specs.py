"""Hypothesis strategies of models with certificates, and their extremal instances."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from hypothesis import strategies as st
from msgspec.structs import replace

from rnnbounds.impl.cells.stacks.stack import PREFIX
from rnnbounds.impl.cells.table import CELLS, STACK, kind_of
from rnnbounds.impl.norms.solver import available_norms as available_among
from rnnbounds.properties.systems.certified.constants import CertifiedRoute
from rnnbounds.properties.systems.certified.fields import Certified, CertifiedRelu
from rnnbounds.properties.systems.drawing.choices import pick, seeds
from rnnbounds.properties.systems.kind import DrawRequest, Instances, Kind, ListedCells
from rnnbounds.properties.systems.spec import SpecType, SystemSpec
from rnnbounds.properties.systems.spec_choices import DTYPES, SETS

# One of each, so that an activation that many cells share is drawn no more often than a cell.
COMMON = (
    "rnn-tanh", "linear", "lstm", "gru", "rnn-relu", "gru-cho", "lstm-projected", "leaky-tanh",
    "deep-tanh", "stacked-rnn-tanh", "stacked-gru", "stacked-lstm",
)  # fmt: skip
RARE_CELLS = tuple(name for name in CELLS if name not in COMMON)
COSTLY_CELLS = (*(name for name in COMMON if name.startswith(PREFIX)), "lstm", "gru", "gru-cho")
CELLS_BY_KIND = {CertifiedRelu: ("rnn-relu",)}
MAX_UNITS = 4  # at most
HUGE_BOUND = 2.0**10  # a bound on inputs that says nothing: what a unit may return then says more
LENGTHS = (5, 8, 12, 3, 16, 24, 2, 1)


def available_norms(cell: str) -> tuple[str, ...]:
    """The norms of a cell that can be certified with what is installed: the run's record says by
    the packages' versions whether the optional solver was."""
    return available_among(kind_of(cell).norms, MAX_UNITS)


def layer_count(cell: str) -> int:
    """How many layers a drawn model of a cell has."""
    return 2 if cell.startswith((PREFIX, "deep-")) else 1


@st.composite
def draw_certified_spec(draw: st.DrawFn, make: SpecType, wanted: DrawRequest) -> SystemSpec:
    """A model of 1 to 4 units in any norm of its kind; every other one is nearly linear and meets
    its bounds."""
    cell = draw(pick(CELLS_BY_KIND.get(make) or (*COMMON, draw(pick(RARE_CELLS)))))
    T = draw(pick(LENGTHS))
    is_costly = cell in COSTLY_CELLS
    spec = make(
        cell=cell,
        norm=draw(pick(("auto", *available_norms(cell)))),
        dtype=draw(pick(("float32", "float64", "bfloat16", "float16"))),
        T=T,
        K=min(T, 16),
        layers=layer_count(cell),
        epsilon=draw(pick((0.26, 0.1, 0.57, 0.01))),
        distance=draw(pick((0.125, 2.0**-6, 1.0))),
        over=draw(pick(("ball", draw(pick(SETS))))),
        lam=draw(pick((0.5, 0.25, 0.75, 0.125))) / (2 if is_costly else 1),
        seed=draw(seeds()),
        batch=1 if is_costly else wanted.batch,
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
            scale=draw(pick((2.0**-10, 1.0, 2.0**-6, HUGE_BOUND))),
        )
    n = draw(pick((2, 3, 1, MAX_UNITS)))
    return replace(
        spec,
        regime=draw(pick(("gaussian", "signs", "shift", "zero"))),
        inputs=draw(pick(("gaussian", "constant", "alternating", "impulse"))),
        n=n,
        d=min(draw(pick((1, 2))), n),
        scale=draw(pick((1.0, 0.25, HUGE_BOUND))),
        bias=draw(pick((0.5, 0.0, 1.0))),
    )


def worst_certified_specs(make: SpecType) -> Iterator[SystemSpec]:
    """Units that are alike, driven by a constant input so small that they are linear: each cell in
    its best norm, and a linear system in every norm; and units that one input saturates."""
    base = make(
        cell="linear", regime="driven", inputs="constant", n=2, T=20, K=16,
        lam=0.5, scale=2.0**-12, epsilon=2.0**-4, seed=6, batch=1, sequences=3, bias=0.5,
        dtype="float32",
    )  # fmt: skip
    if make is CertifiedRelu:
        for dtype, n in zip(DTYPES, (1, 2, 3, 4), strict=True):
            yield replace(base, cell="rnn-relu", dtype=dtype, n=n, scale=1.0, T=12, K=8)
        return
    for norm in available_norms("linear"):
        yield replace(base, norm=norm)
        yield replace(base, norm=norm, n=1, lam=0.75, dtype="float16")
    for cell in (*COMMON[:1], *COMMON[2:]):
        lam = 0.125 if cell in COSTLY_CELLS else 0.5
        cell_base = replace(base, cell=cell, layers=layer_count(cell), lam=lam)
        yield cell_base
        if cell.startswith(PREFIX):
            yield from (replace(cell_base, layer=layer, norm="perron") for layer in (0, 1, 2))
    for norm in available_norms("rnn-tanh"):
        yield replace(
            base, cell="rnn-tanh", norm=norm, inputs="impulse", scale=HUGE_BOUND, lam=0.125,
            bias=0.0,
            epsilon=0.26,
        )  # fmt: skip
        yield replace(base, cell="rnn-tanh", norm=norm, regime="shift", n=3, scale=HUGE_BOUND)
    for cell in ("lstm", "gru"):  # whose windows are shorter than λ says, and no longer than needed
        yield replace(base, cell=cell, norm="perron", regime="shift", lam=0.125, bias=0.0)
    for over in SETS[1:]:
        for cell in ("linear", "rnn-tanh", "lstm", "gru"):
            yield replace(
                base, cell=cell, over=over, lam=0.125 if cell in COSTLY_CELLS else 0.5, scale=1.0
            )
    for dtype in DTYPES:
        yield replace(base, cell="rnn-tanh", scale=1.0, n=3, lam=0.9375, dtype=dtype, seed=7)


def column_cell(spec: SystemSpec) -> str:
    """The cell of the certificate; all stacks are one."""
    return STACK if spec.cell.startswith(PREFIX) else spec.cell


def certified_kind(make: SpecType, *cells: str) -> Kind:
    """The kind of these models."""
    return Kind(
        make,
        partial(draw_certified_spec, make),
        CertifiedRoute(),
        ListedCells(column_cell, cells=cells),
        Instances(partial(worst_certified_specs, make)),
    )


KINDS = (
    certified_kind(Certified, *CELLS, STACK),
    certified_kind(CertifiedRelu, "rnn-relu"),
)
