"""Cells that are written as their step alone: their draws, worst instances and records.

Regimes: driven has units that are all alike, gates that no input moves and a positive recurrent
matrix of row sums ``lam``, so that bounds are met; in the others nothing is alike.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain

import numpy as np
from hypothesis import strategies as st
from msgspec.structs import replace

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS
from rnnbounds.impl.cells.kind import Kind as Cell
from rnnbounds.impl.cells.stacks.stack import PREFIX
from rnnbounds.impl.cells.table import kind_of
from rnnbounds.properties.systems.cells.batch import CELL_FIELDS, CELL_PREFIX, make_cells
from rnnbounds.properties.systems.cells.constants import CertifiedCells
from rnnbounds.properties.systems.cells.gated import Gru
from rnnbounds.properties.systems.draws import (
    Array,
    Generator,
    cached_generator,
    draw_each_member,
    draw_inputs,
    draw_loss,
    grid_normals,
    truncate_bits,
)
from rnnbounds.properties.systems.kind import (
    DrawRequest,
    Kind,
    cell_named,
    draw_choices,
    pick,
    seeds,
    spec_grid,
)
from rnnbounds.properties.systems.spec import LOSSES, SpecType, SystemSpec, spec_of

Weights = dict[str, Array]
Draw = Callable[[SystemSpec, Generator], Weights]
# What the layers of a stack are, by its regime.
LAYER_CELLS = {"driven": "rnn-tanh", "rnn": "rnn-tanh", "gru": "gru", "lstm": "lstm"}
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


def draw_cell(
    spec: SystemSpec, member: int, name: Callable[[SystemSpec], str], draw: Draw
) -> dict[str, Array]:
    """The weights by name, C, y, what is random in x, and the states (S, N)."""
    weights = draw(spec, cached_generator(spec, member))
    sizes = kind_of(name(spec)).layout(weights).sizes(weights)  # type: ignore[arg-type]
    rng = cached_generator(spec, member, 1)
    arrays = draw_loss(spec, member, grid_normals(rng, min(sizes.n, 2), sizes.n))
    rng = cached_generator(spec, member, 2)
    arrays["x"] = draw_inputs(spec, rng, len(arrays["C"]))
    shape, signs = (spec.sequences, sizes.state), np.array([1.0, -1.0, 64.0])
    h, h_other = grid_normals(rng, *shape), grid_normals(rng, *shape)
    # At random, near one another, and at corners of any box.
    h_other[1::3] = h[1::3] + h_other[1::3] / 64
    h[2::3], h_other[2::3] = signs[2] * np.sign(h[2::3]), -signs[2] * np.sign(h[2::3])
    arrays |= {"h": h, "h_other": h_other}
    return arrays | {CELL_PREFIX + name: array for name, array in weights.items()}


def draw_recurrent(spec: SystemSpec, rng: Generator, rows: int, columns: int) -> Array:
    """A matrix of largest row sum about ``lam``."""
    draws = grid_normals(rng, rows, columns)
    if spec.regime == "zero":
        return 0 * draws
    if spec.regime == "driven":
        return np.full((rows, columns), truncate_bits(spec.lam / columns))
    if spec.regime == "signs":
        draws = np.where(draws < 0, -1.0, 1.0)
    size = np.abs(draws).sum(axis=1).max()
    return draws * (truncate_bits(spec.lam / size) if size else 0.0)


def draw_input_matrix(
    spec: SystemSpec, rng: Generator, rows: int, columns: int, gate: bool = False
) -> Array:
    """A matrix that inputs go through; gates have none in what is driven."""
    draws = grid_normals(rng, rows, columns) / 2
    if spec.regime != "driven":
        return draws
    return 0 * draws if gate else np.repeat(np.abs(draws[:1]), rows, axis=0)


def draw_bias(spec: SystemSpec, rng: Generator, rows: int, gate: bool = False) -> Array:
    """A bias; that of a gate may hold it open or shut."""
    draws = spec.bias * grid_normals(rng, rows)
    if gate:
        draws = draws + rng.choice(np.array((0.0, 2.0, -2.0)))
    if spec.regime != "driven":
        return draws
    return np.repeat(draws[:1], rows) if gate else 0 * draws


def draw_projected_lstm(spec: SystemSpec, rng: Generator) -> Weights:
    """An LSTM of n + 1 cells with n outputs."""
    n, m = spec.n, spec.n + 1
    blocks = [draw_recurrent(spec, rng, m, n) for _ in range(4)]
    return {
        "weight_hh": np.concatenate(blocks), "weight_ih": draw_input_matrix(spec, rng, 4 * m,
        spec.d),
        "weight_hr": grid_normals(rng, n, m) / 4, "bias_ih": draw_bias(spec, rng, 4 * m),
        "bias_hh": draw_bias(spec, rng, 4 * m),
    }  # fmt: skip


def draw_leaky(spec: SystemSpec, rng: Generator) -> Weights:
    """An echo-state network whose leaks are multiples of 1/8."""
    n = spec.n
    leak = rng.integers(1, 9, n) / 8
    if spec.regime == "driven":
        leak = np.repeat(leak[:1], n)
    return {
        "W": draw_recurrent(spec, rng, n, n), "W_in": draw_input_matrix(spec, rng, n, spec.d),
        "leak": leak,
        "b": draw_bias(spec, rng, n),
    }  # fmt: skip


def draw_deep(spec: SystemSpec, rng: Generator) -> Weights:
    """A transition of as many layers as the spec has, each as wide as the state."""
    n = spec.n
    weights = {"input_weight": draw_input_matrix(spec, rng, n, spec.d)}
    for layer in range(1, spec.layers + 1):
        weights[f"transition_{layer}_weight"] = draw_recurrent(spec, rng, n, n)
        weights[f"transition_{layer}_bias"] = draw_bias(spec, rng, n)
    return weights


def draw_stack(spec: SystemSpec, rng: Generator) -> Weights:
    """Layers of the regime's cells, all of n outputs."""
    gates = kind_of(LAYER_CELLS[spec.regime]).gates
    n, inputs = spec.n, spec.d
    weights: Weights = {}
    for layer in range(spec.layers):
        blocks = [draw_recurrent(spec, rng, n, n) for _ in range(gates)]
        weights |= {
            f"weight_hh_l{layer}": np.concatenate(blocks),
            f"weight_ih_l{layer}": draw_input_matrix(spec, rng, gates * n, inputs),
            f"bias_ih_l{layer}": draw_bias(spec, rng, gates * n),
            f"bias_hh_l{layer}": draw_bias(spec, rng, gates * n),
        }
        inputs = n
    return weights


