"""Cells that are written as their step alone: what is said and drawn of them, and their records."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from functools import partial

from hypothesis import strategies as st
from msgspec.structs import replace

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS
from rnnbounds.impl.cells.kind import Kind as Cell
from rnnbounds.properties.systems.cells.batch import make_cells
from rnnbounds.properties.systems.cells.cell_weights import (
    Draw,
    Generator,
    Weights,
    draw_bias,
    draw_cell,
    draw_deep,
    draw_input_matrix,
    draw_leaky,
    draw_projected_lstm,
    draw_recurrent,
    draw_stack,
    stack_name,
)
from rnnbounds.properties.systems.draws import draw_each_member
from rnnbounds.properties.systems.kind import DrawRequest, Kind, cell_named, pick, seeds
from rnnbounds.properties.systems.spec import LOSSES, SpecType, SystemSpec, spec_of

CELL_FIELDS = "n d T K regime inputs lam scale bias epsilon loss target distance alpha steps"
MIXED_REGIMES = ("zero", "driven", "signs", "gaussian")
ANY_ACTIVATION = tuple(ACTIVATIONS)

LstmProjected = spec_of("lstm-projected", CELL_FIELDS, regimes=MIXED_REGIMES)
Leaky = spec_of(
    "leaky", f"activation {CELL_FIELDS}", regimes=MIXED_REGIMES, activations=ANY_ACTIVATION
)
Deep = spec_of(
    "deep", f"activation {CELL_FIELDS} layers", regimes=MIXED_REGIMES, activations=ANY_ACTIVATION
)
Stack = spec_of("stack", f"{CELL_FIELDS} layers", regimes=("driven", "rnn", "gru", "lstm"))


LENGTHS = (3, 5, 8, 2, 12, 4, 16, 1)
WINDOWS = (4, 8, 2, 15)
DISTANCES = (2.0**-6, 0.125, 2.0**-12)
TARGETS = (0.26, 0.1, 0.57, 0.01)


@st.composite
def draw_cell_spec(draw: st.DrawFn, make: SpecType, wanted: DrawRequest) -> SystemSpec:
    """A cell of 1 to 4 units with a loss; every other one is linear but for its candidate, and its
    units are all alike: driven by small or by few inputs, it comes near the bounds.
    """
    T = draw(pick(LENGTHS))
    spec = make(
        T=T,
        # At k = T both sides are 0, which exact arithmetic decides: seldom here.
        K=min(max(T - 1, 1), draw(pick(WINDOWS))),
        epsilon=draw(pick(TARGETS)),
        loss=draw(pick(LOSSES)),
        target=draw(pick((1.0, 0.0))),
        distance=draw(pick(DISTANCES)),
        seed=draw(seeds()),
        batch=wanted.batch,
        sequences=wanted.sequences,
    )
    if wanted.trained:
        spec = replace(
            spec, T=min(T, 8), K=min(spec.K, 4), batch=min(spec.batch, 12), sequences=1,
            steps=draw(pick((1, 2, 3, 4))), alpha=draw(pick((1.0, 0.125, 2.0))),
        )  # fmt: skip
    if "activation" in make.__struct_fields__:
        rho = draw(pick(("tanh", "tanh", "identity", "sigmoid", *sorted(ACTIVATIONS))))
        spec = replace(spec, activation=rho)
    if "layers" in make.__struct_fields__:
        spec = replace(spec, layers=draw(pick((2, 1, 3, 2))))
    if draw(pick((True, False))):
        lam = draw(pick((0.5, 0.75, 0.25, 0.0)))
        if spec.activation == "identity" or lam == 0 or T == 1:  # met with equality
            spec = replace(spec, batch=min(spec.batch, 2), sequences=1)
        return replace(
            spec,
            regime="driven",
            inputs=draw(pick(("constant", "impulse"))),
            n=draw(pick((1, 2))),
            lam=lam,
            scale=draw(pick((2.0**-10, 1.0, 2.0**-6, 4.0))),
            # Gates of exactly one half would meet the bounds to the last bit.
            bias=draw(pick((0.5, 0.0))) if lam else 0.5,
        )
    n = draw(pick((2, 3, 1, 4)))
    return replace(
        spec,
        regime=draw(pick(make.regimes)),
        inputs=draw(pick(("gaussian", "constant", "alternating", "zero"))),
        n=n,
        d=min(draw(pick((1, 2))), n),
        lam=draw(pick((0.25, 0.0625, 0.5, 0.9))),
        scale=draw(pick((1.0, 0.25))),
        bias=draw(pick((0.5, 0.0, 1.0))),
    )


def program_kind(
    make: SpecType,
    draw: Draw,
    named: Callable[[SystemSpec], str] | None = None,
) -> Kind:
    """The kind of cells whose weights `draw` draws, read under the name of the cell, or that which
    is ``named``."""
    cell = cell_named(make.kind)
    name = named or cell
    return Kind(
        make,
        partial(draw_cell_spec, make),
        partial(make_cells, draw_each_member(partial(draw_cell, name=name, draw=draw)), name),
        cell,
        family="cell",
    )


LSTM_PROJECTED = program_kind(LstmProjected, draw_projected_lstm)
KINDS = (
    program_kind(Leaky, draw_leaky),
    program_kind(Deep, draw_deep),
    program_kind(Stack, draw_stack, named=stack_name),
)


def draw_weights(spec: SystemSpec, rng: Generator, cell: Cell) -> Weights:
    """Draw a cell's input matrices, recurrent matrices and offsets by name and shape; a symbol
    other than n and d counts as n + 1."""
    layout = cell.layout(())
    sizes = defaultdict(lambda: spec.n + 1, n=spec.n, d=spec.d)
    arrays = {}
    for name, shape in layout.shapes_for(sizes).items():
        is_gate = name in cell.opens
        rows, columns = (*shape, 1)[:2]
        if len(shape) == 1:
            arrays[name] = draw_bias(spec, rng, rows, gate=is_gate)
        elif layout.shapes[name].endswith(" d"):
            arrays[name] = draw_input_matrix(spec, rng, rows, columns, gate=is_gate)
        else:
            arrays[name] = draw_recurrent(spec, rng, rows, columns)
    return arrays


def plain_kind(cell: Cell) -> Kind:
    """The kind of systems that such cells are."""
    return program_kind(
        spec_of(cell.name, CELL_FIELDS, regimes=MIXED_REGIMES), partial(draw_weights, cell=cell)
    )
