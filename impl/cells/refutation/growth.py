"""Two orbits of a piecewise linear cell that never come together.

ReLU and leaky ReLU are positively homogeneous. If ρ(Wv) = μv with μ ≥ 1, then far out on the ray
of v the cell is the affine map h ↦ D(Wh + b), D = diag(slopes), and the line f + τv through its
fixed point f maps to itself by τ ↦ μτ. So the states f + sv and f + 2sv, under the zero input,
stay μᵗ s ‖v‖ apart for ever: no norm makes the cell a contraction.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from flint import arb, arb_mat

from rnnbounds.impl.arithmetic.activation import Activation
from rnnbounds.impl.numbers.spectra.krawczyk import Vector, column, identity, unique_zero

HOMOGENEOUS = ("relu", "leaky-relu")

_GRID = 2.0**20  # an exact eigenvector has few bits: the float one is tried rounded to these
_STEPS, _TOLERANCE, _LEAST_GROWTH = 400, 1e-7, 1 - 1e-9  # what is worth a proof, not what proves


@dataclass(frozen=True)
class Growth:
    """The states f + sv and f + 2sv (n,) up to rounding, and a certified μ ≥ 1."""

    first: tuple[float, ...]
    second: tuple[float, ...]
    factor: float


def growing_orbits(W: Vector, b: arb_mat, activation: Activation) -> Growth | None:
    """A certified pair of orbits of h ↦ ρ(Wh + b) that stay apart; W (n, n), b (n, 1), or None.

    At the current precision; needs a positively homogeneous activation.
    """
    exact = arb_mat(W.tolist())
    for v in _kept_rays(W, activation):
        slopes = [activation.ball_derivative(arb(float(z))) for z in W @ v]
        for direction, mu in _eigenpairs(exact, slopes, v):
            if mu >= 1 and (orbits := _orbits_on_ray(exact, b, activation, slopes, direction, mu)):
                return orbits
    return None


def _kept_rays(W: Vector, activation: Activation) -> Iterator[Vector]:
    """Rays that v ↦ ρ(Wv) seems to keep and to lengthen, scaled to a greatest entry of 1."""
    n = len(W)
    rng = np.random.Generator(np.random.Philox(key=n))
    v = np.concatenate([np.ones((1, n)), np.eye(n)[:8], rng.standard_normal((8, n))]).T
    size = np.ones(v.shape[1])
    is_kept = np.zeros(v.shape[1], dtype=bool)
    with np.errstate(all="ignore"):  # what overflows becomes NaN and is not kept
        for _ in range(_STEPS):
            image = activation(torch.from_numpy(W @ v)).numpy()
            size = np.abs(image).max(axis=0)
            scaled = image / np.where(size > 0, size, 1.0)
            is_kept = np.abs(scaled - v).max(axis=0) < _TOLERANCE
            v = scaled
    rays = v[:, is_kept & (size > _LEAST_GROWTH)].T
    yield from rays[np.unique(np.round(rays, 6), axis=0, return_index=True)[1]]


def _eigenpairs(W: arb_mat, slopes: list[arb], v: Vector) -> Iterator[tuple[arb_mat, arb]]:
    """Enclosures of (v, μ) with D W v = μ v near v: exact after snapping, then by Krawczyk."""
    n = len(v)
    M = _scale_rows(slopes, W)
    snapped = column(np.round(v * _GRID) / _GRID)
    top = int(np.abs(v).argmax())
    mu = (M * snapped)[top, 0] / snapped[top, 0]
    if all(bool(r == 0) for r in (M * snapped - snapped * mu).entries()):
        yield snapped, mu

    def residual(y: arb_mat) -> tuple[arb_mat, arb_mat]:
        """M v − μv = 0 with v_top fixed, in the unknowns (v, μ)."""
        entries = y.entries()
        state, rate = arb_mat([[a] for a in entries[:n]]), entries[n]
        value = [*(M * state - state * rate).entries(), entries[top] - float(v[top])]
        rows = [
            [M[i, j] - (rate if i == j else 0) for j in range(n)] + [-entries[i]] for i in range(n)
        ]
        rows.append([arb(int(j == top)) for j in range(n)] + [arb(0)])
        return arb_mat([[a] for a in value]), arb_mat(rows)

    centre = np.append(v, float((M * column(v))[top, 0].mid()) / v[top])
    if np.isfinite(centre).all() and (pair := unique_zero(residual, centre)) is not None:
        entries = pair.entries()
        yield arb_mat([[a] for a in entries[:n]]), entries[n]


def _orbits_on_ray(
    W: arb_mat, b: arb_mat, activation: Activation, slopes: list[arb], v: arb_mat, mu: arb
) -> Growth | None:
    """The two states, if the ray from the fixed point certainly stays in one affine piece."""
    n = len(slopes)
    constant = b.entries()
    slopes = [
        activation.ball_derivative(c) if z.is_zero() else slope
        for slope, z, c in zip(slopes, (W * v).entries(), constant, strict=True)
    ]
    fixed_point = arb_mat(n, 1)
    if not all(c.is_zero() for c in constant):
        try:
            fixed_point = (identity(n) - _scale_rows(slopes, W)).solve(_scale_rows(slopes, b))
        except ZeroDivisionError:  # not certainly invertible
            return None
    start = 1.0
    for slope, direction_part, offset in zip(
        slopes, (W * v).entries(), (W * fixed_point + b).entries(), strict=True
    ):
        side = 1 if slope == 1 else -1  # the pre-activation's sign on this piece
        if direction_part * side > 0:
            start = max(start, float((-offset / direction_part).upper()))
        elif not (direction_part.is_zero() and offset * side >= 0):
            return None
    middle, ray = (
        np.array([float(a.mid()) for a in column.entries()]) for column in (fixed_point, v)
    )
    with np.errstate(all="ignore"):
        first, second = middle + 2 * start * ray, middle + 4 * start * ray
    if not np.isfinite(np.append(first, second)).all():
        return None
    return Growth(tuple(first.tolist()), tuple(second.tolist()), max(1.0, float(mu.lower())))


def _scale_rows(slopes: list[arb], M: arb_mat) -> arb_mat:
    rows = zip(slopes, M.tolist(), strict=True)
    return arb_mat([[slope * a for a in row] for slope, row in rows])