def stack_name(spec: SystemSpec) -> str:
    """The name of the stack whose layers the regime says."""
    return PREFIX + LAYER_CELLS[spec.regime]


@st.composite
def draw_cell_spec(draw: st.DrawFn, make: SpecType, wanted: DrawRequest) -> SystemSpec:
    """A cell of 1 to 4 units with a loss; every other one is linear but for its candidate, and its
    units are all alike: driven by small or by few inputs, it comes near the bounds.
    """
    T = draw(pick(LENGTHS))
    # At k = T both sides are 0, which exact arithmetic decides: seldom here.
    K = min(max(T - 1, 1), draw(pick(WINDOWS)))
    choices = draw_choices(
        draw, epsilon=TARGETS, loss=LOSSES, target=(1.0, 0.0), distance=DISTANCES
    )  # fmt: skip
    spec = make(
        T=T, K=K, seed=draw(seeds()), batch=wanted.batch, sequences=wanted.sequences, **choices
    )  # fmt: skip
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
        choices = draw_choices(
            draw, inputs=("constant", "impulse"), n=(1, 2), scale=(2.0**-10, 1.0, 2.0**-6, 4.0),
            # Gates of exactly one half would meet the bounds to the last bit.
            **({"bias": (0.5, 0.0)} if lam else {}),
        )  # fmt: skip
        return replace(spec, regime="driven", lam=lam, **({"bias": 0.5} | choices))
    n = draw(pick((2, 3, 1, 4)))
    choices = draw_choices(
        draw, regime=make.regimes, inputs=("gaussian", "constant", "alternating", "zero")
    )  # fmt: skip
    d = min(draw(pick((1, 2))), n)
    numbers = draw_choices(
        draw, lam=(0.25, 0.0625, 0.5, 0.9), scale=(1.0, 0.25), bias=(0.5, 0.0, 1.0)
    )  # fmt: skip
    return replace(spec, n=n, d=d, **choices, **numbers)


