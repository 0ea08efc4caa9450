"""What the models learn: text by characters, the yearly sunspot number, digits by pixels."""

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator
from pydoc_data import topics

import torch
from torch import Tensor
from torch.nn import functional

from impl.arithmetic.inputs.sets import InputSet, input_box, input_rows
from properties.runs.versions import found
from rnnbounds.experiments.engine.common import MissingPackageError, chance
from rnnbounds.experiments.tasks.sunspot_numbers import load_series


class Learned(ABC):
    """Sequences of inputs of a set, `among`. `windows` (N, T, d) are held out whole: of those a
    model is measured on, none was trained on and none chose its weights."""

    name: str
    unit: str
    source: str
    outputs: int
    among: InputSet
    windows: Tensor

    @property
    def bound(self) -> float:
        """At least ‖x_t‖₂."""
        return float(self.among)

    @abstractmethod
    def batch(self, seed: int, step: int) -> tuple[Tensor, Tensor]:
        """A batch to train on: inputs (N, T, d), targets."""

    @abstractmethod
    def whole(self, part: str) -> Iterator[tuple[Tensor, Tensor]]:
        """All of "training", "validation" or "held out"."""

    @abstractmethod
    def loss(self, told: Tensor, y: Tensor) -> Tensor:
        """What is trained on: outputs (N, T, p) and targets."""

    def score(self, loss: float) -> float:
        """The loss in its unit."""
        return loss


class Sunspots(Learned):
    """The next yearly number, in root mean squares. The last 60 years are held out, the 60 before
    them choose the weights; no target is told where it is NaN."""

    name, unit, outputs, years, length = "sunspots", "sunspots", 1, 60, 20

    def __init__(self) -> None:
        series = load_series()
        self.source = series.source
        self.x, self.scale = series.x.float(), series.unit
        self.among = input_box(float(self.x.min()), float(self.x.max()), 1)
        self.windows = self.x[:, -2 * self.years :].reshape(-1, self.length, 1)

    def batch(self, seed: int, step: int) -> tuple[Tensor, Tensor]:
        """The whole series before the years that choose."""
        end = self.x.shape[1] - 2 * self.years
        return self.x[:, : end - 1], self.x[:, 1:end]

    def whole(self, part: str) -> Iterator[tuple[Tensor, Tensor]]:
        """The series from its first year on, asked for the years of that part alone."""
        T = self.x.shape[1]
        first = {"training": 1, "validation": T - 2 * self.years, "held out": T - self.years}[part]
        last = {"training": T - 2 * self.years, "validation": T - self.years, "held out": T}[part]
        y = torch.full_like(self.x, math.nan)
        y[:, first - 1 : last - 1] = self.x[:, first:last]
        yield self.x, y

    def loss(self, told: Tensor, y: Tensor) -> Tensor:
        """Mean squared error of what is asked."""
        asked = ~y.isnan()
        return functional.mse_loss(told[asked], y[asked])

    def score(self, loss: float) -> float:
        """Its root, in sunspot numbers."""
        return math.sqrt(loss) * self.scale


class Characters(Learned):
    """The next of 48 characters of Python's help, as unit vectors: cross-entropy. Paragraphs, each
    once and in a random order, are trained on but for 600: one window of each of 200 chooses the
    weights, of each of 400 is held out, so that windows are no neighbours of one another."""

    name, unit, outputs = "text", "bits a character", 48
    length, count, choosing, judged = 96, 32, 200, 400

    def __init__(self) -> None:
        self.source = f"CPython {found('python')}, pydoc_data.topics"
        text = "".join(topics.topics.values()).lower()
        usual = [one for one, _ in Counter(text).most_common(self.outputs - 1)]
        self.place = {one: i for i, one in enumerate(usual)}
        self.eye, by = torch.eye(self.outputs), chance(0)
        self.among = input_rows(self.eye, f"{self.outputs} unit vectors")
        pieces = list(dict.fromkeys(text.split("\n\n")))
        pieces = [pieces[i] for i in torch.randperm(len(pieces), generator=by).tolist()]
        long = [piece for piece in pieces if len(piece) > self.length]
        del long[self.choosing + self.judged :]
        apart = set(long)
        self.ids = self._ids("\n\n".join(piece for piece in pieces if piece not in apart))
        at = [int(torch.randint(len(piece) - self.length, (), generator=by)) for piece in long]
        cut = [piece[a : a + self.length + 1] for piece, a in zip(long, at, strict=True)]
        kept = torch.stack([self._ids(piece) for piece in cut])
        self.parts = {"validation": kept[: self.choosing], "held out": kept[self.choosing :]}
        self.windows = self.eye[self.parts["held out"][:, :-1]]

    def batch(self, seed: int, step: int) -> tuple[Tensor, Tensor]:
        """Windows from anywhere in what is trained on."""
        last = len(self.ids) - self.length
        at = torch.randint(last, (self.count, 1), generator=chance(seed, step))
        return self._pairs(self.ids[at + torch.arange(self.length + 1)])

    def whole(self, part: str) -> Iterator[tuple[Tensor, Tensor]]:
        """The windows of the part."""
        yield self._pairs(self.parts[part])

    def loss(self, told: Tensor, y: Tensor) -> Tensor:
        """Cross-entropy, in nats."""
        return functional.cross_entropy(told.flatten(0, 1), y.flatten())

    def score(self, loss: float) -> float:
        """In bits."""
        return loss / math.log(2)

    def _ids(self, text: str) -> Tensor:
        return torch.tensor([self.place.get(one, self.outputs - 1) for one in text])

    def _pairs(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        return self.eye[ids[:, :-1]], ids[:, 1:]


class Digits(Learned):
    """scikit-learn's digits, half a row of pixels at a time: which one it is, in cross-entropy.
    1,000 images are trained on, 200 choose the weights, 597 are held out."""

    name, unit, outputs = "digits", "bits an image", 10
    split, count = (1000, 1200), 50

    def __init__(self) -> None:
        try:
            from sklearn.datasets import load_digits
        except ImportError:
            raise MissingPackageError("scikit-learn", "the digits") from None
        self.source = f"scikit-learn {found('scikit-learn')}, load_digits"
        told = load_digits()
        self.x = torch.tensor(told.data / 16, dtype=torch.float32).reshape(-1, 16, 4)
        self.y = torch.tensor(told.target)
        self.among = input_box(0.0, 1.0, 4)
        self.windows = self.x[self.split[1] :]

    def batch(self, seed: int, step: int) -> tuple[Tensor, Tensor]:
        """So many of the images, drawn with replacement."""
        rows = torch.randint(self.split[0], (self.count,), generator=chance(seed, step))
        return self.x[rows], self.y[rows]

    def whole(self, part: str) -> Iterator[tuple[Tensor, Tensor]]:
        """All images of the part."""
        a, b = self.split
        rows = {"training": slice(a), "validation": slice(a, b), "held out": slice(b, None)}[part]
        yield self.x[rows], self.y[rows]

    def loss(self, told: Tensor, y: Tensor) -> Tensor:
        """Cross-entropy of what is told at the end, in nats."""
        return functional.cross_entropy(told[:, -1], y)

    def score(self, loss: float) -> float:
        """In bits."""
        return loss / math.log(2)


TASKS: tuple[type[Learned], ...] = (Characters, Sunspots, Digits)
