"""Tasks: the next character and the next word of Python's own help, and digits pixel by pixel."""

import math
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from platform import python_version
from pydoc_data import topics

import torch

from rnnbounds.experiments.trainer import PARTS, Data, cross_entropy, seeded_generator
from rnnbounds.properties.errors import InputError, UnknownChoiceError

SIZES = {"words": (1000, 32, 60_000), "characters": (64, 64, 200_000)}
"""Symbols, how many a sequence to train on has, and how many there are of these in all."""


@dataclass(frozen=True, eq=False, kw_only=True)
class TextTask(Data):
    """The next of `symbols` ids: inputs and targets are (N, T). The score is perplexity, or bits a
    symbol."""

    unit: str
    symbols: int

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
    return TextTask(parts=parts, unit=unit, symbols=len(ids) + 1)


def load_texts(names: Iterable[str]) -> tuple[dict[str, TextTask], dict[str, str]]:
    """Tasks by name, and where their data are from."""
    tasks = {name: text_task(name) for name in names}
    return tasks, dict.fromkeys(tasks, f"CPython {python_version()}, pydoc_data.topics")


def load_digits(seed: int) -> tuple[Data, dict[str, str]]:
    """scikit-learn's 1797 images as pixels (N, 64, 1) in one random order, named after
    the last; raises InputError without scikit-learn."""
    try:
        from sklearn import datasets
    except ImportError:
        raise InputError("the digits need scikit-learn; pip install 'rnnbounds[data]'") from None
    values, labels = map(torch.from_numpy, datasets.load_digits(return_X_y=True))
    order = torch.randperm(len(labels), generator=seeded_generator(seed, 1))
    pixels = torch.randperm(values.shape[1], generator=seeded_generator(seed, 2))
    x, digits = (values.float() / 16)[order][:, pixels, None], labels[order]
    task = Data.split(x, digits, loss=lambda outputs, y: cross_entropy(outputs[:, -1], y))
    return task, {"digits": "scikit-learn, load_digits"}