# Units whose gates are constant, driven by inputs so small that they are linear: nothing is
# forgotten faster than λᵏ. One large input, and a truncated run that misses it alone, for what
# drifts.
def worst_of_any_cell(make: SpecType) -> tuple[SystemSpec, ...]:
    """The worst instances of one kind of cell. The first three meet the bounds and, with those of
    single kinds, refute every false variant that all of them refute."""
    random_regime = "gaussian" if "gaussian" in make.regimes else make.regimes[-1]
    driven = make(regime="driven", inputs="constant", loss="linear", batch=4)
    edge = replace(driven, n=2, T=12, K=2, lam=0.25, seed=10)
    return (
        # Few steps of cells that contract whatever weights they come to.
        replace(
            driven, inputs="gaussian", loss="squared", lam=0.0625, scale=0.25, bias=0.25, T=5, K=4,
            steps=2, distance=0.125, seed=8,
        ),
        # From zero, one unit whose gates the input moves: the drive is attained, and what an input
        # moves through a gate is seen beside what it moves by itself.
        replace(
            driven, regime=random_regime, scale=0.25, lam=0.25, bias=0.5, seed=9, batch=24
        ),
        # Two units that are alike, under a constant input.
        replace(
            driven, scale=2.0**-12, target=0.0, n=2, lam=0.5, bias=0.5, T=7, K=6, seed=6,
            epsilon=2.0**-4,
        ),
        # A large first input, and nothing after it.
        replace(driven, inputs="impulse", T=9, K=8, scale=4.0, lam=0.75, bias=0.5, seed=5),
        # No two gates and no two units are alike.
        replace(
            driven, regime=random_regime, inputs="gaussian", n=2, d=2, T=4, K=3, lam=0.25, bias=0.5,
            seed=13,
        ),
        # A constant input of size one, until the states are where their box ends; two layers where
        # there are any, the upper one fed by units that are all alike.
        replace(edge, layers=2) if edge.has("layers") else edge,
        # Inputs of two numbers along the row of weights that they meet, until the box is reached.
        replace(driven, inputs="resonant", d=2, T=12, K=2, lam=0.25, seed=12),
    )  # fmt: skip


def worst_of_single_cells() -> Iterator[SystemSpec]:
    """Worst instances of single kinds."""
    # Equality, and a window as long as the run.
    yield Gru(regime="driven", lam=0.0, T=2, K=2, seed=3, loss="linear")
    # Large weights, whose second derivatives are larger than the first; pairs near one another.
    yield Leaky(regime="signs", inputs="zero", lam=8.0, bias=0.25, seed=4, batch=12, sequences=3)
    # Three linear units that are alike, whose output is longer than any one of them.
    yield Leaky(
        activation="identity", regime="driven", inputs="constant", loss="linear", n=3, lam=0.5,
        T=12, K=11, epsilon=0.57, seed=6, batch=1,
    )  # fmt: skip
    # Two layers of gated cells, of which the lower one holds what it is fed.
    yield from spec_grid(
        Stack(
            inputs="constant", loss="linear", layers=2, T=8, K=2, lam=0.5, scale=4.0, bias=1.0,
            seed=11, batch=24,
        ),
        {"regime": ("gru", "lstm")},
    )  # fmt: skip
    # More than eight windows that forget less than half, of a run that is long beside them.
    yield Gru(
        regime="driven", inputs="constant", scale=2.0**-12, loss="linear", batch=4, n=2,
        lam=0.9375, T=64, K=9, bias=0.5, seed=7, epsilon=0.5,
    )  # fmt: skip


def worst_cell_specs(kinds: Sequence[Kind], most: int | None) -> Iterator[SystemSpec]:
    """Worst instances of single kinds, then the first so many of each kind of cell, in turn."""
    yield from worst_of_single_cells()
    yield from chain(*zip(*(worst_of_any_cell(kind.spec)[:most] for kind in kinds), strict=True))


def program_kind(
    make: SpecType,
    draw: Draw,
    named: Callable[[SystemSpec], str] | None = None,
) -> Kind:
    """The kind of cells whose weights `draw` draws, read under the name of the cell, or that which
    is ``named``."""
    cell = cell_named(make.kind)
    name = named or cell
    draw_members = draw_each_member(partial(draw_cell, name=name, draw=draw))
    return Kind(
        make,
        partial(draw_cell_spec, make),
        partial(make_cells, draw_members, name, CertifiedCells),
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
