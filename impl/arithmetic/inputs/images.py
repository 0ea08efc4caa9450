"""Enclosures of a set of inputs x, and of W x row by row, where all of these hold at once:

    W x ∈ ±‖W_i‖₂ B,    W x ∈ W [low, high],    W x ∈ [min_p, max_p] W E_p for rows E_p.

Sources: Moore, Kearfott & Cloud, Introduction to Interval Analysis; Higham, Accuracy and Stability
of Numerical Algorithms, section 3.5, for the products.
"""

from typing import TypeVar

import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.inputs.sets import InputBound, InputSet
from rnnbounds.impl.arithmetic.intervals import Interval

_PARTS = 2**20  # rows times units that are multiplied at a time
I = TypeVar("I", bound=Interval)


def input_enclosure(
    B: InputBound | Tensor, box: Tensor, d: int, kind: type[I]
) -> tuple[I, Tensor, InputSet | None]:
    """Enclose the inputs beside states in boxes (B, N): intervals by channel (B, d), ball radii
    (B,), and the set if B is an `InputSet`, else None; other B are a number or (B, 1)."""
    size = float(B) if isinstance(B, InputSet) else B
    radius = torch.as_tensor(size, dtype=box.dtype, device=box.device).reshape(-1).expand(len(box))
    if not isinstance(B, InputSet):
        return kind.symmetric(radius[:, None].expand(-1, d)), radius, None
    return _box_enclosure(B, box, kind), radius, B


def image_of_set(given: InputSet, W: Tensor, kind: type[I]) -> I:
    """The range of W x over the set: W (B, m, d) -> (B, m)."""
    radius = torch.full((len(W),), float(given), dtype=W.dtype, device=W.device)
    enclosures = [kind.of_ball(W, radius), _box_enclosure(given, W, kind).mapped(W)]
    if given.rows is not None:
        E = given.rows.to(W.device)
        step = max(1, _PARTS // W.shape[1])
        products = [W @ E[i : i + step].mT for i in range(0, len(E), step)]
        low = torch.stack([product.amin(2) for product in products]).amin(0)
        high = torch.stack([product.amax(2) for product in products]).amax(0)
        size = kind.up.multiply(kind.up.norm(W), radius[:, None])
        enclosures.append(kind(low, high).widened(kind.up.sum_rounding(E.shape[1], size)))
    low = torch.stack([enclosure.low for enclosure in enclosures]).amax(0)
    return kind(low, torch.stack([enclosure.high for enclosure in enclosures]).amin(0))


def _box_enclosure(given: InputSet, like: Tensor, kind: type[I]) -> I:
    return kind(
        *(endpoint.to(like.device).expand(len(like), -1) for endpoint in (given.low, given.high))
    )
