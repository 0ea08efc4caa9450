"""Tasks of the models: text by characters, the yearly sunspot number, digits by pixels."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pydoc_data import topics

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from rnnbounds.experiments.engine.common import seeded_generator
from rnnbounds.experiments.engine.experiment import LoadedData
from rnnbounds.experiments.tasks import pixels
from rnnbounds.experiments.tasks.score import NumberScore, SymbolScore
from rnnbounds.experiments.tasks.sunspot_numbers import HELD_OUT, load_series
from rnnbounds.experiments.tasks.task import PARTS, Part, Task
from rnnbounds.impl.arithmetic.inputs.sets import InputSet, input_box, input_rows
from rnnbounds.properties.runs.versions import installed_version


@dataclass(frozen=True, eq=False, kw_only=True)
class SetTask(Task):
    """Sequences of inputs of a set, `among`. `windows` (N, T, d) are held out whole: of those a
    model is measured on, none was trained on and none chose its weights."""

    among: InputSet
    windows: Tensor
    rows: int = 1000

    @property
    def bound(self) -> float:
        """At least ‖x_t‖₂."""
        return float(self.among)


class LastClass(SymbolScore):
    """Of a class that is told at the end, y (N,)."""

    def loss(self, outputs: Tensor, y: Tensor) -> Tensor:
        """Cross-entropy, nats."""
        return cross_entropy(outputs[:, -1], y)


def sunspots() -> SetTask:
    """The next yearly number, in root mean squares. The last 60 years are held out, the 60 before
    them choose the weights: each is asked of a run from the first year on."""
    series = load_series()
    x, end = series.x.float(), len(series.numbers) - 2 * HELD_OUT
    parts = {"training": Part(x[:, : end - 1], x[:, 1:end])}
    for name, first in zip(PARTS[1:], (end, end + HELD_OUT), strict=True):
        y = torch.full_like(x, math.nan)
        y[:, first - 1 : first + HELD_OUT - 1] = x[:, first : first + HELD_OUT]
        parts[name] = Part(x, y)
    return SetTask(
        "sunspots", series.source, NumberScore("sunspots", series.unit), None, 1, 1, parts, 1,
        among=input_box(float(x.min()), float(x.max()), 1),
        windows=x[:, -2 * HELD_OUT :].reshape(-1, 20, 1),
    )  # fmt: skip


def text() -> SetTask:
    """The next of 48 characters of Python's help, as unit vectors: cross-entropy. Paragraphs, each
    once and in a random order, are trained on but for 600: one window of each of 200 chooses the
    weights, of each of 400 is held out, so that windows are no neighbours of one another."""
    symbols, length, choosing, tested = 48, 96, 200, 400
    help_text = "".join(topics.topics.values()).lower()
    usual = [symbol for symbol, _ in Counter(help_text).most_common(symbols - 1)]
    place = {symbol: i for i, symbol in enumerate(usual)}

    def ids(text: str) -> Tensor:
        return torch.tensor([place.get(symbol, symbols - 1) for symbol in text])

    eye, generator = torch.eye(symbols), seeded_generator(0)
    pieces = list(dict.fromkeys(help_text.split("\n\n")))
    pieces = [pieces[i] for i in torch.randperm(len(pieces), generator=generator).tolist()]
    long_pieces = [piece for piece in pieces if len(piece) > length][: choosing + tested]
    held_back = set(long_pieces)
    training_ids = ids("\n\n".join(piece for piece in pieces if piece not in held_back))
    starts = [
        int(torch.randint(len(piece) - length, (), generator=generator)) for piece in long_pieces
    ]
    windows = torch.stack(
        [ids(p[a : a + length + 1]) for p, a in zip(long_pieces, starts, strict=True)]
    )
    part_ids = training_ids.unfold(0, length + 1, 1), windows[:choosing], windows[choosing:]
    parts = {name: Part(ids[:, :-1], ids[:, 1:]) for name, ids in zip(PARTS, part_ids, strict=True)}
    return SetTask(
        "text", f"CPython {installed_version('python')}, pydoc_data.topics",
        SymbolScore("bits a character"),
        symbols, symbols, symbols, parts, 32,
        among=input_rows(eye, f"{symbols} unit vectors"), windows=eye[parts["held out"].x],
    )  # fmt: skip


def digits() -> SetTask:
    """scikit-learn's digits, half a row of pixels at a time: which one it is, in cross-entropy.
    1,000 images are trained on, 200 choose the weights, 597 are held out."""
    source, images, labels = pixels.load_sklearn()
    x = torch.tensor(images / 16, dtype=torch.float32).reshape(-1, 16, 4)
    y, ends = torch.tensor(labels), (slice(1000), slice(1000, 1200), slice(1200, None))
    parts = {name: Part(x[rows], y[rows]) for name, rows in zip(PARTS, ends, strict=True)}
    return SetTask(
        "digits", source, LastClass("bits an image"), None, 4, 10, parts, 50,
        among=input_box(0.0, 1.0, 4), windows=parts["held out"].x,
    )  # fmt: skip


TASKS: Mapping[str, Callable[[], SetTask]] = {"text": text, "sunspots": sunspots, "digits": digits}


def load_named(names: Iterable[str]) -> LoadedData:
    """Tasks by name; raises MissingPackageError without statsmodels or scikit-learn."""
    made_tasks = {name: TASKS[name]() for name in names}
    return LoadedData(made_tasks, {name: task.source for name, task in made_tasks.items()})
