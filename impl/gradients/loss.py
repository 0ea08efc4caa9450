"""The losses of the last state: linear, squared and cross-entropy, with their constants.

Each loss is p(h) for a readout C; L_p = sup ‖∇p‖ over ‖h‖ ≤ B_h, and β_p is the Lipschitz constant
of ∇p, both in the Euclidean norm unless another dual norm is handed in. Sources: Miller & Hardt,
Section 2; Popoviciu (variance of a bounded variable) for the curvature of the cross-entropy.

Interface of losses of the last state: values, gradients, constants and errors.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, ClassVar, Self, TypeVar

import torch
from flint import arb, fmpq
from torch import Tensor

from rnnbounds.impl.errors import PrecisionError, ShapeError, UnknownNameError
from rnnbounds.impl.norms.readout_norms import EUCLIDEAN, Dual
from rnnbounds.impl.numbers.outward import add_up, gamma, mul_up, norm_up, underflow
from rnnbounds.impl.numbers.rationals import rational
from rnnbounds.impl.numbers.spectra.jacobi import dot
from rnnbounds.impl.numbers.spectra.spectral_norm import certified_norm


@dataclass(frozen=True, eq=False)
class Loss(ABC):
    """p(h) of a state h (B, n, M) through a readout C (B, p, n), for B systems at once.

    Raises ShapeError and PrecisionError.
    """

    C: Tensor
    name: ClassVar[str]

    def __post_init__(self) -> None:
        if self.C.ndim != 3 or not self.C.shape[1]:
            raise ShapeError("C", "(batch, p, n) with p ≥ 1", self.C)
        for part in fields(self):
            tensor = getattr(self, part.name)
            if tensor.dtype != torch.float64:
                raise PrecisionError(part.name, tensor.dtype)

    @abstractmethod
    def value(self, h: Tensor) -> Tensor:
        """p(h), column by column and differentiable: h (B, n, M) -> (B, M)."""

    @abstractmethod
    def gradient(self, h: Tensor) -> Tensor:
        """∇p(h), column by column and differentiable: h (B, n, M) -> (B, n, M)."""

    @abstractmethod
    def slope(self, B_h: Tensor, dual: Dual = EUCLIDEAN) -> Tensor:
        """L_p ≥ ‖∇p(h)‖ for all ‖h‖ ≤ B_h (B,), in the dual norm: (B,)."""

    @abstractmethod
    def curvature_in(self, dual: Dual) -> Tensor:
        """β_p ≥ ‖∇p(h) − ∇p(h′)‖/‖h − h′‖ for all h, h′, in the dual norm: (B,)."""

    @property
    def curvature(self) -> Tensor:
        """β_p in the Euclidean norm, (B,)."""
        return self.curvature_in(EUCLIDEAN)

    def gradient_error(self, h_norm: Tensor, inner: Tensor) -> Tensor:
        """At least ‖fl(∇p)(ĥ) − ∇p(h)‖₂ for ‖h‖ ≤ h_norm and ‖ĥ − h‖ ≤ inner, both (B, …).

        Source: Higham, Accuracy and Stability, Section 3, for any order of summation.
        """
        like = (-1, *[1] * (h_norm.ndim - 1))
        carried = mul_up(self.curvature.reshape(like), inner)
        carried = torch.where(inner == 0, 0.0, carried)
        return add_up(carried, self._rounding(add_up(h_norm, inner), like))

    @abstractmethod
    def _rounding(self, size: Tensor, like: tuple[int, ...]) -> Tensor:
        """At least ‖fl(∇p)(h) − ∇p(h)‖₂ for float64 states with ‖h‖ ≤ size."""

    @abstractmethod
    def ball_gradient(self, h: list[arb]) -> list[arb]:
        """∇p(h) of a batch of one in balls."""

    def rational_gradient(self, h: list[fmpq]) -> list[fmpq] | None:
        """∇p(h) of a batch of one exactly, or None where it leaves the rationals."""
        return None

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """The tensors of the loss: C, and the target y if it has one."""
        return tuple(getattr(self, part.name) for part in fields(self))

    @cached_property
    def in_balls(self) -> tuple[Any, ...]:
        """Tensors of a batch of one as nested lists of balls, exactly."""
        return tuple(nested(arb, part[0].tolist()) for part in self.tensors)

    @cached_property
    def in_rationals(self) -> tuple[Any, ...]:
        """Tensors of a batch of one as nested lists of exact rationals."""
        return tuple(nested(rational, part[0].tolist()) for part in self.tensors)

    def member(self, index: int) -> Self:
        """One loss of the batch, as a batch of one."""
        return self.part(slice(index, index + 1))

    def part(self, some: slice) -> Self:
        """Some losses of the batch."""
        return replace(self, **{part.name: getattr(self, part.name)[some] for part in fields(self)})


def nested(number: Callable[[float], Any], values: Any) -> Any:
    """Nested lists of floats as such numbers."""
    if isinstance(values, list):
        return [nested(number, value) for value in values]
    return number(values)


__all__ = ["LABEL", "LOSSES", "CrossEntropy", "LinearLoss", "Loss", "Squared", "loss"]

N = TypeVar("N", arb, fmpq)
LABEL = 0  # the class that the cross-entropy asks for


@dataclass(frozen=True, eq=False)
class LinearLoss(Loss):
    """p(h) = c·h with c the first row of C: L_p = ‖c‖, β_p = 0, both exact."""

    name = "linear"

    def value(self, h: Tensor) -> Tensor:
        """c·h."""
        return torch.bmm(self.C[:, :1], h)[:, 0]

    def gradient(self, h: Tensor) -> Tensor:
        """c, for every column."""
        return self.C[:, 0, :, None].expand(-1, -1, h.shape[2])

    def slope(self, B_h: Tensor, dual: Dual = EUCLIDEAN) -> Tensor:
        """‖c‖ in the dual norm."""
        c = self.C[:, :1].detach()
        return dual.distance(c, torch.zeros_like(c))[:, 0]

    def curvature_in(self, dual: Dual) -> Tensor:
        """β_p = 0."""
        return torch.zeros_like(self.C[:, 0, 0].detach())

    def _rounding(self, size: Tensor, like: tuple[int, ...]) -> Tensor:
        return torch.zeros_like(size)

    def ball_gradient(self, h: list[arb]) -> list[arb]:
        """c."""
        C: list[list[arb]] = self.in_balls[0]
        return C[0]

    def rational_gradient(self, h: list[fmpq]) -> list[fmpq] | None:
        """c."""
        C: list[list[fmpq]] = self.in_rationals[0]
        return C[0]


@dataclass(frozen=True, eq=False)
class Squared(Loss):
    """p(h) = ½‖C h − y‖₂² with y (B, p): L_p = ‖C‖(‖C‖B_h + ‖y‖₂), β_p = ‖C‖²."""

    y: Tensor
    name = "squared"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.y.shape != self.C.shape[:2]:
            raise ShapeError("y", str(tuple(self.C.shape[:2])), self.y)

    def value(self, h: Tensor) -> Tensor:
        """½‖C h − y‖²."""
        return self._residual(h).square().sum(1) / 2

    def gradient(self, h: Tensor) -> Tensor:
        """Cᵀ(C h − y)."""
        return torch.bmm(self.C.mT, self._residual(h))

    def slope(self, B_h: Tensor, dual: Dual = EUCLIDEAN) -> Tensor:
        """‖C‖(‖C‖B_h + ‖y‖₂), ‖C‖ the operator norm into the Euclidean one."""
        size = dual.operator(self.C)
        return mul_up(size, add_up(mul_up(size, B_h), norm_up(self.y.detach())))

    def curvature_in(self, dual: Dual) -> Tensor:
        """‖C‖²."""
        size = dual.operator(self.C)
        return mul_up(size, size)

    def _residual(self, h: Tensor) -> Tensor:
        return torch.baddbmm(-self.y[:, :, None], self.C, h)

    def _rounding(self, size: Tensor, like: tuple[int, ...]) -> Tensor:
        """‖C‖e + γ_p ‖|C|‖(‖|C|‖‖h‖ + ‖y‖ + e), e = γ_{n+1}(‖|C|‖‖h‖ + ‖y‖) that of C h − y."""
        p, n = self.C.shape[1:]
        absolute = certified_norm(self.C.abs()).reshape(like)
        terms = add_up(mul_up(absolute, size), norm_up(self.y.detach()).reshape(like))
        inner = add_up(mul_up(gamma(n + 2), terms), underflow(terms))
        outer = mul_up(gamma(p + 2), mul_up(absolute, add_up(terms, inner)))
        carried = add_up(mul_up(certified_norm(self.C).reshape(like), inner), outer)
        return add_up(carried, underflow(mul_up(absolute, terms)))

    def ball_gradient(self, h: list[arb]) -> list[arb]:
        """Cᵀ(C h − y)."""
        C, y = self.in_balls
        return _of_residual(C, y, h)

    def rational_gradient(self, h: list[fmpq]) -> list[fmpq] | None:
        """Cᵀ(C h − y)."""
        C, y = self.in_rationals
        return _of_residual(C, y, h)


@dataclass(frozen=True, eq=False)
class CrossEntropy(Loss):
    """p(h) = −log softmax(C h)_0 = log Σ_j exp (C_j − C_0)h, the label being the first class.

    L_p = max_j ‖C_j − C_0‖ and β_p = ¼ max_{i,j} ‖C_i − C_j‖². All is computed from the differences
    C_j − C_0, as the loss does not change when all rows are moved.
    """

    name = "cross-entropy"

    def value(self, h: Tensor) -> Tensor:
        """log Σ_j exp (C_j − C_0)h."""
        return torch.bmm(self._differences(), h).logsumexp(1)

    def gradient(self, h: Tensor) -> Tensor:
        """Σ_j s_j (C_j − C_0) with s = softmax(C h)."""
        D = self._differences()
        return torch.bmm(D.mT, torch.bmm(D, h).softmax(1))

    def slope(self, B_h: Tensor, dual: Dual = EUCLIDEAN) -> Tensor:
        """max_j ‖C_j − C_0‖, a supremum over all h: ∇p is a mean of these differences."""
        C = self.C.detach()
        return dual.distance(C, C[:, LABEL, None].expand_as(C)).amax(1)

    def curvature_in(self, dual: Dual) -> Tensor:
        """¼ max_{i,j} ‖C_i − C_j‖²: the variance of a variable is at most ¼ of its range²."""
        spread = self.spread(dual)
        return mul_up(0.25, mul_up(spread, spread))

    def spread(self, dual: Dual = EUCLIDEAN) -> Tensor:
        """max_{i,j} ‖C_i − C_j‖ in the dual norm, (B,)."""
        C = self.C.detach()
        rows = range(C.shape[1])
        distances = [dual.distance(C, C[:, i, None].expand_as(C)).amax(1) for i in rows]
        return torch.stack(distances).amax(0)

    def _differences(self) -> Tensor:
        return self.C - self.C[:, LABEL, None]

    def _rounding(self, size: Tensor, like: tuple[int, ...]) -> Tensor:
        """L_p (η + γ_{3p+20}), with η = γ_{n+2} L_p ‖h‖ the error of a logit.

        ‖softmax(z) − softmax(ẑ)‖₁ ≤ ‖z − ẑ‖_∞, since a mean absolute deviation is at most half of
        the range. A float64 softmax is off by at most (2p/e + p + 11)u in the sum of its entries:
        rounding an exponent a = z_j − max z by u|a| moves exp a ≤ 1/|ea| by at most u/e, and its
        exponentials are taken to be off by 4u, as are all library functions here.
        """
        p, n = self.C.shape[1:]
        slope = self.slope(size).reshape(like)
        logits = add_up(mul_up(gamma(n + 2), mul_up(slope, size)), underflow(slope))
        softmax_error = add_up(logits, gamma(3 * p + 20))
        return add_up(torch.where(slope == 0, 0.0, mul_up(slope, softmax_error)), underflow(slope))

    def ball_gradient(self, h: list[arb]) -> list[arb]:
        """Σ_j s_j (C_j − C_0) with s_j = 1/Σ_i exp (C_i − C_j)h."""
        rows: list[list[arb]] = self.in_balls[0]
        z = [dot(row, h) for row in rows]
        s = [1 / sum(((other - logit).exp() for other in z), arb(0)) for logit in z]
        differences = [[a - b for a, b in zip(row, rows[LABEL], strict=True)] for row in rows]
        return [dot(column, s) for column in zip(*differences, strict=True)]


def loss(name: str, C: Tensor, y: Tensor | None = None) -> Loss:
    """The loss of that name for readouts C (B, p, n) and targets y (B, p), 0 if none is given.

    The target means something to the squared loss alone. Raises an InputError for an unknown name,
    wrong shapes and other dtypes than float64.
    """
    if name not in LOSSES:
        raise UnknownNameError("loss", name, LOSSES)
    return LOSSES[name](C, y)


LOSSES: dict[str, Callable[[Tensor, Tensor | None], Loss]] = {
    "linear": lambda C, y: LinearLoss(C),
    "squared": lambda C, y: Squared(C, C.new_zeros(C.shape[:2]) if y is None else y),
    "cross-entropy": lambda C, y: CrossEntropy(C),
}


def _of_residual(C: list[list[N]], y: list[N], h: list[N]) -> list[N]:
    """Cᵀ(C h − y)."""
    residual = [dot(row, h) - target for row, target in zip(C, y, strict=True)]
    return [dot(column, residual) for column in zip(*C, strict=True)]
