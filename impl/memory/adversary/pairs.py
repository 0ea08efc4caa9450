"""Pairs of runs under the same inputs: one that has a past, and one from the zero state.

Inputs x (P + K, d, M) are M sequences. The first P lead from zero to a state s; from then on a
second run, which starts at zero, sees the same inputs. After k of these its output is that of the
model truncated to k inputs, and the gap is ‖h_{P+k} − h_{P+k}^k‖₂, or that of f(h) for a readout f.
"""

from collections.abc import Iterator
from itertools import islice
from typing import Any

import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.base import Floats, Rows
from rnnbounds.impl.models.readout import Readout

AT_ONCE = 2**20  # numbers of states whose gaps are taken together


def gaps(cell: Any, states: int, x: Tensor, past: int, readout: Readout | None = None) -> Tensor:
    """The gap after k = 0, …, K common inputs in floats: (K + 1, M)."""
    pairs, most = _pairs(cell, states, x, past), max(1, AT_ONCE // (2 * states * x.shape[2]))
    found = []
    while some := [*islice(pairs, most)]:
        found.append(_apart(torch.cat(some), cell.n, readout))
    return torch.cat(found)


def rises(
    cell: Any, states: int, x: Tensor, past: int, k: int, readout: Readout | None = None
) -> tuple[Tensor, Tensor]:
    """The gap after k inputs, (M,), and the direction of x in which each rises, as x."""
    x = x[: past + k].detach().requires_grad_()
    *_, last = _pairs(cell, states, x, past)
    gap = _apart(last, cell.n, readout)[0]
    logs = torch.where(gap > 0, gap, 1.0).log().sum()  # of one size, however small the gap
    (g,) = torch.autograd.grad(logs, x)
    return gap.detach(), g.nan_to_num(0.0, 0.0, 0.0)


def longest(found: Tensor, epsilon: float) -> Tensor:
    """The largest k at which the gap is above ε, −1 where there is none: (K + 1, M) -> (M,)."""
    k = torch.arange(len(found), device=found.device)[:, None]
    return torch.where(found > epsilon, k, -1).amax(0)


def _pairs(cell: Any, states: int, x: Tensor, past: int) -> Iterator[Tensor]:
    """Both states, one beside the other, after each of the common inputs: (1, N, 2 M)."""
    s = x.new_zeros(1, states, x.shape[2])
    for one in x[:past]:
        s = cell.step(s, one[None])
    both = torch.cat([s, torch.zeros_like(s)], dim=2)
    yield both
    for one in x[past:]:
        both = cell.step(both, one.repeat(1, 2)[None])
        yield both


def _apart(both: Tensor, n: int, readout: Readout | None) -> Tensor:
    """The gaps of pairs (K, N, 2 M): (K, M)."""
    h, other = both[:, -n:].mT.chunk(2, dim=1)
    if readout is None:
        gap = h - other
    else:
        gap = readout.apart(Floats(readout.parameters), Rows(h), Rows(other)).value
    size = gap.abs().amax(2, keepdim=True)
    unit = torch.where((size > 0) & torch.isfinite(size), size, 1.0).detach()
    found: Tensor = (gap / unit).square().sum(2).sqrt() * unit[:, :, 0]
    return found
