"""What affine maps make of a set of inputs, unit by unit.

    W x ∈ ±‖W_i‖₂ B,    W x ∈ W [low, high],    W x ∈ [min_p, max_p] W E_p for rows E_p,

all of which hold at once. Sources: Moore, Kearfott & Cloud, Introduction to Interval Analysis;
Higham, Accuracy and Stability of Numerical Algorithms, section 3.5, for the products.
"""

import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.inputs.sets import InputSet
from rnnbounds.impl.arithmetic.intervals import mapped, of_ball, symmetric
from rnnbounds.impl.numbers.interval import Interval
from rnnbounds.impl.numbers.outward import TINY, add_up, gamma, mul_up, norm_up, subtract_down

_PARTS = 2**20  # rows times units that are multiplied at a time


def spread(B: float | Tensor, box: Tensor, d: int) -> tuple[Interval, Tensor, InputSet | None]:
    """Where inputs lie beside states in boxes (B, N): channel by channel (B, d), in balls of radii
    (B,), and in a set if that is what B, else a number or (B, 1), is."""
    radius = torch.as_tensor(B, dtype=box.dtype, device=box.device).reshape(-1).expand(len(box))
    if not isinstance(B, InputSet):
        return symmetric(radius[:, None].expand(-1, d)), radius, None
    return _ends(B, box), radius, B


def through(given: InputSet, W: Tensor) -> Interval:
    """The range of W x over the set: W (B, m, d) -> (B, m)."""
    W = W.detach()
    radius = torch.full((len(W),), float(given), dtype=W.dtype, device=W.device)
    found = [of_ball(W, radius), mapped(W, _ends(given, W))]
    if given.rows is not None:
        found.append(_of_rows(W, given.rows.to(W.device), radius))
    return Interval(
        torch.stack([one.low for one in found]).amax(0),
        torch.stack([one.high for one in found]).amin(0),
    )


def _ends(given: InputSet, like: Tensor) -> Interval:
    low, high = (end.to(like.device).expand(len(like), -1) for end in (given.low, given.high))
    return Interval(low, high)


def _of_rows(W: Tensor, E: Tensor, radius: Tensor) -> Interval:
    """The least and the largest of W E_p, rounded outwards."""
    size = mul_up(gamma(E.shape[1] + 2), mul_up(norm_up(W), radius[:, None]))
    lost = add_up(size, 2 * E.shape[1] * TINY)
    step = max(1, _PARTS // W.shape[1])
    parts = [W @ E[i : i + step].mT for i in range(0, len(E), step)]
    low = torch.stack([part.amin(2) for part in parts]).amin(0)
    high = torch.stack([part.amax(2) for part in parts]).amax(0)
    return Interval(subtract_down(low, lost), add_up(high, lost))
