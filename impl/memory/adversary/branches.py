"""Inputs that keep two runs apart, found by branching: for cells of few numbers.

Every pair (s, s′) is led on by each of some inputs, and of all pairs that come of it a beam is
kept: those that are furthest apart and, of each part of the space of pairs, the one furthest apart,
as a gate may be open under other inputs than those that lead far away. Pasts begin under constant
inputs and branch in the same way, s′ standing at zero. What is found are inputs; nothing is proved.
Source: Lowerre (1976), the HARPY system, for the beam.
"""

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

WARM, PAST = 224, 32  # steps under a constant input, and steps that branch, before the pair
_BEAM, _FURTHEST = 512, 64  # pairs that are kept, and of these by their distance alone
_PRIME = 1_000_003  # by which numbers of parts are hashed

Trace = list[tuple[Tensor, Tensor]]  # of each step the pairs and the inputs that lead to those kept


@dataclass
class Branches:
    """A beam of pairs of states (2, P, N) of one cell under `choices` (M, d), the steps that led to
    it, and the largest gap after each number of common inputs with its place in the beam."""

    cell: Any
    choices: Tensor
    pairs: Tensor
    trace: Trace = field(default_factory=list)
    best: list[tuple[float, int]] = field(default_factory=list)

    @classmethod
    def of(cls, cell: Any, states: int, choices: Tensor) -> "Branches":
        """With a past of `WARM` + `PAST` steps."""
        s = choices.new_zeros(1, states, len(choices))
        for _ in range(WARM):
            s = cell.step(s, choices.mT[None])
        found = cls(cell, choices, torch.stack([s[0].mT, torch.zeros_like(s[0].mT)]))
        for _ in range(PAST):
            found._advance(still=True)
        found._note()
        return found

    def extend(self) -> float:
        """One common input more, and the largest gap after it."""
        self._advance(still=False)
        self._note()
        return self.best[-1][0]

    def longest(self, epsilon: float) -> int:
        """The largest k at which a gap is above ε; −1 if none is."""
        return max((k for k, (gap, _) in enumerate(self.best) if gap > epsilon), default=-1)

    def inputs(self, k: int) -> Tensor:
        """The inputs (WARM + PAST + k, d) that lead to the largest gap after k of them."""
        at, found = self.best[k][1], []
        for pairs, inputs in reversed(self.trace[: PAST + k]):
            found.append(self.choices[int(inputs[at])])
            at = int(pairs[at])
        return torch.stack([*[self.choices[at]] * WARM, *reversed(found)])

    def _note(self) -> None:
        gap, at = _size(self.pairs[0] - self.pairs[1], self.cell.n).max(0)
        self.best.append((float(gap), int(at)))

    def _advance(self, still: bool) -> None:
        P, M, N = self.pairs.shape[1], len(self.choices), self.pairs.shape[2]
        s = self.pairs.repeat_interleave(M, dim=1)
        x = self.choices.repeat((1 if still else 2) * P, 1)
        moved = s[:1] if still else s
        moved = self.cell.step(moved.reshape(-1, N).mT[None], x.mT[None])[0].mT
        s = torch.stack([moved, s[1]]) if still else moved.reshape(2, P * M, N)
        kept = _kept(s, self.cell.n)
        self.pairs = s[:, kept]
        self.trace.append((kept // M, kept % M))


def _size(gap: Tensor, n: int) -> Tensor:
    """‖Δh‖₂ of the outputs, the last n numbers; −1 for what is no number."""
    size: Tensor = torch.linalg.vector_norm(gap[:, -n:], dim=1)
    return size.nan_to_num(-1.0, -1.0, -1.0)


def _kept(s: Tensor, n: int) -> Tensor:
    """Which of the pairs (2, P, N) are kept."""
    gap = s[0] - s[1]
    shown, whole = _size(gap, n), _size(gap, gap.shape[1])
    count = min(_FURTHEST, len(gap))
    chosen = [size.topk(count).indices for size in (shown, whole)]
    both = torch.cat([s[1], gap], dim=1)
    low, high = both.amin(0), both.amax(0)
    moving = high > low
    if bool(moving.any()):
        parts = max(2.0, round(_BEAM ** (1 / int(moving.sum())) * 2))
        scaled = ((both - low) / (high - low))[:, moving]
        where = (scaled * parts).nan_to_num(0.0).long()
        chosen.append(_one_of_each(where, whole)[:_BEAM])
    kept: Tensor = torch.unique(torch.cat(chosen))
    return kept


def _one_of_each(where: Tensor, size: Tensor) -> Tensor:
    """The largest of each part (P, ·), the largest ones first."""
    code = where.new_zeros(len(where))
    for part in where.mT:
        code = code * _PRIME + part
    order = size.argsort(descending=True, stable=True)
    _, group = torch.unique(code[order], return_inverse=True)
    ranks = torch.arange(len(order))
    first = torch.full((int(group.max()) + 1,), len(order)).scatter_reduce(0, group, ranks, "amin")
    return order[first.sort().values]
