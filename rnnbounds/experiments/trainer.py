"""The one trainer of all experiments, and its data: the next character and the next word of
Python's own help, and digits pixel by pixel.

Compared models have one budget: as many steps, on the same batches in the same order, a function of
seed and step alone. After each step `project` may move the weights back into a set.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from platform import python_version
from pydoc_data import topics
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor

from rnnbounds.properties.errors import InputError, UnknownChoiceError

M = TypeVar("M", bound=torch.nn.Module)
PARTS = ("training", "validation", "held out")
EVERY = 50  # steps between two looks at the validation data


def seeded_generator(*key: int) -> torch.Generator:
    """A random generator on the CPU of its own for every key of numbers ≥ 0, such as (seed, 3)."""
    state = np.random.SeedSequence(key).generate_state(1, np.uint64)
    return torch.Generator().manual_seed(int(state[0] >> np.uint64(1)))


def cross_entropy(outputs: Tensor, y: Tensor) -> Tensor:
    """The mean over classes y (…) of logits (…, p), nats."""
    return torch.nn.functional.cross_entropy(outputs.flatten(0, -2), y.flatten())


@dataclass(frozen=True, eq=False, kw_only=True)
class Data:
    """Inputs and targets (N, …) of the parts "training", "validation" and "held out"."""

    parts: Mapping[str, tuple[Tensor, Tensor]]
    loss: Callable[[Tensor, Tensor], Tensor] = cross_entropy

    @classmethod
    def split(cls, x: Tensor, y: Tensor, **more: Any) -> "Data":
        """A tenth for validation, the last three tenths held out."""
        cuts = [len(x) * 6 // 10, len(x) * 7 // 10]
        parts = zip(torch.tensor_split(x, cuts), torch.tensor_split(y, cuts), strict=True)
        return cls(parts=dict(zip(PARTS, parts, strict=True)), **more)

    def batch(self, seed: int, step: int) -> tuple[Tensor, Tensor]:
        """32 sequences to train on, drawn with replacement."""
        x, y = self.parts["training"]
        rows = torch.randint(len(x), (32,), generator=seeded_generator(seed, step))
        return x[rows], y[rows]


def falling_rates(steps: int, first: float = 0.01) -> list[float]:
    """The learning rate of each step, down to a tenth of the first."""
    return [first * (1 - 0.9 * (step + 1) / steps) for step in range(steps)]


def train(
    model: M, data: Data, rates: Sequence[float], *, seed: int, device: str = "cpu",
    project: Callable[[M], object] = lambda model: None,
    optimiser: Callable[..., torch.optim.Optimizer] = torch.optim.Adam, clip: float = 1.0,
) -> float:  # fmt: skip
    """Train the model in place, a step for each learning rate; gradients are at most `clip` long,
    and one that is not finite counts as 0. The weights that did best on the validation data are
    kept, without these the last ones. Returns the best validation loss, ∞ if none was finite."""
    model.to(device)
    parameters = [part for part in model.parameters() if part.requires_grad]
    descent, best, kept = optimiser(parameters, lr=rates[0]), math.inf, model.state_dict()
    for step, rate in enumerate(rates, 1):
        x, y = data.batch(seed, step - 1)
        descent.zero_grad()
        torch.autograd.backward(data.loss(model(x.to(device)), y.to(device)))
        if not torch.nn.utils.clip_grad_norm_(parameters, clip).isfinite():
            descent.zero_grad(set_to_none=False)
        for group in descent.param_groups:
            group["lr"] = rate
        descent.step()
        project(model)
        if "validation" in data.parts and (step % EVERY == 0 or step == len(rates)):
            loss = part_loss(model, data, "validation")
            if loss < best:
                best, kept = loss, deepcopy(model.state_dict())
    model.load_state_dict(kept)
    return best


@torch.no_grad()
def part_loss(model: torch.nn.Module, data: Data, part: str) -> float:
    """The mean loss over a part of the data, ∞ where it is not finite."""
    device, (x, y) = next(model.parameters()).device, data.parts[part]
    loss = float(data.loss(model(x.to(device)), y.to(device)))
    return loss if math.isfinite(loss) else math.inf


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
