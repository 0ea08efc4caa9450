"""Intervals of plain floats with gradients, over which slopes are estimates of what is certified.

`impl.arithmetic.slopes` and `interval_arithmetic` over them use torch's own operations: nothing
is rounded outwards, so that what comes of it is no bound; in exact arithmetic it would be one.
"""

import operator
from collections.abc import Callable
from functools import partial
from typing import Self

import torch
from torch import Tensor
from torch.nn.functional import softplus

from rnnbounds.impl.arithmetic.activation import activation
from rnnbounds.impl.arithmetic.intervals import INCREASING, FunctionBounds, Interval, constant_bound
from rnnbounds.impl.numbers.operations import Operations

_LEAST = 1e-30  # by which is divided


def _root(a: Tensor) -> Tensor:
    """√a, which has no derivative at 0 and stands still there."""
    is_zero = a == 0
    return torch.where(is_zero, 0.0, torch.where(is_zero, 1.0, a).sqrt())


def _spectral(A: Tensor) -> Tensor:
    """‖A‖₂ of A (..., m, n): (...); infinite where products of weights were beyond the floats."""
    if bool(torch.isfinite(A).all()):
        size: Tensor = torch.linalg.matrix_norm(A, 2)
        return size
    return A.new_full(A.shape[:-2], torch.inf)


def _ratio(a: Tensor, b: Tensor) -> Tensor:
    """a/b, finite where b is 0."""
    return a / b.clamp(min=_LEAST)


def _sigmoid_complement(a: Tensor) -> Tensor:
    return torch.sigmoid(-a)


def _scaled(d: Tensor, W: Tensor) -> Tensor:
    return _spectral(d[..., None] * W)


UNROUNDED = Operations(
    operator.add,
    operator.mul,
    _ratio,
    torch.matmul,
    partial(torch.sum, dim=-1),
    partial(torch.linalg.vector_norm, dim=-1),
    _root,
    _spectral,
    _scaled,
    _scaled,
    lambda terms, size: torch.zeros_like(size),
    torch.sigmoid,
    torch.tanh,
    _sigmoid_complement,
)


class DifferentiableInterval(Interval):
    """An interval whose ends are floats as they are computed."""

    up = UNROUNDED

    @staticmethod
    def of_weight(W: Tensor) -> Tensor:
        """A weight as it is."""
        return W

    def mapped(self, W: Tensor) -> Self:
        """W a for W (B, m, n)."""
        middle, half = (self.low + self.high) / 2, (self.high - self.low) / 2
        centre, reach = ((A @ v[..., None])[..., 0] for A, v in ((W, middle), (W.abs(), half)))
        return type(self)(centre - reach, centre + reach)

    def function(self, name: str) -> FunctionBounds:
        """Bounds of the named function: by endpoints if increasing, else by its largest slope."""
        if name in _KNOWN:
            return _KNOWN[name]
        rho = activation(name)
        slope = constant_bound(rho.slope)
        if name in INCREASING:
            return FunctionBounds(
                lambda a: DifferentiableInterval(rho(a.low), rho(a.high)),
                slope,
                constant_bound(torch.inf),
            )
        return FunctionBounds(
            partial(_around, rho.function, rho.slope), slope, constant_bound(torch.inf)
        )


def _around(f: Callable[[Tensor], Tensor], slope: float, a: Interval) -> Interval:
    """The interval f(middle) ± slope · half width, by the mean value theorem."""
    middle, half = f((a.low + a.high) / 2), slope * (a.high - a.low) / 2
    return DifferentiableInterval(middle - half, middle + half)


def _increasing(
    f: Callable[[Tensor], Tensor], slope: Callable[[Interval], Tensor]
) -> FunctionBounds:
    return FunctionBounds(
        lambda a: DifferentiableInterval(f(a.low), f(a.high)), slope, constant_bound(torch.inf)
    )


def _periodic(f: Callable[[Tensor], Tensor]) -> FunctionBounds:
    """Bounds [−1, 1] on a sine or cosine over any interval; its value at a point."""

    def image(a: Interval) -> Interval:
        value, ones = f(a.low), torch.ones_like(a.low)
        endpoints = (torch.where(a.low == a.high, value, end) for end in (-ones, ones))
        return DifferentiableInterval(*endpoints)

    return FunctionBounds(image, constant_bound(1.0), constant_bound(1.0))


def _reciprocal(a: Interval) -> Interval:
    is_nonzero = a.low * a.high > 0
    low = torch.where(is_nonzero, 1 / a.high, -torch.inf)
    return DifferentiableInterval(low, torch.where(is_nonzero, 1 / a.low, torch.inf))


def _sigmoid_slope(a: Interval) -> Tensor:
    s = a.least_magnitude.sigmoid()
    return s * (1 - s)


_KNOWN = {
    "sigmoid": _increasing(torch.sigmoid, _sigmoid_slope),
    "tanh": _increasing(torch.tanh, lambda a: 1 - a.least_magnitude.tanh().square()),
    "exp": _increasing(torch.exp, lambda a: a.high.exp()),
    "softplus": _increasing(softplus, lambda a: a.high.sigmoid()),
    "sin": _periodic(torch.sin),
    "cos": _periodic(torch.cos),
    "sqrt": _increasing(
        lambda a: _root(a.clamp(min=0.0)),
        lambda a: torch.where(a.low > 0, 0.5 * a.low.clamp(min=0.0) ** -0.5, torch.inf),
    ),
    "reciprocal": FunctionBounds(
        _reciprocal,
        lambda a: torch.where(a.low * a.high > 0, a.least_magnitude**-2, torch.inf),
        constant_bound(torch.inf),
    ),
}
