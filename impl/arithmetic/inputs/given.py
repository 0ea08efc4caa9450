"""Enclosures of the image W x of a set of inputs, row by row.

    W x ∈ ±‖W_i‖₂ B,    W x ∈ W [low, high],    W x ∈ [min_p, max_p] W E_p for rows E_p,

all of which hold at once. Sources: Moore, Kearfott & Cloud, Introduction to Interval Analysis;
Higham, Accuracy and Stability of Numerical Algorithms, section 3.5, for the products.
"""

from typing import TypeVar

import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.inputs.sets import InputSet
from rnnbounds.impl.arithmetic.intervals import Interval

_PARTS = 2**20  # rows times units that are multiplied at a time
I = TypeVar("I", bound=Interval)


def spread(
    B: float | Tensor, box: Tensor, d: int, kind: type[I]
) -> tuple[I, Tensor, InputSet | None]:
    """Enclose the inputs beside states in boxes (B, N): intervals by channel (B, d), ball radii
    (B,), and the set if B is an `InputSet`, else None; other B are a number or (B, 1)."""
    radius = torch.as_tensor(B, dtype=box.dtype, device=box.device).reshape(-1).expand(len(box))
    if not isinstance(B, InputSet):
        return kind.symmetric(radius[:, None].expand(-1, d)), radius, None
    return _ends(B, box, kind), radius, B


def through(given: InputSet, W: Tensor, kind: type[I]) -> I:
    """The range of W x over the set: W (B, m, d) -> (B, m)."""
    radius = torch.full((len(W),), float(given), dtype=W.dtype, device=W.device)
    found = [kind.of_ball(W, radius), _ends(given, W, kind).mapped(W)]
    if given.rows is not None:
        E = given.rows.to(W.device)
        step = max(1, _PARTS // W.shape[1])
        parts = [W @ E[i : i + step].mT for i in range(0, len(E), step)]
        low = torch.stack([part.amin(2) for part in parts]).amin(0)
        high = torch.stack([part.amax(2) for part in parts]).amax(0)
        size = kind.up.multiply(kind.up.norm(W), radius[:, None])
        found.append(kind(low, high).widened(kind.up.sum_rounding(E.shape[1], size)))
    return kind(
        torch.stack([one.low for one in found]).amax(0),
        torch.stack([one.high for one in found]).amin(0),
    )


def _ends(given: InputSet, like: Tensor, kind: type[I]) -> I:
    return kind(*(end.to(like.device).expand(len(like), -1) for end in (given.low, given.high)))
