"""Certified eigenvalues on or outside the unit circle.

A modulus of exactly 1 is beyond balls of any precision. It is decided exactly: if the
characteristic polynomial p shares a root μ with its reversal zⁿ p(1/z), then 1/μ is an eigenvalue
too, and one of the two has modulus ≥ 1; if it shares none, no eigenvalue lies on the circle.

Certified eigenvalues outside the unit circle in float64, at sizes where balls take too long.

With approximate eigenvectors V and X ≈ V⁻¹, J is similar to V⁻¹JV = (I + E)⁻¹XJV with XV = I + E,
whose Gershgorin discs are small and near the eigenvalues. Discs that meet no others hold as many
eigenvalues as they are. Every rounding is bounded. Sources: Gershgorin; Rump, Verification methods
(2010), section 13; Higham, section 3.6, for complex products.
"""

import math
from dataclasses import dataclass
from typing import Any

import torch
from flint import acb, acb_mat, arb_mat, ctx, fmpz_mat, fmpz_poly
from torch import Tensor

from rnnbounds.impl.numbers.ball_functions import float_above
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
from rnnbounds.impl.numbers.rationals import common_denominator

_MOST = 2.0**200  # of entries whose products are numbers


def eigenvalue_outside_circle(mid: Tensor, radius: Tensor) -> tuple[complex, float] | None:
    """About an eigenvalue, and a certified lower bound > 1 on the modulus of one, of every matrix J
    with |J − mid| ≤ radius entry by entry, (n, n) both; None if none was certified."""
    if not bool((torch.maximum(mid.abs(), radius) < _MOST).all()):
        return None
    try:
        V = torch.linalg.eig(mid).eigenvectors
        X = torch.linalg.inv(V)
    except RuntimeError:  # no convergence, or no eigenvectors enough
        return None
    abs_V, abs_X, abs_mid = _magnitudes(V), _magnitudes(X), mid.abs()
    P = _times(mid.to(V.dtype), V)
    A = _times(X, P)
    error_P = add_up(_product_rounding(abs_mid, abs_V), _product(radius, abs_V))
    error = add_up(_product_rounding(abs_X, _magnitudes(P)), _product(abs_X, error_P))  # of X J V
    defect = _magnitudes(_times(X, V) - torch.eye(len(mid), dtype=V.dtype))
    e = sum_up(add_up(mul_up(defect, 1 + 2.0**-50), _product_rounding(abs_X, abs_V))).amax()
    room = subtract_down(1.0, e)
    if not room > 0:
        return None
    row_sums = sum_up(add_up(_magnitudes(A), error)).amax()
    shift = mul_up(div_up(e, room), row_sums)
    off_diagonal = _magnitudes(A).fill_diagonal_(0.0)
    radii = add_up(add_up(sum_up(off_diagonal), sum_up(error)), shift)
    return _disc_outside_circle(A.diagonal(), radii)


def _disc_outside_circle(centres: Tensor, radii: Tensor) -> tuple[complex, float] | None:
    """The least modulus in a set of discs that lie outside the unit circle and meet no others."""
    least_moduli = subtract_down(centres.abs() * (1 - 2.0**-50), radii)
    distance = (centres[:, None] - centres[None]).abs() * (1 - 2.0**-50)
    overlaps = ~(distance > add_up(radii[:, None], radii[None]))
    outside = least_moduli > 1
    while bool(outside.any()):
        touching = outside & (overlaps & ~outside[None]).any(1)
        if not bool(touching.any()):
            break
        outside = outside & ~touching
    if not bool(outside.any()):
        return None
    component = torch.zeros_like(outside)
    furthest = int(torch.where(outside, least_moduli, -math.inf).argmax())
    component[furthest] = True
    while bool((neighbours := (overlaps & component[None]).any(1) & ~component).any()):
        component = component | neighbours
    return complex(centres[furthest]), float(least_moduli[component].amin())


