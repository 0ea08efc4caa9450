"""Miller & Hardt's stable set of LSTMs, and the projection onto it.

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
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from flint import arb, ctx
from torch import Tensor

from impl.errors import InputError, NotFiniteError, RangeError
from impl.numbers.ball_functions import float_above
from impl.numbers.outward import add_up, mul_up, norm_up, sum_up
from impl.training.projection import project_infinity, stable

_GATES = ("i", "f", "z", "o")
_ROOM = 2.0**-40  # so that rounding in a certificate does not reach the edge of the set
_PRECISION = 128

Weights = Mapping[str, Tensor]


class NotAnLSTMError(InputError):
    """A module whose stable set is not known."""

    def __init__(self, module: object) -> None:
        super().__init__(
            f"{type(module).__name__} is no plain torch.nn.LSTM of one layer and one direction "
            f"without projection; hand one over"
        )


@dataclass(frozen=True)
class StableLSTM:
    """The set for θ, f̄ and B. Raises RangeError unless 0 ≤ θ < 1, 0 < f̄ < 1 and 0 ≤ B < ∞."""

    theta: float
    forget: float
    input_bound: float

    def __post_init__(self) -> None:
        if not 0 <= self.theta < 1:
            raise RangeError("θ", self.theta, "at least 0 and below 1")
        if not 0 < self.forget < 1:
            raise RangeError("the bound on the forget gate", self.forget, "between 0 and 1")
        if not 0 <= self.input_bound < math.inf:
            raise RangeError("the input bound B", self.input_bound, "a number ≥ 0")

    @property
    def factor(self) -> float:
        """1 − (1 − θ)(1 − f̄), rounded up: what λ is at most."""
        with ctx.workprec(_PRECISION):
            return float_above(1 - (1 - arb(self.theta)) * (1 - arb(self.forget)))

    @property
    def radii(self) -> dict[str, float]:
        """The ℓ1 radius of the rows of each gate's W, rounded down."""
        with ctx.workprec(_PRECISION):
            rest = 1 - arb(self.forget)
            edge = arb(self.theta) * rest * (1 - arb(_ROOM))
            sizes = {"i": edge, "f": edge * rest, "z": edge / 4, "o": edge}
            return {gate: -float_above(-size) for gate, size in sizes.items()}

    @property
    def level(self) -> float:
        """logit f̄ − θ(1 − f̄)², rounded down: what ‖U_f‖₂B + b_f is at most."""
        with ctx.workprec(_PRECISION):
            f = arb(self.forget)
            logit = (f / (1 - f)).log()
            return -float_above(arb(self.radii["f"]) - logit + _ROOM * (1 + abs(logit)))

    def contains(self, weights: Weights) -> bool:
        """Whether weights under torch's names are *certified* to be in the set."""
        sums = {gate: sum_up(W.abs()).amax() for gate, W in _gates(weights, "weight_hh").items()}
        rows = all(float(sums[gate]) <= radius for gate, radius in self.radii.items())
        return rows and bool(self._shut(*_forget(weights)).all())

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
            if not bool(torch.isfinite(part).all()):
                raise NotFiniteError(name)
        project = (lambda W, ell: stable(W, ell, "infinity")) if certify else project_infinity
        for gate, W in _gates(moved, "weight_hh", exact=False).items():
            W.copy_(project(W, self.radii[gate]))
        u, *biases = _forget(moved, exact=False)
        if not biases and self.level < 0:
            raise RangeError("f̄", self.forget, "at least 1/2 and more where there are no biases")
        inside = self._shut(*(part.double() for part in (u, *biases)))
        for part, nearest in zip((u, *biases), self._in_cone(u, biases), strict=True):
            stays = inside.reshape(-1, *[1] * (part.ndim - 1))
            part.copy_(torch.where(stays, part, nearest))
        if certify:
            self._shrink(u, biases)
        return moved

    def _in_cone(self, u: Tensor, biases: list[Tensor]) -> list[Tensor]:
        """The nearest points of {B‖u‖₂ + Σ b ≤ level}: along the normal, or at u = 0.

        In float64 and divided by √(B² + m), so that no large number overflows.
        """
        m, length = len(biases), math.hypot(self.input_bound, math.sqrt(len(biases)))
        if length == 0:
            return [u]
        B, exact = self.input_bound / length, u.double()
        top = exact.abs().amax(1).clamp(min=torch.finfo(torch.float64).tiny)
        size = (top * (exact / top[:, None]).norm(dim=1)).clamp(max=torch.finfo(top.dtype).max)
        over = sum((b.double() for b in biases), torch.zeros_like(size)) - self.level
        excess = (B * size + over / length).clamp(min=0)
        left = torch.where(excess > 0, (size * (m / length) - B * over) / length, size)
        lowered = torch.where(left < 0, over / max(m, 1), excess / length)
        scale = torch.where(size > 0, left.clamp(min=0) / size, 1.0)
        moved = exact * scale[:, None]
        return [moved.to(u.dtype), *((b - lowered).to(b.dtype) for b in biases)]

    def _shrink(self, u: Tensor, biases: list[Tensor]) -> None:
        """Lower the last bias, or shorten u, where the forget gate is not certified.

        What no bias of its size makes up for, as when u is subnormal and B huge, u gives way to.
        """
        slack = torch.finfo(u.dtype).eps
        exact = [part.double() for part in (u, *biases)]
        while not bool((shut := self._shut(*exact)).all()):
            if biases:
                lower = biases[-1] - slack * (1 + biases[-1].abs())
                biases[-1].copy_(torch.where(shut, biases[-1], lower))
            if not biases or slack >= 1:
                u.copy_(torch.where(shut[:, None], u, u * max(0.0, 1 - slack)))
            exact = [part.double() for part in (u, *biases)]
            slack *= 2

    def _shut(self, u: Tensor, *biases: Tensor) -> Tensor:
        """Whether ‖u‖₂B + Σ b ≤ level is certified, row by row."""
        total = mul_up(norm_up(u), self.input_bound)
        for b in biases:
            total = add_up(total, b)
        return total <= self.level


