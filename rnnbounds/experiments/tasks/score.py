"""Losses and scores: what is descended on, and what is told of a model.

A score is made from a tally, a vector of sums, so that tallies of batches add up to that of all.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
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
class NoteScore(Score):
    """Negative log-likelihood of the next frame, nats, its notes taken as independent."""

    unit: str = "nats a frame"

    def loss(self, outputs: Tensor, y: Tensor) -> Tensor:
        """Summed over the notes, the mean over frames that are not NaN."""
        nats, frames = self.tally(outputs, y)
        mean: Tensor = nats / frames
        return mean

    def tally(self, outputs: Tensor, y: Tensor) -> Tensor:
        """Nats, and frames."""
        valid = ~y[..., 0].isnan()
        losses = functional.binary_cross_entropy_with_logits(
            outputs[valid], y[valid], reduction="none"
        )
        return torch.stack([losses.double().sum(), valid.sum().double()])

    def from_tally(self, tally: Tensor) -> float:
        """The mean."""
        return float(tally[0] / tally[1])


@dataclass(frozen=True)
class NumberScore(Score):
    """Squared error of numbers, the mean over those that are not NaN: told as its root, in units
    of `scale`."""

    unit: str
    scale: float

    def loss(self, outputs: Tensor, y: Tensor) -> Tensor:
        """The mean."""
        valid = ~y.isnan()
        return functional.mse_loss(outputs[valid], y[valid])

    def tally(self, outputs: Tensor, y: Tensor) -> Tensor:
        """Squares, and how many were asked."""
        count = (~y.isnan()).sum().double()
        return torch.stack([self.loss(outputs, y).double() * count, count])

    def from_tally(self, tally: Tensor) -> float:
        """The root of the mean."""
        return self.from_loss(float(tally[0] / tally[1]))

    def from_loss(self, loss: float) -> float:
        """Its root."""
        return math.sqrt(loss) * self.scale


@dataclass(frozen=True)
class SlotScore(LogitScore):
    """Cross-entropy of tags, told by the F1 of the chunks that they mark, in per cent."""

    tags: tuple[str, ...]
    unit: str = "F1, %"

    def tally(self, outputs: Tensor, y: Tensor) -> Tensor:
        """Chunks that are right, told, and true."""
        counts = [0, 0, 0]
        for predicted, true in zip(outputs.argmax(2).tolist(), y.tolist(), strict=True):
            positions = [at for at, tag in enumerate(true) if tag >= 0]
            lines = ([self.tags[line[at]] for at in positions] for line in (predicted, true))
            counts = [a + b for a, b in zip(counts, count_chunks(*lines), strict=True)]
        return torch.tensor(counts, dtype=torch.float64)

    def from_tally(self, tally: Tensor) -> float:
        """100 · 2 right/(told + true)."""
        right, predicted, true = tally.tolist()
        return 200 * right / (predicted + true) if predicted + true else 100.0


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


def count_chunks(predicted: Iterable[str], true: Iterable[str]) -> tuple[int, int, int]:
    """How many chunks are right, told and true: right is one of that type, start and end."""
    claimed, right = set(find_chunks(predicted)), set(find_chunks(true))
    return len(claimed & right), len(claimed), len(right)


def find_chunks(tags: Iterable[str]) -> Iterator[tuple[str, int, int]]:
    """(type, first, one past the last). An I- that continues nothing of its type begins a chunk.

    Source: Tjong Kim Sang & Buchholz, Introduction to the CoNLL-2000 shared task, its conlleval.
    """
    kind, first, at = "", 0, -1
    for at, tag in enumerate(tags):
        mark, _, now = tag.partition("-")
        if kind and (mark != "I" or now != kind):
            yield kind, first, at
            kind = ""
        if mark in ("B", "I") and not kind:
            kind, first = now, at
    if kind:
        yield kind, first, at + 1
