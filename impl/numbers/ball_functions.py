"""Activations and their derivatives in ball arithmetic, tight far out and across kinks; and bounds
on them for tensors, entry by entry.

A ball that is NaN gives NaN. The derivative at an exact kink is torch's choice; a ball that meets
the kink gets the hull of both sides. Source: Johansson, Arb.
"""

import math
from collections.abc import Callable

import torch
from flint import arb, ctx, fmpq
from torch import Tensor

_PRECISION = 80
LEAK = 0.01  # torch's default negative slope of the leaky ReLU, as a float64


def relu(z: arb) -> arb:
    """max(z, 0); a ball that meets 0 ends there, unlike in flint's own maximum."""
    if z >= 0:
        return z
    return arb(0) if z < 0 else arb(0).union(z.upper())


def sqrt(z: arb) -> arb:
    """√z for z ≥ 0, and 0 for z < 0: of a ball that meets 0, [0, √(its upper end)]."""
    if z > 0 or z.is_nan():
        return z.sqrt()
    return arb(0) if z <= 0 else arb(0).union(z.upper().sqrt())


def leaky_relu(z: arb) -> arb:
    """max(z, 0.01 z)."""
    return relu(z) - LEAK * relu(-z)


def kinked_slope(below: float, upper_bound: float) -> Callable[[arb], arb]:
    """The derivative of a function with a kink at 0, from its slopes on both sides."""

    def derivative(z: arb) -> arb:
        if z > 0:
            return arb(upper_bound)
        if z < 0 or z.is_zero():
            return arb(below)
        return z if z.is_nan() else arb(below).union(arb(upper_bound))

    return derivative


def elu(z: arb) -> arb:
    """z for z > 0, eᶻ − 1 below."""
    return relu(z) + (-relu(-z)).expm1()


def elu_slope(z: arb) -> arb:
    """min(1, eᶻ)."""
    return (-relu(-z)).exp()


def sigmoid(z: arb) -> arb:
    """1/(1 + e⁻ᶻ)."""
    if z < 0:
        e = z.exp()
        return e / (1 + e)
    return 1 / (1 + (-z).exp())


def sigmoid_slope(z: arb) -> arb:
    """σ(z) σ(−z)."""
    return sigmoid(z) * sigmoid(-z)


def tanh_slope(z: arb) -> arb:
    """1 − tanh² z."""
    return z.sech() * z.sech()


def softplus(z: arb) -> arb:
    """log(1 + eᶻ)."""
    return z + (-z).exp().log1p() if z > 0 else z.exp().log1p()


def silu(z: arb) -> arb:
    """z σ(z)."""
    return z * sigmoid(z)


def silu_slope(z: arb) -> arb:
    """σ(z) (1 + z σ(−z))."""
    return sigmoid(z) * (1 + z * sigmoid(-z))


def gelu(z: arb) -> arb:
    """z Φ(z)."""
    return z * _normal_cdf(z)


def gelu_slope(z: arb) -> arb:
    """Φ(z) + z φ(z)."""
    return _normal_cdf(z) + z * (-z * z / 2).exp() / (2 * arb.pi()).sqrt()


def erf_slope(z: arb) -> arb:
    """2 exp(−z²)/√π."""
    return 2 / arb.pi().sqrt() * (-z * z).exp()


def identity_slope(z: arb) -> arb:
    """The slope of the identity."""
    return arb(1) if z.is_finite() else arb.nan()


def _normal_cdf(z: arb) -> arb:
    return (-z / arb(2).sqrt()).erfc() / 2


def exact_value(function: Callable[[arb], arb], z: fmpq) -> fmpq | None:
    """f(z) where its ball is a point, as that of tanh 0 and of ELU's slope above 0; else None."""
    value = function(arb(z))
    return value.fmpq() if value.is_finite() and value.is_exact() else None


def float_above(x: arb) -> float:
    """The least float64 known to be at least every number in the ball; infinity for NaN."""
    if x.is_nan():
        return math.inf
    value = float(x.upper())
    while not arb(value) >= x:
        value = math.nextafter(value, math.inf)
    return value


def sigmoid_up(a: Tensor) -> Tensor:
    """At least σ(a), entry by entry."""
    return upper_bound(sigmoid, a).clamp(max=1.0)


def sigmoid_down(a: Tensor) -> Tensor:
    """At most σ(a), entry by entry."""
    return (-upper_bound(lambda z: -sigmoid(z), a)).clamp(min=0.0)


def tanh_up(a: Tensor) -> Tensor:
    """At least tanh a, entry by entry."""
    return upper_bound(lambda z: z.tanh(), a).clamp(max=1.0)


def upper_bound(f: Callable[[arb], arb], x: Tensor) -> Tensor:
    """At least f(x), entry by entry."""
    with ctx.workprec(_PRECISION):
        values = [float_above(f(arb(value))) for value in x.flatten().tolist()]
    return torch.tensor(values, dtype=torch.float64, device=x.device).reshape(x.shape)
