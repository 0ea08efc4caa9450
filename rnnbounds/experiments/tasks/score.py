"""Losses and scores: what is descended on, and what is told of a model.

A score is made from a tally, a vector of sums, so that tallies of batches add up to that of all.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional


class Score(ABC):
    """`unit` names it; in per cent more is better, in all else less."""

    unit: str

    @abstractmethod
    def loss(self, outputs: Tensor, y: Tensor) -> Tensor:
        """Mean training loss of outputs (N, T, p) over the positions that have a target y."""

    @abstractmethod
    def tally(self, outputs: Tensor, y: Tensor) -> Tensor:
        """The sums that the score is made of, in float64."""

    @abstractmethod
    def from_tally(self, tally: Tensor) -> float:
        """The score."""

    def from_loss(self, loss: float) -> float:
        """The score of a mean loss, or the loss itself where that does not tell it."""
        return loss


class LogitScore(Score):
    """Of ids that are told by their logits."""

    def loss(self, outputs: Tensor, y: Tensor) -> Tensor:
        """Cross-entropy, nats."""
        return functional.cross_entropy(outputs.flatten(0, 1), y.flatten(), ignore_index=-1)


@dataclass(frozen=True)
class SymbolScore(LogitScore):
    """Cross-entropy of the next symbol, told as perplexity, or as bits."""

    unit: str

    def tally(self, outputs: Tensor, y: Tensor) -> Tensor:
        """Nats, and how many were asked."""
        count = (y >= 0).sum()
        return torch.stack([self.loss(outputs, y).double() * count, count.double()])

    def from_tally(self, tally: Tensor) -> float:
        """exp or log₂ of it."""
        return self.from_loss(float(tally[0] / tally[1]))

    def from_loss(self, loss: float) -> float:
        """Convert a mean loss in nats to perplexity (∞ from 700 nats on) or to bits."""
        if self.unit == "perplexity":
            return math.exp(loss) if loss < 700 else math.inf
        return loss / math.log(2)


@dataclass(frozen=True)
class ClassScore(LogitScore):
    """Cross-entropy of a class, told by how many are right, in per cent."""

    unit: str = "right, %"

    def tally(self, outputs: Tensor, y: Tensor) -> Tensor:
        """Right, and asked."""
        valid = y >= 0
        return torch.stack([((outputs.argmax(2) == y) & valid).sum(), valid.sum()]).double()

    def from_tally(self, tally: Tensor) -> float:
        """In per cent."""
        return float(100 * tally[0] / tally[1])
