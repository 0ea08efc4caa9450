"""Every experiment at a size for tests."""

import gzip
from dataclasses import replace as changed
from pathlib import Path

import numpy as np
import torch
from msgspec.structs import replace

from rnnbounds.experiments import find_experiment
from rnnbounds.experiments.engine.experiment import LoadedData
from rnnbounds.experiments.tasks.idx import NAMES
from rnnbounds.experiments.tasks.score import SymbolScore
from rnnbounds.experiments.tasks.task import PARTS, Part, Task


def sized(name, **sizes):
    """The setting of an experiment with these sizes."""
    return replace(find_experiment(name).setting, **sizes)


SMALL = {
    "urnn": sized(
        "urnn", sequences=12, length=60, hidden=(2, 4), seeds=2, together=1, epochs=2, batch=4
    ),
    "permuted-digits": sized(
        "permuted-digits", images=40, hidden=4, seeds=2, epochs=4, batch=16
    ),
    "stable-vs-unstable": sized(
        "stable-vs-unstable", tasks=("words",), states=2, steps=2, rates=(0.01,), seeds=1
    ),
    "feed-forward": sized(
        "feed-forward", tasks=("words",), states=4, steps=2, rates=(0.01,), window=3, seeds=2
    ),
    "deep-cell": sized(
        "deep-cell", depths=(1, 2), states=4, length=4, steps=3, rates=(0.01,), seeds=2
    ),
    "similarity": sized("similarity", states=3, conditions=(1.0, 100.0), seeds=1),
    "sigmoid-gap": sized(
        "sigmoid-gap", states=(4, 6), length=4, steps=3, rates=(0.01,), seeds=2
    ),
    **{
        name: sized(name, tasks=("characters",), cells=("RNN",), states=3, steps=3, seeds=1)
        for name in ("truncation-curve", "gradient-decay", "data-stability")
    },
    "weights-apart": sized(
        "weights-apart", tasks=("characters",), states=3, steps=3, seeds=1, ks=(1, 4), every=2
    ),
}  # fmt: skip


def chosen(name):
    """The experiment; what needs words has made up ones, that count up."""
    experiment = find_experiment(name)
    if name not in ("stable-vs-unstable", "feed-forward"):
        return experiment
    x = torch.arange(8)[None].repeat(4, 1) % 3
    parts = dict.fromkeys(PARTS, Part(x, (x + 1) % 3))
    words = Task("words", "here", SymbolScore("perplexity"), 3, 3, 3, parts, size=2)
    made = {"words": words}
    return changed(experiment, load=lambda *_: LoadedData(made, dict.fromkeys(made, "here")))


def idx_bytes(values: np.ndarray) -> bytes:
    """An idx file of bytes."""
    shape = b"".join(length.to_bytes(4, "big") for length in values.shape)
    return bytes((0, 0, 8, values.ndim)) + shape + values.astype(np.uint8).tobytes()


def write_folder(folder: Path) -> Path:
    """Forty and thirty images of 4 × 3 pixels: the digit is how bright they are."""
    folder.mkdir()
    rng = np.random.default_rng(0)
    for count, (images, labels) in ((40, NAMES[:2]), (30, NAMES[2:])):
        told = np.arange(count) % 10
        shown = 20 * told[:, None, None] + rng.integers(0, 9, (count, 4, 3))
        (folder / images).write_bytes(idx_bytes(shown))
        (folder / f"{labels}.gz").write_bytes(gzip.compress(idx_bytes(told)))
    return folder
