"""From which window on the gradients of two runs are equal, whatever is rounded.

A gap of states that meets W m times is exactly 0 where the pattern of W has Wᵐ = 0, and so is an
adjoint that meets Wᵀ m times. Truncated back-propagation leaves out adjoints that met it k times or
more. What else the two gradients differ by is an adjoint beside a gap, at one time of the window:

    time                       T−k  ···  T−k+j  ···  T
    the state's gap met W        0         j         k      times, its pre-activation's once more
    the adjoint there          k−1       k−1−j       0      times

A slope that changes does so in the unit whose adjoint it meets: a path of k connections, none where
k ≥ m. In the columns of W any gap meets any adjoint: one of the two has vanished where k ≥ 2m. A
run that rests in zero has no gaps, and its adjoints meet columns of zeros unless b is trained.
"""

from __future__ import annotations

import torch

from rnnbounds.properties.measures.readings.slack import zero_full_window
from rnnbounds.properties.systems.batch import Batch

Tensor = torch.Tensor
EARLY, LATE = "tbptt_gap", "tb_gap"  # what truncated back-propagation leaves out, and the rest


def zero_equal_windows(batch: Batch, name: str, value: Tensor) -> Tensor:
    """A difference of gradients, or its error, (B, S, K+1), and 0 at the windows where there is
    none."""
    k = torch.arange(batch.K + 1, device=batch.x.device)
    is_early, is_late = name == EARLY, name == LATE
    first_equal = nilpotency_index(batch.cell.W) * (
        2 if "W" in batch.spec.trained and not is_early else 1
    )
    is_different = (k >= int(is_late)) & (k < first_equal[:, None, None])
    if is_late or "b" not in batch.spec.trained:
        is_different = is_different & ~is_at_rest(batch)[:, :, None]
    return zero_full_window(batch, torch.where(is_different, value, 0.0))


def nilpotency_index(W: Tensor) -> Tensor:
    """The least m with Wᵐ = 0 by its pattern, (B,); more than any window where there is none."""
    pattern = (W != 0).to(W.dtype)
    power, index = pattern, torch.full(W.shape[:1], 2**30, device=W.device)
    if bool((pattern.diagonal(dim1=1, dim2=2) != 0).any(1).all()):  # a unit wired to itself
        return index
    for m in range(1, W.shape[1] + 1):
        is_zero = ~(power != 0).flatten(1).any(1)
        index = torch.where(is_zero, index.clamp(max=m), index)
        power = ((pattern @ power) != 0).to(W.dtype)
    return index


def is_at_rest(batch: Batch) -> Tensor:
    """Mask the pairs (B, S) with states and inputs exactly 0: x = 0, b = 0 and ρ(0) = 0."""
    cell, is_zero_input = batch.cell, (batch.x == 0).all(dim=1).all(dim=1)
    return is_zero_input & (cell.b == 0).all(dim=1)[:, None] & (cell.activation.at_zero == 0)
