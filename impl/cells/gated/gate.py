"""Gates of recurrent cells: how far they open, and how steep they are, over a box of states.

A gate g_j = σ(a_j) or tanh(a_j) has the pre-activation a = W h + U x + b, which lies in an interval
that is certified unit by unit for |h_j| ≤ h̄_j and ‖x‖₂ ≤ B:

    |a_j − b_j| ≤ Σ_l |W_jl| h̄_l + ‖U_j‖₂ B.

All results are rigorous; the functions are evaluated in ball arithmetic. Source: Miller & Hardt,
Proposition 1, made explicit unit by unit.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import torch
from flint import arb, ctx
from torch import Tensor

from impl.errors import PrecisionError, ShapeError
from impl.numbers import ball_functions as balls
from impl.numbers.ball_functions import float_above
from impl.numbers.outward import UNIT, add_up, gamma, mul_up, norm_up, sum_up, underflow
from impl.numbers.spectral_norm import certified_norm

_PRECISION = 80


@dataclass(frozen=True, eq=False)
class Interval:
    """low ≤ a ≤ high for each pre-activation, (B, n) each."""

    low: Tensor
    high: Tensor

    def sigmoid(self) -> Tensor:
        """At least σ(a)."""
        return above(balls.sigmoid, self.high).clamp(max=1.0)

    def sigmoid_low(self) -> Tensor:
        """At most σ(a)."""
        return (-above(lambda a: -balls.sigmoid(a), self.low)).clamp(min=0.0)

    def tanh(self) -> Tensor:
        """At least |tanh a|."""
        return tanh_up(torch.maximum(self.high, -self.low))

    def sigmoid_slope(self) -> Tensor:
        """At least σ′(a), which is 1/4 where a may be 0."""
        return above(balls.sigmoid_slope, self._least()).clamp(max=0.25)

    def tanh_slope(self) -> Tensor:
        """At least tanh′(a), which is 1 where a may be 0."""
        return above(balls.tanh_slope, self._least()).clamp(max=1.0)

    def __neg__(self) -> "Interval":
        return Interval(-self.high, -self.low)

    def widened(self, by: Tensor) -> "Interval":
        """The interval, longer by that on both sides."""
        return Interval(-add_up(-self.low, by), add_up(self.high, by))

    def chunk(self, count: int) -> tuple["Interval", ...]:
        """The intervals of each gate."""
        sides = zip(self.low.chunk(count, dim=1), self.high.chunk(count, dim=1), strict=True)
        return tuple(Interval(low, high) for low, high in sides)

    def _least(self) -> Tensor:
        """The least |a|."""
        return torch.maximum(self.low, -self.high).clamp(min=0.0)


@dataclass(frozen=True, eq=False)
class Gates:
    """The stacked weights of g gates, for B systems at once, with torch's two biases kept apart.

    `count` is g, how many gates. Shapes: W (B, g n, n), U (B, g n, d), b_ih and b_hh (B, g n);
    float64 on any one device.
    Raises ShapeError and PrecisionError.
    """

    count: ClassVar[int]

    W: Tensor
    U: Tensor
    b_ih: Tensor
    b_hh: Tensor

    def __post_init__(self) -> None:
        g = self.count
        if self.W.ndim != 3 or self.W.shape[1] != g * self.W.shape[2]:
            raise ShapeError("W", f"(batch, {g}n, n)", self.W)
        rows = self.W.shape[:2]
        if self.U.ndim != 3 or self.U.shape[:2] != rows:
            raise ShapeError("U", f"({rows[0]}, {rows[1]}, d)", self.U)
        for name, bias in (("b_ih", self.b_ih), ("b_hh", self.b_hh)):
            if bias.shape != rows:
                raise ShapeError(name, str(tuple(rows)), bias)
        for name in ("W", "U", "b_ih", "b_hh"):
            if getattr(self, name).dtype != torch.float64:
                raise PrecisionError(name, getattr(self, name).dtype)

    @property
    def batch(self) -> int:
        """B, how many systems."""
        return self.W.shape[0]

    @property
    def n(self) -> int:
        """The size of the output h."""
        return self.W.shape[2]

    @property
    def d(self) -> int:
        """The size of the input."""
        return self.U.shape[2]

    @property
    def parameters(self) -> dict[str, Tensor]:
        """The weights under torch's names, for `impl.arithmetic.base`."""
        return {
            "weight_ih": self.U, "weight_hh": self.W, "bias_ih": self.b_ih, "bias_hh": self.b_hh
        }  # fmt: skip

    def sizes(self) -> tuple[Tensor, ...]:
        """|W| of each gate, (B, n, n)."""
        return tuple(part.abs() for part in self.blocks())

    def blocks(self) -> tuple[Tensor, ...]:
        """W of each gate, (B, n, n)."""
        return self.W.detach().chunk(self.count, dim=1)

    def at_rest(self, B: float | Tensor) -> Interval:
        """U x + b_ih + b_hh over ‖x‖₂ ≤ B, all gates: (B, g n)."""
        b_ih, b_hh = self.b_ih.detach(), self.b_hh.detach()
        biases = Interval(-add_up(-b_ih, -b_hh), add_up(b_ih, b_hh))
        return biases.widened(self.reach(B))

    def reach(self, B: float | Tensor) -> Tensor:
        """At least |(U x)_j| over ‖x‖₂ ≤ B, all gates: (B, g n)."""
        return mul_up(norm_up(self.U.detach()), B)


def tanh_up(a: Tensor) -> Tensor:
    """At least tanh a, entry by entry."""
    return above(lambda z: z.tanh(), a).clamp(max=1.0)


def rows_up(A: Tensor, v: Tensor) -> Tensor:
    """At least A v for A ≥ 0 (B, m, n) and v ≥ 0 (B, n)."""
    return sum_up(mul_up(A, v[:, None, :]))


def product_up(A: Tensor, C: Tensor) -> Tensor:
    """At least A C for non-negative A (B, l, m) and C (B, m, n); 0 where all is zero."""
    met = (A != 0).to(A.dtype) @ (C != 0).to(C.dtype)
    return add_up(mul_up(A @ C, 1 + gamma(2 * A.shape[2])), underflow(met))


def scaled_norm(d: Tensor, W: Tensor) -> Tensor:
    """At least ‖diag(d) W‖₂ for d ≥ 0 (B, m), with the rounding of the product: W (B, m, n)."""
    scaled = d[:, :, None] * W.detach()
    lost = add_up(mul_up(2 * UNIT, norm_up(scaled.flatten(1))), underflow(d.amax(1)))
    return add_up(certified_norm(scaled), lost)


def above(f: Callable[[arb], arb], x: Tensor) -> Tensor:
    """At least f(x), entry by entry."""
    with ctx.workprec(_PRECISION):
        values = [float_above(f(arb(value))) for value in x.flatten().tolist()]
    return torch.tensor(values, dtype=torch.float64, device=x.device).reshape(x.shape)
