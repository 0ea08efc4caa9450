"""Gated cells and pairs of states, drawn from a spec's own streams."""

from __future__ import annotations

import numpy as np

from rnnbounds.impl.cells.table import CELLS
from rnnbounds.properties.systems.drawing.draws import (
    Array,
    cached_generator,
    draw_inputs,
    draw_loss,
    grid_normals,
    truncate_bits,
)
from rnnbounds.properties.systems.spec import SystemSpec

# What moves a state to a corner of any box.
CORNER = 1024.0
# torch's order: the candidate is the third gate of both; the last of an LSTM is o.
CANDIDATE = 2
FORGET = 1
# With constant gates a cell is linear but for its candidate.
LINEAR = ("candidate", "driven")


def draw_gated_cell(spec: SystemSpec, member: int) -> dict[str, Array]:
    """W (g n, n), U (g n, d), b, b_hh (g n), C, y, what is random in x, and the states (S, N)."""
    kind, n, S = CELLS[spec.kind], spec.n, spec.sequences
    g, N = kind.gates, kind.width * n
    rng = cached_generator(spec, member, 1)
    U, b = grid_normals(rng, g, n, spec.d) / 2, spec.bias * grid_normals(rng, g, n)
    # Gates that hold: each is mostly open, mostly shut, or half open.
    b += np.array((0.0, 2.0, -2.0, 4.0))[rng.integers(0, 4, g)][:, None] * (spec.bias > 0)
    b[CANDIDATE] *= 0.25
    b_hh = spec.bias * grid_normals(rng, g, n) / 4
    targets = draw_loss(spec, member, grid_normals(rng, min(n, 2), n))
    if spec.regime == "candidate":
        # Constant gates, and a candidate in the middle of its range: what is bounded is attained.
        U, b[CANDIDATE], b_hh[CANDIDATE] = 0 * U, 0, 0
    if spec.regime == "driven":
        # The same for all units, and inputs that drive the candidate alone.
        U, b, b_hh = (np.repeat(part[:, :1], n, axis=1) for part in (U, b, b_hh))
        U[[gate for gate in range(g) if gate != CANDIDATE]] = 0
        b[CANDIDATE], b_hh[CANDIDATE] = 0, 0
    W = draw_gated_recurrent(spec, cached_generator(spec, member), U, b + b_hh)
    rng = cached_generator(spec, member, 2)
    arrays: dict[str, Array] = {"W": W.reshape(g * n, n), "U": U.reshape(g * n, -1)} | targets
    arrays |= {"b": b.reshape(-1), "b_hh": b_hh.reshape(-1)}
    arrays["x"] = draw_inputs(spec, rng, len(arrays["C"]))
    h, h_other = draw_state_pairs(rng, S, N)
    return arrays | {"h": h, "h_other": h_other}


def draw_state_pairs(rng: np.random.Generator, S: int, N: int) -> tuple[Array, Array]:
    """Pairs: antipodal with entries of one size, at random, and at corners of the box and near
    them; each four sequences by 8 smaller, but for the corners."""
    shrink = np.ldexp(np.ones(S), -3 * (np.arange(S) // 4))[:, None]
    h, h_other = shrink * grid_normals(rng, S, N), shrink * grid_normals(rng, S, N)
    signs = np.where(h < 0, -1.0, 1.0)
    h[::4] = (shrink * signs)[::4] / 8
    h_other[::4] = -h[::4]
    h[2::4] = CORNER * signs[2::4]
    h[3::4] = CORNER * signs[3::4]
    h_other[3::4] = -h[3::4]
    return h, h_other


def draw_gated_recurrent(spec: SystemSpec, rng: np.random.Generator, U: Array, b: Array) -> Array:
    """W (g, n, n) of the spec's regime, with largest row sums about ``lam``.

    candidate, driven: of that gate alone. signs: all entries of a gate of one size. stable: in
    Miller and Hardt's set for θ = lam.
    """
    g, n = b.shape
    draws = grid_normals(rng, g, n, n)
    if spec.regime == "zero":
        return 0 * draws
    if spec.regime in (*LINEAR, "signs"):
        draws = np.where(draws < 0, -1.0, 1.0)
    if spec.regime == "driven":
        draws = np.repeat(np.repeat(draws[:, :1, :1], n, axis=1), n, axis=2)
    sizes = np.abs(draws).sum(axis=2).max(axis=1)
    factors = np.array([truncate_bits(spec.lam / size) if size else 0.0 for size in sizes])
    W: Array = draws * factors[:, None, None]
    if spec.regime in LINEAR:
        W[[gate for gate in range(g) if gate != CANDIDATE]] = 0
    if spec.regime == "stable":
        W *= stable_factors(spec, U, b)[:, None, None]
    return W


def stable_factors(spec: SystemSpec, U: Array, b: Array) -> Array:
    """Scale ‖W_i‖, ‖W_o‖, 4‖W_g‖ below θ(1 − f̄), ‖W_f‖ below θ(1 − f̄)²; the factors (g,).

    For a GRU the update gate takes the place of the forget gate.
    """
    reach = np.sqrt((U[FORGET] ** 2).sum(axis=1)) * spec.scale + b[FORGET]
    room = truncate_bits(1 / (1 + float(np.exp(min(float(reach.max()) + 0.25, 30.0)))), 12)
    sizes = np.full(len(b), room)
    sizes[CANDIDATE] = room / 4
    sizes[FORGET] = min(room * room, 0.25)
    return sizes
