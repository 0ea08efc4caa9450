"""The weights of cells that are written as their step alone, from a spec's own streams.

Regimes: driven has units that are all alike, gates that no input moves and a positive recurrent
matrix of row sums ``lam``, so that bounds are met; in the others nothing is alike.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rnnbounds.impl.cells.stacks.stack import PREFIX
from rnnbounds.impl.cells.table import kind_of
from rnnbounds.properties.systems.drawing.regimes import (
    Array,
    input_draws,
    loss_draws,
    normal,
    shortened,
    stream,
)
from rnnbounds.properties.systems.spec import SystemSpec

Weights = dict[str, Array]
Generator = np.random.Generator
Draw = Callable[[SystemSpec, Generator], Weights]
# Before the name of a weight of a cell, in what is drawn.
OF_CELL = "cell."
# What the layers of a stack are, by its regime.
LAYERS = {"driven": "rnn-tanh", "rnn": "rnn-tanh", "gru": "gru", "lstm": "lstm"}


def drawn(
    spec: SystemSpec, member: int, name: Callable[[SystemSpec], str], draw: Draw
) -> dict[str, Array]:
    """The weights by name, C, y, what is random in x, and the states (S, N)."""
    weights = draw(spec, stream(spec, member))
    sizes = kind_of(name(spec)).layout(weights).sizes(weights)  # type: ignore[arg-type]
    rng = stream(spec, member, 1)
    found = loss_draws(spec, member, normal(rng, min(sizes.n, 2), sizes.n))
    rng = stream(spec, member, 2)
    found["x"] = input_draws(spec, rng, len(found["C"]))
    shape, signs = (spec.sequences, sizes.state), np.array([1.0, -1.0, 64.0])
    h, h_other = normal(rng, *shape), normal(rng, *shape)
    # At random, near one another, and at corners of any box.
    h_other[1::3] = h[1::3] + h_other[1::3] / 64
    h[2::3], h_other[2::3] = signs[2] * np.sign(h[2::3]), -signs[2] * np.sign(h[2::3])
    found |= {"h": h, "h_other": h_other}
    return found | {OF_CELL + name: array for name, array in weights.items()}


def recurrent(spec: SystemSpec, rng: Generator, rows: int, columns: int) -> Array:
    """A matrix of largest row sum about ``lam``."""
    draws = normal(rng, rows, columns)
    if spec.regime == "zero":
        return 0 * draws
    if spec.regime == "driven":
        return np.full((rows, columns), shortened(spec.lam / columns))
    if spec.regime == "signs":
        draws = np.where(draws < 0, -1.0, 1.0)
    size = np.abs(draws).sum(axis=1).max()
    return draws * (shortened(spec.lam / size) if size else 0.0)


def fed(spec: SystemSpec, rng: Generator, rows: int, columns: int, gate: bool = False) -> Array:
    """A matrix that inputs go through; gates have none in what is driven."""
    draws = normal(rng, rows, columns) / 2
    if spec.regime != "driven":
        return draws
    return 0 * draws if gate else np.repeat(np.abs(draws[:1]), rows, axis=0)


def offset(spec: SystemSpec, rng: Generator, rows: int, gate: bool = False) -> Array:
    """A bias; that of a gate may hold it open or shut."""
    draws = spec.bias * normal(rng, rows)
    if gate:
        draws = draws + rng.choice(np.array((0.0, 2.0, -2.0)))
    if spec.regime != "driven":
        return draws
    return np.repeat(draws[:1], rows) if gate else 0 * draws


def projected(spec: SystemSpec, rng: Generator) -> Weights:
    """An LSTM of n + 1 cells with n outputs."""
    n, m = spec.n, spec.n + 1
    blocks = [recurrent(spec, rng, m, n) for _ in range(4)]
    return {
        "weight_hh": np.concatenate(blocks), "weight_ih": fed(spec, rng, 4 * m, spec.d),
        "weight_hr": normal(rng, n, m) / 4, "bias_ih": offset(spec, rng, 4 * m),
        "bias_hh": offset(spec, rng, 4 * m),
    }  # fmt: skip


def leaky(spec: SystemSpec, rng: Generator) -> Weights:
    """An echo-state network whose leaks are multiples of 1/8."""
    n = spec.n
    leak = rng.integers(1, 9, n) / 8
    if spec.regime == "driven":
        leak = np.repeat(leak[:1], n)
    return {
        "W": recurrent(spec, rng, n, n), "W_in": fed(spec, rng, n, spec.d), "leak": leak,
        "b": offset(spec, rng, n),
    }  # fmt: skip


def diagonal(spec: SystemSpec, rng: Generator) -> Weights:
    """Real or complex eigenvalues of moduli up to ``lam``, in each of the conventions."""
    n, d, regime = spec.n, spec.d, spec.regime
    size = np.full(n, spec.lam) if regime == "driven" else spec.lam * rng.integers(0, 9, n) / 8
    B = {"B_re": fed(spec, rng, n, d), "B_im": fed(spec, rng, n, d)}
    if regime in ("driven", "zero", "real"):
        size = size * (regime != "zero") * (1 if regime == "driven" else rng.choice((-1.0, 1.0), n))
        return {"lambda_re": size, "B_re": B["B_re"], "b": offset(spec, rng, n)}
    angle = normal(rng, n)
    if regime == "complex":
        share = rng.integers(0, 9, n) / 8  # so that |Re λ| + |Im λ| ≤ lam
        return {"lambda_re": share * size, "lambda_im": (1 - share) * size, **B}
    fast = normal(rng, n) ** 2 + 0.5
    rate, dt = shorter(np.log(fast)), normal(rng, n) / 4
    if regime == "lru":
        return {"nu_log": rate, "theta_log": angle / 4 - 3, **B}
    return {"log_A_real": rate, "A_imag": angle / 4, "log_dt": dt, **B}


def shorter(values: Array) -> Array:
    """Values cut to 2⁻²⁰: no library's last digit reaches a system."""
    found: Array = np.round(values * 2.0**20) / 2.0**20
    return found


