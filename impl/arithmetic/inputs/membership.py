"""Membership in hulls and zonotopes: proposed in floats, proved in rationals.

Weights w_j within their limits with Σ_j w_j a_j near a point a little further out than x are found
in floats (Lawson & Hanson, Solving Least Squares Problems, chapter 23, for w ≥ 0). Drawn back
towards the middle, all weights of a basis have room to repair exactly what rounding left. So
points within about 2⁻³⁰ of the boundary are not proved to be members, and none is that is not.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from flint import fmpq, fmpq_mat
from torch import Tensor

from rnnbounds.impl.numbers.outward import add_up, gamma, mul_up
from rnnbounds.impl.numbers.rationals import rational

Array = np.ndarray[Any, Any]
_ROOM = 2.0**-30  # how much further out, as a part of the distance from the middle
_STEPS = 20  # of the active-set method, for each column


def in_hull(points: Array, x: Sequence[float]) -> bool:
    """True if x (d,) is proved to be a convex combination of the points (m, d)."""
    A = np.vstack([points.T, np.ones(len(points))])
    if (basis := _basis(A)) is None:
        return False
    middle = A[:, basis].mean(1)
    target = np.append(np.array(x), 1.0)
    w = _nonnegative(A, middle + (target - middle) * (1 + _ROOM)) / (1 + _ROOM)
    w[basis] += _ROOM / (1 + _ROOM) / len(basis)
    found = _repaired(A, w, [*map(rational, x), fmpq(1)], basis)
    return found is not None and all(a >= 0 for a in found)


def in_zonotope(center: Array, generators: Array, x: Sequence[float]) -> bool:
    """True if x (d,) is proved to be c + Σ z_j g_j, |z_j| ≤ 1, with the rows g_j."""
    G, g = generators.T, len(generators)
    if (basis := _basis(G)) is None:
        return False
    # In units of the basis, S⁻¹(x − c) = S⁻¹ G z: generators may be of very different lengths.
    sizes = np.linalg.norm(G[:, basis], axis=0)
    S = G[:, basis] / sizes
    units = np.linalg.solve(S, G) / sizes[:, None]
    target = np.linalg.solve(S, np.array(x) - center) / sizes
    exact = [rational(a) - rational(c) for a, c in zip(x, center.tolist(), strict=True)]
    z = np.linalg.lstsq(units, target, rcond=None)[0]  # the shortest, which leaves most room
    if abs(z).max() <= 1 and _within(_repaired(G, z, exact, basis)):
        return True
    # z = 2u − 1 and 1 − u = v: 2 S⁻¹ G u = S⁻¹(x − c) + Σ S⁻¹ g_j, u + v = 1, both ≥ 0.
    both = np.block([[2 * units, np.zeros_like(G)], [np.eye(g), np.eye(g)]])
    aim = np.append(target * (1 + _ROOM) + units.sum(1), np.ones(g))
    z = np.clip(2 * _nonnegative(both, aim)[:g] - 1, -1, 1) / (1 + _ROOM)
    return _within(_repaired(G, z, exact, basis))


def _within(z: list[fmpq] | None) -> bool:
    return z is not None and all(abs(a) <= 1 for a in z)


def left_over(x: Tensor, center: Tensor, z: Tensor, axes: Tensor) -> tuple[Tensor, Tensor]:
    """|x − c − Σ z_i a_i| in floats, and at least how far that is off: x (m, d), z (m, g), the rows
    a_i (g, d)."""
    terms = x.abs() + center.abs() + z.abs() @ axes.abs()
    error = mul_up(gamma(len(center) + len(axes) + 6), mul_up(terms, 1 + 2.0**-30))
    return (x - center - z @ axes).abs(), add_up(error, 1e-290)


def quickly_in_zonotope(center: Tensor, generators: Tensor, x: Tensor) -> Tensor:
    """Which rows of x (m, d) are proved to be of the zonotope without rationals: what the first
    generators leave lies within the last d of them, if these are multiples of the channels."""
    d = len(center)
    axes, last = generators[:-d], generators[-d:]
    if len(generators) < d or bool((last - torch.diag(last.diag()) != 0).any()):
        return torch.zeros(len(x), dtype=torch.bool)
    z = ((x - center) @ torch.linalg.pinv(axes)).clamp(-1, 1)
    left, error = left_over(x, center, z, axes)
    return (add_up(left, error) <= last.diag().abs()).all(1)


def _repaired(A: Array, w: Array, target: list[fmpq], basis: list[int]) -> list[fmpq] | None:
    """w in rationals, those of the basis changed until A w is the target; None if that is none."""
    weights = [rational(a) for a in w.tolist()]
    used = [j for j, a in enumerate(weights) if a != 0]
    rest = [
        [t - sum((rational(row[j]) * weights[j] for j in used), fmpq(0))]
        for row, t in zip(A, target, strict=True)
    ]
    try:
        square = fmpq_mat([[rational(row[j]) for j in basis] for row in A])
        shift = square.solve(fmpq_mat(rest)).entries()
    except ZeroDivisionError:
        return None
    for j, a in zip(basis, shift, strict=True):
        weights[j] += a
    return weights


def _basis(A: Array) -> list[int] | None:
    """As many columns of A (r, m) as it has rows, each the furthest from the span of those before;
    None if there are none."""
    rest, chosen, lengths = A - 0.0, [], np.linalg.norm(A, axis=0)
    for _ in range(len(A)):
        sizes = np.linalg.norm(rest, axis=0)
        sizes[sizes <= 1e-13 * lengths] = 0.0  # what rounding left of it
        j = int(sizes.argmax())
        if not sizes[j] > 0:
            return None
        chosen.append(j)
        q = rest[:, j] / sizes[j]
        rest = rest - np.outer(q, q @ rest)
    return chosen


def _nonnegative(A: Array, b: Array) -> Array:
    """w ≥ 0 (m,) with ‖A w − b‖₂ the least, nearly; A (r, m)."""
    m = A.shape[1]
    w, passive = np.zeros(m), np.zeros(m, dtype=bool)
    for _ in range(_STEPS * len(A)):
        slope = A.T @ (b - A @ w)
        slope[passive] = 0.0
        j = int(slope.argmax())
        if not slope[j] > 1e-13 * max(1.0, float(abs(b).max())) * np.linalg.norm(A[:, j]):
            break
        passive[j] = True
        while True:
            s = np.zeros(m)
            s[passive] = np.linalg.lstsq(A[:, passive], b, rcond=None)[0]
            short = passive & (s <= 0)
            if not short.any():
                w = s
                break
            step = (w[short] / np.maximum(w[short] - s[short], 1e-300)).min()
            w = w + min(1.0, step) * (s - w)
            passive &= w > 1e-15
            w[~passive] = 0.0
    return w