def _times(A: Tensor, C: Tensor) -> Tensor:
    """A C by four real products: three would do, with larger errors."""
    real = A.real @ C.real - A.imag @ C.imag
    return torch.complex(real, A.real @ C.imag + A.imag @ C.real)


def _magnitudes(M: Tensor) -> Tensor:
    """At least |M_ij|."""
    return mul_up(M.abs(), 1 + 2.0**-50)


def _product(A: Tensor, C: Tensor) -> Tensor:
    return product_up(A[None], C[None])[0]


def _product_rounding(A: Tensor, C: Tensor) -> Tensor:
    """At least what rounding takes from a complex product of sizes A and C, entry by entry."""
    product = _product(A, C)
    return add_up(mul_up(2 * gamma(4 * A.shape[1] + 16), product), underflow(product))


EXACT_SIZE = 64  # the characteristic polynomial is computed over the integers up to here
BALL_SIZE = 256  # beyond, ball arithmetic takes minutes and is not tried
FLOAT_SIZE = 1024  # beyond, floats do

_PRECISIONS = (64, 128, 256, 512)


@dataclass(frozen=True)
class Eigenvalue:
    """An enclosure of one eigenvalue, and a certified lower bound on its modulus."""

    real: float
    imag: float
    modulus: float


def unstable_eigenvalue(W: list[list[float]]) -> Eigenvalue | None:
    """An eigenvalue of W (n, n) with modulus ≥ 1, certified; None if none was certified.

    Complete for n ≤ EXACT_SIZE but for moduli within about 2⁻⁵⁰⁰ of 1.
    """
    if len(W) > FLOAT_SIZE:
        return None
    if len(W) <= EXACT_SIZE:
        return _exact_unstable_eigenvalue(W)
    mid = torch.tensor(W, dtype=torch.float64)
    if (disc := eigenvalue_outside_circle(mid, torch.zeros_like(mid))) is not None:
        return Eigenvalue(disc[0].real, disc[0].imag, disc[1])
    if len(W) > BALL_SIZE:
        return None
    for precision in _PRECISIONS[:2]:
        with ctx.workprec(precision):
            if eigenvalue := unstable_eigenvalue_of_ball(arb_mat(W)):
                return eigenvalue
    return None


def unstable_eigenvalue_of_ball(W: arb_mat) -> Eigenvalue | None:
    """An eigenvalue of modulus > 1 of every matrix in the ball W, or None."""
    try:
        return _largest(acb_mat(W).eig(multiple=True))
    except (ValueError, ArithmeticError):  # balls too wide to isolate anything
        return None


def _exact_unstable_eigenvalue(W: list[list[float]]) -> Eigenvalue | None:
    rows, scale = common_denominator(W)
    characteristic = [c * scale**k for k, c in enumerate(fmpz_mat(rows).charpoly().coeffs())]
    p = fmpz_poly(characteristic)
    shared = p.gcd(fmpz_poly(characteristic[::-1]))
    if shared.degree() > 0:
        root = max(_roots(shared), key=lambda root: float(abs(root).mid()))
        return _eigenvalue(root)
    for precision in _PRECISIONS:
        with ctx.workprec(precision):
            roots = _roots(p)
            if eigenvalue := _largest(roots):
                return eigenvalue
            if all(abs(root) < 1 for root in roots):
                return None
    return None


def _roots(p: fmpz_poly) -> list[acb]:
    """Enclosures of all complex roots, isolated, each once."""
    pairs: Any = p.complex_roots()
    return [acb(root) for root, _ in pairs]


def _largest(roots: list[acb]) -> Eigenvalue | None:
    """The root of the greatest certified modulus, if that is above 1."""
    outside = [root for root in roots if abs(root) > 1]
    if not outside:
        return None
    return _eigenvalue(max(outside, key=lambda root: acb(root).abs_lower()))


def _eigenvalue(root: acb) -> Eigenvalue:
    """The root, whose modulus is known to be at least 1."""
    root = acb(root)
    modulus = max(1.0, -float_above(-root.abs_lower()))
    return Eigenvalue(float(root.real.mid()), float(root.imag.mid()), modulus)