def stable_lstm_(
    module: torch.nn.Module, theta: float, forget: float, input_bound: float
) -> torch.nn.Module:
    """Project an LSTM's weights in place onto its stable set, after a step of training, say.

    `module`: a `torch.nn.LSTM` of one layer and one direction, or an `LSTMCell`, whose parameters
    are torch's, each of its own. Afterwards the weights are certified to be in the set, so that
    `certify` finds λ ≤ 1 − (1 − θ)(1 − f̄) < 1 for ‖x_t‖₂ ≤ B. Raises an InputError for other
    modules and for numbers out of range.
    Source: Miller & Hardt, section 4.
    """
    one_layer = isinstance(module, torch.nn.LSTM) and (
        (module.num_layers, module.bidirectional, module.proj_size) == (1, False, 0)
    )
    if not (one_layer or isinstance(module, torch.nn.LSTMCell)):
        raise NotAnLSTMError(module)
    suffix = "_l0" if one_layer else ""
    roles = ("weight_hh", "weight_ih", "bias_ih", "bias_hh")[: 4 if module.bias else 2]
    parameters = dict(module.named_parameters())
    plain = type(module).forward in (torch.nn.LSTM.forward, torch.nn.LSTMCell.forward)
    if not plain or parameters.keys() != {role + suffix for role in roles}:
        raise NotAnLSTMError(module)
    weights = {role: parameters[role + suffix] for role in roles}
    moved = StableLSTM(theta, forget, input_bound).certified(weights)
    with torch.no_grad():
        for name, part in moved.items():
            parameters[name + suffix].copy_(part)
    return module


def _gates(weights: Weights, name: str, *, exact: bool = True) -> dict[str, Tensor]:
    """The rows of each gate, in float64 unless they are to be written to."""
    part = weights[name].detach()
    return dict(zip(_GATES, (part.double() if exact else part).chunk(4), strict=True))


def _forget(weights: Weights, *, exact: bool = True) -> list[Tensor]:
    """U_f and the biases of the forget gate that there are."""
    names = [name for name in ("weight_ih", "bias_ih", "bias_hh") if name in weights]
    return [_gates(weights, name, exact=exact)["f"] for name in names]
