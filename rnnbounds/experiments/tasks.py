"""Tasks: the next character and the next word of Python's own help, and digits pixel by pixel."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from platform import python_version
from pydoc_data import topics
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from rnnbounds.experiments.trainer import seeded_generator
from rnnbounds.properties.errors import InputError, UnknownChoiceError

PARTS = ("training", "validation", "held out")
SIZES = {"words": (1000, 32, 60_000), "characters": (64, 64, 200_000)}
"""Symbols, how many a sequence to train on has, and how many there are of these in all."""


@dataclass(frozen=True, eq=False)
class TextTask:
    """The next of `symbols` ids: parts are inputs and targets, (N, T) each. Models map ids to
    vectors of ‖x‖₂ ≤ 1. The score is perplexity, or bits a symbol."""

    unit: str
    symbols: int
    parts: Mapping[str, tuple[Tensor, Tensor]]

    def batch(self, seed: int, step: int) -> tuple[Tensor, Tensor]:
        """32 sequences to train on, drawn with replacement."""
        x, y = self.parts["training"]
        rows = torch.randint(len(x), (32,), generator=seeded_generator(seed, step))
        return x[rows], y[rows]

    def batches(self, part: str) -> Iterator[tuple[Tensor, Tensor]]:
        """All of a part, batch by batch."""
        x, y = self.parts[part]
        yield from zip(torch.split(x, 16), torch.split(y, 16), strict=True)

    def loss(self, outputs: Tensor, y: Tensor) -> Tensor:
        """Cross-entropy of logits (…, symbols), nats."""
        return cross_entropy(outputs.flatten(0, -2), y.flatten())

    def score(self, loss: float) -> float:
        """A mean loss in nats as perplexity, ∞ from 700 nats on, or as bits."""
        if self.unit == "perplexity":
            return math.exp(loss) if loss < 700 else math.inf
        return loss / math.log(2)


def text_task(name: str) -> TextTask:
    """The task words or characters, of the help without what it says twice: 80 % are trained on, a
    tenth each chooses and judges; rarer symbols are one. Raises UnknownChoiceError."""
    if name not in SIZES:
        raise UnknownChoiceError("task", name, tuple(SIZES))
    limit, length, count = SIZES[name]
    pieces = list(dict.fromkeys("".join(topics.topics.values()).split("\n\n")))
    cuts, ids, parts = [len(pieces) * tenths // 10 for tenths in (0, 8, 9, 10)], {}, {}
    for part, a, b in zip(PARTS, cuts, cuts[1:], strict=False):
        text = " ".join(re.sub(r"\s+", " ", piece) for piece in pieces[a:b]).lower()
        symbols = re.findall(r"\w+|[^\w\s]", text) if name == "words" else list(text)
        training = part == "training"
        if training:
            counts = Counter(symbols)
            usual = sorted(counts, key=lambda symbol: (-counts[symbol], symbol))[: limit - 1]
            ids = {symbol: i + 1 for i, symbol in enumerate(usual)}
        T, most = (length, count) if training else (4 * length, count // 8)
        path = torch.tensor([ids.get(symbol, 0) for symbol in symbols[:most]])
        end = (len(path) - 1) // T * T
        parts[part] = path[:end].reshape(-1, T), path[1 : end + 1].reshape(-1, T)
    unit = "perplexity" if name == "words" else "bits a character"
    return TextTask(unit, len(ids) + 1, parts)


def load_texts(names: Iterable[str]) -> tuple[dict[str, TextTask], dict[str, str]]:
    """Tasks by name, and where their data are from."""
    tasks = {name: text_task(name) for name in names}
    return tasks, dict.fromkeys(tasks, f"CPython {python_version()}, pydoc_data.topics")


class DigitTask(NamedTuple):
    """Pixels (N, T, 1) in one random order, standardised, and digits (N,), to train on and to test
    by; `size` of a batch."""

    x: Tensor
    digits: Tensor
    x_test: Tensor
    digits_test: Tensor
    size: int
    loss: Callable[[Tensor, Tensor], Tensor] = cross_entropy

    def batch(self, seed: int, step: int) -> tuple[Tensor, Tensor]:
        """The next images in the order of the epoch."""
        rows = epoch_rows(step, len(self.digits), self.size, seed)
        return self.x[rows], self.digits[rows]


def epoch_rows(step: int, count: int, size: int, seed: int) -> Tensor:
    """The `size` of `count` rows that step 0, 1, … trains on: every epoch in a new order."""
    epoch, at = divmod(step, -(-count // size))
    order = torch.randperm(count, generator=seeded_generator(seed, 3, epoch))
    return order[at * size : (at + 1) * size]


def digit_task(images: int, size: int, seed: int) -> tuple[DigitTask, dict[str, str]]:
    """scikit-learn's 1797 images of 8 × 8 pixels, a fifth of them to test by, at most so many to
    train on; raises InputError without scikit-learn."""
    try:
        from sklearn.datasets import load_digits
    except ImportError:
        raise InputError("the digits need scikit-learn: pip install scikit-learn") from None
    values, labels = map(torch.from_numpy, load_digits(return_X_y=True))
    order = torch.randperm(len(labels), generator=seeded_generator(seed, 1))
    x, digits, cut = values.float()[order], labels[order], len(labels) - len(labels) // 5
    pixels = torch.randperm(x.shape[1], generator=seeded_generator(seed, 2))
    fitted, tested = slice(min(images, cut)), slice(cut, cut + (images + 1) // 2)
    x = ((x - x[fitted].mean()) / x[fitted].std())[:, pixels, None]
    task = DigitTask(x[fitted], digits[fitted], x[tested], digits[tested], size)
    return task, {"digits": "scikit-learn, load_digits"}
