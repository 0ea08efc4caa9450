"""The weights of cells that are written as their step alone, from a spec's own streams.

Regimes: driven has units that are all alike, gates that no input moves and a positive recurrent
matrix of row sums ``lam``, so that bounds are met; in the others nothing is alike.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rnnbounds.impl.cells.stacks.stack import PREFIX
from rnnbounds.impl.cells.table import kind_of
from rnnbounds.properties.systems.cells.batch import CELL_PREFIX
from rnnbounds.properties.systems.draws import (
    Array,
    cached_generator,
    draw_inputs,
    draw_loss,
    grid_normals,
    truncate_bits,
)
from rnnbounds.properties.systems.spec import SystemSpec

Weights = dict[str, Array]
Generator = np.random.Generator
Draw = Callable[[SystemSpec, Generator], Weights]
# What the layers of a stack are, by its regime.
LAYER_CELLS = {"driven": "rnn-tanh", "rnn": "rnn-tanh", "gru": "gru", "lstm": "lstm"}


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
