"""Certified eigenvalues outside the unit circle in float64, at sizes where balls take too long.

With approximate eigenvectors V and X ≈ V⁻¹, J is similar to V⁻¹JV = (I + E)⁻¹XJV with XV = I + E,
whose Gershgorin discs are small and near the eigenvalues. Discs that meet no others hold as many
eigenvalues as they are. Every rounding is bounded. Sources: Gershgorin; Rump, Verification methods
(2010), section 13; Higham, section 3.6, for complex products.
"""

import math

import torch
from torch import Tensor

from rnnbounds.impl.numbers.outward import (
    add_up,
    div_up,
    gamma,
    mul_up,
    product_up,
    subtract_down,
    sum_up,
    underflow,
)

_MOST = 2.0**200  # of entries whose products are numbers


def outside_discs(mid: Tensor, radius: Tensor) -> tuple[complex, float] | None:
    """About an eigenvalue, and a certified lower bound > 1 on the modulus of one, of every matrix J
    with |J − mid| ≤ radius entry by entry, (n, n) both; None if none was certified."""
    if not bool((torch.maximum(mid.abs(), radius) < _MOST).all()):
        return None
    try:
        V = torch.linalg.eig(mid).eigenvectors
        X = torch.linalg.inv(V)
    except RuntimeError:  # no convergence, or no eigenvectors enough
        return None
    sizes_V, sizes_X, sizes = _size(V), _size(X), mid.abs()
    P = _times(mid.to(V.dtype), V)
    A = _times(X, P)
    off_P = add_up(_lost(sizes, sizes_V), _product(radius, sizes_V))
    off = add_up(_lost(sizes_X, _size(P)), _product(sizes_X, off_P))  # of X J V
    defect = _size(_times(X, V) - torch.eye(len(mid), dtype=V.dtype))
    e = sum_up(add_up(mul_up(defect, 1 + 2.0**-50), _lost(sizes_X, sizes_V))).amax()
    room = subtract_down(1.0, e)
    if not room > 0:
        return None
    whole = sum_up(add_up(_size(A), off)).amax()
    moved = mul_up(div_up(e, room), whole)
    apart = _size(A).fill_diagonal_(0.0)
    radii = add_up(add_up(sum_up(apart), sum_up(off)), moved)
    return _outside(A.diagonal(), radii)


def _outside(centres: Tensor, radii: Tensor) -> tuple[complex, float] | None:
    """The least modulus in a set of discs that lie outside the unit circle and meet no others."""
    inner = subtract_down(centres.abs() * (1 - 2.0**-50), radii)
    distance = (centres[:, None] - centres[None]).abs() * (1 - 2.0**-50)
    meets = ~(distance > add_up(radii[:, None], radii[None]))
    out = inner > 1
    while bool(out.any()):
        fallen = out & (meets & ~out[None]).any(1)
        if not bool(fallen.any()):
            break
        out = out & ~fallen
    if not bool(out.any()):
        return None
    reached = torch.zeros_like(out)
    top = int(torch.where(out, inner, -math.inf).argmax())
    reached[top] = True
    while bool((more := (meets & reached[None]).any(1) & ~reached).any()):
        reached = reached | more
    return complex(centres[top]), float(inner[reached].amin())


def _times(A: Tensor, C: Tensor) -> Tensor:
    """A C by four real products: three would do, with larger errors."""
    real = A.real @ C.real - A.imag @ C.imag
    return torch.complex(real, A.real @ C.imag + A.imag @ C.real)


def _size(M: Tensor) -> Tensor:
    """At least |M_ij|."""
    return mul_up(M.abs(), 1 + 2.0**-50)


def _product(A: Tensor, C: Tensor) -> Tensor:
    return product_up(A[None], C[None])[0]


def _lost(A: Tensor, C: Tensor) -> Tensor:
    """At least what rounding takes from a complex product of sizes A and C, entry by entry."""
    product = _product(A, C)
    return add_up(mul_up(2 * gamma(4 * A.shape[1] + 16), product), underflow(product))
