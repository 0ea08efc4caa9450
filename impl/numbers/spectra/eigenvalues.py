"""Certified eigenvalues on or outside the unit circle.

A modulus of exactly 1 is beyond balls of any precision. It is decided exactly: if the
characteristic polynomial p shares a root μ with its reversal zⁿ p(1/z), then 1/μ is an eigenvalue
too, and one of the two has modulus ≥ 1; if it shares none, no eigenvalue lies on the circle.
"""

from dataclasses import dataclass
from typing import Any

import torch
from flint import acb, acb_mat, arb, arb_mat, ctx, fmpz_mat, fmpz_poly

from rnnbounds.impl.numbers.rationals import common_denominator
from rnnbounds.impl.numbers.spectra.discs import eigenvalue_outside_circle

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
        return _eigenvalue(root, 1.0)
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
    return _eigenvalue(max(outside, key=lambda root: acb(root).abs_lower()), 1.0)


def _eigenvalue(root: acb, lower_bound: float) -> Eigenvalue:
    root = acb(root)
    modulus = max(lower_bound, _float_below(root.abs_lower()))
    return Eigenvalue(float(root.real.mid()), float(root.imag.mid()), modulus)


def _float_below(x: arb) -> float:
    """Round a ball down to a float64 that is at most every number in it."""
    value = float(x.lower())
    return value if arb(value) <= x else value * (1 - 2.0**-50)
