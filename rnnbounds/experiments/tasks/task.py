"""A task: sequences to train on, to choose by and to judge by, a loss, and a score."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from rnnbounds.experiments.engine.common import seeded_generator
from rnnbounds.experiments.tasks.score import Score

PARTS = ("training", "validation", "held out")


def tensor_digest(tensors: Iterable[Tensor]) -> str:
    """SHA-256 of their types, shapes and bytes."""
    sha = hashlib.sha256()
    for tensor in tensors:
        sha.update(f"|{tensor.dtype}|{tuple(tensor.shape)}|".encode())
        sha.update(tensor.contiguous().numpy().tobytes())
    return sha.hexdigest()


@dataclass(frozen=True, eq=False)
class Part:
    """N sequences: inputs x, ids (N, T) or numbers (N, T, d), and targets y, (N, T) or (N, T, p).

    Nothing is asked where y is −1, nor where it is NaN.
    """

    x: Tensor
    y: Tensor


@dataclass(frozen=True, eq=False)
class Task:
    """`symbols` is how many ids there are, None where inputs are `inputs` numbers a time.

    `outputs` is the size of what is told at each time; `source` says where the data are from;
    `size` is that of a batch to train on, `rows` of one to judge by.
    """

    name: str
    source: str
    judge: Score
    symbols: int | None
    inputs: int
    outputs: int
    parts: Mapping[str, Part]
    size: int = 32
    rows: int = 16

    @property
    def unit(self) -> str:
        """Unit of the score that `judged` returns."""
        return self.judge.unit

    @property
    def bound(self) -> float:
        """max ‖x_t‖₂ over all parts, rounded up; 1 for ids, whose vectors models keep so short."""
        if self.symbols is not None:
            return 1.0
        norms = [torch.linalg.vector_norm(part.x.double(), dim=2).max() for part in self.all_parts]
        return float(torch.stack(norms).max()) * (1 + 2**-40)

    @property
    def all_parts(self) -> tuple[Part, ...]:
        """The three parts."""
        return tuple(self.parts[name] for name in PARTS)

    @property
    def digest(self) -> str:
        """SHA-256 of every tensor."""
        return tensor_digest(tensor for part in self.all_parts for tensor in (part.x, part.y))

    def batch(self, seed: int, step: int) -> tuple[Tensor, Tensor]:
        """Sequences to train on, drawn with replacement."""
        part = self.parts["training"]
        rows = torch.randint(len(part.x), (self.size,), generator=seeded_generator(seed, step))
        return part.x[rows], part.y[rows]

    def batches(self, part: str) -> Iterator[tuple[Tensor, Tensor]]:
        """All of a part, batch by batch."""
        data = self.parts[part]
        yield from zip(torch.split(data.x, self.rows), torch.split(data.y, self.rows), strict=True)

    def loss(self, outputs: Tensor, y: Tensor) -> Tensor:
        """The mean over what is asked."""
        return self.judge.loss(outputs, y)

    def score(self, loss: float) -> float:
        """The loss in units of the task, where it is a function of it."""
        return self.judge.from_loss(loss)

    @torch.no_grad()
    def evaluate(self, model: torch.nn.Module, part: str = "held out") -> float:
        """The score of a model, from sums over all that is asked."""
        device = next(model.parameters()).device
        tallies = [
            self.judge.tally(model(x.to(device)), y.to(device)) for x, y in self.batches(part)
        ]
        return self.judge.from_tally(torch.stack(tallies).sum(0))
