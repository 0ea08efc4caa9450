"""Gaps between two outputs of a model: a norm, the total variation of the softmax, the argmax.

Outputs are taken as they were computed, in float64, which is exact for every narrower dtype. Each
gap is at least the gap of these numbers in real arithmetic, so that no rounding makes it smaller.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from rnnbounds.impl.certificate.epsilons import EPSILONS, epsilons_of
from rnnbounds.impl.errors import RangeError, UnknownNameError, exactly
from rnnbounds.impl.numbers.outward import add_up, norm_up

NORM = "norm"  # the gap by default


@dataclass(frozen=True)
class OutputGap:
    """A gap: `formula` names it in texts, `of` computes it of outputs (M, p), (M, p) -> (M,),
    `eps` are the ε that are asked about by default."""

    name: str
    formula: str
    of: Callable[[Tensor, Tensor], Tensor]
    eps: tuple[float, ...] = EPSILONS

    def within(self, epsilon: float) -> str:
        """Name the condition gap ≤ ε in texts."""
        return "the same argmax" if self.eps == (0.0,) else f"within {exactly(epsilon)}"

    def epsilons(self, eps: object | None) -> tuple[float, ...]:
        """The ε that were asked for, or those by default; raises RangeError for none.

        "Same argmax" is ε = 0, and no other ε is asked of it.
        """
        if eps is None:
            return self.eps
        if self.eps == (0.0,):
            if eps not in (0, (0,), [0]):
                raise RangeError("ε", eps, "0 for the same argmax")
            return self.eps
        return epsilons_of(eps)  # type: ignore[arg-type]  # refuses all other types itself


def norm(y: Tensor, other: Tensor) -> Tensor:
    """At least ‖y − y'‖₂ of float64 outputs (M, p): (M,)."""
    apart = add_up(torch.maximum(y, other), -torch.minimum(y, other))
    return norm_up(torch.where(y == other, 0.0, apart))


def total_variation(y: Tensor, other: Tensor) -> Tensor:
    """At least ½ Σ_i |softmax(y)_i − softmax(y')_i| of float64 outputs (M, p): (M,); 0 for equal
    ones.

    Rounding: with 2⁻⁵³ = u an exponential is off by at most 753 u of itself (its argument, of at
    most 745, by u of itself; the function by 4 ulp), a sum of p terms by p u, which leaves less
    than (p + 2¹⁰)·2⁻⁵² in the sum of differences.
    """
    apart = (torch.softmax(y, 1) - torch.softmax(other, 1)).abs().sum(1) / 2
    most = (apart + (y.shape[1] + 2**10) * 2.0**-52).clamp(max=1.0)
    return torch.where((y == other).all(1), 0.0, most)


def other_argmax(y: Tensor, other: Tensor) -> Tensor:
    """1 where the largest of outputs (M, p) is another entry, else 0: (M,); of equal ones the first
    counts."""
    return (y.argmax(1) != other.argmax(1)).double()


GAPS = {
    gap.name: gap
    for gap in (
        OutputGap(NORM, "‖y_T − y_T^k‖₂", norm),
        OutputGap("tv", "TV(softmax y_T, softmax y_T^k)", total_variation, (0.1, 0.01)),
        OutputGap("argmax", "argmax y_T ≠ argmax y_T^k", other_argmax, (0.0,)),
    )
}


def gap_named(name: str) -> OutputGap:
    """The gap of that name; raises UnknownNameError."""
    if name not in GAPS:
        raise UnknownNameError("gap", name, GAPS)
    return GAPS[name]
