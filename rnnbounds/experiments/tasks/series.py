"""Digits, read pixel by pixel, and sunspots: the data of those experiments, as tasks."""

import torch

from rnnbounds.experiments.tasks.pixels import load
from rnnbounds.experiments.tasks.score import Classes, Numbers
from rnnbounds.experiments.tasks.sunspot_numbers import load_series
from rnnbounds.experiments.tasks.task import PARTS, Part, Task


def digits(data: str = "digits", seed: int = 0, most: int = 2000) -> Task:
    """The class of an image at its last pixel; a tenth of what is there to train on validates."""
    pixels = load(data, seed, most)
    x, y = pixels.x.transpose(0, 1), pixels.digits
    kept = torch.arange(len(y)) % 10 != 8
    cut = [(x[kept], y[kept]), (x[~kept], y[~kept])]
    cut.append((pixels.x_test.transpose(0, 1), pixels.digits_test))
    parts = {}
    for name, (images, classes) in zip(PARTS, cut, strict=True):
        asked = torch.full(images.shape[:2], -1)
        asked[:, -1] = classes
        parts[name] = Part(images, asked)
    return Task("digits", pixels.source, Classes(), None, 1, 10, parts)


def sunspots() -> Task:
    """The next year's number; the last 60 years are held out, the 60 before them validate."""
    series = load_series()
    x, ends = series.x.float(), (0, series.split - 60, series.split, series.x.shape[1] - 1)
    parts = {}
    for name, start, end in zip(PARTS, ends[:-1], ends[1:], strict=True):
        y = torch.full((1, end, 1), torch.nan)
        y[:, start:] = x[:, start + 1 : end + 1]
        parts[name] = Part(x[:, :end], y)
    score = Numbers("sunspots, root mean square", series.unit)
    return Task("sunspots", series.source, score, None, 1, 1, parts, size=1)
