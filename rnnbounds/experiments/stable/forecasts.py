"""What is learned: the next sunspot number, and the next character of a text."""

import math
from collections import Counter
from collections.abc import Iterable
from pydoc_data import topics

import torch
from torch import Tensor
from torch.nn import functional

from impl.arithmetic.inputs.sets import input_box, input_rows
from rnnbounds.experiments.engine.common import chance
from rnnbounds.experiments.tasks.sunspot_numbers import load_series


class Sunspots:
    """The yearly sunspot number, mean squared errors. The last 60 years are held out, the 60 before
    them choose when training stops; what is not asked is NaN."""

    name, unit, inputs, outputs = "sunspots", "sunspots, root mean square", 1, 1

    def __init__(self) -> None:
        self.series = load_series()
        self.x = self.series.x.float()
        self.among = input_box(float(self.x.min()), float(self.x.max()), 1)
        self.bound = float(self.among)
        end = self.series.split
        self.parts = {"validation": slice(end - 60, end), "held out": slice(end, None)}

    def batch(self, seed: int, step: int) -> tuple[Tensor, Tensor]:
        """The whole series before the validation years."""
        last = self.parts["validation"].start
        return self.x[:, :last], self.x[:, 1 : last + 1]

    def whole(self, part: str) -> Iterable[tuple[Tensor, Tensor]]:
        """The series from its first year on."""
        y = torch.full_like(self.x[:, 1:], math.nan)
        y[:, self.parts[part]] = self.x[:, 1:][:, self.parts[part]]
        yield self.x[:, :-1], y

    def loss(self, told: Tensor, y: Tensor) -> Tensor:
        """Mean squared error, normalised."""
        asked = ~y.isnan()
        return functional.mse_loss(told[asked], y[asked])

    def score(self, loss: float) -> float:
        """The root, in sunspot numbers."""
        return math.sqrt(loss) * self.series.unit


class Characters:
    """The 47 most frequent characters of Python's help topics in lower case, and one for all
    others, as unit vectors: cross-entropy. The last tenth is held out."""

    name, unit, bound = "characters", "bits a character", 1.0
    inputs = outputs = 48
    length, count = 64, 32

    def __init__(self) -> None:
        text = "".join(topics.topics.values()).lower()
        usual = [one for one, _ in Counter(text).most_common(self.inputs - 1)]
        place = {one: i for i, one in enumerate(usual)}
        self.ids = torch.tensor([place.get(one, self.inputs - 1) for one in text])
        self.end = len(self.ids) * 9 // 10
        self.eye = torch.eye(self.inputs)
        self.among = input_rows(self.eye, f"{self.inputs} unit vectors")

    def batch(self, seed: int, step: int) -> tuple[Tensor, Tensor]:
        """Windows from anywhere in the training part."""
        last = self.end - 8000 - self.length - 1
        at = torch.randint(last, (self.count, 1), generator=chance(seed, step))
        return self._pairs(self.ids[at + torch.arange(self.length + 1)])

    def whole(self, part: str) -> Iterable[tuple[Tensor, Tensor]]:
        """Windows of 400 characters: 20 before the held-out part, or its first 80."""
        start, count = (self.end - 8000, 20) if part == "validation" else (self.end, 80)
        yield self._pairs(self.ids[start : start + count * 400].reshape(count, 400))

    def loss(self, told: Tensor, y: Tensor) -> Tensor:
        """Cross-entropy."""
        return functional.cross_entropy(told.flatten(0, 1), y.flatten())

    def score(self, loss: float) -> float:
        """In bits."""
        return loss / math.log(2)

    def _pairs(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        return self.eye[ids[:, :-1]], ids[:, 1:]


Forecast = Sunspots | Characters
TASKS: tuple[type[Forecast], ...] = (Sunspots, Characters)
