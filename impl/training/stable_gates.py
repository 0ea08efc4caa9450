"""Stable sets of gated cells, and the projection onto them: what LSTM and GRU share.

For a bound f̄ < 1 on the gate that keeps the state and θ < 1 a set asks of every unit that the rows
of each gate's W have an ℓ1 norm of at most a radius, and that

    ‖U_f‖₂ B + b_f ≤ logit f̄ − (the radius of W_f),                         b_f = b_ih + b_hh,

which holds that gate at f̄ at most, for all |h| ≤ 1 and ‖x‖₂ ≤ B. For fixed numbers such a set is
convex, a product of ℓ1 balls, of intervals and of cones in (U_f, b_ih, b_hh), and the projection
goes to each factor: exact and non-expansive. All other weights are free. Sources: Miller & Hardt,
section 4; Duchi et al. (2008) for the ℓ1 ball.

A stable set of GRUs in torch's convention, made after Miller & Hardt's of LSTMs.

For a bound z̄ < 1 on the update gate and θ < 1 a GRU is in the set if, unit by unit,

    ‖W_n‖₁ ≤ θ/2,  ‖W_r‖₁ ≤ 2θ/3,  ‖W_z‖₁ ≤ θ(1 − z̄)/2  (rows),  |c_n| ≤ 1,
    ‖U_z‖₂ B + b_z ≤ logit z̄ − θ(1 − z̄)/2,     b_z = b_ih + b_hh,   c_n = b_hh of the candidate,

the last of which keeps the update gate at most z̄ for all |h| ≤ 1 and ‖x‖₂ ≤ B. Then one step
contracts by λ ≤ 1 − (1 − θ)(1 − z̄) in the ∞-norm on |h| ≤ 1, which it never leaves.

Proof. The candidate ν = tanh(… + r∘w), w = W_n h + c_n, moves by at most κ‖Δh‖_∞ with
κ = ‖W_n‖ + ¼‖W_r‖(‖W_n‖ + ‖c_n‖) ≤ θ/2 + ¼(2θ/3)(θ/2 + 1) ≤ θ/2 + ¼(2θ/3)(3/2) = ¾θ, since r ≤ 1,
|σ′| ≤ ¼, |tanh′| ≤ 1 and θ ≤ 1. And h⁺ = z∘h + (1 − z)∘ν moves by at most ζ + (1 − ζ)κ for some
ζ ≤ z̄, which grows with ζ as κ < 1, and by |h − ν||Δz| ≤ 2·¼‖W_z‖: in all by at most
z̄ + (1 − z̄)¾θ + θ(1 − z̄)/4 = 1 − (1 − θ)(1 − z̄). Sources: Cho et al. (2014); Miller & Hardt,
section 4 and Proposition 1, for the LSTM.

Miller & Hardt's stable set of LSTMs, and the projection onto it.

For a bound f̄ < 1 on the forget gate and θ < 1 an LSTM is in the set if, unit by unit,

    ‖W_i‖₁, ‖W_o‖₁ ≤ θ(1 − f̄),  ‖W_z‖₁ ≤ θ(1 − f̄)/4,  ‖W_f‖₁ ≤ θ(1 − f̄)²    (rows),
    ‖U_f‖₂ B + b_f ≤ logit f̄ − θ(1 − f̄)²,                  b_f = b_ih + b_hh,

the last of which keeps the forget gate at most f̄ for all |h| ≤ 1 and ‖x‖₂ ≤ B. Then one step
contracts by λ ≤ 1 − (1 − θ)(1 − f̄) in the ∞-norm of (c, h). In the paper f̄ is that of the weights
at hand, and so moves with them; for a fixed f̄ the set is convex, a product of ℓ1 balls and of
cones in (U_f, b_ih, b_hh), and the projection is that onto each factor: exact and non-expansive.
All other weights are free. Sources: Miller & Hardt, Proposition 1 and section 4; Duchi et al.
(2008).
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, TypeVar

import torch
from flint import arb, ctx
from torch import Tensor

from rnnbounds.impl.arithmetic.inputs.sets import bound_of
from rnnbounds.impl.errors import NotFiniteError, PrecisionError, RangeError, number
from rnnbounds.impl.numbers.ball_functions import float_above
from rnnbounds.impl.numbers.outward import add_up, mul_up, norm_up, sum_up
from rnnbounds.impl.numbers.scaling import exponent, shift
from rnnbounds.impl.training.projection import nearest_rows

_ROOM = 2.0**-40  # so that rounding in a certificate does not reach the edge of the set
_PRECISION = 128
_EXACT = 2400  # bits, more than a product of two float64 below 1 has after the point

Weights = Mapping[str, Tensor]
N = TypeVar("N", arb, Tensor)


@dataclass(frozen=True)
class StableGates(ABC):
    """The set for θ, f̄ and B. Raises RangeError unless 0 ≤ θ < 1, 0 < f̄ < 1 and 0 ≤ B < ∞, and for
    θ and f̄ so near to 1 that the factor rounds to 1."""

    theta: float
    forget: float
    input_bound: float

    gates: ClassVar[str]  # their letters, in torch's order
    keeps: ClassVar[str]  # the one that keeps the state
    kept_by: ClassVar[str]  # its name
    limited: ClassVar[str] = ""  # the one whose b_hh is at most 1

    def __post_init__(self) -> None:
        if not 0 <= number("θ", self.theta, "at least 0 and below 1") < 1:
            raise RangeError("θ", self.theta, "at least 0 and below 1")
        what = f"the bound on the {self.kept_by} gate"
        if not 0 < number(what, self.forget, "between 0 and 1") < 1:
            raise RangeError(what, self.forget, "between 0 and 1")
        bound_of(self.input_bound)
        if not self.factor < 1:
            raise RangeError("θ", self.theta, "smaller: 1 − (1 − θ)(1 − f̄) rounds to 1")

    @staticmethod
    @abstractmethod
    def sizes(theta: N, rest: N) -> dict[str, N]:
        """The ℓ1 radius of the rows of each gate's W, for θ and 1 − f̄, in numbers of any kind."""

    @property
    def factor(self) -> float:
        """1 − (1 − θ)(1 − f̄), the least float above it: what λ is at most."""
        with ctx.workprec(_EXACT):
            return float_above(arb(self.theta) + arb(self.forget) * (1 - arb(self.theta)))

    @cached_property
    def radii(self) -> dict[str, float]:
        """The radii, rounded down."""
        with ctx.workprec(_PRECISION):
            edge = arb(self.theta) * (1 - arb(_ROOM))
            sizes = self.sizes(edge, 1 - arb(self.forget))
            return {gate: -float_above(-sizes[gate]) for gate in self.gates}

    @cached_property
    def level(self) -> float:
        """logit f̄ less the radius of W_f, rounded down: what ‖U_f‖₂B + b_f is at most."""
        with ctx.workprec(_PRECISION):
            f = arb(self.forget)
            logit = (f / (1 - f)).log()
            return -float_above(arb(self.radii[self.keeps]) - logit + _ROOM * (1 + abs(logit)))

    def contains(self, weights: Weights) -> bool:
        """True if weights under torch's names are *certified* to be in the set."""
        rows = bool(
            (sum_up(weights["weight_hh"].detach().double().abs()) <= self._rows(weights)).all()
        )
        small = all(bool((b.abs() <= 1).all()) for b in self._limited(weights))
        return rows and small and bool(self._shut(*self._kept(weights)).all())

    def project(self, weights: Weights) -> dict[str, Tensor]:
        """The Euclidean projection, up to rounding: torch's names and shapes, float32 or float64.

        Raises NotFiniteError, PrecisionError, and RangeError for f̄ < 1/2 without biases, which
        leave the set empty.
        """
        return self._moved(weights, certify=False)

    def certified(self, weights: Weights) -> dict[str, Tensor]:
        """The projection, moved inwards by units in the last place until `contains` holds."""
        return self._moved(weights, certify=True)

    def _moved(self, weights: Weights, certify: bool) -> dict[str, Tensor]:
        moved = {name: part.detach().clone() for name, part in weights.items()}
        for name, part in moved.items():
            if part.dtype not in (torch.float32, torch.float64):
                raise PrecisionError(name, part.dtype, "float32 or float64")
            if not bool(torch.isfinite(part).all()):
                raise NotFiniteError(name)
        moved["weight_hh"] = nearest_rows(moved["weight_hh"], self._rows(moved), certify=certify)
        for b in self._limited(moved):
            b.clamp_(-1, 1)
        u, *biases = self._kept(moved)
        if not biases and self.level < 0:
            raise RangeError("f̄", self.forget, "at least 1/2 and more where there are no biases")
        inside = self._shut(u, *biases)
        if not bool(inside.all()):
            for part, nearest in zip((u, *biases), self._in_cone(u, biases), strict=True):
                stays = inside.reshape(-1, *[1] * (part.ndim - 1))
                part.copy_(torch.where(stays, part, nearest))
            if certify:
                self._shrink(u, biases)
        return moved

    def _rows(self, weights: Weights) -> Tensor:
        """The radius of each row of W, float64."""
        W = weights["weight_hh"]
        each = torch.tensor(list(self.radii.values()), dtype=torch.float64, device=W.device)
        return each.repeat_interleave(len(W) // len(self.gates))

    def _kept(self, weights: Weights) -> list[Tensor]:
        """U_f and the biases of that gate that there are, to be written to."""
        names = [name for name in ("weight_ih", "bias_ih", "bias_hh") if name in weights]
        return [self._gate(weights[name], self.keeps) for name in names]

    def _limited(self, weights: Weights) -> list[Tensor]:
        """The bias that is at most 1, if there is one."""
        there = bool(self.limited) and "bias_hh" in weights
        return [self._gate(weights["bias_hh"], self.limited)] if there else []

    def _gate(self, part: Tensor, gate: str) -> Tensor:
        return part.detach().chunk(len(self.gates))[self.gates.index(gate)]

    def _in_cone(self, u: Tensor, biases: list[Tensor]) -> list[Tensor]:
        """The nearest points of {B‖u‖₂ + Σ b ≤ level}: along the normal, or at u = 0.

        In float64, divided by √(B² + m) and, row by row, by a power of two, so that nothing
        overflows but what the dtype has no number for: that goes to its least.
        """
        m, length = len(biases), math.hypot(self.input_bound, math.sqrt(len(biases)))
        if length == 0:
            return [u]
        B, least = self.input_bound / length, torch.finfo(u.dtype).min
        tiny = u.new_full((len(u), 1), torch.finfo(torch.float64).tiny, dtype=torch.float64)
        columns = torch.cat([u, *(b[:, None] for b in biases), tiny], 1)
        high = exponent(columns.abs().amax(1)).clamp(min=0)
        exact, *lifted = (
            shift(a.double(), -e)
            for a, e in zip((u, *biases), (high[:, None], *[high] * m), strict=True)
        )
        level = shift(tiny.new_full((len(u),), self.level), -high)
        top = torch.cat([exact.abs(), tiny], 1).amax(1)
        size = top * (exact / top[:, None]).norm(dim=1)
        over = sum(lifted, torch.zeros_like(size)) - level
        excess = (B * size + over / length).clamp(min=0)
        left = torch.where(excess > 0, (size * (m / length) - B * over) / length, size)
        lowered = torch.where(left < 0, over / max(m, 1), excess / length)
        scale = torch.where(size > 0, left.clamp(min=0) / size, 1.0)
        moved = u.double() * scale[:, None]
        told = (shift(b - lowered, high).clamp(min=least).to(u.dtype) for b in lifted)
        return [moved.to(u.dtype), *told]

    def _shrink(self, u: Tensor, biases: list[Tensor]) -> None:
        """Lower the biases, or shorten u, where the gate is not certified to stay shut.

        What no bias of its size makes up for, as when u is subnormal and B huge, u gives way to.
        """
        slack, least = max(torch.finfo(u.dtype).eps, _ROOM), torch.finfo(u.dtype).min
        while not bool((shut := self._shut(u, *biases)).all()):
            for b in biases:
                lower = (b - slack * (1 + b.abs())).clamp(min=least)
                b.copy_(torch.where(shut, b, lower))
            if not biases or slack >= 1:
                u.copy_(torch.where(shut[:, None], u, u * max(0.0, 1 - slack)))
            slack *= 2

    def _shut(self, u: Tensor, *biases: Tensor) -> Tensor:
        """True where ‖u‖₂B + Σ b ≤ level is certified, by rows, with a margin for cancellation."""
        total = mul_up(norm_up(u.double()), self.input_bound)
        room = _ROOM * total
        for b in biases:
            total = add_up(total, b.double())
            room = add_up(room, _ROOM * b.double().abs())
        return add_up(total, room) <= self.level


class StableGRU(StableGates):
    """The set for θ, z̄ and B. Raises RangeError unless 0 ≤ θ < 1, 0 < z̄ < 1 and 0 ≤ B < ∞, and for
    θ and z̄ so near to 1 that the factor rounds to 1."""

    gates, keeps, kept_by, limited = "rzn", "z", "update", "n"

    @staticmethod
    def sizes(theta: N, rest: N) -> dict[str, N]:
        """The ℓ1 radius of the rows of each gate's W."""
        return {"r": 2 * theta / 3, "z": theta * rest / 2, "n": theta / 2}


class StableLSTM(StableGates):
    """The set for θ, f̄ and B. Raises RangeError unless 0 ≤ θ < 1, 0 < f̄ < 1 and 0 ≤ B < ∞, and for
    θ and f̄ so near to 1 that the factor rounds to 1."""

    gates, keeps, kept_by = "ifzo", "f", "forget"

    @staticmethod
    def sizes(theta: N, rest: N) -> dict[str, N]:
        """The ℓ1 radius of the rows of each gate's W."""
        edge = theta * rest
        return {"i": edge, "f": edge * rest, "z": edge / 4, "o": edge}