def min_gru(spec: SystemSpec, rng: Generator) -> Weights:
    """A minimal GRU."""
    n, d = spec.n, spec.d
    return {
        "weight_z": fed(spec, rng, n, d, gate=True), "weight_h": fed(spec, rng, n, d),
        "bias_z": offset(spec, rng, n, gate=True), "bias_h": offset(spec, rng, n),
    }  # fmt: skip


def min_lstm(spec: SystemSpec, rng: Generator) -> Weights:
    """A minimal LSTM."""
    found = {}
    for gate in "fih":
        found[f"weight_{gate}"] = fed(spec, rng, spec.n, spec.d, gate=gate != "h")
        found[f"bias_{gate}"] = offset(spec, rng, spec.n, gate=gate != "h")
    return found


def selective(spec: SystemSpec, rng: Generator) -> Weights:
    """A selective scan."""
    n, d = spec.n, spec.d
    A = normal(rng, n) / 2
    return {
        "weight_delta": fed(spec, rng, n, d, gate=True), "weight_B": fed(spec, rng, n, d),
        "A_log": np.repeat(A[:1], n) if spec.regime == "driven" else A,
        "bias_delta": offset(spec, rng, n, gate=True),
    }  # fmt: skip


def deep(spec: SystemSpec, rng: Generator) -> Weights:
    """A transition of as many layers as the spec has, each as wide as the state."""
    n = spec.n
    found = {"input_weight": fed(spec, rng, n, spec.d)}
    for layer in range(1, spec.layers + 1):
        found[f"transition_{layer}_weight"] = recurrent(spec, rng, n, n)
        found[f"transition_{layer}_bias"] = offset(spec, rng, n)
    return found


def stack(spec: SystemSpec, rng: Generator) -> Weights:
    """Layers of the regime's cells, all of n outputs."""
    gates = kind_of(LAYERS[spec.regime]).gates
    n, below = spec.n, spec.d
    found: Weights = {}
    for layer in range(spec.layers):
        blocks = [recurrent(spec, rng, n, n) for _ in range(gates)]
        found |= {
            f"weight_hh_l{layer}": np.concatenate(blocks),
            f"weight_ih_l{layer}": fed(spec, rng, gates * n, below),
            f"bias_ih_l{layer}": offset(spec, rng, gates * n),
            f"bias_hh_l{layer}": offset(spec, rng, gates * n),
        }
        below = n
    return found


def stacked(spec: SystemSpec) -> str:
    """The name of the stack whose layers the regime says."""
    return PREFIX + LAYERS[spec.regime]
